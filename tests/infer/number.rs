//! Several digits, read from left to right.

use image::{GrayImage, Luma};
use inkling::data::builtin;
use inkling::infer::{read_candidates, read_number};
use inkling::ink::{Framing, Ink, Writing, read_writing_file};
use inkling::records::DigitPrediction;

use crate::support::starter;

/// Built-in digits side by side, each 100 units high, with gaps and baselines that differ.
fn string(digits: &[u8], seed: u64) -> Ink {
    let (mut strokes, mut left) = (Vec::new(), 0.0_f32);
    for (index, &digit) in digits.iter().enumerate() {
        let ink = builtin::ink(digit, Some(0), seed, index as u64);
        let points = || ink.strokes.iter().flatten();
        let [low, high] = [f32::min, f32::max].map(|fold: fn(f32, f32) -> f32| {
            [0, 1].map(|axis| points().map(|point| point[axis]).reduce(fold).unwrap())
        });
        let scale = 100.0 / (high[1] - low[1]);
        let drop = (index % 3) as f32 * 8.0;
        strokes.extend(ink.strokes.iter().map(|stroke| {
            stroke
                .iter()
                .map(|[x, y]| [(x - low[0]) * scale + left, (y - low[1]) * scale + drop])
                .collect::<Vec<_>>()
        }));
        left += (high[0] - low[0]) * scale + 18.0 + (index % 2) as f32 * 15.0;
    }
    Ink {
        strokes,
        pen: Some(8.0),
    }
}

fn text(digits: &[DigitPrediction]) -> String {
    digits
        .iter()
        .map(|digit| digit.prediction.digit.to_string())
        .collect()
}

#[test]
fn numbers_are_read_from_left_to_right() {
    let starter = starter();
    let mut right = 0;
    for seed in 0..30_u64 {
        let digits: Vec<u8> = (0..2 + seed % 5)
            .map(|index| ((seed * 7 + index * 3) % 10) as u8)
            .collect();
        let read = read_number(&starter, &Writing::of_ink(&string(&digits, seed))).unwrap();
        right += usize::from(text(&read) == digits.iter().map(u8::to_string).collect::<String>());
        assert!(
            read.windows(2)
                .all(|pair| pair[0].bounds[0] < pair[1].bounds[0]),
            "{read:?}"
        );
    }
    assert!(right >= 24, "{right} of 30");
}

#[test]
fn a_single_digit_stays_one_and_is_recognized_as_always() {
    let starter = starter();
    let mut whole = 0;
    for seed in 0..200_u64 {
        let ink = builtin::ink((seed % 10) as u8, None, 5, seed);
        let read = read_number(&starter, &Writing::of_ink(&ink)).unwrap();
        if let [digit] = read.as_slice() {
            assert_eq!(digit.prediction.image, inkling::ink::rasterize(&ink));
            whole += 1;
        }
    }
    assert!(whole >= 196, "{whole} of 200");
}

#[test]
fn nothing_written_is_no_digit() {
    let starter = starter();
    assert!(
        read_number(&starter, &Writing::of_ink(&Ink::default()))
            .unwrap()
            .is_empty()
    );
}

#[test]
fn an_image_of_a_number_is_read_as_its_ink_is() {
    let starter = starter();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("number.png");
    let mut right = 0;
    for seed in 0..10 {
        let ink = string(&[2, 0, 2, 6], seed);
        write_image(&ink, &path);
        let writing = read_writing_file(&path, Framing::Ink).unwrap();
        let read = read_number(&starter, &writing).unwrap();
        // The window makes the images before it asks.
        let again = read_candidates(&starter, &writing.candidate_images()).unwrap();
        let images = |digits: &[DigitPrediction]| {
            digits
                .iter()
                .map(|digit| (digit.pieces.clone(), digit.prediction.image.clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(images(&again), images(&read));
        right += usize::from(read.len() == 4);
        // The first digit's box is where it was drawn, in pixels of the file.
        let [x, y, width, height] = read[0].bounds;
        assert!((x - 40.0).abs() < 8.0 && (y - 40.0).abs() < 8.0, "{x} {y}");
        assert!(
            (100.0..125.0).contains(&height) && width < 130.0,
            "{width} {height}"
        );
    }
    assert!(right >= 9, "{right} of 10 have four digits");
}

/// Dark ink on white paper, with a margin.
fn write_image(ink: &Ink, path: &std::path::Path) {
    let mut page = GrayImage::from_pixel(720, 220, Luma([250]));
    for stroke in &ink.strokes {
        for pair in stroke.windows(2) {
            for step in 0..40 {
                let along = step as f32 / 40.0;
                let [x, y] =
                    [0, 1].map(|axis| pair[0][axis] * (1.0 - along) + pair[1][axis] * along + 45.0);
                for (dx, dy) in (-4..=4_i32)
                    .flat_map(|dx| (-4..=4_i32).map(move |dy| (dx, dy)))
                    .filter(|(dx, dy)| dx * dx + dy * dy <= 16)
                {
                    let (x, y) = ((x as i32 + dx) as u32, (y as i32 + dy) as u32);
                    if x < page.width() && y < page.height() {
                        page.put_pixel(x, y, Luma([20]));
                    }
                }
            }
        }
    }
    page.save(path).unwrap();
}
