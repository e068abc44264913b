//! "Why?": which ink speaks for a digit and which against it, and what would make it another one.

use crate::ink::{SIDE, Stroke, Writing};
use crate::records::{Attribution, Change, Counterfactual, Explanation, Prediction, WhySpec};
use crate::run_config::Classes;
use crate::window::{Canvas, Ctx, Draw, Screen};

/// The explanations of the drawing on the canvas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Why {
    /// Whether anybody looks.
    pub shown: bool,
    /// The class that was asked about, of the digit that was chosen if there are several; `None` for
    /// the one that is predicted.
    pub class: Option<u8>,
}

impl Why {
    /// The class that is explained of a digit for which this is predicted.
    pub fn of(self, prediction: &Prediction) -> u8 {
        let asked = WhySpec {
            class: self.class,
            ..WhySpec::default()
        };
        asked.explained(prediction)
    }
}

/// A digit on the canvas that is explained.
#[derive(Clone, Copy, Debug)]
pub struct Explained<'a> {
    pub prediction: &'a Prediction,
    pub explanation: &'a Explanation,
    /// Its left and upper edge, its width and its height, unless it is all that is drawn.
    pub bounds: Option<[f32; 4]>,
}

impl Draw {
    pub(super) fn why_spec(&self, ctx: &Ctx) -> Option<WhySpec> {
        let pen_down = self.drawing_shown(ctx).pen_down();
        // Explaining several digits takes too long to follow a pen.
        let waits = pen_down && self.canvas(ctx) == Canvas::Several;
        let shown = self.why.shown && ctx.screen == Screen::Draw && !waits;
        shown.then(|| WhySpec {
            digit: self.chosen(ctx).unwrap_or_default(),
            class: self.why.class,
            // It takes longer, and changes with every point.
            counterfactual: self.why.class.is_some() && !pen_down,
        })
    }

    /// What explains the digits on the canvas that is shown, from left to right, as far as that was
    /// asked for, and the number of the answer.
    pub fn explained(&self, ctx: &Ctx) -> (u64, Vec<Explained<'_>>) {
        let (version, explained) = self.reading(ctx).explained();
        if self.why.shown {
            (version, explained)
        } else {
            (version, Vec::new())
        }
    }

    /// The explanation of the digit that is drawn or was chosen; `None` while it is not known.
    pub fn explanation(&self, ctx: &Ctx) -> Option<Explained<'_>> {
        let (_, explained) = self.explained(ctx);
        let explained = *explained.get(self.chosen(ctx).unwrap_or_default())?;
        let class = self.why.of(explained.prediction);
        (explained.explanation.attribution.class == class).then_some(explained)
    }

    /// The change that would make it what was asked about; `None` while it is not known.
    pub fn counterfactual(&self, ctx: &Ctx) -> Option<&Counterfactual> {
        let explained = self.explanation(ctx)?;
        explained.explanation.counterfactual.as_ref()
    }

    /// The strokes on the canvas with the change that is shown; `None` while there is none.
    pub(super) fn changed_strokes(&self, ctx: &Ctx) -> Option<Vec<Stroke>> {
        let change = self.counterfactual(ctx)?.change.as_ref()?;
        let mut strokes = Vec::new();
        if let Some(digit) = self.digits(ctx).get(self.chosen(ctx).unwrap_or_default()) {
            let writing = Writing::of_ink(&self.drawing_shown(ctx).ink());
            strokes = writing.strokes_without(digit.pieces.clone());
        }
        strokes.extend(change.strokes.iter().cloned());
        Some(strokes)
    }
}

/// The gray value from which on a pixel lies on a stroke, not on its edge.
const INKED: u8 = 200;
/// Marked places are at least so many pixels apart, at most so many, and speak this clearly.
const APART: usize = 6;
const MOST: usize = 3;
const CLEAR: f32 = 0.45;

/// How strongly the ink around each pixel speaks for the class, from -1 to 1: the mean of its
/// values there, relative to the strongest.
pub fn strengths(attribution: &Attribution, pixels: &[u8]) -> Vec<f32> {
    let around = |of: &dyn Fn(usize) -> f32| -> Vec<f32> {
        let weighted = |pixel: usize| {
            let (row, column) = ((pixel / SIDE) as isize, (pixel % SIDE) as isize);
            let mut sum = 0.0;
            for down in -2..=2_isize {
                for right in -2..=2_isize {
                    let (y, x) = (row + down, column + right);
                    let inside = 0..SIDE as isize;
                    if inside.contains(&y) && inside.contains(&x) {
                        let weight = (-((down * down + right * right) as f32) / 2.0).exp();
                        sum += weight * of(y as usize * SIDE + x as usize);
                    }
                }
            }
            sum
        };
        (0..SIDE * SIDE).map(weighted).collect()
    };
    let values = around(&|pixel| attribution.values.get(pixel).copied().unwrap_or_default());
    let ink = around(&|pixel| pixels.get(pixel).copied().map_or(0.0, f32::from));
    let mut strengths: Vec<f32> = values
        .iter()
        .zip(ink)
        .map(|(value, ink)| if ink > 0.0 { value / ink } else { 0.0 })
        .collect();
    let inked = strengths.iter().zip(pixels);
    let strongest = inked
        .filter(|(_, gray)| **gray >= INKED)
        .fold(0.0_f32, |most, (it, _)| most.max(it.abs()));
    for strength in &mut strengths {
        *strength = (*strength / strongest.max(f32::MIN_POSITIVE)).clamp(-1.0, 1.0);
    }
    strengths
}

