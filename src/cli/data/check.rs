//! `inkling data check`: what a data set holds, and what may be wrong with it.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::engine::data_folders;
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::cli::output::Progress;
use crate::data::{Issue, IssueKind, Overview, Part, load};
use crate::problem::Problem;
use crate::run_config::{Classes, DataSpec};
use crate::system::paths::Paths;

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
