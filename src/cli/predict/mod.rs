//! `inkling predict`: recognises the digits in images and ink files.

mod inputs;

use std::path::{Path, PathBuf};

use serde::Serialize;

use self::inputs::{files_of, is_ink};
use super::failure::Failure;
use super::output::{Output, note};
use crate::app::messages::Message;
use crate::app::verdict::Verdict;
use crate::infer::{Classifier, Classify};
use crate::ink::{read_image_file, read_ink_file};
use crate::problem::Problem;
use crate::records::{CLASSES, Prediction};
use crate::text::visible;

/// The options of `inkling predict`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Model file [default: the built-in starter model]
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// PNG or JPEG images, ink files (JSON or JSON Lines, optionally gzipped), or folders of these
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Print one JSON object per line to standard output
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct JsonLine<'a> {
    path: &'a str,
    digit: u8,
    confidence: f32,
    probabilities: [f32; CLASSES],
    is_digit: bool,
    digit_score: f32,
}

/// Classifies every input; reports those that cannot be read and continues with the rest.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let classifier = arguments.model.as_deref().map_or_else(Classifier::starter, Classifier::open)?;
    let mut output = Output::new(arguments.json);
    let mut failed = false;
    let mut report = |problem: &Problem| {
        failed = true;
        note(&Message::from(problem).to_string());
    };
    for input in &arguments.inputs {
        let files = match files_of(input) {
            Ok(files) => files,
            Err(error) => {
                report(&error.into());
                continue;
            }
        };
        for file in files {
            if output.closed() {
                break;
            }
            classify_file(&classifier, &file, &mut output, &mut report)?;
        }
    }
    if failed { Err(Failure::Reported) } else { Ok(()) }
}

/// Classifies and prints the drawings of one file.
fn classify_file(classifier: &Classifier, file: &Path, output: &mut Output, report: &mut impl FnMut(&Problem)) -> Result<(), Failure> {
    let name = file.display().to_string();
    if !is_ink(file) {
        match read_image_file(file).map_err(Problem::from).and_then(|image| Ok(classifier.classify(image)?)) {
            Ok(prediction) => print(&name, &prediction, output)?,
            Err(problem) => report(&problem),
        }
        return Ok(());
    }
    let entries = match read_ink_file(file) {
        Ok(entries) => entries,
        Err(error) => {
            report(&error.into());
            return Ok(());
        }
    };
    for entry in entries {
        if output.closed() {
            break;
        }
        let line = entry.as_ref().ok().and_then(|entry| entry.line);
        match entry.map_err(Problem::from).and_then(|entry| Ok(classifier.classify_drawing(&entry.ink)?)) {
            Ok(prediction) => print(&line.map_or_else(|| name.clone(), |line| format!("{name}:{line}")), &prediction, output)?,
            Err(problem) => report(&problem),
        }
    }
    Ok(())
}

fn print(path: &str, prediction: &Prediction, output: &mut Output) -> Result<(), Failure> {
    let Prediction { digit, confidence, probabilities, is_digit, digit_score, .. } = *prediction;
    output.json(&JsonLine { path, digit, confidence, probabilities, is_digit, digit_score })?;
    if output.is_json() {
        return Ok(());
    }
    let Verdict { sentence, detail, .. } = Verdict::of(prediction);
    let path = visible::one_line(path);
    output.text(&if detail.is_empty() { format!("{path}: {sentence}") } else { format!("{path}: {sentence}. {detail}") })
}
