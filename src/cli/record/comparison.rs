//! Compares record cards, as `inkling compare` does models.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::infer::model_comparison::{letter, settings_table};
use crate::math::statistics::{MeanInterval, welch_interval};
use crate::records::RecordCard;
use crate::run_config::RunConfig;
use crate::text::format::{grouped, percent};
use crate::text::table::{self, Line, Section};
use crate::text::visible;

/// Cards compared with the first of them.
#[derive(Serialize, JsonSchema)]
pub struct CardComparison {
    cards: Vec<CardFigures>,
}

#[derive(Serialize, JsonSchema)]
pub struct CardFigures {
    path: String,
    seeds: u64,
    parameters: u64,
    /// The mean test accuracy.
    accuracy: f64,
    /// The median of the total seconds of a run.
    seconds: f64,
    /// By how much its mean accuracy is higher than the first card's, and the 95% interval of that
    /// difference; `None` for the first card, and if either has a single run.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<Difference>,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Difference {
    accuracy: f64,
    interval: (f64, f64),
}

/// Whether these are record cards and not models, by their names.
pub fn are_cards(paths: &[PathBuf]) -> bool {
    let is_json = |path: &PathBuf| {
        path.extension().is_some_and(|kind| kind == "json")
            && path.file_name().is_some_and(|name| name != "run.json")
    };
    paths.iter().all(is_json)
}

/// Compares the cards and prints what was found.
pub fn compare(paths: &[PathBuf], json: bool) -> Result<(), Failure> {
    let cards = paths.iter().map(|path| RecordCard::load(path));
    let cards = cards.collect::<Result<Vec<_>, _>>()?;
    let figures: Vec<CardFigures> = cards
        .iter()
        .zip(paths)
        .enumerate()
        .map(|(position, (card, path))| figures(&cards, position, card, path))
        .collect();
    let comparison = CardComparison { cards: figures };
    Output::new(json).json_or(&comparison, || text(&comparison, &cards))
}

fn figures(
    cards: &[RecordCard],
    position: usize,
    card: &RecordCard,
    path: &std::path::Path,
) -> CardFigures {
    let accuracies = |card: &RecordCard| card.mean(|run| run.test_accuracy);
    let first = cards.first().filter(|_| position > 0).and_then(accuracies);
    let own = accuracies(card);
    CardFigures {
        path: path.display().to_string(),
        seeds: card.runs.len() as u64,
        parameters: card.parameters,
        accuracy: card.test_accuracy(),
        seconds: card.median_seconds(|run| run.total),
        difference: first.zip(own).map(|(first, own)| difference(&own, &first)),
    }
}

fn difference(own: &MeanInterval, first: &MeanInterval) -> Difference {
    Difference {
        accuracy: own.mean - first.mean,
        interval: welch_interval(own, first),
    }
}

fn text(comparison: &CardComparison, cards: &[RecordCard]) -> String {
    let configs: Vec<&RunConfig> = cards.iter().map(|card| &card.config).collect();
    let figures = comparison.cards.iter().zip(cards).enumerate();
    let mut lines: Vec<String> = comparison
        .cards
        .iter()
        .enumerate()
        .map(|(position, card)| {
            format!("  {}  {}", letter(position), visible::one_line(&card.path))
        })
        .collect();
    let row = |(position, (figures, card)): (usize, (&CardFigures, &RecordCard))| {
        Line::of([
            letter(position),
            percent(figures.accuracy, 2),
            format!("{:.2}", figures.seconds),
            grouped(figures.seeds),
            grouped(figures.parameters),
            visible::one_line(&card.machine),
        ])
    };
    let results = Section::plain(
        "Results",
        "mean test accuracy, and the median time of a run from its start until it was saved",
        [
            "card",
            "accuracy",
            "seconds",
            "seeds",
            "parameters",
            "machine",
        ],
        figures.map(row).collect(),
    );
    lines.push(table::text(&[settings_table(&configs), results]));
    let differences = comparison.cards.iter().enumerate();
    lines.extend(differences.filter_map(|(position, card)| {
        let Difference { accuracy, interval } = card.difference?;
        let (low, high) = interval;
        let points = |share: f64| format!("{:+.2}", share * 100.0);
        let verdict = if low > 0.0 || high < 0.0 {
            "significant"
        } else {
            "not significant"
        };
        Some(format!(
            "{} minus A: {} percentage points, 95% interval {} to {} (Welch 1947): {verdict}.",
            letter(position),
            points(accuracy),
            points(low),
            points(high)
        ))
    }));
    lines.join("\n")
}
