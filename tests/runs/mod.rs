//! Run folders: whole or not there, found again, moved, replaced, deleted — and nothing else ever
//! touched.

mod annotations;
mod checkpoints;
mod evaluations;
mod leftovers;
mod record_cards;
pub mod repeats;
mod reproduction;
mod snapshots;
mod steps;

use std::path::Path;

use inkling::progress::Unwatched;
use inkling::records::Ensemble;
use inkling::run_config::WeightFormat::F32;
use inkling::run_config::{DataSource, DataSpec, ModelKind, OptimizerKind, RunConfig};
use inkling::runs::{RunError, Store, check_target, save_to};
use inkling::train::TrainedModel;

use crate::support::opened;
use crate::synthetic::{square_set, train};
use crate::train::watcher::{Watcher, config};

fn outcome() -> TrainedModel {
    trained(&RunConfig {
        epochs: 2,
        ..config(ModelKind::LeNet)
    })
}

fn trained(of: &RunConfig) -> TrainedModel {
    let set = square_set(120, 20);
    let trained = train(of, &set, &mut Watcher::default());
    trained.unwrap().unwrap()
}

pub fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_run_is_saved_listed_and_read_with() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::new(root.path().join("not yet there"));
    assert!(store.list().is_empty());
    let outcome = outcome();
    let saved = store.save(&outcome, F32, None).unwrap();
    assert_eq!(
        names(&saved.folder),
        ["history.csv", "model.safetensors", "run.json", "steps.csv"]
    );
    assert_eq!(saved.model_path, saved.folder.join("model.safetensors"));
    assert_eq!(saved.epochs, outcome.summary.epochs);

    let listed = store.list();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].summary.as_deref().unwrap(), &saved);
    assert_eq!(opened(&saved.model_path).info().epochs, 2);

    let history = std::fs::read_to_string(saved.folder.join("history.csv")).unwrap();
    let lines: Vec<&str> = history.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0].starts_with("epoch,step,train_loss"));
    assert_eq!(
        lines[2]
            .split(',')
            .next_back()
            .unwrap()
            .parse::<f32>()
            .unwrap(),
        outcome.summary.epochs[1].seconds
    );
}

#[test]
fn samples_from_the_posterior_are_models_of_their_own() {
    let root = tempfile::tempdir().unwrap();
    let of = RunConfig {
        epochs: 25,
        optimizer: OptimizerKind::Sgld,
        ..config(ModelKind::Mlp)
    };
    let trained = train(&of, &square_set(60, 20), &mut Watcher::default())
        .unwrap()
        .unwrap();
    let target = root.path().join("run");
    let saved = save_to(&target, false, &trained, F32, None).unwrap();
    assert_eq!(saved.posterior_samples, 10, "of the last 13 epochs");
    let paths = saved.posterior_sample_paths();
    assert!(paths.len() == 10 && paths.iter().all(|path| path.is_file()));
    let last = opened(&paths[9]);
    assert_eq!(last.info().epochs, 25);
    assert_eq!(opened(&paths[0]).info().epochs, 16);
    let test = &square_set(60, 20).test;
    let [sample, model] = [&last, &opened(&saved.model_path)]
        .map(|one| one.measure(test, &mut Unwatched).unwrap().answers);
    assert_eq!(
        sample, model,
        "the last sample has the weights of the last epoch"
    );
    assert!(Ensemble::of(paths).is_posterior());
    assert_eq!(
        save_to(&target, true, &trained, F32, None)
            .unwrap()
            .posterior_samples,
        10,
        "they are the run's own files"
    );
    let averaged = RunConfig {
        weight_averaging: Some(0.9),
        ..of
    };
    assert!(
        train(&averaged, &square_set(60, 20), &mut Watcher::default())
            .unwrap()
            .unwrap()
            .posterior
            .is_empty()
    );
}

