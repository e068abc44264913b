//! Which files each export format consists of, how they are named, and how they are saved.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::{
    ExportError, ExportedModel, candle, html, model_card, onnx, pytorch, report, untrusted,
};
use crate::nn::parameter_specs;
use crate::records::{ExportSpec, FileInfo, Replace, TensorInfo};
use crate::run_config::{ExportFormat, WeightFormat};
use crate::system::files::{read_limited, write_group, write_whole};
use crate::system::targets::check_files;
use crate::text::visible::is_hidden;

/// One file of an export, ready to be written.
#[derive(Clone, Debug)]
pub struct ExportedFile {
    pub info: FileInfo,
    pub bytes: Vec<u8>,
}

/// All files of an export, the requested one first.
#[derive(Clone, Debug)]
pub struct Export {
    files: Vec<ExportedFile>,
    /// Written instead of the last file if a different file of that name exists.
    fallback: Option<ExportedFile>,
    /// The name of the folder in the zip archive.
    folder: String,
    is_zip: bool,
}

/// Creates the files that `spec` asks for. The requested file is called `name`; accompanying files
/// have fixed names.
pub fn export(model: &ExportedModel, spec: &ExportSpec, name: &str) -> Result<Export, ExportError> {
    let weights = "model.safetensors";
    let beside = |ending: &str| {
        Path::new(name)
            .with_extension(ending)
            .to_string_lossy()
            .into_owned()
    };
    let graph = model.file.net.graph();
    if !spec.format.exists_for(model.file.card.model)
        || (graph.is_some() && spec.format == ExportFormat::Onnx && spec.quantize)
    {
        return Err(ExportError::UnsupportedNetwork);
    }
    let files = match spec.format {
        ExportFormat::Onnx if let Some(graph) = graph => {
            vec![file(
                name,
                "The ONNX file that was imported",
                graph.bytes().to_vec(),
                Vec::new(),
            )]
        }
        ExportFormat::Safetensors => vec![safetensors(model, spec.weights, name)?],
        ExportFormat::Onnx => vec![onnx_file(model, spec, name, spec.quantize)?, predict_py()],
        ExportFormat::PyTorch => vec![
            state_dict_file(model, spec.weights, name)?,
            model_py(model, name, "model"),
        ],
        ExportFormat::Candle => {
            let program = text(
                name,
                "Rust program that classifies images with candle",
                candle::main_rs(model, weights),
            );
            vec![
                program,
                manifest(model, name),
                safetensors(model, spec.weights, weights)?,
            ]
        }
        ExportFormat::Html => vec![web_page(model, name)?],
        ExportFormat::Card => {
            let words = text(name, "Model card", model_card::markdown(model, &[]));
            vec![words, card_json(model, &beside("json"))]
        }
        ExportFormat::Report => vec![report_html(model, name)],
        ExportFormat::Zip => everything(model, spec)?,
    };
    let stem = Path::new(name)
        .file_stem()
        .map_or_else(|| model.name(), |stem| stem.to_string_lossy().into_owned());
    // Several models exported to one folder each get a separate module.
    let fallback = (spec.format == ExportFormat::PyTorch).then(|| model_py(model, name, &stem));
    let folder = Some(folder_name(&stem))
        .filter(|folder| !folder.is_empty())
        .unwrap_or_else(|| model.name());
    Ok(Export {
        files,
        fallback,
        folder,
        is_zip: spec.format == ExportFormat::Zip,
    })
}

