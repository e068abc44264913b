//! Labels that are suspected to be wrong: what to know about them, and their list as CSV.

use std::io::{self, Write};

use crate::data::is_among;
use crate::records::{ModelInfo, SplitEvaluation};
use crate::run_config::{Classes, EvaluationSplit};

/// A caution if a model learned from the labels.
pub const LEARNED: &str = "The model learned from these labels, so it knows many of the wrong ones by heart. Suspects in held-out images are more reliable.";

/// Whether a model learned from labels that it was evaluated on.
pub fn learned(model: &ModelInfo, measured: &SplitEvaluation) -> bool {
    match measured.split {
        EvaluationSplit::Train => true,
        EvaluationSplit::All => {
            let mut sources = measured.data.sources().iter();
            sources.any(|source| is_among(source, &model.data))
        }
        EvaluationSplit::Validation | EvaluationSplit::Test => false,
    }
}

/// Writes the suspects as CSV, the most suspicious first, with the right label of an image if `answer`
/// knows one by the image's index.
pub fn table(
    measured: &SplitEvaluation,
    classes: &Classes,
    answer: impl Fn(u64) -> Option<u8>,
    file: impl Write,
) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(file);
    table.write_record([
        "index",
        "split",
        "label",
        "suggestion",
        "label_probability",
        "suggestion_probability",
        "answer",
    ])?;
    for (sample, suggestion) in measured.evaluation.suspects() {
        let answer = answer(sample.index).map(|label| classes.name(label));
        table.write_record([
            &sample.index.to_string(),
            measured.split.name(),
            classes.name(sample.label),
            classes.name(suggestion.label),
            &format!("{:.6}", sample.label_probability),
            &format!("{:.6}", suggestion.probability),
            answer.unwrap_or_default(),
        ])?;
    }
    table.flush()
}
