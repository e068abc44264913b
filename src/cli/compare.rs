//! `inkling compare`: compares models on the same test images.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::model_file;
use super::engine::{Engine, shown_by};
use super::eval::DigitAccuracy;
use super::failure::Failure;
use super::output::{Output, Progress};
use super::record;
use crate::infer::ComparisonError;
use crate::infer::model_comparison::{
    against, digits_table, images_of, letter, results_table, sentences, settings_table,
};
use crate::math::statistics::wilson_interval;
use crate::problem::Problem;
use crate::protocol::{EngineError, Job, JobResult};
use crate::records::{COMPARED_MODELS, ComparedModel, ComparisonSpec, ModelComparison, ModelRef};
use crate::run_config::{
    DataSpec, DeviceChoice, EvaluationSplit, ModelKind, RunConfig, differing_settings,
};
use crate::text::{table, visible};

/// What all others are compared with: the first on the command line.
const BASELINE: usize = 0;

#[derive(Debug, clap::Args)]
pub struct CompareArgs {
    /// Model files, folders or titles of runs, or latest, 2 to 8; the first is the baseline that
    /// the others are compared with. Or record cards, by their JSON files
    #[arg(required = true, value_name = "MODEL", num_args = 1..)]
    runs: Vec<PathBuf>,
    /// Data set to compare them on: builtin, mnist, fashion-mnist, kmnist,
    /// emnist-digits, emnist-letters or a path [default: the one they were all trained on]
    #[arg(long, value_name = "DATA")]
    data: Option<DataSpec>,
    /// Folder to search for data sets before the usual ones
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Print one JSON object to standard output
    #[arg(long)]
    json: bool,
}

#[derive(Serialize, JsonSchema)]
pub struct Figures {
    data: String,
    split: EvaluationSplit,
    images: u64,
    /// In the order in which they were named.
    models: Vec<ModelAccuracy>,
    /// Those that are not the same for all.
    settings: Vec<SettingValues>,
    /// Every other model compared with the first.
    against_first: Vec<PairedDifference>,
}

#[derive(Serialize, JsonSchema)]
pub struct ModelAccuracy {
    path: String,
    network: ModelKind,
    parameters: u64,
    epochs: u32,
    train_seconds: Option<f64>,
    accuracy: f64,
    /// The 95% interval of the accuracy.
    interval: (f64, f64),
    digits: Vec<DigitAccuracy>,
}

#[derive(Serialize, JsonSchema)]
pub struct SettingValues {
    setting: &'static str,
    /// Of each model.
    values: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct PairedDifference {
    path: String,
    /// Images that only this model classifies correctly.
    only_correct: u64,
    /// Images that only the first does.
    only_first_correct: u64,
    /// In accuracy.
    difference: f64,
    /// The 95% interval of the difference.
    interval: (f64, f64),
    p: f64,
    significant: bool,
}

/// Compares the models and prints what was found.
pub fn run(arguments: CompareArgs) -> Result<(), Failure> {
    let runs = &arguments.runs;
    if record::are_cards(runs) {
        return record::compare(runs, arguments.json);
    }
    if !COMPARED_MODELS.contains(&runs.len()) {
        let problem = Problem::from(ComparisonError::Count { given: runs.len() });
        return Err(Failure::Usage(problem.to_string()));
    }
    let models = runs
        .iter()
        .map(|path| model_file(path).map(ModelRef::File))
        .collect::<Result<Vec<_>, _>>()?;
    let engine = Engine::start(DeviceChoice::Cpu, arguments.data_dir)?;
    let data = arguments.data;
    let job = Job::CompareModels(ComparisonSpec { models, data });
    let compared = engine.run(job, shown_by(Progress::new(), "Comparing"))?;
    let Some(JobResult::CompareModels(comparison)) = compared else {
        return Err(EngineError::Gone.into());
    };
    Output::new(arguments.json).json_or(&figures(&comparison, runs), || text(&comparison, runs))
}

fn figures(comparison: &ModelComparison, runs: &[PathBuf]) -> Figures {
    let classes = comparison.classes();
    let share = |correct: u64, images: u64| (images > 0).then(|| correct as f64 / images as f64);
    let digits = |model: &ComparedModel| {
        let pairs = model
            .correct_digits
            .iter()
            .zip(&comparison.digits)
            .enumerate();
        pairs
            .map(|(digit, (&correct, &images))| DigitAccuracy {
                digit: digit as u8,
                label: classes.name(digit).to_owned(),
                images,
                accuracy: share(correct, images),
            })
            .collect()
    };
    let model = |(model, path): (&ComparedModel, &PathBuf)| ModelAccuracy {
        path: path.display().to_string(),
        network: model.model.network.model(),
        parameters: model.model.parameters,
        epochs: model.model.epochs,
        train_seconds: model.train_seconds,
        accuracy: share(model.correct, comparison.images).unwrap_or_default(),
        interval: wilson_interval(model.correct, comparison.images),
        digits: digits(model),
    };
    let only_correct = |model: usize, other: usize| {
        comparison
            .pair(model, other)
            .map_or(0, |pair| pair.first_only)
    };
    let results = against(comparison, BASELINE);
    let difference = results
        .iter()
        .filter_map(|(model, result)| Some((*model, result, runs.get(*model)?)))
        .map(|(model, result, path)| PairedDifference {
            path: path.display().to_string(),
            only_correct: only_correct(model, BASELINE),
            only_first_correct: only_correct(BASELINE, model),
            difference: result.difference,
            interval: result.interval,
            p: result.p,
            significant: result.is_significant(),
        });
    Figures {
        data: comparison.data.to_string(),
        split: comparison.split,
        images: comparison.images,
        models: comparison.models.iter().zip(runs).map(model).collect(),
        settings: differing_settings(&configs(comparison))
            .into_iter()
            .map(|(setting, values)| SettingValues { setting, values })
            .collect(),
        against_first: difference.collect(),
    }
}

fn configs(comparison: &ModelComparison) -> Vec<&RunConfig> {
    comparison
        .models
        .iter()
        .map(|model| &model.config)
        .collect()
}

/// Which letter stands for which model, the tables, and the sentences.
fn text(comparison: &ModelComparison, runs: &[PathBuf]) -> String {
    let name = |(position, path): (usize, &PathBuf)| {
        format!("  {}  {}", letter(position), visible::path(path))
    };
    let mut lines = vec![format!("Compared on {}:", images_of(comparison))];
    lines.extend(runs.iter().enumerate().map(name));
    let tables = [
        settings_table(&configs(comparison)),
        results_table(comparison),
        digits_table(comparison, BASELINE),
    ];
    lines.push(table::text(&tables));
    lines.extend(sentences(comparison, BASELINE));
    lines.join("\n")
}