/// The files of every format, named so that they find each other in one folder.
fn everything(model: &ExportedModel, spec: &ExportSpec) -> Result<Vec<ExportedFile>, ExportError> {
    let [weights, onnx, state] = ["model.safetensors", "model.onnx", "model.pt"];
    let mut files = vec![
        safetensors(model, spec.weights, weights)?,
        onnx_file(model, spec, onnx, false)?,
    ];
    if spec.quantize {
        files.push(onnx_file(model, spec, "model-int8.onnx", true)?);
    }
    files.extend([
        predict_py(),
        state_dict_file(model, spec.weights, state)?,
        model_py(model, state, "model"),
    ]);
    let program = text(
        "main.rs",
        "Rust program that classifies images with candle",
        candle::main_rs(model, weights),
    );
    files.extend([
        program,
        manifest(model, "main.rs"),
        web_page(model, "model.html")?,
        report_html(model, "report.html"),
        card_json(model, "model-card.json"),
    ]);
    let listed: Vec<FileInfo> = files.iter().map(|file| file.info.clone()).collect();
    files.insert(
        0,
        text(
            "README.md",
            "Model card",
            model_card::markdown(model, &listed),
        ),
    );
    Ok(files)
}

fn safetensors(
    model: &ExportedModel,
    weights: WeightFormat,
    name: &str,
) -> Result<ExportedFile, ExportError> {
    let tensors = parameter_specs(model.file.card.network(), model.file.net.classes())
        .into_iter()
        .map(|spec| TensorInfo {
            name: spec.name,
            shape: spec.shape.into_iter().map(|length| length as u64).collect(),
            format: weights.into(),
        });
    let about = "Weights and metadata for candle, PyTorch and Inkling";
    Ok(file(
        name,
        about,
        model.safetensors(weights)?,
        tensors.collect(),
    ))
}

fn onnx_file(
    model: &ExportedModel,
    spec: &ExportSpec,
    name: &str,
    quantize: bool,
) -> Result<ExportedFile, ExportError> {
    let (bytes, tensors) = onnx::write(model, spec, quantize)?;
    let kind = if quantize {
        "Complete model with 8-bit weights"
    } else {
        "Complete model"
    };
    let [takes, gives] = if spec.preprocessing {
        ["raw 28x28 images", "probabilities"]
    } else {
        ["normalized images", "logits"]
    };
    Ok(file(
        name,
        &format!("{kind} for ONNX Runtime, tract and others: takes {takes}, returns {gives}"),
        bytes,
        tensors,
    ))
}

fn state_dict_file(
    model: &ExportedModel,
    weights: WeightFormat,
    name: &str,
) -> Result<ExportedFile, ExportError> {
    let (bytes, tensors) = pytorch::write(model, weights)?;
    Ok(file(
        name,
        "Weights for PyTorch, as a state dict",
        bytes,
        tensors,
    ))
}

fn model_py(model: &ExportedModel, weights: &str, module: &str) -> ExportedFile {
    let source = pytorch::model_py(model, weights, module);
    text(
        &format!("{module}.py"),
        "PyTorch module that loads the weights",
        source,
    )
}

/// The same for every model, because the ONNX file describes its own input.
fn predict_py() -> ExportedFile {
    text(
        "predict.py",
        "Classifies images with the ONNX file",
        include_str!("../../assets/export/predict.py").to_owned(),
    )
}

fn manifest(model: &ExportedModel, program: &str) -> ExportedFile {
    text(
        "Cargo.toml",
        "Cargo manifest of the Rust program",
        candle::manifest(model, program),
    )
}

fn web_page(model: &ExportedModel, name: &str) -> Result<ExportedFile, ExportError> {
    let (page, tensors) = html::write(model)?;
    let about = "Web page to draw on, which recognizes the drawing with 16-bit weights";
    Ok(file(name, about, page.into_bytes(), tensors))
}

fn report_html(model: &ExportedModel, name: &str) -> ExportedFile {
    text(
        name,
        "Web page with learning curves, confusion matrix and misclassified images",
        report::html(model),
    )
}

fn card_json(model: &ExportedModel, name: &str) -> ExportedFile {
    text(
        name,
        "Model card as JSON",
        untrusted::json(&format!("{:#}\n", model_card::json(model))),
    )
}

fn text(name: &str, about: &str, text: String) -> ExportedFile {
    file(name, about, text.into_bytes(), Vec::new())
}

