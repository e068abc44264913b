//! Augmented images: reproducible, within bounds, and still images of the same thing.

use inkling::data::augment::Augmenter;
use inkling::ink::{PIXELS, SIDE};
use inkling::math::random::Random;
use inkling::run_config::Augmentation;

const EACH: [Augmentation; 3] = [
    Augmentation::Gentle,
    Augmentation::Medium,
    Augmentation::Strong,
];

/// A gray bar in the middle, 4 pixels wide and 14 high.
fn bar() -> Vec<u8> {
    (0..PIXELS)
        .map(|place| {
            if (12..16).contains(&(place % SIDE)) && (7..21).contains(&(place / SIDE)) {
                200
            } else {
                0
            }
        })
        .collect()
}

fn changed(augmentation: Augmentation, image: &[u8], seed: u64) -> Vec<u8> {
    let mut pixels = image.to_vec();
    Augmenter::new(augmentation)
        .unwrap()
        .apply(&mut pixels, &mut Random::new(seed));
    pixels
}

fn ink(pixels: &[u8]) -> f64 {
    pixels.iter().map(|&pixel| f64::from(pixel)).sum()
}

/// Center of mass, in pixels from the middle.
fn center(pixels: &[u8]) -> [f64; 2] {
    let moment = |of: fn(usize) -> usize| {
        let sum: f64 = pixels
            .iter()
            .enumerate()
            .map(|(place, &pixel)| f64::from(pixel) * (of(place) as f64 - 13.5))
            .sum();
        sum / ink(pixels)
    };
    [moment(|place| place % SIDE), moment(|place| place / SIDE)]
}

#[test]
fn off_is_off() {
    assert!(Augmenter::new(Augmentation::Off).is_none());
}

#[test]
fn the_same_numbers_make_the_same_image_whatever_came_before() {
    for augmentation in EACH {
        let mut augmenter = Augmenter::new(augmentation).unwrap();
        let mut again = |seed| {
            augmenter.apply(&mut [255; PIXELS], &mut Random::new(seed + 100));
            let mut pixels = bar();
            augmenter.apply(&mut pixels, &mut Random::new(seed));
            pixels
        };
        for seed in 0..5 {
            assert_eq!(again(seed), changed(augmentation, &bar(), seed));
        }
        assert_ne!(again(1), again(2));
    }
}

#[test]
fn changes_stay_within_bounds_and_have_no_direction() {
    for (augmentation, furthest, least_ink, most_ink) in [
        (Augmentation::Gentle, 3.0, 0.7, 1.45),
        (Augmentation::Medium, 3.5, 0.55, 1.7),
        (Augmentation::Strong, 5.0, 0.4, 2.0),
    ] {
        let (mut sum, mut ink_sum) = ([0.0; 2], 0.0);
        let count = 2000;
        for seed in 0..count {
            let pixels = changed(augmentation, &bar(), seed);
            let share = ink(&pixels) / ink(&bar());
            assert!(
                share > least_ink && share < most_ink,
                "{augmentation} {seed}: {share} of the ink"
            );
            let center = center(&pixels);
            for axis in 0..2 {
                assert!(
                    center[axis].abs() < furthest,
                    "{augmentation} {seed}: {center:?}"
                );
                sum[axis] += center[axis] / count as f64;
            }
            ink_sum += share / count as f64;
            assert!(
                pixels.iter().all(|&pixel| pixel <= 200),
                "nothing is darker than the darkest"
            );
        }
        assert!(
            sum.iter().all(|mean| mean.abs() < 0.1),
            "{augmentation}: {sum:?}"
        );
        assert!((ink_sum - 1.0).abs() < 0.05, "{augmentation}: {ink_sum}");
    }
}

#[test]
fn strong_changes_more_than_gentle() {
    let difference = |augmentation| -> f64 {
        (0..200)
            .map(|seed| {
                changed(augmentation, &bar(), seed)
                    .iter()
                    .zip(bar())
                    .map(|(&a, b)| (f64::from(a) - f64::from(b)).abs())
                    .sum::<f64>()
            })
            .sum()
    };
    assert!(difference(Augmentation::Strong) > 1.3 * difference(Augmentation::Gentle));
}

#[test]
fn empty_paper_stays_empty_and_full_paper_is_cut_off_at_the_edge_only() {
    for augmentation in EACH {
        for seed in 0..50 {
            assert!(
                changed(augmentation, &[0; PIXELS], seed)
                    .iter()
                    .all(|&pixel| pixel == 0)
            );
            let full = changed(augmentation, &[255; PIXELS], seed);
            assert!(full.iter().enumerate().all(|(place, &pixel)| {
                let inside = |at: usize| (8..20).contains(&at);
                !(inside(place % SIDE) && inside(place / SIDE)) || pixel == 255
            }));
        }
    }
}
