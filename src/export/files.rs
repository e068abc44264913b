//! Owns which files each format is made of, what they are called and how they come to lie on a disk. Must not know what is in them.

use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::{ExportError, Subject, candle, card, onnx, pytorch, report};
use crate::nn::parameter_specs;
use crate::problem::Problem;
use crate::records::{ExportSpec, FileInfo, TensorInfo};
use crate::run_config::{ExportFormat, WeightFormat};
use crate::system::files::write_whole;

/// One file, ready to be written.
#[derive(Clone, Debug)]
pub struct ExportedFile {
    /// What it is.
    pub info: FileInfo,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// Every file of an export, the one that was asked for first.
#[derive(Clone, Debug)]
pub struct Export {
    files: Vec<ExportedFile>,
    /// What takes the place of the last file where another of that name is in its way.
    instead: Option<ExportedFile>,
    /// The name they share: the zip archive's, and that of the folder in it.
    name: String,
    packed: bool,
}

/// Puts together what `spec` asks for; the file asked for is called `name`, those beside it as their kind is.
pub fn export(subject: &Subject, spec: &ExportSpec, name: &str) -> Result<Export, ExportError> {
    let weights = "model.safetensors";
    let beside = |ending: &str| Path::new(name).with_extension(ending).to_string_lossy().into_owned();
    let files = match spec.format {
        ExportFormat::Safetensors => vec![safetensors(subject, spec.weights, name)?],
        ExportFormat::Onnx => vec![of_onnx(subject, spec, name, spec.quantize)?, predict_py()],
        ExportFormat::PyTorch => vec![state_dict(subject, spec.weights, name)?, model_py(subject, name, "model")],
        ExportFormat::Candle => {
            let program = text(name, "Rust program that recognises digits with candle", candle::main_rs(subject, weights));
            vec![program, manifest(subject, name), safetensors(subject, spec.weights, weights)?]
        }
        ExportFormat::Card => {
            let words = text(name, "Model card", card::markdown(subject, &[]));
            vec![words, card_json(subject, &beside("json"))]
        }
        ExportFormat::Report => vec![report_html(subject, name)],
        ExportFormat::Zip => everything(subject, spec)?,
    };
    let stem = Path::new(name).file_stem().map_or_else(|| subject.name(), |stem| stem.to_string_lossy().into_owned());
    // A folder may hold several models, each with a module of its own.
    let instead = (spec.format == ExportFormat::PyTorch).then(|| model_py(subject, name, &stem));
    Ok(Export { files, instead, name: stem, packed: spec.format == ExportFormat::Zip })
}

/// All there is, by names that find one another in one folder.
fn everything(subject: &Subject, spec: &ExportSpec) -> Result<Vec<ExportedFile>, ExportError> {
    let [weights, onnx, state] = ["model.safetensors", "model.onnx", "model.pt"];
    let mut files = vec![safetensors(subject, spec.weights, weights)?, of_onnx(subject, spec, onnx, false)?];
    if spec.quantize {
        files.push(of_onnx(subject, spec, "model-int8.onnx", true)?);
    }
    files.extend([predict_py(), state_dict(subject, spec.weights, state)?, model_py(subject, state, "model")]);
    let program = text("main.rs", "Rust program that recognises digits with candle", candle::main_rs(subject, weights));
    files.extend([program, manifest(subject, "main.rs"), report_html(subject, "report.html"), card_json(subject, "model-card.json")]);
    let listed: Vec<FileInfo> = files.iter().map(|file| file.info.clone()).collect();
    files.insert(0, text("README.md", "Model card", card::markdown(subject, &listed)));
    Ok(files)
}

fn safetensors(subject: &Subject, weights: WeightFormat, name: &str) -> Result<ExportedFile, ExportError> {
    let tensors = parameter_specs(subject.file.card.model).into_iter().map(|spec| TensorInfo {
        name: spec.name,
        shape: spec.shape.into_iter().map(|length| length as u64).collect(),
        format: weights.into(),
    });
    let about = "Weights and metadata for candle, PyTorch and Inkling";
    Ok(file(name, about, subject.safetensors(weights)?, tensors.collect()))
}

fn of_onnx(subject: &Subject, spec: &ExportSpec, name: &str, quantize: bool) -> Result<ExportedFile, ExportError> {
    let (bytes, tensors) = onnx::write(subject, spec, quantize)?;
    let kind = if quantize { "Complete model with 8-bit weights" } else { "Complete model" };
    let [takes, gives] = if spec.preprocessing { ["raw 28x28 images", "probabilities"] } else { ["normalised images", "logits"] };
    Ok(file(name, &format!("{kind} for ONNX Runtime, tract and others: takes {takes}, returns {gives}"), bytes, tensors))
}

fn state_dict(subject: &Subject, weights: WeightFormat, name: &str) -> Result<ExportedFile, ExportError> {
    let (bytes, tensors) = pytorch::write(subject, weights)?;
    Ok(file(name, "Weights for PyTorch, as a state dict", bytes, tensors))
}

fn model_py(subject: &Subject, weights: &str, module: &str) -> ExportedFile {
    let source = pytorch::model_py(subject, weights, module);
    text(&format!("{module}.py"), "PyTorch module that loads the weights", source)
}

/// The same for every model: the ONNX file says itself what it takes.
fn predict_py() -> ExportedFile {
    text("predict.py", "Recognises digits in images with the ONNX file", include_str!("../../assets/export/predict.py").to_owned())
}

fn manifest(subject: &Subject, program: &str) -> ExportedFile {
    text("Cargo.toml", "Cargo manifest of the Rust program", candle::manifest(subject, program))
}

fn report_html(subject: &Subject, name: &str) -> ExportedFile {
    text(name, "Web page with learning curves, confusion matrix and misclassified images", report::html(subject))
}

fn card_json(subject: &Subject, name: &str) -> ExportedFile {
    text(name, "Model card as JSON", format!("{:#}\n", card::json(subject)))
}

fn text(name: &str, about: &str, text: String) -> ExportedFile {
    file(name, about, text.into_bytes(), Vec::new())
}

fn file(name: &str, about: &str, bytes: Vec<u8>, tensors: Vec<TensorInfo>) -> ExportedFile {
    ExportedFile { info: FileInfo { name: name.to_owned(), about: about.to_owned(), bytes: bytes.len() as u64, tensors }, bytes }
}

impl Export {
    /// The files it is made of.
    pub fn files(&self) -> &[ExportedFile] {
        &self.files
    }

