//! Images that a model is shown as a whole.

use std::io::Cursor;
use std::path::Path;

use image::{GrayImage, ImageFormat, Luma};
use inkling::ink::{Framing, Image, SIDE, Writing, read_writing};

fn whole(picture: &GrayImage) -> (Image, Writing) {
    let mut file = Cursor::new(Vec::new());
    picture.write_to(&mut file, ImageFormat::Png).unwrap();
    let size = file.get_ref().len() as u64;
    file.set_position(0);
    let writing = read_writing(file, size, Path::new("some.png"), Framing::Whole).unwrap();
    (writing.image(0..writing.piece_count()), writing)
}

#[test]
fn an_image_of_the_right_size_is_taken_as_it_is() {
    let picture = GrayImage::from_fn(28, 28, |x, y| {
        Luma([if (x, y) == (0, 0) {
            0
        } else {
            (x * 3 + y * 5) as u8 % 120
        }])
    });
    let (image, writing) = whole(&picture);
    assert_eq!(image.pixels().as_slice(), picture.as_raw().as_slice());
    assert_eq!(writing.bounds().rectangle(), [0.0, 0.0, 28.0, 28.0]);
}

#[test]
fn a_light_background_becomes_dark_and_the_sides_keep_their_proportion() {
    // Twice as wide as high, its left half black: the upper and the lower quarter of the square are
    // empty.
    let picture = GrayImage::from_fn(112, 56, |x, _| {
        Luma([if (8..48).contains(&x) { 0 } else { 255 }])
    });
    let (image, writing) = whole(&picture);
    let pixels = image.pixels();
    let at = |x: usize, y: usize| pixels[y * SIDE + x];
    assert_eq!([at(5, 6), at(5, 7), at(5, 20), at(5, 21)], [0, 255, 255, 0]);
    assert_eq!(
        [at(1, 10), at(2, 10), at(11, 10), at(12, 10)],
        [0, 255, 255, 0]
    );
    assert_eq!(writing.bounds().rectangle(), [0.0, 0.0, 112.0, 56.0]);
}

#[test]
fn pixels_are_averaged_and_small_images_are_enlarged() {
    let dots = GrayImage::from_fn(56, 56, |x, y| {
        Luma([if x % 2 == 0 && y % 2 == 0 && x > 0 && y > 0 {
            200
        } else {
            0
        }])
    });
    assert_eq!(whole(&dots).0.pixels()[SIDE * 14 + 14], 50);
    let small = GrayImage::from_fn(4, 4, |x, y| {
        Luma([if (1..3).contains(&x) && (1..3).contains(&y) {
            255
        } else {
            0
        }])
    });
    let image = whole(&small).0;
    assert_eq!(
        image
            .pixels()
            .iter()
            .map(|&pixel| u32::from(pixel))
            .sum::<u32>(),
        14 * 14 * 255
    );
}

#[test]
fn an_image_is_saved_in_few_bytes_and_read_as_it_was() {
    let square = |x: usize, y: usize| (8..20).contains(&x) && (8..20).contains(&y);
    let drawn = |index: usize| {
        let inside = square(index % SIDE, index / SIDE);
        u8::from(inside) * (index % 256) as u8
    };
    for (pixels, limit) in [
        (std::array::from_fn(drawn), 300),
        ([0; SIDE * SIDE], 20),
        ([255; SIDE * SIDE], 1100),
        (std::array::from_fn(|index| index as u8), 1100),
    ] {
        let image = Image::new(pixels);
        let json = serde_json::to_string(&image).unwrap();
        assert!(json.len() < limit, "{} bytes", json.len());
        assert_eq!(serde_json::from_str::<Image>(&json).unwrap(), image);
    }
    for damaged in [r#""""#, r#""AA==""#, r#""AP8=""#, r#""%""#, "[0,0]", "null"] {
        let error = serde_json::from_str::<Image>(damaged);
        assert!(error.is_err(), "{damaged}");
    }
}
