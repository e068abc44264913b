//! How handwriting varies: between people (slant, proportion, pen) and within one hand (jitter,
//! tremor, overshoot); and the curve of the pen through a skeleton's points.
//!
//! And drawings that are not digits: letters and signs, scribbles, lines and dots, and digits on top
//! of each other. From them a model learns what it does not know (outlier exposure: Hendrycks,
//! Mazeika & Dietterich 2019).

use std::f32::consts::TAU;

use super::skeletons::{self, Variant};
use crate::ink::{Bounds, Image, Ink, Stroke, rasterize_as_scanned, rasterize_as_thinned};
use crate::math::random::Random;

/// A digit as somebody wrote it.
pub(super) struct WrittenDigit {
    pub ink: Ink,
    /// Pen diameter in image pixels.
    pen: f32,
}

impl WrittenDigit {
    /// The digit as a scanner of some quality sees what a pen with some flow of ink left.
    pub fn scan(&self, random: &mut Random) -> Image {
        let edge = random.range(0.7, 1.5);
        if random.uniform() < THICK_SHARE {
            return rasterize_as_thinned(
                &self.ink,
                (THICK[0].ln() + random.uniform() * (THICK[1] / THICK[0]).ln()).exp(),
                edge,
            );
        }
        let roughness = random.range(0.0, 0.2);
        let flow = Warp::new(random.range(0.0, 0.25) * self.pen, random);
        rasterize_as_scanned(&self.ink, self.pen, edge, |x, y| {
            let [along, _] = flow.offset([x / 14.0, y / 14.0]);
            // The line may thin, but not break: half the radius stays.
            along.max(-0.25 * self.pen) + roughness * random.normal()
        })
    }
}

/// How many digits look as if they were drawn with a very thick pen and thinned, as image files are
/// read.
const THICK_SHARE: f32 = 0.06;
/// Radius of those pens, in image pixels: from the least to the largest, evenly in logarithms.
const THICK: [f32; 2] = [1.5, 4.5];

/// Distance between the points of a stroke, relative to the digit's height.
const STEP: f32 = 0.03;

/// Writes a digit: variant `variant` of it, else one as often as people use it.
pub(super) fn write(digit: u8, variant: Option<usize>, random: &mut Random) -> WrittenDigit {
    let variants = skeletons::of(digit);
    let Some(variant) = variant
        .and_then(|index| variants.get(index))
        .or_else(|| sample_variant(variants, random))
    else {
        return WrittenDigit {
            ink: Ink::default(),
            pen: 0.0,
        };
    };
    // A 1 leans further than other digits do: it varies in little else.
    let lean = if digit == 1 { 1.25 } else { 1.0 };
    write_variant(variant, lean, random)
}

fn write_one_of(variants: &[Variant], random: &mut Random) -> WrittenDigit {
    match sample_variant(variants, random) {
        Some(variant) => write_variant(variant, 1.0, random),
        None => inked(Vec::new(), random),
    }
}

/// Strokes as drawn with some pen.
fn inked(strokes: Vec<Stroke>, random: &mut Random) -> WrittenDigit {
    let style = Style::sample(1.0, random);
    let pen = Some(style.pen_for(&strokes));
    WrittenDigit {
        ink: Ink { strokes, pen },
        pen: style.pen,
    }
}

fn write_variant(variant: &Variant, lean: f32, random: &mut Random) -> WrittenDigit {
    let style = Style::sample(lean, random);
    let mut strokes = interpolate_shapes(variant, random);
    for stroke in &mut strokes {
        style.jitter(stroke, random);
    }
    let mut strokes: Vec<Stroke> = strokes.iter().map(|knots| curve(knots)).collect();
    for stroke in &mut strokes {
        style.add_tremor(stroke, random);
    }
    let warp = Warp::new(style.warp, random);
    for point in strokes.iter_mut().flatten() {
        *point = style.slant(warp.displace(*point));
    }
    let pen = Some(style.pen_for(&strokes));
    WrittenDigit {
        ink: Ink { strokes, pen },
        pen: style.pen,
    }
}

/// A variant, as often as its weight says.
fn sample_variant<'a>(variants: &'a [Variant], random: &mut Random) -> Option<&'a Variant> {
    let mut left = random.uniform() * variants.iter().map(|variant| variant.weight).sum::<f32>();
    let sampled = variants.iter().find(|variant| {
        left -= variant.weight;
        left < 0.0
    });
    // Rounding may leave a little of the sum.
    sampled.or(variants.last())
}

