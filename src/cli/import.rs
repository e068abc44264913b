//! `inkling import`: turns a file of weights into a run of Inkling.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::choice;
use super::engine::{Engine, settings, shown_by};
use super::failure::Failure;
use super::interrupt;
use super::output::{Output, Progress, warn};
use super::train::saved;
use crate::engine::{EngineHost, RunsTarget};
use crate::problem::Message;
use crate::protocol::{EngineError, Job, JobResult};
use crate::records::{ImportFinding, ImportSpec, Normalization};
use crate::run_config::{Activation, DataSpec, DeviceChoice, HiddenLayers, ModelKind};
use crate::system::targets::check_folder;

#[derive(Debug, clap::Args)]
pub struct ImportArgs {
    /// A safetensors file, a state dict written by torch.save, or an ONNX file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Network [default: inferred from the shapes of the weights]
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = choice(ModelKind::ALL, ModelKind::name))]
    network: Option<ModelKind>,
    /// Hidden layers, such as 32C3-MP2-64C3-MP2-128 (see inkling train --help)
    /// [default: found by trial]
    #[arg(long, value_name = "L-L-…")]
    layers: Option<HiddenLayers>,
    /// Activation between its layers [default: found by trial]
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = choice(Activation::ALL, Activation::name))]
    activation: Option<Activation>,
    /// Mean subtracted from pixel values (0 to 1) in training [default: found by trial]
    #[arg(
        long,
        value_name = "X",
        requires = "std",
        allow_negative_numbers = true
    )]
    mean: Option<f32>,
    /// Standard deviation that pixel values were divided by [default: found by trial]
    #[arg(
        long,
        value_name = "X",
        requires = "mean",
        allow_negative_numbers = true
    )]
    std: Option<f32>,
    /// Accept Inkling's best guess if trials do not settle how the network was built
    #[arg(long)]
    accept: bool,
    /// Data set it was trained on
    #[arg(long, value_name = "DATA")]
    data: Option<DataSpec>,
    /// Folder to save the model in [default: a new folder among Inkling's runs]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace the run in that folder, if there is one
    #[arg(long, requires = "out")]
    force: bool,
    /// Print one JSON object to standard output
    #[arg(long)]
    json: bool,
}

#[derive(Serialize, JsonSchema)]
pub struct Imported<'a> {
    /// The folder it was saved in.
    run: String,
    model: ModelKind,
    model_path: String,
    parameters: u64,
    activation: Activation,
    data: &'a DataSpec,
    finding: &'a ImportFinding,
}

/// Imports the file and prints what it was recognized as.
pub fn run(arguments: ImportArgs) -> Result<(), Failure> {
    let normalization = arguments
        .mean
        .zip(arguments.std)
        .map(|(mean, std)| Normalization { mean, std });
    if let Some(Normalization { mean, std }) = normalization
        && !(mean.is_finite() && std.is_finite() && std > 0.0)
    {
        return Err(Failure::Usage(
            "--mean must be a number and --std a number above 0; 0.1307 and 0.3081 are usual for MNIST.".to_owned(),
        ));
    }
    let ImportArgs {
        file: path,
        network,
        layers,
        activation,
        accept,
        data,
        force,
        ..
    } = arguments;
    if let Some(out) = &arguments.out {
        check_folder(out, force, &[&path])?;
    }
    let runs = arguments.out.map(|folder| RunsTarget::Folder {
        folder,
        replace: force,
    });
    let host = EngineHost::from_env().for_device(DeviceChoice::Cpu);
    let engine = Engine::start_on(host, settings(None, runs, None)?);
    let job = Job::Import(ImportSpec {
        path,
        model: network,
        layers,
        activation,
        normalization,
        data,
        accept,
    });
    interrupt::install_handler();
    let doing = "Trying activations, normalizations and pooling";
    let imported = engine.run(job, shown_by(Progress::new(), doing))?;
    let (summary, finding) = match imported {
        Some(JobResult::Import { summary, finding }) => (summary, finding),
        Some(JobResult::ImportUndecided { message, .. }) => {
            return Err(Failure::Failed(message.to_string()));
        }
        Some(_) => return Err(EngineError::Gone.into()),
        None => {
            warn("Canceled; nothing was saved.");
            return Err(Failure::Interrupted);
        }
    };
    let mut output = Output::new(arguments.json);
    output.json(&Imported {
        run: summary.folder.display().to_string(),
        model: summary.config.model,
        model_path: summary.model_path.display().to_string(),
        parameters: summary.plan.parameters,
        activation: summary.config.activation,
        data: &summary.config.data,
        finding: &finding,
    })?;
    output.text(&Message::imported(&summary, &finding).to_string())?;
    saved(&summary, &mut output)
}
