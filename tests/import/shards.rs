//! Weights in several safetensors files.

use std::path::Path;

use inkling::import::{ImportError, is_index};
use inkling::infer::starter_file;
use inkling::nn::Net;
use inkling::run_config::{Activation, ModelKind};
use inkling::window::Dropped;
use serde_json::{Value, json};

use super::{import, names, settled, write_some};

const FILES: [&str; 2] = [
    "model-00001-of-00002.safetensors",
    "model-00002-of-00002.safetensors",
];

/// Whether a weight is in the second file.
fn is_later(name: &str) -> bool {
    name.starts_with("fc")
}

/// The files, and an index with these files' names.
fn write(folder: &Path, net: &Net, files: [&str; 2]) -> std::path::PathBuf {
    write_some(&folder.join(FILES[0]), net, |name| !is_later(name));
    write_some(&folder.join(FILES[1]), net, is_later);
    let map: serde_json::Map<String, Value> = names(net.model())
        .into_iter()
        .map(|name| (name.clone(), files[usize::from(is_later(&name))].into()))
        .collect();
    let index = folder.join("model.safetensors.index.json");
    std::fs::write(
        &index,
        json!({"metadata": {"total_size": 246_824}, "weight_map": map}).to_string(),
    )
    .unwrap();
    index
}

#[test]
fn an_index_stands_for_all_its_files() {
    let home = tempfile::tempdir().unwrap();
    let net = Net::new(ModelKind::LeNet, Activation::Relu, 10, 5).unwrap();
    let index = write(home.path(), &net, FILES);
    assert!(is_index(&index) && Dropped::of(&index) == Dropped::Weights);
    let imported = import(&settled(index)).unwrap();
    assert_eq!(imported.file.net.model(), ModelKind::LeNet);
    assert!(imported.file.net.weights().unwrap() == net.weights().unwrap());
}

#[test]
fn what_does_not_fit_together_is_said() {
    let home = tempfile::tempdir().unwrap();
    let net = starter_file().unwrap().net;
    let refused = |index| match import(&settled(index)).unwrap_err() {
        ImportError::Malformed { reason, .. } => reason,
        other => panic!("{other:?}"),
    };
    for outside in ["../model.safetensors", "/etc/passwd", "a\\b", "C:x", ".."] {
        let reason = refused(write(home.path(), &net, [FILES[0], outside]));
        assert!(
            reason.contains("is not the name of a file in the folder of the index"),
            "{reason}"
        );
    }
    let reason = refused(write(home.path(), &net, [FILES[0], FILES[0]]));
    assert!(
        reason.contains("is not in the file that the index names"),
        "{reason}"
    );
    let missing = import(&settled(write(
        home.path(),
        &net,
        [FILES[0], "model-3.safetensors"],
    )))
    .unwrap_err();
    assert!(
        matches!(&missing, ImportError::Unreadable { path, .. } if path.ends_with("model-3.safetensors")),
        "{missing:?}"
    );
    let index = home.path().join("a.safetensors.index.json");
    for text in ["", "[]", "{\"weight_map\": 3}", "{\"weight_map\": {}}"] {
        std::fs::write(&index, text).unwrap();
        assert!(!refused(index.clone()).is_empty());
    }
}
