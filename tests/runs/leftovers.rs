//! What processes that were killed leave among runs and checkpoints, and its removal at the next
//! start.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use inkling::run_config::WeightFormat::F32;
use inkling::runs::{CheckpointThread, CheckpointWriter, Checkpoints, Store, save_to};

use super::checkpoints::some;
use super::{names, outcome};

/// A writer that has written a checkpoint. Dropping it is what a kill comes to: the checkpoint
/// stays, and nobody holds it.
fn writer(checkpoints: &Checkpoints) -> CheckpointWriter {
    let (sender, written) = std::sync::mpsc::channel();
    let tell = move |_: &Path, _, kept| sender.send(kept).unwrap();
    let writer = CheckpointWriter::start(
        &CheckpointThread::start(false).unwrap(),
        checkpoints.begin(),
        Box::new(tell),
    )
    .unwrap();
    writer.write(some()[0].clone());
    written.recv().unwrap().unwrap();
    writer
}

/// Ends without deleting the checkpoint.
fn killed(writer: CheckpointWriter) -> PathBuf {
    writer.keep().unwrap()
}

#[test]
fn the_checkpoint_of_a_run_that_was_saved_is_no_interrupted_run() {
    let root = tempfile::tempdir().unwrap();
    let checkpoints = Checkpoints::new(root.path().join("checkpoints"));
    let (store, target) = (
        Store::new(root.path().join("runs")),
        root.path().join("target"),
    );
    let outcome = outcome();
    for to_store in [true, false] {
        let of_run = writer(&checkpoints);
        if to_store {
            store.save(&outcome, F32, Some(&of_run)).unwrap();
        } else {
            save_to(&target, false, &outcome, F32, Some(&of_run)).unwrap();
        }
        let folder = killed(of_run);
        assert!(folder.join("checkpoint").is_file());
        assert!(checkpoints.list().is_empty(), "it was saved");
        checkpoints.remove_leftovers();
        assert!(!folder.exists());
    }
    // One that was about to take the place of another run when its process was killed.
    let of_run = writer(&checkpoints);
    of_run.note_target(&target);
    let folder = killed(of_run);
    checkpoints.remove_leftovers();
    assert_eq!(checkpoints.list().len(), 1, "it was not saved");
    assert!(Checkpoints::resume(&folder).is_ok());
}

#[test]
fn only_what_nobody_owns_and_nobody_can_resume_is_removed() {
    let root = tempfile::tempdir().unwrap();
    let checkpoints = Checkpoints::new(root.path());
    let (held, interrupted) = (writer(&checkpoints), killed(writer(&checkpoints)));
    std::fs::write(interrupted.join(".inkling-a1B2c3"), "half a checkpoint").unwrap();
    let empty = root.path().join("17-4");
    let half = root.path().join("18-4");
    for folder in [&empty, &half] {
        std::fs::create_dir(folder).unwrap();
        std::fs::write(folder.join("lock"), "").unwrap();
    }
    std::fs::write(half.join(".inkling-a1B2c3"), "half a checkpoint").unwrap();
    let theirs = root.path().join("holiday pictures");
    std::fs::create_dir(&theirs).unwrap();
    std::fs::write(root.path().join("19-4"), "a file").unwrap();

    checkpoints.remove_leftovers();
    assert!(!empty.exists() && !half.exists());
    assert_eq!(names(&interrupted), ["checkpoint", "lock"]);
    assert!(
        held.folder().join("checkpoint").exists()
            && theirs.exists()
            && root.path().join("19-4").exists()
    );
    // The one that is held writes on.
    held.write(some()[1].clone());
    assert!(Checkpoints::read_card(&held.keep().unwrap()).is_ok());
}

#[test]
fn a_folder_that_is_removed_while_a_run_begins_is_made_again() {
    let root = tempfile::tempdir().unwrap();
    let checkpoints = Checkpoints::new(root.path());
    let made = some();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let starts = scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                checkpoints.remove_leftovers();
                // Far more often than anybody starts a program.
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let begins = scope.spawn(|| {
            for _ in 0..30 {
                let mut folder = checkpoints.begin();
                folder.write(&made[0]).unwrap();
                assert!(folder.is_held(), "it is this run's");
                assert!(checkpoints.list().is_empty(), "it is not interrupted");
                folder.delete().unwrap();
            }
        });
        let begun = begins.join();
        over.store(true, Ordering::Relaxed);
        starts.join().unwrap();
        begun.unwrap();
    });
}

#[test]
fn runs_that_end_at_once_get_a_folder_each() {
    let root = tempfile::tempdir().unwrap();
    let outcome = outcome();
    std::thread::scope(|scope| {
        let save = || {
            (0..6).for_each(|_| drop(Store::new(root.path()).save(&outcome, F32, None).unwrap()));
        };
        (0..6).for_each(|_| drop(scope.spawn(save)));
    });
    assert_eq!(names(root.path()).len(), 36);
    assert!(
        Store::new(root.path())
            .list()
            .iter()
            .all(|run| run.summary.is_ok())
    );
}
