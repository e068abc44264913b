//! Which images of an evaluation are shown: the errors, or images of a cell of the confusion
//! matrix, of a class or of a bin of confidence, those whose labels are suspected to be wrong, or
//! those that most runs of a record misclassify as well.

use super::confusion::Cell;
use crate::math::statistics::{cell_sentence, class_scores, error_count};
use crate::records::{Evaluation, HardImage, RELIABILITY_BINS, RecordCard, ReliabilityBin, Sample};
use crate::run_config::Classes;
use crate::text::format::{count, grouped, percent};

/// The title of the images that are hard for everybody.
pub const HARD: &str = "Hard for everybody";

/// Without one, all errors are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    Cell(Cell),
    /// The errors of a class.
    Class(usize),
    Bin(usize),
    Suspects,
    Hard,
}

impl Filter {
    pub const fn cell(self) -> Option<Cell> {
        match self {
            Self::Cell(cell) => Some(cell),
            _ => None,
        }
    }

    pub const fn class(self) -> Option<usize> {
        match self {
            Self::Class(class) => Some(class),
            _ => None,
        }
    }

    pub const fn bin(self) -> Option<usize> {
        match self {
            Self::Bin(bin) => Some(bin),
            _ => None,
        }
    }
}

/// Lets a chart change the part of the filter that it shows.
pub fn choose<C: Copy + PartialEq, T>(
    filter: &mut Option<Filter>,
    part: impl FnOnce(Filter) -> Option<C>,
    whole: impl FnOnce(C) -> Filter,
    chart: impl FnOnce(&mut Option<C>) -> T,
) -> T {
    let before = filter.and_then(part);
    let mut chosen = before;
    let shown = chart(&mut chosen);
    if chosen != before {
        *filter = chosen.map(whole);
    }
    shown
}

/// The place of this image among those that are hard for everybody, the hardest first.
fn rank(sample: &Sample, hard: &[HardImage]) -> Option<usize> {
    hard.iter().position(|image| image.index == sample.index)
}

/// This image, if it is hard for everybody.
pub fn hard<'r>(sample: &Sample, record: Option<&'r RecordCard>) -> Option<&'r HardImage> {
    let hard = &record?.hard;
    hard.get(rank(sample, hard)?)
}

/// The places of the images among the samples, in the order in which they are shown.
pub fn images(filter: Option<Filter>, samples: &[Sample], hard: &[HardImage]) -> Vec<usize> {
    let shows = |sample: &Sample| {
        let [label, answer] = [sample.label, sample.answer].map(usize::from);
        match filter {
            None => label != answer,
            Some(Filter::Cell(cell)) => cell == (label, answer),
            Some(Filter::Class(class)) => label == class && label != answer,
            Some(Filter::Bin(bin)) => ReliabilityBin::index_of(sample.confidence) == bin,
            Some(Filter::Suspects) => sample.suggestion.is_some(),
            Some(Filter::Hard) => label != answer && rank(sample, hard).is_some(),
        }
    };
    let mut images: Vec<usize> = (0..samples.len())
        .filter(|&place| shows(&samples[place]))
        .collect();
    if filter == Some(Filter::Suspects) {
        let margin = |place: usize| samples[place].margin();
        images.sort_by(|&a, &b| margin(a).total_cmp(&margin(b)));
    } else if filter == Some(Filter::Hard) {
        images.sort_by_key(|&place| rank(&samples[place], hard));
    }
    images
}

