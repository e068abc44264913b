//! `inkling eval`: evaluates a model on a data set.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::{Models, choice};
use super::engine::{Engine, shown_by};
use super::failure::Failure;
use super::output::{Output, Progress};
use crate::math::statistics::{ClassScore, calibration_error, class_scores};
use crate::notices::label_errors;
use crate::protocol::{EngineError, Job, JobResult};
use crate::records::{
    DigitDetection, Ensemble, Evaluation, EvaluationReport, EvaluationSpec, LabelRejection,
    ModelRef, NotDigitsSpec, Sample, Suggestion, WriterScore,
};
use crate::run_config::{Classes, DataSpec, DeviceChoice, EvaluationSplit};
use crate::system::files::write_whole_with;
use crate::system::targets::check_file;
use crate::text::format::{count, grouped, percent};
use crate::text::visible;

/// Writers in the text for people.
const LISTED_WRITERS: usize = 10;

#[derive(Debug, clap::Args)]
pub struct EvalArgs {
    #[command(flatten)]
    models: Models,
    /// Data set to use: builtin, mnist, fashion-mnist, kmnist, emnist-digits, emnist-letters or a
    /// path
    #[arg(long, value_name = "DATA")]
    data: DataSpec,
    /// Which of its images [default: test if it has separate test images or the model was trained
    /// on it, otherwise all]
    #[arg(long, value_name = "SPLIT", ignore_case = true, value_parser = choice(EvaluationSplit::ALL, EvaluationSplit::name))]
    split: Option<EvaluationSplit>,
    /// Do not apply the temperature that was fitted after training: evaluate the uncalibrated
    /// network
    #[arg(long)]
    uncalibrated: bool,
    /// Ink file of drawings that are not digits, to evaluate out-of-distribution detection
    #[arg(long, value_name = "FILE")]
    not_digits: Option<PathBuf>,
    /// Only its drawings with one of these labels, such as "AEFH"
    #[arg(long, value_name = "LABELS", requires = "not_digits")]
    not_digits_labels: Option<String>,
    /// Write the suspected label errors as a CSV table, the most suspicious first, at most 1,000
    #[arg(long, value_name = "FILE")]
    suspects: Option<PathBuf>,
    /// Replace the table of suspects if it exists
    #[arg(long, requires = "suspects")]
    force: bool,
    /// Folder to search for data sets before the usual ones
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Print one JSON object to standard output
    #[arg(long)]
    json: bool,
}

#[derive(Serialize, JsonSchema)]
pub struct Figures {
    images: u64,
    accuracy: f64,
    #[schemars(with = "Option<f64>")]
    loss: f64,
    calibration_error: Option<f64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    /// Whether loss and calibration error are computed from the raw logits.
    uncalibrated: bool,
    split: EvaluationSplit,
    digits: Vec<DigitAccuracy>,
    /// How many labels are suspected to be wrong.
    suspected: u64,
    /// The most suspicious of them, at most 1,000, the most suspicious first.
    suspects: Vec<SuspectLabel>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    writers: Vec<WriterAccuracy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_digits: Option<Detection>,
}

