//! A few images of a data set and what it holds, to show before training; and contact sheets, pages
//! of images to look it over.

use std::path::PathBuf;

use image::GrayImage;

use super::load::{BUILTIN_SEED, load};
use super::{DataError, Dataset, Overview, Split, builtin, gather_batch};
use crate::ink::SIDE;
use crate::math::random::Random;
use crate::progress::Unwatched;
use crate::run_config::{Classes, DataSpec};

/// Pixels between two images.
const GAP: usize = 4;
/// Pixels for each digit of the label at the left of a row.
const DIGIT: usize = 12;
/// Pixels around the label.
const MARGIN: usize = 8;
/// Size of a label's pixel on the sheet.
const ZOOM: usize = 2;
/// The digits of the labels, five pixels wide and seven high: a row each.
#[rustfmt::skip] // one digit a line
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

/// A summary of a data set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preview {
    /// A few training images, digit by digit.
    pub samples: Split,
    /// What it holds and what may be wrong with it; `None` for generated digits, of which there are
    /// as many of each as asked for.
    pub overview: Option<Overview>,
    pub classes: Classes,
}

/// Looks at a data set: at most this many of its images, as many of each class. Reads the whole
/// set, unless it is generated: this is not for the user interface's thread.
pub fn preview(spec: &DataSpec, folders: &[PathBuf], most: usize) -> Result<Preview, DataError> {
    if *spec == DataSpec::builtin() {
        // Its digits come in turn.
        let few = builtin::generate(BUILTIN_SEED, most, 0, &mut Unwatched)?.train;
        return Ok(Preview {
            samples: samples(&few, 10, most),
            overview: None,
            classes: Classes::Digits,
        });
    }
    let set = load(spec, folders, &mut Unwatched)?;
    let overview = Some(Overview::of(&set));
    Ok(Preview {
        samples: samples(&set.train, set.classes.len(), most),
        overview,
        classes: set.classes,
    })
}

/// The first training images of each of this many classes, class by class, at most this many in
/// all.
fn samples(train: &Split, classes: usize, most: usize) -> Split {
    let of_each = (most / classes.max(1)).max(1);
    let of_digit = |digit: u8| {
        let indices = (0_u32..)
            .zip(&train.labels)
            .filter(move |(_, label)| **label == digit)
            .map(|(index, _)| index);
        indices.take(of_each)
    };
    let chosen: Vec<u32> = (0..classes as u8).flat_map(of_digit).take(most).collect();
    let mut shown = Split::default();
    gather_batch(train, &chosen, &mut shown);
    shown
}

/// A page of `columns` random training images of each class, a row for each class after its number,
/// dark on white.
pub fn contact_sheet(set: &Dataset, columns: usize, seed: u64) -> GrayImage {
    let (split, classes) = (&set.train, set.classes.len());
    let cell = SIDE + GAP;
    let label_width = MARGIN + DIGIT * (classes - 1).to_string().len();
    let size =
        [label_width + columns * cell + GAP, classes * cell + GAP].map(|pixels| pixels as u32);
    let mut sheet = GrayImage::from_pixel(size[0], size[1], image::Luma([255]));
    for class in 0..classes as u8 {
        let top = GAP + usize::from(class) * cell;
        for (position, digit) in class.to_string().bytes().enumerate() {
            let glyph = GLYPHS[usize::from(digit - b'0')];
            let (label_left, label_top) = (
                GAP + position * DIGIT,
                top + (SIDE - glyph.len() * ZOOM) / 2,
            );
            for place in 0..5 * ZOOM * glyph.len() * ZOOM {
                let (x, y) = (place % (5 * ZOOM), place / (5 * ZOOM));
                if glyph[y / ZOOM] >> (4 - x / ZOOM) & 1 == 1 {
                    sheet.put_pixel(
                        (label_left + x) as u32,
                        (label_top + y) as u32,
                        image::Luma([0]),
                    );
                }
            }
        }
        let mut members: Vec<usize> = (0..split.len())
            .filter(|&index| split.labels[index] == class)
            .collect();
        Random::stream(seed, "contact sheet", u64::from(class)).shuffle(&mut members);
        for (column, &index) in members.iter().take(columns).enumerate() {
            let left = label_width + GAP + column * cell;
            for (place, &pixel) in split.image(index).iter().enumerate() {
                sheet.put_pixel(
                    (left + place % SIDE) as u32,
                    (top + place / SIDE) as u32,
                    image::Luma([255 - pixel]),
                );
            }
        }
    }
    sheet
}