/// The title of the images, and more in words. `shown` images of those that there are were kept.
pub fn caption(
    filter: Option<Filter>,
    shown: usize,
    evaluation: &Evaluation,
    classes: &Classes,
    record: Option<&RecordCard>,
) -> (&'static str, String) {
    let errors = "Misclassified images";
    let of = |all: u64, first: &str| match shown as u64 {
        _ if all == 0 => String::new(),
        kept if kept < all => format!("{} of {}, the {first} first", grouped(kept), grouped(all)),
        _ => format!("{}, the {first} first", grouped(all)),
    };
    match filter {
        None => (errors, of(error_count(evaluation), "most confident")),
        Some(Filter::Cell((truth, answer))) if truth == answer => {
            let all = u64::from(evaluation.count(truth, answer));
            let first = of(all, "least confident");
            let title = "Correctly classified images";
            (title, only(&of_class(classes, truth), &first))
        }
        Some(Filter::Cell((truth, answer))) => {
            let all = u64::from(evaluation.count(truth, answer));
            let [truth, answer] = [truth, answer].map(|class| classes.name(class));
            let cell = format!("only {truth} classified as {answer}");
            (errors, only(&cell, &of(all, "most confident")))
        }
        Some(Filter::Class(class)) => {
            let score = class_scores(evaluation).into_iter().nth(class);
            let wrong = score.map_or(0, |score| score.images - score.correct);
            let first = of(wrong, "most confident");
            (errors, only(&of_class(classes, class), &first))
        }
        Some(Filter::Bin(bin)) => {
            let images = evaluation.reliability.get(bin).map_or(0, |bin| bin.images);
            let kept = if shown < images as usize {
                format!("; {} of the images are shown", grouped(shown as u64))
            } else {
                String::new()
            };
            (
                "Images by confidence",
                bin_sentence(evaluation, bin) + &kept,
            )
        }
        Some(Filter::Suspects) => (
            "Suspected label errors",
            of(evaluation.suspected, "most suspicious"),
        ),
        Some(Filter::Hard) => {
            let all = record.map_or_else(String::new, hard_sentence);
            let shown = grouped(shown as u64);
            (HARD, format!("this model misclassifies {shown} of {all}"))
        }
    }
}

/// "the 36 images that more than half of 5 runs of Best misclassify".
pub fn hard_sentence(record: &RecordCard) -> String {
    let preset = record.config.preset;
    let recipe = preset.map_or_else(
        || record.config.network().label(),
        |preset| preset.label().to_owned(),
    );
    format!(
        "the {} that more than half of {} of {recipe} misclassify",
        count(record.hard.len() as u64, "image"),
        count(record.runs.len() as u64, "run"),
    )
}

/// "only 4 classified as 9: 12, the most confident first".
fn only(what: &str, how_many: &str) -> String {
    if how_many.is_empty() {
        what.to_owned()
    } else {
        format!("{what}: {how_many}")
    }
}

/// "only 4s", "only of the class cat".
fn of_class(classes: &Classes, class: usize) -> String {
    let name = classes.name(class);
    if classes.are_digits() {
        format!("only {name}s")
    } else {
        format!("only of the class {name}")
    }
}

/// "Confidence 53% to 60%: 9 of 12 images classified correctly".
pub fn bin_sentence(evaluation: &Evaluation, bin: usize) -> String {
    let end = |bin: usize| percent(bin as f64 / RELIABILITY_BINS as f64, 0);
    let ReliabilityBin {
        images, correct, ..
    } = evaluation.reliability.get(bin).copied().unwrap_or_default();
    format!(
        "confidence {} to {}: {} of {} classified correctly",
        end(bin),
        end(bin + 1),
        grouped(correct.into()),
        count(images.into(), "image")
    )
}

/// The text when no image is shown.
pub fn nothing(filter: Option<Filter>, evaluation: &Evaluation, classes: &Classes) -> String {
    let not_kept = |sentence: &str| {
        let kept = grouped(evaluation.mistakes().count() as u64);
        format!(
            "{sentence}, but none of them is among the {kept} most confident errors, which are the ones stored."
        )
    };
    match filter {
        None => "All images were classified correctly.".to_owned(),
        Some(Filter::Cell((truth, answer))) => match evaluation.count(truth, answer) {
            0 if truth == answer => "There are no such images.".to_owned(),
            0 => "There are no such errors.".to_owned(),
            count => not_kept(&cell_sentence(classes, truth, answer, count)),
        },
        Some(Filter::Class(class)) => {
            let score = class_scores(evaluation).into_iter().nth(class);
            match score.map_or(0, |score| score.images - score.correct) {
                0 => "There are no such errors.".to_owned(),
                wrong => not_kept(&format!("There are {} such errors", grouped(wrong))),
            }
        }
        Some(Filter::Bin(_)) => "There are no such images.".to_owned(),
        Some(Filter::Suspects) => "No label is suspected to be wrong.".to_owned(),
        Some(Filter::Hard) => "This model classifies all of them correctly.".to_owned(),
    }
}
