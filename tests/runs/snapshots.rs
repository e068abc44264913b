//! The network as it was during a run, in files of the run's folder.

use inkling::nn::ModelFile;
use inkling::records::snapshot_step;
use inkling::run_config::ModelKind;
use inkling::run_config::WeightFormat::F32;
use inkling::runs::{Store, load, save_to};
use inkling::train::{HISTORY_BYTES, TrainedModel};

use super::names;
use crate::synthetic::{square_set, train};
use crate::train::watcher::{Watcher, config};

fn trained() -> TrainedModel {
    let mut watcher = Watcher {
        history: HISTORY_BYTES,
        ..Watcher::default()
    };
    let (config, set) = (config(ModelKind::LeNet), square_set(120, 20));
    train(&config, &set, &mut watcher).unwrap().unwrap()
}

#[test]
fn each_is_a_model_file_in_f16_beside_the_model_and_goes_with_the_run() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::new(root.path());
    let outcome = trained();
    let saved = store.save(&outcome, F32, None).unwrap();
    assert_eq!(saved.snapshots, outcome.summary.snapshots);
    assert_eq!(load(&saved.folder).unwrap().snapshots, saved.snapshots);
    let files = names(&saved.folder);
    assert_eq!(files.len(), 4 + saved.snapshots.len());
    assert!(
        files.contains(&"step-000001.safetensors".to_owned()),
        "{files:?}"
    );
    for record in &saved.snapshots {
        let path = saved.snapshot_path(record.step);
        assert_eq!(snapshot_step(&path), Some(record.step));
        let size = std::fs::metadata(&path).unwrap().len();
        assert!(size < saved.plan.parameters * 2 + 8_000, "{size}");
        let file = ModelFile::load(&path).unwrap();
        assert!(file.net.weights().unwrap() != outcome.net.weights().unwrap());
    }
    // A run is replaced, or deleted though it is damaged, only if all files are its own.
    save_to(&saved.folder, true, &outcome, F32, None).unwrap();
    std::fs::write(saved.folder.join("run.json"), "{").unwrap();
    store.delete_for_good(&saved.folder).unwrap();
    assert!(!saved.folder.exists());
}

#[test]
fn a_truncated_one_is_refused_in_a_sentence_and_harms_nothing_else() {
    let root = tempfile::tempdir().unwrap();
    let saved = Store::new(root.path()).save(&trained(), F32, None).unwrap();
    let path = saved.snapshot_path(saved.snapshots[1].step);
    let whole = std::fs::read(&path).unwrap();
    for length in [0, 7, 100, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&path, &whole[..length]).unwrap();
        let refused = ModelFile::load(&path).unwrap_err().to_string();
        assert!(refused.contains("step-000001.safetensors"), "{refused}");
    }
    std::fs::remove_file(&path).unwrap();
    assert!(ModelFile::load(&path).is_err());
    assert_eq!(load(&saved.folder).unwrap().snapshots, saved.snapshots);
    ModelFile::load(&saved.model_path).unwrap();
}

#[test]
fn only_names_that_inkling_gives_count_as_snapshots() {
    for (name, step) in [
        ("step-000000.safetensors", Some(0)),
        ("runs/a/step-001200.safetensors", Some(1200)),
        ("step-12345678.safetensors", Some(12_345_678)),
        ("step-12.safetensors", None),
        ("step-+00012.safetensors", None),
        ("step-000012.json", None),
        ("model.safetensors", None),
    ] {
        assert_eq!(snapshot_step(name.as_ref()), step, "{name}");
    }
}
