//! Drawings that are not digits: letters and signs, scribbles, lines and dots, and digits on top of
//! each other. From them a model learns what it does not know (outlier exposure: Hendrycks, Mazeika
//! & Dietterich 2019).

use std::f32::consts::TAU;

use super::handwriting::{self, WrittenDigit, curve};
use super::skeletons;
use crate::ink::Stroke;
use crate::math::random::Random;

/// Draws something that is not a digit.
pub(super) fn draw(random: &mut Random) -> WrittenDigit {
    match random.below(20) {
        0..12 => handwriting::write_one_of(skeletons::signs(), random),
        12..14 => handwriting::inked(scribble(random), random),
        14..16 => handwriting::inked(lines(random), random),
        16 => handwriting::inked(zigzag(random), random),
        17 => handwriting::inked(dots(random), random),
        _ => handwriting::inked(overlaid(random), random),
    }
}

/// Draws something that is not a character at all.
pub(super) fn draw_scribble(random: &mut Random) -> WrittenDigit {
    match random.below(4) {
        0..2 => handwriting::inked(scribble(random), random),
        2 => handwriting::inked(dots(random), random),
        _ => handwriting::inked(overlaid(random), random),
    }
}

/// A wild curve in one or more strokes, too long for a digit.
fn scribble(random: &mut Random) -> Vec<Stroke> {
    let strokes = 1 + random.below(3);
    let knots = 7 + random.below(10);
    (0..strokes)
        .map(|_| {
            curve(
                &(0..knots)
                    .map(|_| [random.uniform(), random.uniform()])
                    .collect::<Vec<_>>(),
            )
        })
        .collect()
}

/// Several straight strokes, or one that lies: a digit's own lines are upright.
fn lines(random: &mut Random) -> Vec<Stroke> {
    let count = [1, 3, 4, 5][random.below(4)];
    if count == 1 {
        let tilt = random.range(-0.3, 0.3);
        return vec![curve(&[
            [0.0, tilt],
            [0.5, tilt / 2.0 + random.range(-0.05, 0.05)],
            [1.0, 0.0],
        ])];
    }
    (0..count)
        .map(|_| {
            curve(&[
                [random.uniform(), random.uniform()],
                [random.uniform(), random.uniform()],
            ])
        })
        .collect()
}

/// One dot, hardly moved, or a few.
fn dots(random: &mut Random) -> Vec<Stroke> {
    let count = 1 + random.below(3);
    let dot = |random: &mut Random| {
        let [x, y] = [random.uniform(), random.uniform()];
        vec![
            [x, y],
            [x + random.range(-0.04, 0.04), y + random.range(-0.04, 0.04)],
        ]
    };
    (0..count).map(|_| dot(random)).collect()
}

/// To and fro, as one fills an area.
fn zigzag(random: &mut Random) -> Vec<Stroke> {
    let turns = 6 + random.below(8);
    let (sin, cos) = (random.uniform() * TAU).sin_cos();
    let width = random.range(0.4, 1.2);
    let knots = (0..turns).map(|turn| {
        let (along, across) = (
            turn as f32 / turns as f32,
            if turn % 2 == 0 { 0.0 } else { width } + random.range(-0.1, 0.1),
        );
        [along * cos - across * sin, along * sin + across * cos]
    });
    vec![curve(&knots.collect::<Vec<_>>())]
}

/// Two digits on top of each other, or too close.
fn overlaid(random: &mut Random) -> Vec<Stroke> {
    let first = random.below(10) as u8;
    let second = (first + 1 + random.below(9) as u8) % 10;
    let mut strokes = handwriting::write(first, None, random).ink.strokes;
    let offset = [random.range(-0.8, 0.8), random.range(-0.3, 0.3)];
    let above = handwriting::write(second, None, random).ink.strokes;
    strokes.extend(above.into_iter().map(|stroke| {
        stroke
            .into_iter()
            .map(|[x, y]| [x + offset[0], y + offset[1]])
            .collect::<Stroke>()
    }));
    strokes
}