/// Somewhere between two of the variant's shapes, or a little beyond; in units of the digit's
/// height.
fn interpolate_shapes(variant: &Variant, random: &mut Random) -> Vec<Vec<[f32; 2]>> {
    let (Some(one), Some(other)) = (
        variant.shapes.get(random.below(variant.shapes.len())),
        variant.shapes.get(random.below(variant.shapes.len())),
    ) else {
        return Vec::new();
    };
    let t = random.range(-0.15, 1.15);
    let mix = |a: i16, b: i16| (f32::from(a) + (f32::from(b) - f32::from(a)) * t) / 100.0;
    let strokes = one.iter().zip(other);
    strokes
        .map(|(a, b)| {
            a.iter()
                .zip(b)
                .map(|(p, q)| [mix(p[0], q[0]), mix(p[1], q[1])])
                .collect()
        })
        .collect()
}

/// How one person writes, on one occasion. Lengths are relative to the digit's height.
struct Style {
    /// Horizontal shift per height.
    slant: f32,
    /// Rotation of the baseline, in radians.
    rotation: f32,
    /// Width relative to the skeleton's.
    width: f32,
    /// Standard deviation of each point's place.
    jitter: f32,
    /// Standard deviation of a stroke's place.
    drift: f32,
    /// Strength of tremor along the path.
    tremor: f32,
    /// Strength of the smooth deformation.
    warp: f32,
    /// Pen diameter in image pixels.
    pen: f32,
}

impl Style {
    fn sample(lean: f32, random: &mut Random) -> Self {
        let sloppiness = random.range(0.3, 1.1);
        Self {
            slant: (0.15 + 0.23 * random.normal()).clamp(-0.5, 0.85) * lean,
            rotation: 0.09 * random.normal(),
            width: (0.24 * random.normal()).exp().clamp(0.5, 2.2),
            jitter: 0.022 * sloppiness,
            drift: 0.03 * sloppiness,
            tremor: 0.005 * random.uniform(),
            warp: 0.06 * sloppiness,
            pen: (2.4 * (0.29 * random.normal()).exp()).clamp(1.3, 5.4),
        }
    }

    /// Points and strokes never land quite where they should, and strokes begin early or end late.
    fn jitter(&self, knots: &mut [[f32; 2]], random: &mut Random) {
        let drift = [self.drift * random.normal(), self.drift * random.normal()];
        let mut before: Option<([f32; 2], [f32; 2])> = None;
        for knot in knots.iter_mut() {
            let old = *knot;
            let moved = match before {
                // A corner is one point, though it is listed twice.
                Some((same, moved)) if same == old => moved,
                _ => [0, 1].map(|axis| old[axis] + drift[axis] + self.jitter * random.normal()),
            };
            before = Some((old, moved));
            *knot = moved;
        }
        if let [first, second, ..] = knots {
            extend(first, *second, 0.12 * random.normal());
        }
        if let [.., second, last] = knots {
            extend(last, *second, 0.12 * random.normal());
        }
    }

    /// Muscle tremor: a slowly wandering offset across the path.
    fn add_tremor(&self, stroke: &mut [[f32; 2]], random: &mut Random) {
        let mut offset = [0.0_f32; 2];
        for point in stroke {
            for axis in 0..2 {
                offset[axis] = 0.9 * offset[axis] + self.tremor * random.normal();
                point[axis] += offset[axis];
            }
        }
    }

    /// Width, slant and baseline.
    fn slant(&self, [x, y]: [f32; 2]) -> [f32; 2] {
        let x = x * self.width - y * self.slant;
        let (sin, cos) = self.rotation.sin_cos();
        [x * cos - y * sin, x * sin + y * cos]
    }

    /// The diameter, in the strokes' unit, that gives this style's pen width in the image.
    fn pen_for(&self, strokes: &[Stroke]) -> f32 {
        let bounds = Bounds::of(strokes.iter().flatten().copied());
        self.pen * bounds.size(0).max(bounds.size(1)) / (18.5 - self.pen)
    }
}

/// Moves an end away from its neighbor (or towards it) by this fraction of their distance.
fn extend(end: &mut [f32; 2], neighbor: [f32; 2], fraction: f32) {
    for axis in 0..2 {
        end[axis] += (end[axis] - neighbor[axis]) * fraction;
    }
}

/// A smooth deformation of the plane: a few long waves each way.
struct Warp {
    waves: [[f32; 4]; 6],
}

