//! `inkling predict`: recognises the digits in images and ink files, and reads numbers of several.

mod inputs;
mod reading;

use std::path::{Path, PathBuf};

use self::inputs::{files_of, is_ink};
use self::reading::{JsonLine, Reading};
use super::failure::Failure;
use super::output::Output;
use super::progress::Progress;
use crate::app::messages::Message;
use crate::infer::Classifier;
use crate::ink::{Writing, read_ink_file, read_writing_file};
use crate::problem::Problem;
use crate::text::visible;

/// Folders of more files show how far it is.
const FEW_FILES: usize = 200;

/// The options of `inkling predict`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Model file [default: the built-in starter model]
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Images (PNG, JPEG, BMP, GIF, WebP, TIFF, PBM, PGM, PPM) and ink files (JSON or JSON Lines, optionally gzipped) of one or several
    /// digits, or folders of these
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Print one JSON object per line to standard output
    #[arg(long)]
    json: bool,
}

/// Classifies every input; reports those that cannot be read and continues with the rest.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let classifier = arguments.model.as_deref().map_or_else(Classifier::starter, Classifier::open)?;
    let mut output = Output::new(arguments.json);
    let progress = Progress::new();
    let mut failed = false;
    let mut report = |problem: &Problem| {
        failed = true;
        progress.note(&Message::from(problem).to_string());
    };
    for input in &arguments.inputs {
        let files = match files_of(input, &mut |error| report(&error.into())) {
            Ok(files) => files,
            Err(error) => {
                report(&error.into());
                continue;
            }
        };
        for (index, file) in files.iter().enumerate() {
            if output.closed() {
                break;
            }
            // A folder of few files is done before a bar could be read.
            if files.len() > FEW_FILES {
                progress.show(index as f32 / files.len() as f32, &format!("file {} of {}", index + 1, files.len()));
            }
            classify_file(&classifier, file, &mut |path, digits| progress.suspend(|| print(path, digits, &mut output)), &mut report)?;
        }
    }
    drop(progress);
    if failed { Err(Failure::Reported) } else { Ok(()) }
}

/// Classifies the writing in one file and prints it, unless nobody wants to see more.
fn classify_file(
    classifier: &Classifier,
    file: &Path,
    print: &mut impl FnMut(&str, &Reading) -> Result<bool, Failure>,
    report: &mut impl FnMut(&Problem),
) -> Result<(), Failure> {
    let name = file.display().to_string();
    if !is_ink(file) {
        match read_writing_file(file).map_err(Problem::from).and_then(|writing| Reading::of(classifier, &writing)) {
            Ok(reading) => drop(print(&name, &reading)?),
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
        let line = entry.as_ref().ok().and_then(|entry| entry.line);
        match entry.map_err(Problem::from).and_then(|entry| Reading::of(classifier, &Writing::of_ink(&entry.ink))) {
            Ok(reading) => {
                if !print(&line.map_or_else(|| name.clone(), |line| format!("{name}:{line}")), &reading)? {
                    break;
                }
            }
            Err(problem) => report(&problem),
        }
    }
    Ok(())
}

/// Prints what was read; false when nobody wants to see more.
fn print(path: &str, reading: &Reading, output: &mut Output) -> Result<bool, Failure> {
    if output.is_json() {
        output.json(&JsonLine::of(path, reading))?;
    } else {
        output.text(&format!("{}: {}", visible::one_line(path), reading.sentence()))?;
    }
    Ok(!output.closed())
}
