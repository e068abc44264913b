//! Accuracy by form: as which variant of the built-in digits a drawing is written, by the nearest
//! shape.

use inkling::data::builtin;
use inkling::ink::{Bounds, Ink, InkEntry};
use rayon::prelude::*;

use super::scores::{Answer, percent};

/// Points of a drawing that are compared.
const POINTS: usize = 40;
/// Samples of each variant.
const SAMPLES: u64 = 24;

type Shape = Vec<[f32; 2]>;

/// Prints, for each digit and variant, the share of the drawings it is nearest to, their number and
/// the accuracy on them.
pub fn print(answers: &[Answer], entries: &[InkEntry]) {
    for digit in 0..10_u8 {
        let variants: Vec<Vec<Shape>> = (0..builtin::variants(digit))
            .map(|variant| {
                (0..SAMPLES)
                    .filter_map(|index| shape(&builtin::ink(digit, Some(variant), 7, index)))
                    .collect()
            })
            .collect();
        let of_digit: Vec<(&Answer, &InkEntry)> = answers
            .iter()
            .zip(entries)
            .filter(|(answer, _)| answer.label.to_digit(10) == Some(u32::from(digit)))
            .collect();
        let nearest: Vec<(usize, f32, bool)> = of_digit
            .par_iter()
            .filter_map(|(answer, entry)| {
                let drawn = shape(&entry.ink)?;
                let distance = |variant: &Vec<Shape>| {
                    variant
                        .iter()
                        .map(|shape| distance(shape, &drawn))
                        .fold(f32::INFINITY, f32::min)
                };
                let distances: Vec<f32> = variants.iter().map(distance).collect();
                let best =
                    (0..distances.len()).min_by(|a, b| distances[*a].total_cmp(&distances[*b]))?;
                Some((best, distances[best], answer.is_right()))
            })
            .collect();
        for variant in 0..variants.len() {
            let members: Vec<_> = nearest
                .iter()
                .filter(|(best, ..)| *best == variant)
                .collect();
            let right = members.iter().filter(|(.., right)| *right).count();
            let mean = members.iter().map(|(_, distance, _)| distance).sum::<f32>()
                / members.len().max(1) as f32;
            println!(
                "  {digit} variant {variant}: {} of the drawings ({}), read right: {}, mean distance {mean:.3}",
                percent(members.len() as f64 / nearest.len().max(1) as f64),
                members.len(),
                percent(right as f64 / members.len().max(1) as f64)
            );
        }
    }
}

/// The drawing as points at equal distances along its strokes, in their order, in its bounding box;
/// `None` for a dot.
fn shape(ink: &Ink) -> Option<Shape> {
    let along = |stroke: &Vec<[f32; 2]>| {
        stroke
            .windows(2)
            .map(|pair| length(pair[0], pair[1]))
            .sum::<f32>()
    };
    let total: f32 = ink.strokes.iter().map(along).sum();
    let bounds = Bounds::of(ink.strokes.iter().flatten().copied());
    let extent = bounds.size(0).max(bounds.size(1));
    if total <= 0.0 || extent <= 0.0 {
        return None;
    }
    let mut shape = Vec::with_capacity(POINTS);
    let (mut walked, mut next) = (0.0, 0.0);
    for stroke in &ink.strokes {
        for pair in stroke.windows(2) {
            let step = length(pair[0], pair[1]);
            while step > 0.0 && next <= walked + step && shape.len() < POINTS {
                let t = (next - walked) / step;
                shape.push([0, 1].map(|axis| {
                    (pair[0][axis] + t * (pair[1][axis] - pair[0][axis]) - bounds.low[axis])
                        / extent
                }));
                next += total / (POINTS - 1) as f32 * 0.9999;
            }
            walked += step;
        }
    }
    shape.resize(POINTS, *shape.last()?);
    Some(shape)
}

fn length(a: [f32; 2], b: [f32; 2]) -> f32 {
    (b[0] - a[0]).hypot(b[1] - a[1])
}

fn distance(a: &Shape, b: &Shape) -> f32 {
    a.iter().zip(b).map(|(a, b)| length(*a, *b)).sum::<f32>() / POINTS as f32
}
