//! Record cards: what the runs of a record add up to, and reading cards from disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::math::statistics::{MeanInterval, mean_interval, median};
use crate::problem::{Code, Explain, sentence};
use crate::records::{CARD_VERSION, Evaluation, HardImage, RecordCard, RunSeconds, SeedRun};
use crate::run_config::{Classes, RunConfig};
use crate::system::files::read_limited;
use crate::text::format::{count, percent};

const MAX_CARD_BYTES: u64 = 4 << 20;

/// Why a record card cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The record card {path} cannot be read: {}", sentence(reason))]
pub struct CardError {
    path: PathBuf,
    reason: String,
}

impl Explain for CardError {
    fn remedy(&self) -> String {
        "Name a JSON file that inkling record has written.".to_owned()
    }

    fn code(&self) -> Code {
        Code::Other
    }
}

impl RecordCard {
    /// Reads the JSON of a card.
    pub fn load(path: &Path) -> Result<Self, CardError> {
        let failed = |reason: String| CardError {
            path: path.to_owned(),
            reason,
        };
        let bytes =
            read_limited(path, MAX_CARD_BYTES).map_err(|error| failed(error.to_string()))?;
        let card: Self =
            serde_json::from_slice(&bytes).map_err(|error| failed(error.to_string()))?;
        if card.version > CARD_VERSION {
            return Err(failed(format!(
                "its version {} is newer than this Inkling",
                card.version
            )));
        }
        if card.runs.is_empty() {
            return Err(failed("it has no runs".to_owned()));
        }
        Ok(card)
    }

    /// The cards in a folder that can be read, the newest first.
    pub fn list(folder: &Path) -> Vec<Self> {
        let entries = folder.read_dir().into_iter().flatten().flatten();
        let mut cards: Vec<Self> = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|kind| kind == "json"))
            .filter_map(|path| Self::load(&path).ok())
            .collect();
        cards.sort_by(|a, b| b.measured_at.cmp(&a.measured_at));
        cards
    }

    /// The mean of something about the runs, with its 95% interval; `None` if there is only one.
    pub fn mean(&self, of: impl Fn(&SeedRun) -> f64) -> Option<MeanInterval> {
        mean_interval(&self.runs.iter().map(of).collect::<Vec<_>>())
    }

    /// The mean test accuracy.
    pub fn test_accuracy(&self) -> f64 {
        let sum: f64 = self.runs.iter().map(|run| run.test_accuracy).sum();
        sum / self.runs.len().max(1) as f64
    }

    /// The median of a part of a run's seconds.
    pub fn median_seconds(&self, part: impl Fn(RunSeconds) -> f64) -> f64 {
        let seconds: Vec<f64> = self.runs.iter().map(|run| part(run.seconds)).collect();
        median(&seconds)
    }

    /// The command that measures the same.
    pub fn command(&self) -> String {
        let config = RunConfig {
            sealed_test: false,
            ..self.config.clone()
        };
        let train = config.command(None);
        let options = train.trim_start_matches("inkling train");
        format!("inkling record{options} --repeats {}", self.runs.len())
    }

    /// "Test accuracy 99.21%, 95% interval of the mean 99.19% to 99.23% (20 seeds, Student's t);
    /// 3.42 s a run".
    pub fn summary(&self) -> String {
        let accuracy = if let Some(mean) = self.mean(|run| run.test_accuracy) {
            format!(
                "{}, 95% interval of the mean {} to {} ({}, Student's t)",
                percent(mean.mean, 2),
                percent(mean.low.max(0.0), 2),
                percent(mean.high.min(1.0), 2),
                count(mean.count as u64, "seed"),
            )
        } else {
            format!("{} (1 seed)", percent(self.test_accuracy(), 2))
        };
        let seconds = self.median_seconds(|run| run.total);
        format!("Test accuracy {accuracy}; {seconds:.2} s a run")
    }
}

/// The test images that more than half of these evaluations misclassify, those that most do first.
pub fn hard_images(evaluations: &[Evaluation], classes: &Classes) -> Vec<HardImage> {
    #[derive(Default)]
    struct Errors {
        label: u8,
        answers: BTreeMap<u8, u64>,
        suspected: usize,
    }
    let mut images = BTreeMap::<u64, Errors>::new();
    for sample in evaluations.iter().flat_map(Evaluation::mistakes) {
        let errors = images.entry(sample.index).or_default();
        errors.label = sample.label;
        *errors.answers.entry(sample.answer).or_default() += 1;
        errors.suspected += usize::from(sample.suggestion.is_some());
    }
    let name = |class: u8| classes.name(usize::from(class)).to_owned();
    let mut hard: Vec<HardImage> = images
        .into_iter()
        .filter_map(|(index, errors)| {
            let runs = errors.answers.values().sum();
            let (answer, _) = errors.answers.iter().max_by_key(|(_, runs)| **runs)?;
            (runs * 2 > evaluations.len() as u64).then(|| HardImage {
                index,
                label: name(errors.label),
                answer: name(*answer),
                runs,
                doubtful: errors.suspected * 2 >= evaluations.len(),
            })
        })
        .collect();
    hard.sort_by_key(|image| std::cmp::Reverse(image.runs));
    hard
}
