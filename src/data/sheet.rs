//! Owns contact sheets: a page of pictures to look a data set over. Must not know where the pictures came from.

use image::GrayImage;

use super::Split;
use crate::ink::SIDE;
use crate::math::random::Random;

/// Pixels between two pictures.
const GAP: usize = 4;
/// Room for the label at the left of a row.
const LABEL: usize = 20;
/// Pixels of the sheet for one of a label.
const ZOOM: usize = 2;
/// The labels, five pixels wide and seven high, a row a number.
const GLYPHS: [[u8; 7]; 10] = [
    [0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110],
    [0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110],
    [0b01110, 0b10001, 0b00001, 0b00010, 0b00100, 0b01000, 0b11111],
    [0b11110, 0b00001, 0b00001, 0b01110, 0b00001, 0b00001, 0b11110],
    [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010],
    [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110],
    [0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110],
    [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000],
    [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110],
    [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100],
];

/// A page of `columns` pictures of each class, a row a class with its label before it, dark on white, chosen by `seed`.
pub fn contact_sheet(split: &Split, columns: usize, seed: u64) -> GrayImage {
    let cell = SIDE + GAP;
    let mut sheet = GrayImage::from_pixel((LABEL + columns * cell + GAP) as u32, (10 * cell + GAP) as u32, image::Luma([255]));
    for (class, glyph) in (0_u8..).zip(GLYPHS) {
        let top = GAP + usize::from(class) * cell;
        let label_top = top + (SIDE - glyph.len() * ZOOM) / 2;
        for place in 0..5 * ZOOM * glyph.len() * ZOOM {
            let (x, y) = (place % (5 * ZOOM), place / (5 * ZOOM));
            if glyph[y / ZOOM] >> (4 - x / ZOOM) & 1 == 1 {
                sheet.put_pixel((GAP + x) as u32, (label_top + y) as u32, image::Luma([0]));
            }
        }
        let mut members: Vec<usize> = (0..split.len()).filter(|&index| split.labels[index] == class).collect();
        Random::stream(seed, "contact sheet", u64::from(class)).shuffle(&mut members);
        for (column, &index) in members.iter().take(columns).enumerate() {
            let left = LABEL + GAP + column * cell;
            for (place, &pixel) in split.image(index).iter().enumerate() {
                sheet.put_pixel((left + place % SIDE) as u32, (top + place / SIDE) as u32, image::Luma([255 - pixel]));
            }
        }
    }
    sheet
}