#[test]
fn folder_names_are_unique_and_harmless() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::new(root.path());
    let mut outcome = outcome();
    outcome.summary.config.data =
        DataSpec::single(DataSource::Path("/some/where/my: \"digits\"? *.csv".into()));
    outcome.summary.finished_at = "2026-11-21T14:03:11Z".to_owned();
    let first = store.save(&outcome, F32, None).unwrap().folder;
    let second = store.save(&outcome, F32, None).unwrap().folder;
    assert_ne!(first, second);
    let name = first.file_name().unwrap().to_str().unwrap();
    assert!(
        name.starts_with("2026-11-2") && name.contains("_lenet_my"),
        "{name}"
    );
    assert!(
        !name.contains([' ', ':', '"', '?', '*', '/', '\\', '<', '>', '|']) && !name.ends_with('.'),
        "{name}"
    );
    assert_eq!(
        second.file_name().unwrap().to_str().unwrap(),
        format!("{name}_2")
    );
    assert_eq!(store.list().len(), 2);
}

#[test]
fn folders_named_by_earlier_versions_are_runs_all_the_same() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::new(root.path());
    let saved = store.save(&outcome(), F32, None).unwrap();
    let former = root.path().join("2026-11-21 14-03-11 lenet builtin");
    std::fs::rename(&saved.folder, &former).unwrap();
    let listed = store.list();
    assert_eq!((listed.len(), &listed[0].folder), (1, &former));
    let found = listed[0].summary.as_deref().unwrap();
    assert_eq!(found.model_path, former.join("model.safetensors"));
    opened(&found.model_path);
}

#[test]
fn the_newest_comes_first_and_broken_folders_last() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::new(root.path());
    let mut outcome = outcome();
    for finished_at in [
        "2026-11-21T14:03:11Z",
        "2026-11-21T14:03:11.5Z",
        "2025-01-01T00:00:00Z",
    ] {
        outcome.summary.finished_at = finished_at.to_owned();
        store.save(&outcome, F32, None).unwrap();
    }
    std::fs::create_dir(root.path().join("zz a folder of holiday pictures")).unwrap();
    std::fs::write(root.path().join("a file"), "").unwrap();
    let model_missing = store.list()[2].folder.clone();
    std::fs::remove_file(model_missing.join("model.safetensors")).unwrap();
    let damaged = root.path().join("damaged");
    std::fs::create_dir(&damaged).unwrap();
    std::fs::write(damaged.join("run.json"), "{\"config\":").unwrap();

    let listed = store.list();
    let finished: Vec<Option<String>> = listed
        .iter()
        .map(|entry| {
            entry
                .summary
                .as_ref()
                .ok()
                .map(|run| run.finished_at.clone())
        })
        .collect();
    assert_eq!(
        finished[..2],
        [
            Some("2026-11-21T14:03:11.5Z".to_owned()),
            Some("2026-11-21T14:03:11Z".to_owned())
        ]
    );
    assert_eq!(finished[2..], [None, None, None]);
    for entry in &listed[2..] {
        assert!(
            matches!(&entry.summary, Err(RunError::Malformed { folder, .. }) if *folder == entry.folder)
        );
    }
}

#[test]
fn a_moved_run_still_works() {
    let root = tempfile::tempdir().unwrap();
    let saved = Store::new(root.path().join("here"))
        .save(&outcome(), F32, None)
        .unwrap();
    let there = root.path().join("there");
    std::fs::create_dir(&there).unwrap();
    std::fs::rename(&saved.folder, there.join("my best run")).unwrap();
    let listed = Store::new(&there).list();
    let run = listed[0].summary.as_ref().unwrap();
    assert_eq!(run.folder, there.join("my best run"));
    opened(&run.model_path);
}

#[test]
fn only_runs_in_the_store_are_deleted() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::new(root.path().join("runs"));
    let outcome = outcome();
    let (kept, deleted) = (
        store.save(&outcome, F32, None).unwrap().folder,
        store.save(&outcome, F32, None).unwrap().folder,
    );
    store.delete(&deleted).unwrap();
    assert!(!deleted.exists() && kept.exists());
    assert_eq!(store.list().len(), 1);
    store.restore(&deleted).unwrap();
    assert!(deleted.join("run.json").exists());
    assert!(store.restore(&deleted).is_err(), "it is there");
    store.delete(&deleted).unwrap();
    store.empty_deleted();
    store.empty_deleted();
    assert!(store.restore(&deleted).is_err(), "it is gone");
    assert_eq!(names(&root.path().join("runs")).len(), 1);

    let outside = save_to(&root.path().join("outside"), false, &outcome, F32, None)
        .unwrap()
        .folder;
    let foreign = root.path().join("runs/foreign");
    std::fs::create_dir(&foreign).unwrap();
    let nested = save_to(&foreign.join("nested"), false, &outcome, F32, None)
        .unwrap()
        .folder;
    for folder in [
        outside,
        foreign,
        nested,
        root.path().join("runs"),
        kept.join(".."),
        root.path().join("runs/absent"),
    ] {
        assert!(store.delete(&folder).is_err(), "{}", folder.display());
    }
    assert!(
        root.path().join("outside/run.json").exists()
            && root.path().join("runs/foreign/nested/run.json").exists()
    );
    assert!(kept.join("run.json").exists());
}