fn file(name: &str, about: &str, bytes: Vec<u8>, tensors: Vec<TensorInfo>) -> ExportedFile {
    ExportedFile {
        info: FileInfo {
            name: name.to_owned(),
            about: about.to_owned(),
            bytes: bytes.len() as u64,
            tensors,
        },
        bytes,
    }
}

impl Export {
    /// Its files, the requested one first.
    pub fn files(&self) -> &[ExportedFile] {
        &self.files
    }

    pub fn infos(&self) -> Vec<FileInfo> {
        self.files.iter().map(|file| file.info.clone()).collect()
    }

    /// Writes the requested file to `path` and the accompanying files next to it, all or none;
    /// returns their paths. Refuses to replace anything that `replace` does not cover, and
    /// `source`, the file that the model was read from. An accompanying file that is there with
    /// this very content stays as it is.
    pub fn save(
        &self,
        path: &Path,
        replace: Replace,
        source: Option<&Path>,
    ) -> Result<Vec<PathBuf>, ExportError> {
        if self.is_zip {
            check_files(
                &[(path.to_owned(), replace != Replace::Nothing)],
                source.as_slice(),
            )?;
            write_whole(path, &self.zipped()?)?;
            return Ok(vec![path.to_owned()]);
        }
        let targets = self.targets(path);
        let may_replace = |index| match replace {
            Replace::Nothing => false,
            Replace::Requested => index == 0,
            Replace::Everything => true,
        };
        // A file that is there already counts as one that may be replaced: nothing would be lost.
        let checked = targets.iter().enumerate().map(|(index, (path, file))| {
            let as_it_is = index > 0 && is_there(path, file);
            (path.clone(), as_it_is || may_replace(index))
        });
        check_files(&checked.collect::<Vec<_>>(), source.as_slice())?;
        let missing = targets
            .iter()
            .enumerate()
            .filter(|(index, (path, file))| *index == 0 || !is_there(path, file));
        write_group(
            &missing
                .map(|(_, (path, file))| (path.clone(), &file.bytes))
                .collect::<Vec<_>>(),
        )?;
        Ok(targets.into_iter().map(|(path, _)| path).collect())
    }

    fn targets(&self, path: &Path) -> Vec<(PathBuf, &ExportedFile)> {
        let beside = |file: &ExportedFile| path.with_file_name(&file.info.name);
        let is_free = |file: &ExportedFile| {
            beside(file).symlink_metadata().is_err() || is_there(&beside(file), file)
        };
        let target = |(index, file)| match &self.fallback {
            _ if index == 0 => (path.to_owned(), file),
            Some(fallback) if !is_free(file) => (beside(fallback), fallback),
            _ => (beside(file), file),
        };
        self.files.iter().enumerate().map(target).collect()
    }

    /// A zip archive of all files in one folder. Weights are stored uncompressed, since compression
    /// gains next to nothing on them.
    fn zipped(&self) -> Result<Vec<u8>, ExportError> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for file in &self.files {
            let method = if file.info.tensors.is_empty() {
                CompressionMethod::Deflated
            } else {
                CompressionMethod::Stored
            };
            let options = SimpleFileOptions::default().compression_method(method);
            zip.start_file(format!("{}/{}", self.folder, file.info.name), options)
                .map_err(|error| ExportError::of(&error))?;
            zip.write_all(&file.bytes)
                .map_err(|error| ExportError::of(&error))?;
        }
        Ok(zip
            .finish()
            .map_err(|error| ExportError::of(&error))?
            .into_inner())
    }
}

/// A name for a folder in an archive: it leads nowhere else, on any system.
fn folder_name(stem: &str) -> String {
    let safe = |c: char| {
        if is_hidden(c) || "/\\:".contains(c) {
            '-'
        } else {
            c
        }
    };
    stem.trim_matches(['.', ' ']).chars().map(safe).collect()
}

/// True if this very file is there.
fn is_there(path: &Path, file: &ExportedFile) -> bool {
    read_limited(path, file.info.bytes).is_ok_and(|bytes| bytes == file.bytes)
}
