//! Separates ink from the paper it is on: polarity, uneven light, noise, specks.

use crate::ink::image::GrayImage;
use crate::ink::steps::{STAGE_SIDE, StageImage, StageKind, StageObserver, Step, Steps};

/// An image with less contrast than this, as a fraction of the range from black to white, is taken
/// to be empty.
const MIN_CONTRAST: f32 = 0.06;
/// Images with a shorter side than this are taken to be screenshots or scans, which are evenly lit.
const PHOTOGRAPH: usize = 64;
/// A connected component smaller than this, relative to the largest, is a speck.
const SPECK: f32 = 0.04;

/// The ink, from 0 to 1 per pixel; `None` when nothing stands out from the paper. `observer` is
/// shown what each step gives.
pub(super) fn find_ink(
    gray: &GrayImage,
    steps: &Steps,
    observer: &mut impl StageObserver,
) -> Option<GrayImage> {
    let (over_paper, noise) = contrast(gray, steps.has(Step::Lighting))?;
    // Full ink: what the darkest few pixels have, whatever the size of the digit.
    let few = (over_paper.len() / 2000).clamp(4.min(over_paper.len() - 1), 200);
    let full = quantile(&over_paper, 1.0 - few as f32 / over_paper.len() as f32);
    let image = |values: Vec<f32>| GrayImage { values, ..*gray };
    let unseparated = || {
        image(
            over_paper
                .iter()
                .map(|value| (value / full.max(f32::MIN_POSITIVE)).clamp(0.0, 1.0))
                .collect(),
        )
    };
    let small = |ink: &GrayImage| StageImage::Ink(ink.reduced(STAGE_SIDE));
    observer.stage(StageKind::Step(Step::Lighting), || small(&unseparated()));
    if !steps.has(Step::Threshold) {
        let ink = unseparated();
        observer.stage(StageKind::Step(Step::Threshold), || small(&ink));
        observer.stage(StageKind::Step(Step::Specks), || small(&ink));
        return Some(ink);
    }
    if full < MIN_CONTRAST.max(5.0 * noise) {
        return None;
    }
    let threshold = (0.4 * full).max(4.0 * noise).min(0.8 * full);
    let stretch = |value: f32| ((value / full - 0.15) / 0.7).clamp(0.0, 1.0);
    let near =
        |mask: &[bool], index: usize| gray.neighborhood(index).any(|neighbor| mask[neighbor]);
    let within = |mask: &[bool]| {
        image(
            over_paper
                .iter()
                .enumerate()
                .map(|(index, &value)| {
                    if near(mask, index) {
                        stretch(value)
                    } else {
                        0.0
                    }
                })
                .collect(),
        )
    };
    let mask: Vec<bool> = over_paper.iter().map(|&value| value > threshold).collect();
    observer.stage(StageKind::Step(Step::Threshold), || small(&within(&mask)));
    let ink = within(&if steps.has(Step::Specks) {
        main_components(gray, mask)
    } else {
        mask
    });
    observer.stage(StageKind::Step(Step::Specks), || small(&ink));
    Some(ink)
}

/// How far each pixel stands out from the paper towards the ink, with its light evened out or as it
/// is, and the paper's noise (a standard deviation).
fn contrast(gray: &GrayImage, even_light: bool) -> Option<(Vec<f32>, f32)> {
    let frame = 1 + gray.width.min(gray.height) / 20;
    let border: Vec<f32> = (0..gray.values.len())
        .filter(|&index| gray.distance_to_edge(index) < frame)
        .map(|index| gray.values[index])
        .collect();
    if border.is_empty() {
        return None;
    }
    let paper = quantile(&border, 0.5);
    let (darkest, lightest) = (quantile(&gray.values, 0.002), quantile(&gray.values, 0.998));
    let sign = if paper - darkest >= lightest - paper {
        -1.0
    } else {
        1.0
    };
    let towards_ink: Vec<f32> = gray
        .values
        .iter()
        .map(|value| sign * (value - paper))
        .collect();
    let light = if !even_light || gray.width.min(gray.height) < PHOTOGRAPH {
        [0.0; 6]
    } else {
        fit_lighting(gray, &towards_ink)
    };
    let over_paper: Vec<f32> = towards_ink
        .iter()
        .enumerate()
        .map(|(index, value)| value - dot(light, terms(gray, index)))
        .collect();
    let half = 0.5 * quantile(&over_paper, 0.998);
    let noise = robust_deviation(over_paper.iter().copied().filter(|value| *value <= half));
    Some((over_paper, noise))
}