#[test]
fn what_is_left_of_a_damaged_run_can_be_deleted_but_nothing_that_lies_beside_it() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::new(root.path());
    for missing in ["run.json", "model.safetensors"] {
        let folder = store.save(&outcome(), F32, None).unwrap().folder;
        std::fs::remove_file(folder.join(missing)).unwrap();
        assert!(store.list()[0].summary.is_err());
        std::fs::write(folder.join("notes.txt"), "mine").unwrap();
        let refused = store.delete(&folder).unwrap_err();
        assert!(refused.to_string().contains("not deleted"), "{refused}");
        assert!(folder.join("notes.txt").exists());
        std::fs::remove_file(folder.join("notes.txt")).unwrap();
        store.delete(&folder).unwrap();
        assert!(store.list().is_empty());
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_a_run_is_not_followed_by_delete() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::new(root.path().join("runs"));
    store.save(&outcome(), F32, None).unwrap();
    let outside = save_to(&root.path().join("outside"), false, &outcome(), F32, None)
        .unwrap()
        .folder;
    let link = root.path().join("runs/link");
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    assert!(store.delete(&link).is_err());
    assert!(outside.join("run.json").exists());
}

#[test]
fn save_to_writes_the_folder_itself_and_replaces_only_runs() {
    let root = tempfile::tempdir().unwrap();
    let outcome = outcome();
    let (absent, empty) = (root.path().join("a/b/absent"), root.path().join("empty"));
    std::fs::create_dir(&empty).unwrap();
    for target in [&absent, &empty, &absent] {
        let saved = save_to(target, true, &outcome, F32, None).unwrap();
        assert_eq!(&saved.folder, target);
        assert_eq!(
            names(target),
            ["history.csv", "model.safetensors", "run.json", "steps.csv"]
        );
    }
    assert_eq!(
        names(&root.path().join("a/b")),
        ["absent"],
        "nothing is left beside it"
    );
    // Unless it may replace it: another run may have been saved there while this one trained.
    let occupied = RunError::Occupied {
        folder: absent.clone(),
    };
    assert_eq!(check_target(&absent, false), Err(occupied.clone()));
    assert_eq!(
        save_to(&absent, false, &outcome, F32, None).unwrap_err(),
        occupied
    );

    // A run with something of the person's in it, a folder of theirs, and a file.
    std::fs::write(absent.join("notes.txt"), "mine").unwrap();
    let theirs = root.path().join("theirs");
    std::fs::create_dir(&theirs).unwrap();
    std::fs::write(theirs.join("thesis.txt"), "mine").unwrap();
    let file = root.path().join("file");
    std::fs::write(&file, "mine").unwrap();
    for target in [&absent, &theirs, &file] {
        let occupied = RunError::Occupied {
            folder: target.clone(),
        };
        assert_eq!(check_target(target, true), Err(occupied.clone()));
        assert_eq!(
            save_to(target, true, &outcome, F32, None).unwrap_err(),
            occupied
        );
    }
    assert_eq!(
        std::fs::read_to_string(absent.join("notes.txt")).unwrap(),
        "mine"
    );
    assert_eq!(
        std::fs::read_to_string(theirs.join("thesis.txt")).unwrap(),
        "mine"
    );
    assert_eq!(std::fs::read_to_string(file).unwrap(), "mine");
}

#[test]
fn a_store_that_cannot_be_written_leaves_nothing_behind() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("file");
    std::fs::write(&file, "").unwrap();
    // A file where the folder should be: fails for every user, unlike missing rights.
    assert!(matches!(
        Store::new(file.join("runs")).save(&outcome(), F32, None),
        Err(RunError::Write(_))
    ));
    assert_eq!(names(root.path()), ["file"]);
}