impl Warp {
    fn new(strength: f32, random: &mut Random) -> Self {
        let wave = |random: &mut Random| {
            let (sin, cos) = (random.uniform() * TAU).sin_cos();
            let frequency = TAU * random.range(0.3, 1.1);
            [
                sin * frequency,
                cos * frequency,
                random.uniform() * TAU,
                strength * random.normal(),
            ]
        };
        Self {
            waves: std::array::from_fn(|_| wave(random)),
        }
    }

    fn offset(&self, [x, y]: [f32; 2]) -> [f32; 2] {
        let sum = |waves: &[[f32; 4]]| {
            waves
                .iter()
                .map(|[kx, ky, phase, height]| height * (kx * x + ky * y + phase).sin())
                .sum::<f32>()
        };
        let (across, down) = self.waves.split_at(3);
        [sum(across), sum(down)]
    }

    fn displace(&self, point: [f32; 2]) -> [f32; 2] {
        let offset = self.offset(point);
        [point[0] + offset[0], point[1] + offset[1]]
    }
}

/// The points of a centripetal Catmull-Rom spline (Catmull & Rom 1974; Yuksel, Schaefer & Keyser
/// 2011: no loops or cusps between points) about [`STEP`] apart. A point given twice is a corner:
/// the curve stops there and starts afresh.
fn curve(knots: &[[f32; 2]]) -> Vec<[f32; 2]> {
    let mut points = Vec::with_capacity(knots.len() * 8);
    points.extend(knots.first());
    for run in knots.chunk_by(|a, b| a != b) {
        for index in 1..run.len() {
            let (from, to) = (run[index - 1], run[index]);
            let before = if index > 1 {
                run[index - 2]
            } else {
                mirrored(from, to)
            };
            let after = run
                .get(index + 1)
                .copied()
                .unwrap_or_else(|| mirrored(to, from));
            piece([before, from, to, after], &mut points);
        }
    }
    points
}

/// The point as far before `at` as `next` is after it.
fn mirrored(at: [f32; 2], next: [f32; 2]) -> [f32; 2] {
    [2.0 * at[0] - next[0], 2.0 * at[1] - next[1]]
}

/// Appends the curve from the second knot (left out) to the third.
fn piece(knots: [[f32; 2]; 4], points: &mut Vec<[f32; 2]>) {
    let chord = |a: [f32; 2], b: [f32; 2]| (b[0] - a[0]).hypot(b[1] - a[1]);
    let [k0, k1, k2, k3] = knots;
    let [d0, d1, d2] = [chord(k0, k1), chord(k1, k2), chord(k2, k3)].map(|d| d.max(1e-6).sqrt());
    // Tangents at k1 and k2 of the non-uniform spline, scaled to the unit interval.
    let tangent = |a: [f32; 2], b: [f32; 2], c: [f32; 2], before: f32, after: f32, axis: usize| {
        d1 * ((b[axis] - a[axis]) / before - (c[axis] - a[axis]) / (before + after)
            + (c[axis] - b[axis]) / after)
    };
    let count = (chord(k1, k2) / STEP).ceil().clamp(1.0, 64.0) as usize;
    for i in 1..=count {
        let t = i as f32 / count as f32;
        let (t2, t3) = (t * t, t * t * t);
        points.push([0, 1].map(|axis| {
            let m1 = tangent(k0, k1, k2, d0, d1, axis);
            let m2 = tangent(k1, k2, k3, d1, d2, axis);
            (2.0 * t3 - 3.0 * t2 + 1.0) * k1[axis]
                + (t3 - 2.0 * t2 + t) * m1
                + (3.0 * t2 - 2.0 * t3) * k2[axis]
                + (t3 - t2) * m2
        }));
    }
}

pub(super) fn draw(random: &mut Random) -> WrittenDigit {
    match random.below(20) {
        0..12 => write_one_of(skeletons::signs(), random),
        12..14 => inked(scribble(random), random),
        14..16 => inked(lines(random), random),
        16 => inked(zigzag(random), random),
        17 => inked(dots(random), random),
        _ => inked(overlaid(random), random),
    }
}

/// Draws something that is not a character at all.
pub(super) fn draw_scribble(random: &mut Random) -> WrittenDigit {
    match random.below(4) {
        0..2 => inked(scribble(random), random),
        2 => inked(dots(random), random),
        _ => inked(overlaid(random), random),
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
    let mut strokes = write(first, None, random).ink.strokes;
    let offset = [random.range(-0.8, 0.8), random.range(-0.3, 0.3)];
    let above = write(second, None, random).ink.strokes;
    strokes.extend(above.into_iter().map(|stroke| {
        stroke
            .into_iter()
            .map(|[x, y]| [x + offset[0], y + offset[1]])
            .collect::<Stroke>()
    }));
    strokes
}
