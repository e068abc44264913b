//! Owns contact sheets: a page of pictures to look a data set over. Must not know where the pictures came from.

use image::GrayImage;

use super::Split;
use crate::ink::SIDE;
use crate::random::Random;

/// Pixels between two pictures.
const GAP: usize = 4;

/// A page of `columns` pictures of each class, a row a class from 0 to 9, dark on white, chosen by `seed`.
pub fn contact_sheet(split: &Split, columns: usize, seed: u64) -> GrayImage {
    let cell = SIDE + GAP;
    let mut sheet = GrayImage::from_pixel((columns * cell + GAP) as u32, (10 * cell + GAP) as u32, image::Luma([255]));
    for class in 0..10_u8 {
        let mut members: Vec<usize> = (0..split.len()).filter(|&index| split.labels[index] == class).collect();
        Random::stream(seed, "contact sheet", u64::from(class)).shuffle(&mut members);
        for (column, &index) in members.iter().take(columns).enumerate() {
            let (left, top) = (GAP + column * cell, GAP + usize::from(class) * cell);
            for (place, &pixel) in split.image(index).iter().enumerate() {
                sheet.put_pixel((left + place % SIDE) as u32, (top + place / SIDE) as u32, image::Luma([255 - pixel]));
            }
        }
    }
    sheet
}
