//! The smallest change of a drawing with which a model predicts another class: a counterfactual
//! explanation (Wachter, Mittelstadt & Russell 2017, "Counterfactual Explanations without Opening
//! the Black Box").
//!
//! A change is a stroke to add or a part of a stroke to erase. Many are tried in one batch, in the image
//! of the drawing as it is; the best of them on the drawing itself, which is then scaled and
//! centered anew; and what remains is made smaller as long as the class stays.

use rayon::prelude::*;

use super::ClassOutput;
use super::edit::{Edit, proposals};
use crate::infer::classifier::Classifier;
use crate::ink::{Image, Ink, PlacedInk, Steps, Stroke, rasterize_steps};
use crate::math::random::Random;
use crate::problem::Problem;
use crate::records::Change;

/// The most edits that make up a change.
const MOST_EDITS: usize = 3;
/// The work that may be spent on an edit, in floating-point operations of the network.
const FLOPS: u64 = 6_000_000_000;
/// The fewest edits that are tried, and the most.
const TRIED: std::ops::RangeInclusive<u64> = 300..=5000;
/// How many of them are tried on the drawing itself.
const CHECKED: usize = 32;
/// How often an edit is made smaller.
const ROUNDS: usize = 12;
/// From this probability on, the class is what a person would call the answer.
const SURE: f32 = 0.7;
const SEED: u64 = 1;

/// A search for a change with which a model predicts this class.
pub struct Search<'a> {
    classifier: &'a Classifier,
    steps: &'a Steps,
    class: u8,
}

/// An edit that was tried.
struct Trial {
    edit: Edit,
    output: ClassOutput,
}

impl Trial {
    fn flips(&self) -> bool {
        self.output.is_class && self.output.probability >= SURE
    }

    /// Whether this is better: of two that flip the verdict the smaller, else the one that comes
    /// nearer to it.
    fn is_better_than(&self, other: &Self) -> bool {
        match (self.flips(), other.flips()) {
            (true, true) => self.edit.length() < other.edit.length(),
            (false, false) => self.output.log_odds > other.output.log_odds,
            (flips, _) => flips,
        }
    }
}

impl<'a> Search<'a> {
    pub const fn new(classifier: &'a Classifier, steps: &'a Steps, class: u8) -> Self {
        Self {
            classifier,
            steps,
            class,
        }
    }

    /// The smallest change that was found; `None` if a few edits do not suffice.
    pub fn change(&self, ink: &Ink) -> Result<Option<Change>, Problem> {
        let finite = |point: &[f32; 2]| point.iter().all(|value| value.is_finite());
        let strokes = ink.strokes.iter().map(|stroke| {
            let points = stroke.iter().copied().filter(finite);
            points.collect::<Stroke>()
        });
        let mut ink = Ink {
            strokes: strokes.filter(|stroke| !stroke.is_empty()).collect(),
            pen: ink.pen,
        };
        let mut change = Change::default();
        for _ in 0..MOST_EDITS {
            let Some(found) = self.edit(&ink)? else {
                return Ok(None);
            };
            let edited = found.edit.apply(&ink.strokes);
            ink.strokes = edited.strokes;
            change.added.extend(edited.added);
            change.erased.extend(edited.erased);
            if found.flips() {
                return Ok(Some(Change {
                    strokes: ink.strokes,
                    probability: found.output.probability,
                    ..change
                }));
            }
        }
        Ok(None)
    }

    /// The best edit of this drawing.
    fn edit(&self, ink: &Ink) -> Result<Option<Trial>, Problem> {
        let Some(placed) = PlacedInk::new(ink, self.steps) else {
            return Ok(None);
        };
        let mut proposals = proposals(&ink.strokes);
        let tried = (FLOPS / self.classifier.flops().max(1)).clamp(*TRIED.start(), *TRIED.end());
        Random::stream(SEED, "counterfactual", 0).shuffle(&mut proposals);
        proposals.truncate(tried as usize);
        let mut found = self.tried(proposals, |edit| match edit {
            Edit::Add(_) => {
                let path = edit.path();
                let places = path
                    .into_iter()
                    .map(|point| placed.placement.in_image(point));
                placed.with_stroke(&places.collect::<Vec<_>>())
            }
            Edit::Erase { .. } => self.image(edit, ink),
        })?;
        found.sort_by(|a, b| b.is_better_than(a).cmp(&a.is_better_than(b)));
        found.truncate(CHECKED);
        let edits = found.into_iter().map(|trial| trial.edit).collect();
        let Some(mut best) = self.best(edits, ink)? else {
            return Ok(None);
        };
        for _ in 0..ROUNDS {
            let smaller = best.edit.smaller();
            match self.best(smaller, ink)? {
                Some(trial) if trial.flips() && trial.is_better_than(&best) => best = trial,
                _ => break,
            }
        }
        Ok(Some(best))
    }

    /// The best of these edits.
    fn best(&self, edits: Vec<Edit>, ink: &Ink) -> Result<Option<Trial>, Problem> {
        let found = self.tried(edits, |edit| self.image(edit, ink))?;
        Ok(found.into_iter().reduce(|best, other| {
            if other.is_better_than(&best) {
                other
            } else {
                best
            }
        }))
    }

    /// The image of the drawing with an edit.
    fn image(&self, edit: &Edit, ink: &Ink) -> Image {
        let strokes = edit.apply(&ink.strokes).strokes;
        rasterize_steps(
            &Ink {
                strokes,
                pen: ink.pen,
            },
            self.steps,
        )
    }

    fn tried(
        &self,
        edits: Vec<Edit>,
        image: impl Fn(&Edit) -> Image + Sync,
    ) -> Result<Vec<Trial>, Problem> {
        let images: Vec<u8> = edits
            .par_iter()
            .flat_map_iter(|edit| *image(edit).pixels())
            .collect();
        let outputs = self.classifier.class_outputs(&images, self.class)?;
        let trials = edits.into_iter().zip(outputs);
        Ok(trials
            .map(|(edit, output)| Trial { edit, output })
            .collect())
    }
}
