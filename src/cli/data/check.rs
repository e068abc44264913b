//! `inkling data check` and `inkling data show`: what is in a data set.

use std::io::{self, Cursor};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::arguments::choice;
use crate::cli::engine::data_folders;
use crate::cli::failure::Failure;
use crate::cli::output::{Output, Progress};
use crate::data::augment::Augmenter;
use crate::data::{Issue, IssueKind, Overview, Part, contact_sheet, load};
use crate::ink::PIXELS;
use crate::math::random::Random;
use crate::problem::Problem;
use crate::run_config::{Augmentation, Classes, DataSource, DataSpec};
use crate::system::WriteError;
use crate::system::files::write_whole;
use crate::system::paths::Paths;
use crate::system::targets::check_file;
use crate::text::visible;

/// The options of `inkling data check`.
#[derive(Debug, clap::Args)]
pub struct Check {
    /// mine (the drawings you keep), builtin, mnist, fashion-mnist, kmnist, emnist-digits,
    /// emnist-letters, a path, or several joined with +
    #[arg(value_name = "NAME")]
    data: DataSpec,
    /// Folder to search for data sets before the usual ones
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Print one JSON object to standard output
    #[arg(long)]
    json: bool,
}

/// What was found, as JSON.
#[derive(Serialize, JsonSchema)]
pub struct Found {
    data: String,
    /// What the classes are called, by their numbers.
    classes: Vec<String>,
    /// Training images of each class.
    train_images: Vec<u64>,
    /// Test images of each class.
    test_images: Vec<u64>,
    issues: Vec<FoundIssue>,
}

#[derive(Serialize, JsonSchema)]
pub struct FoundIssue {
    issue: IssueKind,
    part: Part,
    images: u64,
    /// The first of them.
    examples: Vec<Place>,
}

/// An image with an issue.
#[derive(Serialize, JsonSchema)]
pub struct Place {
    /// Its place in its part, from 0.
    index: u32,
    label: u8,
}

/// Runs it.
pub fn run(check: Check) -> Result<(), Failure> {
    let folders = data_folders(check.data_dir, &Paths::find())?;
    let progress = Progress::new();
    let set = load(&check.data, &folders, &mut |fraction: f32| {
        progress.show(fraction, "Loading data");
        Ok(())
    })
    .map_err(Problem::from)?;
    drop(progress);
    let overview = Overview::of(&set);
    let mut output = Output::new(check.json);
    output.json(&found(&check.data, &set.classes, &overview))?;
    if output.is_json() {
        return Ok(());
    }
    output.text(&check.data.label())?;
    let classes = &set.classes;
    // Columns are as wide as their names.
    let columns = |cells: &mut dyn Iterator<Item = String>| -> String {
        cells
            .zip(classes.names())
            .map(|(cell, name)| format!("{cell:>width$}", width = name.chars().count().max(6) + 1))
            .collect()
    };
    output.text(&format!(
        "{} {}",
        classes.noun(),
        columns(&mut classes.names().map(str::to_owned))
    ))?;
    for (name, counts) in [("train", &overview.train), ("test ", &overview.test)] {
        output.text(&format!(
            "{name} {}",
            columns(&mut counts.iter().map(u64::to_string))
        ))?;
    }
    let imbalance = overview.imbalance_sentence(classes);
    if overview.issues.is_empty() && imbalance.is_none() {
        return output.text("Nothing odd was found.");
    }
    if let Some(sentence) = imbalance {
        output.text(&sentence)?;
    }
    for issue in &overview.issues {
        output.text(&issue.sentence())?;
        let places: Vec<_> = issue
            .examples
            .iter()
            .map(|example| format!("{} ({})", example.index, example.label))
            .collect();
        let more = if issue.images > issue.examples.len() as u64 {
            ", …"
        } else {
            ""
        };
        output.text(&format!(
            "  index from 0 (label): {}{more}",
            places.join(", ")
        ))?;
    }
    Ok(())
}

fn found(data: &DataSpec, classes: &Classes, overview: &Overview) -> Found {
    let issue = |issue: &Issue| FoundIssue {
        issue: issue.kind,
        part: issue.part,
        images: issue.images,
        examples: issue
            .examples
            .iter()
            .map(|example| Place {
                index: example.index,
                label: example.label,
            })
            .collect(),
    };
    Found {
        data: data.to_string(),
        classes: classes.clone().into(),
        train_images: overview.train.clone(),
        test_images: overview.test.clone(),
        issues: overview.issues.iter().map(issue).collect(),
    }
}

/// Images per digit on a sheet.
const COLUMNS: usize = 20;

/// The options of `inkling data show`.
#[derive(Debug, clap::Args)]
pub struct Show {
    /// mine (the drawings you keep), builtin, mnist, fashion-mnist, kmnist, emnist-digits,
    /// emnist-letters, a path, or several joined with +
    #[arg(value_name = "NAME")]
    data: DataSpec,
    /// PNG file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    /// Random seed that chooses the images
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Augment the images as training would
    #[arg(long, value_name = "NAME", default_value = "off", ignore_case = true, value_parser = choice(Augmentation::ALL, Augmentation::name))]
    augmentation: Augmentation,
    /// Folder to search for data sets before the usual ones
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Print one JSON object to standard output
    #[arg(long)]
    json: bool,
}

/// The sheet that was written, as JSON.
#[derive(Serialize, JsonSchema)]
pub struct Sheet {
    path: String,
    data: String,
    train_images: usize,
    test_images: usize,
}

/// Runs it.
pub fn show(show: Show) -> Result<(), Failure> {
    let read = show.data.sources().iter().filter_map(|source| {
        if let DataSource::Path(path) = source {
            Some(path.as_path())
        } else {
            None
        }
    });
    check_file(&show.out, show.force, &read.collect::<Vec<_>>())?;
    let folders = data_folders(show.data_dir, &Paths::find())?;
    let progress = Progress::new();
    let mut set = load(&show.data, &folders, &mut |fraction: f32| {
        progress.show(fraction, "Loading data");
        Ok(())
    })?;
    drop(progress);
    if let Some(mut augmenter) = Augmenter::new(show.augmentation) {
        for (index, pixels) in (0..).zip(set.train.images.chunks_exact_mut(PIXELS)) {
            augmenter.apply(
                pixels,
                &mut Random::stream(show.seed, "augmentation", index),
            );
        }
    }
    let mut png = Cursor::new(Vec::new());
    contact_sheet(&set, COLUMNS, show.seed)
        .write_to(&mut png, image::ImageFormat::Png)
        .map_err(|error| WriteError::new(&show.out, &io::Error::other(error)))?;
    write_whole(&show.out, png.get_ref())?;
    let mut output = Output::new(show.json);
    let sheet = Sheet {
        path: show.out.display().to_string(),
        data: show.data.to_string(),
        train_images: set.train.len(),
        test_images: set.test.len(),
    };
    output.json(&sheet)?;
    output.text(&format!(
        "Wrote {}: up to {COLUMNS} training images per {} from {}.",
        visible::path(&show.out),
        set.classes.noun(),
        show.data.label()
    ))
}
