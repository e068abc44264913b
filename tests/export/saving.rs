//! Which files are written, and that nothing is lost by it.

use std::io::Read;
use std::path::Path;

use inkling::export::{ExportError, export};
use inkling::nn::ModelFile;
use inkling::records::ExportSpec;
use inkling::run_config::{Activation, ExportFormat, ModelKind};

use super::untrained_model;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn save(model: ModelKind, format: ExportFormat, path: &Path) -> Result<(), ExportError> {
    let name = path.file_name().unwrap().to_str().unwrap();
    export(&untrained_model(model, Activation::Relu), &ExportSpec::new(format), name).unwrap().save(path).map(drop)
}

#[test]
fn what_belongs_to_a_file_is_written_beside_it() {
    for (format, name, beside) in [
        (ExportFormat::Safetensors, "a.safetensors", vec![]),
        (ExportFormat::Onnx, "a.onnx", vec!["predict.py"]),
        (ExportFormat::PyTorch, "a.pt", vec!["model.py"]),
        (ExportFormat::Candle, "main.rs", vec!["Cargo.toml", "model.safetensors"]),
        (ExportFormat::Card, "a.md", vec!["a.json"]),
        (ExportFormat::Report, "a.html", vec![]),
        (ExportFormat::Zip, "a.zip", vec![]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        save(ModelKind::LeNet, format, &folder.path().join(name)).unwrap();
        let mut expected: Vec<String> = beside.into_iter().chain([name]).map(str::to_owned).collect();
        expected.sort();
        assert_eq!(names(folder.path()), expected);
        // Once more in the same place is no conflict.
        save(ModelKind::LeNet, format, &folder.path().join(name)).unwrap();
    }
}

#[test]
fn several_models_share_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    for model in [ModelKind::LeNet, ModelKind::Tiny] {
        save(model, ExportFormat::Onnx, &folder.path().join(format!("{model}.onnx"))).unwrap();
        save(model, ExportFormat::PyTorch, &folder.path().join(format!("{model}.pt"))).unwrap();
    }
    assert_eq!(names(folder.path()), ["lenet.onnx", "lenet.pt", "model.py", "predict.py", "tiny.onnx", "tiny.pt", "tiny.py"]);
    let source = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(
        source("model.py").contains("lenet.pt") && source("tiny.py").contains("tiny.pt") && source("tiny.py").contains("from tiny import")
    );
}

#[test]
fn another_file_in_the_way_is_left_alone_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("Cargo.toml"), "mine").unwrap();
    let refused = save(ModelKind::LeNet, ExportFormat::Candle, &folder.path().join("main.rs"));
    assert!(matches!(refused, Err(ExportError::InTheWay { path }) if path.ends_with("Cargo.toml")));
    assert_eq!(names(folder.path()), ["Cargo.toml"]);
}

#[test]
fn the_archive_holds_everything_and_its_weights_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.zip");
    save(ModelKind::Speedrun, ExportFormat::Zip, &path).unwrap();
    let mut archive = zip::ZipArchive::new(std::fs::File::open(&path).unwrap()).unwrap();
    let mut names: Vec<String> = (0..archive.len()).map(|index| archive.by_index(index).unwrap().name().unwrap().into_owned()).collect();
    names.sort();
    let expected = [
        "Cargo.toml",
        "README.md",
        "main.rs",
        "model-card.json",
        "model.onnx",
        "model.pt",
        "model.py",
        "model.safetensors",
        "predict.py",
        "report.html",
    ];
    assert_eq!(names, expected.map(|name| format!("mine/{name}")));
    let mut bytes = Vec::new();
    archive.by_name("mine/model.safetensors").unwrap().read_to_end(&mut bytes).unwrap();
    assert_eq!(ModelFile::from_bytes(&bytes, Path::new("packed")).unwrap().card.model, ModelKind::Speedrun);
}
