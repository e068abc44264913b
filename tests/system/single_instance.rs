//! One window at a time: a later start hands over its files; nothing that is left behind keeps
//! Inkling from starting.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;

use inkling::system::single_instance::{Instance, LaterStarts, claim_window};

/// The window that a first start in this folder opens.
fn open(folder: &Path) -> LaterStarts {
    match claim_window(folder, &[]) {
        Instance::Window(later_starts) => later_starts,
        Instance::HandedOver => panic!("there is another window"),
    }
}

#[test]
fn a_later_start_hands_its_files_to_the_window_that_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let (bring, brought) = channel();
    open(folder.path()).serve(move |files| bring.send(files).is_ok());
    for files in [
        vec![],
        vec![
            PathBuf::from("/a/model.safetensors"),
            PathBuf::from("/ein Bild é.ink"),
        ],
    ] {
        assert!(matches!(
            claim_window(folder.path(), &files),
            Instance::HandedOver
        ));
        assert_eq!(brought.recv().unwrap(), files);
    }
    // A window that is closing takes nothing: the later start opens its own.
    drop(brought);
    assert!(matches!(
        claim_window(folder.path(), &[]),
        Instance::Window(_)
    ));
}

#[test]
fn each_folder_has_a_window_of_its_own() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    open(one.path()).serve(|_| true);
    assert!(matches!(
        claim_window(other.path(), &[]),
        Instance::Window(_)
    ));
}

#[test]
fn what_an_ended_window_left_behind_keeps_nobody_from_starting() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("window.lock"), "nonsense").unwrap();
    fs::write(folder.path().join("window.socket"), "nonsense").unwrap();
    drop(open(folder.path()));
    let (bring, brought) = channel();
    open(folder.path()).serve(move |files| bring.send(files).is_ok());
    assert!(matches!(
        claim_window(folder.path(), &["x".into()]),
        Instance::HandedOver
    ));
    assert_eq!(brought.recv().unwrap(), [PathBuf::from("x")]);
}

#[test]
fn a_window_that_does_not_answer_keeps_nobody_from_starting() {
    let folder = tempfile::tempdir().unwrap();
    let lock = File::create(folder.path().join("window.lock")).unwrap();
    lock.lock().unwrap();
    assert!(matches!(
        claim_window(folder.path(), &[]),
        Instance::Window(_)
    ));
}

#[test]
fn without_a_folder_to_write_to_there_is_a_window_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(matches!(claim_window(&file, &[]), Instance::Window(_)));
}