/// The paper's brightness as a quadratic surface, fitted by least squares to the pixels that are
/// not ink: each round leaves out those that stand out most.
fn fit_lighting(gray: &GrayImage, towards_ink: &[f32]) -> [f64; 6] {
    let stride = (towards_ink.len() / 20_000).max(1);
    let sample: Vec<(f32, [f64; 6])> = (0..towards_ink.len())
        .step_by(stride)
        .map(|index| (towards_ink[index], terms(gray, index)))
        .collect();
    let mut surface = [0.0; 6];
    let values: Vec<f32> = sample.iter().map(|(value, _)| *value).collect();
    // At first paper is what is nearer to the border's than to the ink's brightness, and in a slope
    // of light not the top fifth.
    let mut limit = quantile(&values, 0.8).min(0.5 * quantile(&values, 0.998));
    for _ in 0..6 {
        let paper: Vec<_> = sample
            .iter()
            .filter(|(value, terms)| value - dot(surface, *terms) <= limit)
            .collect();
        surface = least_squares(&paper).unwrap_or(surface);
        limit = (2.5
            * robust_deviation(
                paper
                    .iter()
                    .map(|(value, terms)| value - dot(surface, *terms)),
            ))
        .max(0.02);
    }
    surface
}

/// The terms of the surface at a pixel, with coordinates from -1 to 1.
fn terms(gray: &GrayImage, index: usize) -> [f64; 6] {
    let (x, y) = gray.position(index);
    let x = 2.0 * (x as f64 + 0.5) / gray.width as f64 - 1.0;
    let y = 2.0 * (y as f64 + 0.5) / gray.height as f64 - 1.0;
    [1.0, x, y, x * x, x * y, y * y]
}

fn dot(a: [f64; 6], b: [f64; 6]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() as f32
}

/// Solves the normal equations by Gauss-Jordan elimination; `None` when the points do not determine
/// the surface.
fn least_squares(points: &[&(f32, [f64; 6])]) -> Option<[f64; 6]> {
    let mut rows = [[0.0_f64; 7]; 6];
    for (value, terms) in points {
        for (row, a) in rows.iter_mut().zip(terms) {
            for (cell, b) in row.iter_mut().zip(terms) {
                *cell += a * b;
            }
            row[6] += a * f64::from(*value);
        }
    }
    // The normal matrix is positive definite if there is enough paper: no pivoting needed.
    for pivot in 0..6 {
        let scale = rows[pivot][pivot];
        if scale < 1e-6 {
            return None;
        }
        rows[pivot] = rows[pivot].map(|cell| cell / scale);
        let base = rows[pivot];
        for (_, row) in rows
            .iter_mut()
            .enumerate()
            .filter(|(index, _)| *index != pivot)
        {
            let factor = row[pivot];
            for (cell, base) in row.iter_mut().zip(base) {
                *cell -= factor * base;
            }
        }
    }
    Some(rows.map(|row| row[6]))
}

/// Keeps the connected components of a mask that make up the digit: no specks, and nothing that
/// runs off the image (the edge of the paper, a ruled line) beside something of a digit's size that
/// does not.
fn main_components(gray: &GrayImage, mask: Vec<bool>) -> Vec<bool> {
    let components = gray.components(mask);
    let runs_off = |members: &[usize]| {
        members
            .iter()
            .any(|&index| gray.distance_to_edge(index) == 0)
    };
    let (outer, inner): (Vec<_>, Vec<_>) = components
        .into_iter()
        .partition(|members| runs_off(members));
    let largest =
        |components: &[Vec<usize>]| components.iter().map(Vec::len).max().unwrap_or(0) as f32;
    let drop_outer = largest(&inner) >= 0.3 * largest(&outer);
    let outer = if drop_outer { Vec::new() } else { outer };
    let speck = SPECK * largest(&inner).max(largest(&outer));
    let mut kept = vec![false; gray.values.len()];
    for &index in inner
        .iter()
        .chain(&outer)
        .filter(|members| members.len() as f32 >= speck)
        .flatten()
    {
        kept[index] = true;
    }
    kept
}

/// A robust standard deviation about 0, from the median of absolute values.
fn robust_deviation(values: impl Iterator<Item = f32>) -> f32 {
    1.4826 * quantile(&values.map(f32::abs).collect::<Vec<_>>(), 0.5)
}

/// The value below which this fraction of the values lies; 0 without values.
fn quantile(values: &[f32], share: f32) -> f32 {
    let mut values = values.to_vec();
    let rank = ((values.len() as f32 * share) as usize).min(values.len().saturating_sub(1));
    if values.is_empty() {
        0.0
    } else {
        *values.select_nth_unstable_by(rank, f32::total_cmp).1
    }
}