#[derive(Serialize, JsonSchema)]
pub struct DigitAccuracy {
    pub digit: u8,
    /// The name of that class.
    pub label: String,
    pub images: u64,
    /// `None` if there are no images of it.
    pub accuracy: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
pub struct SuspectLabel {
    /// The position of the image in the split, from 0.
    index: u64,
    label: String,
    label_probability: f32,
    /// The label that it probably should have.
    suggestion: String,
    suggestion_probability: f32,
}

#[derive(Serialize, JsonSchema)]
pub struct WriterAccuracy {
    writer: String,
    images: u64,
    accuracy: f64,
}

#[derive(Serialize, JsonSchema)]
pub struct Detection {
    auroc: f64,
    /// The fraction of the digits that are kept as digits.
    digits_kept: f64,
    /// Drawings that are not digits.
    drawings: u64,
    /// The fraction of them that are rejected.
    rejected: f64,
    labels: Vec<LabelRejections>,
}

#[derive(Serialize, JsonSchema)]
pub struct LabelRejections {
    label: char,
    drawings: u64,
    rejected: f64,
}

/// Evaluates the model and prints the result.
pub fn run(arguments: EvalArgs) -> Result<(), Failure> {
    let model = arguments.models.reference()?;
    if let Some(table) = &arguments.suspects {
        check_file(table, arguments.force, &[])?;
    }
    let engine = Engine::start(DeviceChoice::Cpu, arguments.data_dir)?;
    let not_digits = arguments.not_digits.map(|path| NotDigitsSpec {
        path,
        labels: arguments.not_digits_labels,
    });
    let uncalibrated = arguments.uncalibrated;
    let spec = EvaluationSpec {
        model,
        data: arguments.data,
        split: arguments.split,
        uncalibrated,
        not_digits,
    };
    let measured = engine.run(Job::Evaluate(spec), shown_by(Progress::new(), "Evaluating"))?;
    let Some(JobResult::Evaluate(report)) = measured else {
        return Err(EngineError::Gone.into());
    };
    let mut output = Output::new(arguments.json);
    output.json_or(&figures(&report, uncalibrated), || {
        text(&report, uncalibrated)
    })?;
    if let Some(path) = &arguments.suspects {
        write_whole_with(path, |file| {
            label_errors::table(&report.measured, &report.model.classes, |_| None, file)
        })?;
        output.text(&format!("Saved as {}.", visible::path(path)))?;
    }
    Ok(())
}

fn figures(report: &EvaluationReport, uncalibrated: bool) -> Figures {
    let evaluation = &report.measured.evaluation;
    let classes = &report.model.classes;
    let digit = |score: ClassScore| DigitAccuracy {
        digit: score.digit,
        label: classes.name(score.digit).to_owned(),
        images: score.images,
        accuracy: score.accuracy(),
    };
    let writer = |score: &WriterScore| WriterAccuracy {
        writer: score.writer.clone(),
        images: score.images,
        accuracy: share(score.correct, score.images),
    };
    let label = |score: &LabelRejection| LabelRejections {
        label: score.label,
        drawings: score.drawings,
        rejected: share(score.rejected, score.drawings),
    };
    let suspect = |(sample, suggestion): (&Sample, Suggestion)| SuspectLabel {
        index: sample.index,
        label: classes.name(sample.label).to_owned(),
        label_probability: sample.label_probability,
        suggestion: classes.name(suggestion.label).to_owned(),
        suggestion_probability: suggestion.probability,
    };
    let told_apart = |found: &DigitDetection| Detection {
        auroc: found.auroc,
        digits_kept: share(found.kept, found.digits),
        drawings: found.not_digits,
        rejected: share(found.rejected, found.not_digits),
        labels: found.labels.iter().map(label).collect(),
    };
    Figures {
        images: evaluation.images,
        accuracy: evaluation.accuracy,
        loss: evaluation.loss,
        calibration_error: calibration_error(evaluation),
        uncalibrated,
        split: report.measured.split,
        digits: class_scores(evaluation).into_iter().map(digit).collect(),
        suspected: evaluation.suspected,
        suspects: evaluation.suspects().into_iter().map(suspect).collect(),
        writers: report.writers.iter().map(writer).collect(),
        not_digits: report.detection.as_ref().map(told_apart),
    }
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// Accuracy and loss, the confusion matrix, and what else was asked for.
fn text(report: &EvaluationReport, uncalibrated: bool) -> String {
    let mut lines = vec![headline(report, uncalibrated), String::new()];
    lines.extend(confusion(
        &report.measured.evaluation,
        &report.model.classes,
    ));
    if report.measured.evaluation.suspected > 0 {
        lines.push(String::new());
        lines.push(suspects(report));
    }
    if !report.writers.is_empty() {
        lines.push(String::new());
        lines.extend(writers(&report.writers));
    }
    if let Some(detection) = &report.detection {
        lines.push(String::new());
        lines.extend(not_digits(detection));
    }
    lines.join("\n")
}

fn headline(report: &EvaluationReport, uncalibrated: bool) -> String {
    let EvaluationReport {
        model, measured, ..
    } = report;
    let evaluation = &measured.evaluation;
    let without = if uncalibrated {
        " without a temperature"
    } else {
        ""
    };
    let calibration = calibration_error(evaluation).map_or_else(String::new, |error| {
        format!(", calibration error {}{without}", percent(error, 2))
    });
    let network = match &model.reference {
        ModelRef::Ensemble(Ensemble {
            models,
            dropout_passes,
        }) => {
            let passes = dropout_passes.map_or_else(String::new, |passes| {
                format!(", {passes} passes with dropout each")
            });
            format!("Mean of {}{passes}", count(models.len() as u64, "model"))
        }
        _ => model.network.label(),
    };
    format!(
        "{network} ({} parameters, trained on {}): accuracy {} on {} images of {} ({}), mean loss {:.4}{calibration}.",
        grouped(model.parameters),
        model.data.label(),
        percent(evaluation.accuracy, 2),
        grouped(evaluation.images),
        measured.data.label(),
        measured.split.label(),
        evaluation.loss
    )
}

fn confusion(evaluation: &Evaluation, classes: &Classes) -> Vec<String> {
    // Columns are as wide as their names.
    let length = |name: &str| name.chars().count();
    let columns = |cells: &mut dyn Iterator<Item = String>| -> String {
        cells
            .zip(classes.names())
            .map(|(cell, name)| format!("{cell:>width$}", width = length(name).max(5) + 1))
            .collect()
    };
    let first = classes.names().map(length).fold(9, usize::max);
    let predictions = columns(&mut classes.names().map(str::to_owned));
    let rows = class_scores(evaluation)
        .into_iter()
        .zip(&evaluation.confusion)
        .map(|(score, counts)| {
            let counts = columns(&mut counts.iter().map(u32::to_string));
            let share = score
                .accuracy()
                .map_or_else(|| "–".to_owned(), |share| percent(share, 1));
            format!("{:>first$}{counts}{share:>10}", classes.name(score.digit))
        });
    std::iter::once(format!("{:>first$}{predictions}  accuracy", "true\\pred"))
        .chain(rows)
        .collect()
}

fn suspects(report: &EvaluationReport) -> String {
    let many = count(
        report.measured.evaluation.suspected,
        "suspected label error",
    );
    let learned = if label_errors::learned(&report.model, &report.measured) {
        format!(" {}", label_errors::LEARNED)
    } else {
        String::new()
    };
    format!("{many} (confident learning); --suspects FILE writes their list.{learned}")
}

fn writers(scores: &[WriterScore]) -> Vec<String> {
    let title = format!(
        "Accuracy by writer, the lowest of {}:",
        grouped(scores.len() as u64)
    );
    let row = |score: &WriterScore| {
        format!(
            "{:>9}  {} of {} images  {}",
            percent(share(score.correct, score.images), 1),
            grouped(score.correct),
            grouped(score.images),
            visible::one_line(&score.writer)
        )
    };
    std::iter::once(title)
        .chain(scores.iter().take(LISTED_WRITERS).map(row))
        .collect()
}

fn not_digits(of: &DigitDetection) -> Vec<String> {
    let found = format!(
        "Digits distinguished from {} other drawings: AUROC {:.4}. At the model's threshold, {} of {} digits are kept and {} of the other drawings rejected.",
        grouped(of.not_digits),
        of.auroc,
        percent(share(of.kept, of.digits), 1),
        grouped(of.digits),
        percent(share(of.rejected, of.not_digits), 1),
    );
    let label = |score: &LabelRejection| {
        let label = visible::one_line(&score.label.to_string());
        format!(
            "{label:>9}  {} of {} rejected",
            grouped(score.rejected),
            grouped(score.drawings)
        )
    };
    std::iter::once(found)
        .chain(of.labels.iter().map(label))
        .collect()
}
