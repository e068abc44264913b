//! How well models recognize what people wrote with real pens: `cargo bench --bench pens -- MODEL…`
//! prints, for each model and as their mean, the accuracy on the ink of a development set, by form,
//! on images drawn from it with thin and thick pens, and how well digits are distinguished from
//! letters. `--every N` takes one drawing in N, `--sheet FILE` saves a sheet of the mistakes.
//!
//! The development set (`pens/digits.jsonl.gz` and `pens/not-digits.jsonl.gz` in `INKLING_DATA_DIR`
//! or `../shared/data`) is for measuring and choosing, never for training.

mod forms;
mod images;
mod scores;

use std::path::PathBuf;

use inkling::infer::{Classifier, Classify};
use inkling::ink::{InkEntry, rasterize, read_ink_file};
use inkling::math::statistics::auroc;
use inkling::nn::ModelFile;
use inkling::problem::Problem;
use inkling::records::{ModelRef, Prediction};
use rayon::prelude::*;

use self::scores::{Answer, calibration_error, percent};

/// Letters and symbols that share no shape with a digit.
const UNLIKE_DIGITS: &str = "AEFHKMNRWXhkmnwx#%*+=@~^";
/// Pens of the images, in pixels of 280.
const PENS: [f32; 3] = [8.0, 18.0, 28.0];

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

struct Options {
    models: Vec<PathBuf>,
    every: usize,
    sheet: Option<PathBuf>,
    images: bool,
}

fn options() -> Result<Options> {
    let mut options = Options {
        models: Vec::new(),
        every: 1,
        sheet: None,
        images: true,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            // What `cargo bench` adds.
            "--bench" => {}
            "--every" => options.every = arguments.next().ok_or("--every N")?.parse()?,
            "--sheet" => options.sheet = Some(arguments.next().ok_or("--sheet FILE")?.into()),
            "--ink-only" => options.images = false,
            model => options.models.push(model.into()),
        }
    }
    Ok(options)
}

fn main() -> Result<()> {
    let options = options()?;
    let folder = std::env::var_os("INKLING_DATA_DIR")
        .map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from)
        .join("pens");
    if !folder.is_dir() {
        println!(
            "skipped: there is no development set in {}",
            folder.display()
        );
        return Ok(());
    }
    let read = |name: &str| -> Result<Vec<InkEntry>> {
        Ok(read_ink_file(&folder.join(name))?
            .step_by(options.every)
            .collect::<std::result::Result<_, _>>()?)
    };
    let (digits, others) = (read("digits.jsonl.gz")?, read("not-digits.jsonl.gz")?);
    let mut rows = Vec::new();
    for model in &options.models {
        println!("{}", model.display());
        rows.push(measure(
            &Classifier::of_file(ModelFile::load(model)?, ModelRef::File(model.clone())),
            &digits,
            &others,
            &options,
        )?);
    }
    if rows.len() > 1 {
        println!("mean of {}", rows.len());
        for (index, (name, _)) in rows[0].iter().enumerate() {
            let mean = rows.iter().map(|row| row[index].1).sum::<f64>() / rows.len() as f64;
            println!("  {name:45} {}", percent(mean));
        }
    }
    Ok(())
}

/// Measures one model; the figures by name.
fn measure(
    classifier: &Classifier,
    digits: &[InkEntry],
    others: &[InkEntry],
    options: &Options,
) -> Result<Vec<(String, f64)>> {
    let mut figures = Vec::new();
    let mut figure = |name: String, value: f64| {
        println!("  {name:45} {}", percent(value));
        figures.push((name, value));
    };
    let ink = answers(digits, |entry| classifier.classify(rasterize(&entry.ink)))?;
    figure("ink".to_owned(), accuracy(&ink));
    figure("ink: calibration error".to_owned(), calibration_error(&ink));
    let unlike: Vec<InkEntry> = others
        .iter()
        .filter(|entry| {
            entry
                .label
                .is_some_and(|label| UNLIKE_DIGITS.contains(label))
        })
        .cloned()
        .collect();
    let letters = answers(&unlike, |entry| classifier.classify(rasterize(&entry.ink)))?;
    let score = |answers: &[Answer]| {
        answers
            .iter()
            .map(|answer| answer.prediction.digit_score)
            .collect::<Vec<_>>()
    };
    figure(
        "not a digit: area under the ROC curve".to_owned(),
        auroc(&score(&ink), &score(&letters)),
    );
    let kept = |answers: &[Answer]| {
        answers
            .iter()
            .filter(|answer| answer.prediction.is_digit)
            .count() as f64
            / answers.len() as f64
    };
    figure("digits taken for digits".to_owned(), kept(&ink));
    figure("letters taken for digits".to_owned(), kept(&letters));
    if options.images {
        for pen in PENS {
            let mut mean = [0.0; 2];
            for size in images::SIZES {
                let drawn = answers(digits, |entry| {
                    classifier.classify(images::drawn(&entry.ink, pen, size)?)
                })?;
                let agreeing = drawn
                    .iter()
                    .zip(&ink)
                    .filter(|(image, ink)| image.prediction.digit == ink.prediction.digit)
                    .count();
                let share = agreeing as f64 / digits.len() as f64;
                figure(
                    format!("images: pen {pen}, digit {size} px of 280"),
                    accuracy(&drawn),
                );
                figure(
                    format!("images: pen {pen}, digit {size} px: as the ink"),
                    share,
                );
                mean = [mean[0] + accuracy(&drawn), mean[1] + share];
            }
            figure(
                format!("images: pen {pen}"),
                mean[0] / images::SIZES.len() as f64,
            );
            figure(
                format!("images: pen {pen}: as the ink"),
                mean[1] / images::SIZES.len() as f64,
            );
        }
    }
    forms::print(&ink, digits);
    if let Some(sheet) = &options.sheet {
        scores::save_sheet(&ink, sheet)?;
    }
    Ok(figures)
}

fn answers(
    entries: &[InkEntry],
    classify: impl Fn(&InkEntry) -> std::result::Result<Prediction, Problem> + Sync,
) -> Result<Vec<Answer>> {
    let answer = |entry: &InkEntry| {
        Ok(Answer {
            label: entry.label.unwrap_or(' '),
            prediction: classify(entry)?,
        })
    };
    let answers: std::result::Result<Vec<_>, Problem> = entries.par_iter().map(answer).collect();
    Ok(answers?)
}

fn accuracy(answers: &[Answer]) -> f64 {
    answers.iter().filter(|answer| answer.is_right()).count() as f64 / answers.len() as f64
}
