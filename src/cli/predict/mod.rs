//! `inkling predict`: recognizes the digits in images, ink files and tables of pixels, and reads
//! numbers of several.

mod reading;
mod source;

pub use reading::{JsonLine, Written};
use std::path::{Path, PathBuf};

use self::reading::PredictionLine;
use self::source::{Content, STANDARD_INPUT, Source, files_of};
use super::arguments::Models;
use super::failure::Failure;
use super::output::{Output, Progress};
use crate::infer::Classifier;
use crate::ink::{InkError, Writing};
use crate::problem::Problem;
use crate::protocol::EngineError;
use crate::text::visible;

/// Folders of more files show how far it is.
const FEW_FILES: usize = 200;

#[derive(Debug, clap::Args)]
pub struct PredictArgs {
    #[command(flatten)]
    models: Models,
    /// Images (PNG, JPEG, BMP, GIF, WebP, TIFF, PBM, PGM, PPM) and ink files (JSON or JSON Lines,
    /// optionally gzipped) of one or several digits, folders of these, tables (CSV, optionally
    /// gzipped) with 784 pixels a row, or - for standard input
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Write the digits of a table of pixels to this file, as ImageId,Label for Kaggle's Digit
    /// Recognizer
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace FILE if it exists
    #[arg(long, requires = "out")]
    force: bool,
    /// Print one JSON object per line to standard output
    #[arg(long)]
    json: bool,
}

/// Classifies every input; reports those that cannot be read and continues with the rest.
pub fn run(arguments: &PredictArgs) -> Result<(), Failure> {
    let classifier =
        Classifier::load(&arguments.models.reference()?)?.ok_or(EngineError::NoSuchRun)?;
    if let Some(out) = &arguments.out {
        let [input] = arguments.inputs.as_slice() else {
            return Err(Failure::Usage(
                "--out takes the digits of a single table. Name one input.".to_owned(),
            ));
        };
        return reading::write(
            &classifier,
            source_of(input)?,
            out,
            arguments.force,
            arguments.json,
        );
    }
    let mut output = Output::new(arguments.json);
    let progress = Progress::new();
    let mut failed = false;
    let mut report = |problem: &Problem| {
        failed = true;
        progress.warn(&problem.to_string());
    };
    for input in &arguments.inputs {
        let sources = if is_standard_input(input) {
            source_of(input).map(|source| vec![source])
        } else {
            files_of(input, &mut |error| report(&error.into()))
                .map(|files| files.into_iter().map(Source::File).collect())
        };
        let sources: Vec<Source> = match sources {
            Ok(sources) => sources,
            Err(error) => {
                report(&error.into());
                continue;
            }
        };
        let count = sources.len();
        for (index, source) in sources.into_iter().enumerate() {
            if output.closed() {
                break;
            }
            // A folder of few files is done before a bar could be read.
            if count > FEW_FILES {
                progress.show(
                    index as f32 / count as f32,
                    &format!("file {} of {count}", index + 1),
                );
            }
            classify_source(
                &classifier,
                source,
                &mut |path, digits| progress.suspend(|| print(path, digits, &mut output)),
                &mut report,
            )?;
        }
    }
    drop(progress);
    if failed {
        Err(Failure::Reported)
    } else {
        Ok(())
    }
}

fn is_standard_input(input: &Path) -> bool {
    input.as_os_str() == STANDARD_INPUT
}

fn source_of(input: &Path) -> Result<Source, InkError> {
    if is_standard_input(input) {
        Source::standard()
    } else {
        Ok(Source::File(input.to_owned()))
    }
}

/// Pieces of writing, each with its line if it has one.
type Pieces = Box<dyn Iterator<Item = Result<(Option<u64>, Writing), Problem>>>;

/// Classifies the writing in one source and prints it, unless nobody wants to see more.
fn classify_source(
    classifier: &Classifier,
    source: Source,
    print: &mut impl FnMut(&str, &PredictionLine) -> Result<bool, Failure>,
    report: &mut impl FnMut(&Problem),
) -> Result<(), Failure> {
    let name = source.name();
    let content = match source.open(classifier.info().framing()) {
        Ok(content) => content,
        Err(problem) => {
            report(&problem);
            return Ok(());
        }
    };
    let pieces: Pieces = match content {
        Content::Image(writing) => Box::new(std::iter::once(Ok((None, *writing)))),
        Content::Ink(entries) => Box::new(entries.map(|entry| {
            entry
                .map(|entry| (entry.line, Writing::of_ink(&entry.ink)))
                .map_err(Problem::from)
        })),
        Content::Table(rows) => Box::new(rows.map(|row| {
            row.map(|(line, image)| (Some(line), Writing::framed(image)))
                .map_err(Problem::from)
        })),
    };
    for piece in pieces {
        match piece
            .and_then(|(line, writing)| Ok((line, PredictionLine::of(classifier, &writing)?)))
        {
            Ok((line, reading)) => {
                if !print(
                    &line.map_or_else(|| name.clone(), |line| format!("{name}:{line}")),
                    &reading,
                )? {
                    break;
                }
            }
            Err(problem) => report(&problem),
        }
    }
    Ok(())
}

/// Prints what was read; false when nobody wants to see more.
fn print(path: &str, reading: &PredictionLine, output: &mut Output) -> Result<bool, Failure> {
    output.json_or(&JsonLine::of(path, reading), || {
        format!("{}: {}", visible::one_line(path), reading.sentence())
    })?;
    Ok(!output.closed())
}
