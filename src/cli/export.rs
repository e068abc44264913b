//! `inkling export`: writes a model in a format that other programs can open.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::{choice, model_file};
use super::engine::{Engine, shown_by};
use super::failure::Failure;
use super::output::{Output, Progress, warn};
use crate::nn::ModelFile;
use crate::problem::Message;
use crate::protocol::{EngineError, ExportReport, Job, JobResult};
use crate::records::{ExportSpec, FileInfo, ModelRef, OPSETS, QuantizedAccuracy, Replace};
use crate::run_config::{DataSpec, DeviceChoice, ExportFormat, WeightFormat};
use crate::system::WriteError;
use crate::system::files::TemporaryFolder;
use crate::text::format::{file_size, joined};
use crate::text::visible;

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "one per switch")]
pub struct ExportArgs {
    /// Model file to export, folder or title of a run, or latest
    #[arg(long, value_name = "MODEL")]
    model: PathBuf,
    /// Output format
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = choice(ExportFormat::ALL, ExportFormat::name))]
    format: ExportFormat,
    /// File to write, or - for standard output; other files that it needs (model.py, Cargo.toml …)
    /// are written next to it. For candle, this is the program, such as main.rs
    #[arg(long, value_name = "FILE", required_unless_present = "preview")]
    out: Option<PathBuf>,
    /// Precision of the stored weights; f16 halves the size
    #[arg(long, value_name = "NAME", default_value = "f32", ignore_case = true, value_parser = choice(WeightFormat::ALL, WeightFormat::name))]
    weights: WeightFormat,
    /// ONNX: store weights as 8-bit integers and measure the loss of accuracy (with zip: as an
    /// additional file)
    #[arg(long)]
    quantize: bool,
    /// ONNX: data set to measure the 8-bit weights on [default: the model's training data set, if
    /// it has a name or the run is among Inkling's own]
    #[arg(long, value_name = "DATA", requires = "quantize")]
    data: Option<DataSpec>,
    /// ONNX: take raw 28x28 images and return probabilities; if off, take normalized values and
    /// return logits [default: on]
    #[arg(long, value_name = "on|off", num_args = 0..=1, default_missing_value = "on", value_parser = switch)]
    preprocessing: Option<bool>,
    /// ONNX operator set, 13 to 26 [default: 17, which most programs support]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(i64::from(*OPSETS.start())..=i64::from(*OPSETS.end())))]
    opset: Option<u32>,
    /// Folder to search for data sets before the usual ones
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Replace files that exist
    #[arg(long)]
    force: bool,
    /// Write nothing; only list what the files would contain
    #[arg(long)]
    preview: bool,
    /// Print one JSON object to standard output
    #[arg(long)]
    json: bool,
}

fn switch(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("expected on or off".to_owned()),
    }
}

#[derive(Serialize, JsonSchema)]
pub struct Exported<'a> {
    format: ExportFormat,
    /// Files that were written.
    paths: Vec<String>,
    files: &'a [FileInfo],
    quantized: Option<QuantizedAccuracy>,
}

/// Exports the model and lists what was written.
pub fn run(arguments: ExportArgs) -> Result<(), Failure> {
    let spec = spec(&arguments)?;
    let model = model_file(&arguments.model)?;
    let mut output = Output::new(arguments.json);
    let mut to = arguments.out.filter(|_| !arguments.preview);
    let stream = match &to {
        Some(out) if out.as_os_str() == "-" => Some(stream(spec.format, &model, arguments.json)?),
        _ => None,
    };
    if let Some(folder) = &stream {
        to = Some(folder.path().join(spec.format.file_name()));
    }
    let engine = Engine::start(DeviceChoice::Cpu, arguments.data_dir)?;
    let replace = if arguments.force {
        Replace::Everything
    } else {
        Replace::Nothing
    };
    let job = Job::Export {
        model: ModelRef::File(model),
        spec: spec.clone(),
        to,
        replace,
    };
    let doing = "Evaluating the 8-bit weights";
    let exported = engine.run(job, shown_by(Progress::new(), doing))?;
    let Some(JobResult::Export(report)) = exported else {
        return Err(EngineError::Gone.into());
    };
    let paths = report
        .paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    if stream.is_some() {
        for file in &report.paths {
            output.file(file)?;
        }
    } else {
        output.json(&Exported {
            format: spec.format,
            paths,
            files: &report.files,
            quantized: report.quantized,
        })?;
        output.text(&summary(&report, &spec))?;
    }
    if let Some(problem) = &report.unmeasured {
        warn(&format!(
            "The accuracy of the 8-bit weights could not be measured. {}",
            problem.message.clone()
        ));
    }
    Ok(())
}