    /// What they are.
    pub fn infos(&self) -> Vec<FileInfo> {
        self.files.iter().map(|file| file.info.clone()).collect()
    }

    /// Writes the file asked for to `path`, and what belongs to it beside it; gives every path written. Nothing else that lies beside
    /// it is overwritten.
    pub fn save(&self, path: &Path) -> Result<Vec<PathBuf>, Problem> {
        if self.packed {
            write_whole(path, &self.zipped()?)?;
            return Ok(vec![path.to_owned()]);
        }
        let mut places = Vec::new();
        for (index, file) in self.files.iter().enumerate() {
            let beside = |file: &ExportedFile| path.with_file_name(&file.info.name);
            let free = |file: &ExportedFile| loses_nothing(&beside(file), file);
            places.push(match (&self.instead, index) {
                (_, 0) => (path.to_owned(), file),
                _ if free(file) => (beside(file), file),
                (Some(instead), _) if free(instead) => (beside(instead), instead),
                _ => return Err(ExportError::InTheWay { path: beside(file) }.into()),
            });
        }
        for (path, file) in &places {
            write_whole(path, &file.bytes)?;
        }
        Ok(places.into_iter().map(|(path, _)| path).collect())
    }

    /// A zip archive of all files in one folder. Weights do not get smaller by packing; text does.
    fn zipped(&self) -> Result<Vec<u8>, ExportError> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for file in &self.files {
            let method = if file.info.tensors.is_empty() { CompressionMethod::Deflated } else { CompressionMethod::Stored };
            let options = SimpleFileOptions::default().compression_method(method);
            zip.start_file(format!("{}/{}", self.name, file.info.name), options).map_err(|error| ExportError::of(&error))?;
            zip.write_all(&file.bytes).map_err(|error| ExportError::of(&error))?;
        }
        Ok(zip.finish().map_err(|error| ExportError::of(&error))?.into_inner())
    }
}

/// True where nothing is lost by writing this file there: nothing is there, or the very same.
fn loses_nothing(path: &Path, file: &ExportedFile) -> bool {
    let Ok(there) = std::fs::File::open(path) else { return !path.exists() };
    let mut bytes = Vec::new();
    there.take(file.info.bytes + 1).read_to_end(&mut bytes).is_ok() && bytes == file.bytes
}
