//! `inkling eval`: evaluates a model on a test set.

use std::path::PathBuf;

use serde::Serialize;

use super::engine::{Engine, Update};
use super::failure::Failure;
use super::output::Output;
use super::progress::Progress;
use crate::math::statistics::class_scores;
use crate::problem::Problem;
use crate::protocol::{Job, JobResult};
use crate::records::{CLASSES, Evaluation, ModelInfo, ModelRef};
use crate::run_config::DataSpec;
use crate::text::format::{grouped, percent};

/// The options of `inkling eval`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Model file to evaluate
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Data set whose test set to use: builtin, mnist, fashion-mnist, kmnist, emnist-digits or a path
    #[arg(long, value_name = "DATA")]
    data: DataSpec,
    /// Folder to search for data sets before the usual ones
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Print one JSON object to standard output
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Figures {
    images: u64,
    accuracy: f64,
    loss: f64,
}

/// Evaluates the model and prints the result.
pub fn run(arguments: Arguments) -> Result<(), Failure> {
    let engine = Engine::start(arguments.data_dir, None, None)?;
    let model = ModelRef::File(arguments.model);
    let progress = Progress::new();
    let job = Job::Evaluate { model, data: arguments.data.clone() };
    let measured = engine.run(job, |update| {
        if let Update::Progress(now) = update {
            progress.show(now.fraction, "Evaluating");
        }
        Ok(())
    })?;
    drop(progress);
    let Some(JobResult::Evaluate { model, evaluation, .. }) = measured else { return Err(Problem::EngineGone.into()) };
    let mut output = Output::new(arguments.json);
    output.json(&Figures { images: evaluation.images, accuracy: evaluation.accuracy, loss: evaluation.loss })?;
    if output.is_json() { Ok(()) } else { output.text(&table(&model, &arguments.data, &evaluation)) }
}

/// Accuracy and loss, then the confusion matrix.
fn table(model: &ModelInfo, data: &DataSpec, evaluation: &Evaluation) -> String {
    let figures = format!(
        "{} ({} parameters, trained on {}): accuracy {} on {} test images of {}, mean loss {:.4}.",
        model.kind.label(),
        grouped(model.parameters),
        model.data.label(),
        percent(evaluation.accuracy, 2),
        grouped(evaluation.images),
        data.label(),
        evaluation.loss
    );
    let predictions = (0..CLASSES).map(|digit| format!("{digit:>6}")).collect::<Vec<_>>().concat();
    let rows = class_scores(evaluation).into_iter().zip(&evaluation.confusion).map(|(score, counts)| {
        let counts = counts.iter().map(|count| format!("{count:>6}")).collect::<Vec<_>>().concat();
        let share = score.accuracy().map_or_else(|| "–".to_owned(), |share| percent(share, 1));
        format!("{:>9}{counts}{share:>10}", score.digit)
    });
    [figures, String::new(), format!("true\\pred{predictions}  accuracy")].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}