/// A folder for what is to go to standard output: the only file of this model in this format.
fn stream(format: ExportFormat, model: &Path, json: bool) -> Result<TemporaryFolder, Failure> {
    if json {
        return Err(Failure::Usage(
            "Standard output cannot hold both the file and JSON. Name a file with --out, or leave out --json.".to_owned(),
        ));
    }
    if io::stdout().is_terminal() {
        return Err(Failure::Usage(
            "A terminal cannot show the file. Send standard output to a file or a program (inkling export … --out - | …), or name a file with --out.".to_owned(),
        ));
    }
    if !format.is_one_file_for(ModelFile::load(model)?.card.model) {
        return Err(Failure::Usage(format!(
            "The format {format} has several files, and standard output takes one. Name a file with --out, or choose a format of one file, such as zip."
        )));
    }
    let parent = std::env::temp_dir();
    Ok(TemporaryFolder::new_in(&parent).map_err(|error| WriteError::new(&parent, &error))?)
}

/// The export that the arguments ask for. An option that has no effect on the format is an error.
fn spec(arguments: &ExportArgs) -> Result<ExportSpec, Failure> {
    let usual = ExportSpec::new(arguments.format);
    let has_onnx = arguments.format.has_onnx();
    let given = [
        ("--quantize", arguments.quantize),
        ("--preprocessing", arguments.preprocessing.is_some()),
        ("--opset", arguments.opset.is_some()),
    ];
    if let Some((option, _)) = given.into_iter().find(|(_, given)| *given && !has_onnx) {
        let format = arguments.format;
        return Err(Failure::Usage(format!(
            "{option} applies only to ONNX, which the format {format} does not include. Leave it out, or choose the format onnx or zip."
        )));
    }
    if arguments.weights != WeightFormat::F32 && !arguments.format.has_weights() {
        let format = arguments.format;
        return Err(Failure::Usage(format!(
            "--weights sets how weights are stored, but the format {format} contains none. Leave it out."
        )));
    }
    Ok(ExportSpec {
        weights: arguments.weights,
        quantize: arguments.quantize,
        preprocessing: arguments.preprocessing.unwrap_or(usual.preprocessing),
        opset: arguments.opset.unwrap_or(usual.opset),
        measure_on: arguments.data.clone(),
        ..usual
    })
}

/// A line for each file, with its weights if nothing was written, and what quantizing costs.
fn summary(report: &ExportReport, spec: &ExportSpec) -> String {
    let mut lines = Vec::new();
    let packed = spec.format == ExportFormat::Zip;
    if let (true, Some(path)) = (packed, report.paths.first()) {
        lines.push(format!("Wrote {}, which contains:", visible::path(path)));
    }
    for (index, file) in report.files.iter().enumerate() {
        let size = file_size(file.bytes);
        lines.push(match report.paths.get(index).filter(|_| !packed) {
            Some(path) => format!("Wrote {} ({size}): {}.", visible::path(path), file.about),
            None => format!(
                "{} ({size}): {}.",
                visible::one_line(&file.name),
                file.about
            ),
        });
        if report.paths.is_empty() {
            lines.extend(file.tensors.iter().map(|tensor| {
                let shape = joined(&tensor.shape, "x");
                format!(
                    "    {:<34} {shape:>14} {}",
                    tensor.name,
                    tensor.format.name()
                )
            }));
        }
    }
    if report.quantized.is_some() {
        lines.push(Message::exported(report).remedy);
    }
    lines.join("\n")
}
