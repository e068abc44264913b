//! The built-in data set: the same for a seed whatever the threads, balanced, varied, and quick to
//! give up.

use inkling::data::builtin::{self, skeletons};
use inkling::data::{DataError, Dataset};
use inkling::ink::{PIXELS, rasterize};
use inkling::progress::{Cancelled, PartialProgress, Progress, Unwatched};

fn generate(seed: u64, train: usize, test: usize) -> Dataset {
    builtin::generate(seed, train, test, &mut Unwatched).unwrap()
}

fn on_threads(threads: usize, seed: u64) -> Dataset {
    crate::support::on_threads(threads, || generate(seed, 700, 100))
}

#[test]
fn a_seed_gives_the_same_bytes_whatever_the_threads() {
    let one = on_threads(1, 5);
    assert_eq!(one, on_threads(2, 5));
    assert_ne!(one.train.images, on_threads(2, 6).train.images);
}

#[test]
fn the_set_does_not_depend_on_how_many_are_asked_for() {
    let (few, more) = (generate(3, 300, 40), generate(3, 600, 80));
    assert_eq!(few.train.images[..], more.train.images[..300 * PIXELS]);
    assert_eq!(few.test.images[..], more.test.images[..40 * PIXELS]);
}

#[test]
fn classes_are_balanced_and_no_image_is_blank_or_repeated() {
    let set = generate(1, 2000, 500);
    for (split, count) in [(&set.train, 2000), (&set.test, 500)] {
        assert_eq!((split.len(), split.images.len()), (count, count * PIXELS));
        for digit in 0..10 {
            let of_digit: Vec<_> = split
                .labels
                .iter()
                .filter(|&&label| label == digit)
                .collect();
            assert_eq!(of_digit.len(), count / 10);
        }
    }
    let mut images: Vec<&[u8]> = (0..2000)
        .map(|i| set.train.image(i))
        .chain((0..500).map(|i| set.test.image(i)))
        .collect();
    assert!(
        images
            .iter()
            .all(|image| image.iter().any(|&pixel| pixel > 128))
    );
    images.sort_unstable();
    images.dedup();
    assert_eq!(images.len(), 2500, "training and test images all differ");
}

#[test]
fn gray_levels_are_like_mnists() {
    let set = generate(2, 3000, 0);
    let mean = set
        .train
        .images
        .iter()
        .map(|&pixel| f64::from(pixel))
        .sum::<f64>()
        / set.train.images.len() as f64;
    // MNIST's training images average 33.3 of 255.
    assert!((28.0..39.0).contains(&mean), "mean {mean}");
}

#[test]
fn every_variant_of_every_digit_is_drawn_inside_the_box() {
    for digit in 0..10 {
        assert!(
            builtin::variants(digit) >= 3,
            "people write a {digit} in several ways"
        );
        for variant in 0..builtin::variants(digit) {
            for index in 0..40 {
                let ink = builtin::ink(digit, Some(variant), 9, index);
                assert!(
                    ink.strokes
                        .iter()
                        .flatten()
                        .flatten()
                        .all(|coordinate| coordinate.is_finite())
                );
                assert!(
                    !rasterize(&ink).is_blank(),
                    "digit {digit}, variant {variant}, sample {index}"
                );
            }
        }
    }
    assert_eq!(builtin::variants(10), 0);
    assert!(builtin::ink(10, None, 1, 1).is_empty());
}

#[test]
fn progress_rises_to_one_and_a_break_cancels() {
    let mut heard = Vec::new();
    builtin::generate(1, 1500, 500, &mut |fraction: f32| {
        heard.push(fraction);
        Ok(())
    })
    .unwrap();
    assert!(
        heard.is_sorted() && heard.first() == Some(&0.0) && heard.last() == Some(&1.0),
        "{heard:?}"
    );

    let mut calls = 0;
    let cancelled = builtin::generate(1, 60_000, 10_000, &mut |_: f32| {
        calls += 1;
        if calls == 3 { Err(Cancelled) } else { Ok(()) }
    });
    assert_eq!(
        (cancelled, calls),
        (Err(DataError::Cancelled(Cancelled)), 3)
    );
}

#[test]
fn nothing_asked_for_gives_an_empty_set() {
    assert_eq!(generate(1, 0, 0), Dataset::default());
}

/// Counts what it is shown.
#[derive(Default)]
struct Shown {
    images: usize,
    fractions: Vec<f32>,
}

impl Progress for Shown {
    fn report(&mut self, fraction: f32) -> Result<(), Cancelled> {
        self.fractions.push(fraction);
        Ok(())
    }

    fn images(&mut self, pixels: &[u8]) {
        assert!(pixels.len().is_multiple_of(PIXELS) && pixels.iter().any(|&pixel| pixel > 128));
        self.images += pixels.len() / PIXELS;
    }
}

#[test]
fn every_image_is_shown_as_it_is_generated_and_the_progress_goes_to_the_end() {
    let mut shown = Shown::default();
    builtin::generate(
        1,
        600,
        100,
        &mut PartialProgress {
            whole: &mut shown,
            start: 0.5,
            end: 1.0,
        },
    )
    .unwrap();
    assert_eq!(shown.images, 700);
    assert!(
        shown.fractions.is_sorted()
            && shown.fractions.first() == Some(&0.5)
            && shown.fractions.last() == Some(&1.0)
    );
}

#[test]
fn every_digit_has_skeletons_and_so_have_the_signs() {
    let all = skeletons::parse(skeletons::TEXT).unwrap();
    for variants in all.digits.iter().chain([&all.signs]) {
        assert!(!variants.is_empty());
    }
}

#[test]
fn skeletons_that_do_not_fit_together_are_refused_with_their_line() {
    let one = "[1]\nvariant 0.5\n10,0 10,100\n";
    assert!(skeletons::parse(one).is_ok());
    for (text, error) in [
        (
            format!("{one}10,0 5,50 10,100"),
            "line 4: the shapes of a variant have the same",
        ),
        (
            format!("{one}10,0 | 10,100"),
            "line 4: the shapes of a variant have the same",
        ),
        (format!("{one}10,0 10,l00"), "line 4: it is no shape"),
        (
            format!("{one}variant 0"),
            "line 4: a weight is a number above 0",
        ),
        (format!("{one}variant 1\n[2]"), "a variant has no shape"),
        (
            "[1]\n10,0 10,100".to_owned(),
            "line 2: a shape belongs to a variant",
        ),
        (
            "[10]\nvariant 1".to_owned(),
            "line 2: it belongs to no digit",
        ),
    ] {
        let refused = skeletons::parse(&text).unwrap_err();
        assert!(refused.contains(error), "{refused}");
    }
}