/// The pixels with ink that speak most for the class, or against it, at some distance from each
/// other; the strongest first.
pub fn peaks(strengths: &[f32], pixels: &[u8], sign: f32) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    let strength = |pixel: &usize| strengths.get(*pixel).copied().unwrap_or_default() * sign;
    let mut inked: Vec<usize> = (0..pixels.len())
        .filter(|pixel| pixels[*pixel] >= INKED && strength(pixel) >= CLEAR)
        .collect();
    inked.sort_by(|a, b| strength(b).total_cmp(&strength(a)));
    for pixel in inked {
        let is_near = |other: &usize| {
            let rows = (pixel / SIDE).abs_diff(other / SIDE);
            let columns = (pixel % SIDE).abs_diff(other % SIDE);
            rows.max(columns) < APART
        };
        if found.len() < MOST && !found.iter().any(is_near) {
            found.push(pixel);
        }
    }
    found
}

/// Where a pixel lies within the ink: "at the top left".
fn region(pixel: usize, pixels: &[u8]) -> &'static str {
    let inked = |axis: fn(usize) -> usize| {
        let places = pixels
            .iter()
            .enumerate()
            .filter(|(_, gray)| **gray >= INKED);
        let places = places.map(move |(pixel, _)| axis(pixel));
        let (low, high) = places.fold((SIDE, 0), |(low, high), at| (low.min(at), high.max(at)));
        let third = (high.saturating_sub(low) + 1) as f32 / 3.0;
        ((axis(pixel).saturating_sub(low) as f32 / third) as usize).min(2)
    };
    match (inked(|pixel| pixel / SIDE), inked(|pixel| pixel % SIDE)) {
        (0, 0) => "at the top left",
        (0, 1) => "at the top",
        (0, _) => "at the top right",
        (1, 0) => "on the left",
        (1, 1) => "in the middle",
        (1, _) => "on the right",
        (_, 0) => "at the bottom left",
        (_, 1) => "at the bottom",
        _ => "at the bottom right",
    }
}

/// Which ink speaks for the class, and which against it: "The ink at the top counts most toward
/// 7, and the ink on the left most against it."
pub fn evidence_sentence(peaks: &[Vec<usize>; 2], pixels: &[u8], name: &str) -> String {
    let [for_it, against] = peaks
        .each_ref()
        .map(|peaks| peaks.first().map(|pixel| region(*pixel, pixels)));
    match (for_it, against) {
        (Some(for_it), Some(against)) if for_it != against => {
            format!(
                "The ink {for_it} counts most toward {name}, and the ink {against} most against it."
            )
        }
        (Some(for_it), _) => format!("The ink {for_it} counts most toward {name}."),
        (None, Some(against)) => format!("The ink {against} speaks most against {name}."),
        (None, None) => format!("No part of the ink speaks clearly for {name} or against it."),
    }
}

/// The change in words: "With the dashed stroke, it would be recognized as 9 (63%)."
pub fn change_sentence(counterfactual: &Counterfactual, classes: &Classes) -> String {
    let name = classes.name(counterfactual.class);
    let Some(change) = &counterfactual.change else {
        return format!("No small change was found with which it would be recognized as {name}.");
    };
    let Change { added, erased, .. } = change;
    let strokes = if added.len() > 1 { "strokes" } else { "stroke" };
    let what = match (added.is_empty(), erased.is_empty()) {
        (true, _) => "Without the part that is crossed out".to_owned(),
        (_, true) => format!("With the dashed {strokes}"),
        _ => format!("With the dashed {strokes}, and without what is crossed out"),
    };
    let percent = crate::notices::verdict::whole_percent(change.probability);
    format!("{what}, it would be recognized as {name} ({percent}).")
}

/// The figures behind the colors.
pub fn figures_sentence(attribution: &Attribution, classes: &Classes) -> String {
    let Attribution {
        log_odds, blank, ..
    } = attribution;
    format!(
        "Shapley values of the log-odds of {}: {blank:+.1} nats for an empty page, {:+.1} by the ink, {log_odds:+.1} in all. A probability of 50% is 0, 99% is 4.6.",
        classes.name(attribution.class),
        log_odds - blank,
    )
}
