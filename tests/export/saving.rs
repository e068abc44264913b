//! Which files are written, and that nothing is lost by it.

use std::io::Read;
use std::path::Path;

use inkling::export::{ExportError, export};
use inkling::nn::ModelFile;
use inkling::records::{ExportSpec, Replace};
use inkling::run_config::{Activation, ExportFormat, ModelKind};
use inkling::system::TargetError;

use super::untrained_model;
use crate::runs::names;

fn save(model: ModelKind, format: ExportFormat, path: &Path) -> Result<(), ExportError> {
    save_over(model, format, path, Replace::Nothing)
}

fn save_over(
    model: ModelKind,
    format: ExportFormat,
    path: &Path,
    replace: Replace,
) -> Result<(), ExportError> {
    let name = path.file_name().unwrap().to_str().unwrap();
    export(
        &untrained_model(model, Activation::Relu),
        &ExportSpec::new(format),
        name,
    )
    .unwrap()
    .save(path, replace, None)
    .map(drop)
}

/// The names of the files that are in the way of this export.
fn in_the_way(refused: Result<(), ExportError>) -> Vec<String> {
    let Err(ExportError::Target(TargetError::Exist { paths })) = refused else {
        panic!("not refused: {refused:?}")
    };
    paths
        .iter()
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect()
}

#[test]
fn what_belongs_to_a_file_is_written_beside_it() {
    for (format, name, beside) in [
        (ExportFormat::Safetensors, "a.safetensors", vec![]),
        (ExportFormat::Onnx, "a.onnx", vec!["predict.py"]),
        (ExportFormat::PyTorch, "a.pt", vec!["model.py"]),
        (
            ExportFormat::Candle,
            "main.rs",
            vec!["Cargo.toml", "model.safetensors"],
        ),
        (ExportFormat::Html, "a.html", vec![]),
        (ExportFormat::Card, "a.md", vec!["a.json"]),
        (ExportFormat::Report, "a.html", vec![]),
        (ExportFormat::Zip, "a.zip", vec![]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        save(ModelKind::LeNet, format, &folder.path().join(name)).unwrap();
        let mut expected: Vec<String> = beside
            .into_iter()
            .chain([name])
            .map(str::to_owned)
            .collect();
        expected.sort();
        assert_eq!(names(folder.path()), expected);
        assert_eq!(
            format.is_one_file_for(ModelKind::LeNet),
            expected.len() == 1
        );
        // Once more in the same place has to be asked for; what lies beside it is the same and in
        // nobody's way.
        assert_eq!(
            in_the_way(save(ModelKind::LeNet, format, &folder.path().join(name))),
            [name]
        );
        save_over(
            ModelKind::LeNet,
            format,
            &folder.path().join(name),
            Replace::Requested,
        )
        .unwrap();
    }
}

#[test]
fn several_models_share_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    for model in [ModelKind::LeNet, ModelKind::Tiny] {
        save(
            model,
            ExportFormat::Onnx,
            &folder.path().join(format!("{model}.onnx")),
        )
        .unwrap();
        save(
            model,
            ExportFormat::PyTorch,
            &folder.path().join(format!("{model}.pt")),
        )
        .unwrap();
    }
    assert_eq!(
        names(folder.path()),
        [
            "lenet.onnx",
            "lenet.pt",
            "model.py",
            "predict.py",
            "tiny.onnx",
            "tiny.pt",
            "tiny.py"
        ]
    );
    let source = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(
        source("model.py").contains("lenet.pt")
            && source("tiny.py").contains("tiny.pt")
            && source("tiny.py").contains("from tiny import")
    );
}

#[test]
fn other_files_in_the_way_are_all_named_and_nothing_is_written_until_they_may_go() {
    let folder = tempfile::tempdir().unwrap();
    let main = folder.path().join("main.rs");
    for name in ["Cargo.toml", "model.safetensors", "main.rs"] {
        std::fs::write(folder.path().join(name), "mine").unwrap();
    }
    assert_eq!(
        in_the_way(save(ModelKind::LeNet, ExportFormat::Candle, &main)),
        ["main.rs", "Cargo.toml", "model.safetensors"]
    );
    let confirmed = save_over(
        ModelKind::LeNet,
        ExportFormat::Candle,
        &main,
        Replace::Requested,
    );
    assert_eq!(in_the_way(confirmed), ["Cargo.toml", "model.safetensors"]);
    for name in names(folder.path()) {
        assert_eq!(
            std::fs::read_to_string(folder.path().join(name)).unwrap(),
            "mine"
        );
    }
    save_over(
        ModelKind::LeNet,
        ExportFormat::Candle,
        &main,
        Replace::Everything,
    )
    .unwrap();
    assert_eq!(
        names(folder.path()),
        ["Cargo.toml", "main.rs", "model.safetensors"]
    );
    assert!(
        names(folder.path())
            .iter()
            .all(|name| std::fs::read(folder.path().join(name)).unwrap() != b"mine")
    );
}

#[test]
fn files_of_a_group_that_would_have_one_name_are_refused() {
    for (format, name) in [
        (ExportFormat::Onnx, "predict.py"),
        (ExportFormat::Onnx, "Predict.PY"),
        (ExportFormat::PyTorch, "model.py"),
        (ExportFormat::Candle, "cargo.toml"),
        (ExportFormat::Candle, "MODEL.safetensors"),
        (ExportFormat::Card, "card.json"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let refused = save_over(
            ModelKind::LeNet,
            format,
            &folder.path().join(name),
            Replace::Everything,
        );
        assert!(
            matches!(refused, Err(ExportError::Target(TargetError::Clash { .. }))),
            "{name}: {refused:?}"
        );
        assert!(names(folder.path()).is_empty(), "{name}");
    }
}

#[test]
fn the_archive_holds_everything_and_its_weights_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.zip");
    save(ModelKind::Speedrun, ExportFormat::Zip, &path).unwrap();
    let mut archive = zip::ZipArchive::new(std::fs::File::open(&path).unwrap()).unwrap();
    let mut names: Vec<String> = (0..archive.len())
        .map(|index| {
            archive
                .by_index(index)
                .unwrap()
                .name()
                .unwrap()
                .into_owned()
        })
        .collect();
    names.sort();
    let expected = [
        "Cargo.toml",
        "README.md",
        "main.rs",
        "model-card.json",
        "model.html",
        "model.onnx",
        "model.pt",
        "model.py",
        "model.safetensors",
        "predict.py",
        "report.html",
    ];
    assert_eq!(names, expected.map(|name| format!("mine/{name}")));
    // A name that would lead elsewhere is none of a folder.
    save(
        ModelKind::Speedrun,
        ExportFormat::Zip,
        &folder.path().join("...zip"),
    )
    .unwrap();
    let leading =
        zip::ZipArchive::new(std::fs::File::open(folder.path().join("...zip")).unwrap()).unwrap();
    assert!(
        leading
            .file_names()
            .all(|name| name.unwrap().starts_with("speedrun-builtin/"))
    );
    let mut bytes = Vec::new();
    archive
        .by_name("mine/model.safetensors")
        .unwrap()
        .read_to_end(&mut bytes)
        .unwrap();
    assert_eq!(
        ModelFile::from_bytes(&bytes, Path::new("packed"))
            .unwrap()
            .card
            .model,
        ModelKind::Speedrun
    );
}
