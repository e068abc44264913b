//! Checkpoints: whole or not there, found again, held by one process at a time, removed when the
//! run is over.

use std::path::Path;

use inkling::records::RunPosition;
use inkling::run_config::{ModelKind, RunConfig};
use inkling::runs::{CheckpointThread, CheckpointWriter, Checkpoints, RunError};
use inkling::train::Checkpoint;

use crate::synthetic::{square_set, train};
use crate::train::watcher::{Watcher, config};

pub fn some() -> Vec<Checkpoint> {
    let mut watcher = Watcher::default();
    let of = RunConfig {
        weight_averaging: Some(0.9),
        epochs: 3,
        ..config(ModelKind::Tiny)
    };
    train(&of, &square_set(120, 0), &mut watcher).unwrap();
    watcher.checkpoints
}

#[test]
fn what_is_kept_is_listed_and_taken_up_as_it_was() {
    let root = tempfile::tempdir().unwrap();
    let checkpoints = Checkpoints::new(root.path().join("not yet there"));
    assert!(checkpoints.list().is_empty());
    let made = some();
    let mut place = checkpoints.begin();
    place.write(&made[0]).unwrap();
    place.write(&made[1]).unwrap();
    assert!(
        checkpoints.list().is_empty(),
        "a run under way is not interrupted"
    );
    let folder = place.path().to_owned();
    assert!(matches!(
        Checkpoints::resume(&folder),
        Err(RunError::InUse { .. })
    ));
    assert!(matches!(
        checkpoints.delete(&folder),
        Err(RunError::InUse { .. })
    ));

    drop(place);
    let listed = checkpoints.list();
    assert_eq!(
        (&listed[0].folder, &listed[0].card),
        (&folder, &made[1].card),
        "the newest of the run"
    );
    let (place, back) = Checkpoints::resume(&folder).unwrap();
    assert!(back == made[1], "every number as it was");
    place.delete().unwrap();
    assert!(!folder.exists() && checkpoints.list().is_empty());
}

#[test]
fn damaged_checkpoints_are_refused_and_left_alone() {
    let root = tempfile::tempdir().unwrap();
    let checkpoints = Checkpoints::new(root.path());
    let mut place = checkpoints.begin();
    place.write(&some()[0]).unwrap();
    let folder = place.path().to_owned();
    drop(place);
    let file = folder.join("checkpoint");
    let whole = std::fs::read(&file).unwrap();
    let try_it = |bytes: &[u8]| {
        std::fs::write(&file, bytes).unwrap();
        match Checkpoints::resume(&folder) {
            Err(RunError::Malformed { reason, .. }) => reason,
            other => panic!("{:?}", other.map(|_| ())),
        }
    };
    assert!(try_it(b"").contains("ends in the middle"));
    assert!(try_it(b"something else").contains("not a checkpoint"));
    assert!(
        checkpoints.list().is_empty(),
        "what cannot be read is not listed"
    );
    assert!(try_it(&whole[..40]).contains("ends in the middle"));
    assert!(try_it(&whole[..whole.len() - 1]).contains("ends in the middle of a checksum"));
    assert!(try_it(&[&whole[..], b"more"].concat()).contains("follows"));
    let mut newer = whole.clone();
    newer[8] = 9;
    assert!(try_it(&newer).contains("format version 9"));
    let mut long = whole.clone();
    long[12..16].fill(255);
    assert!(try_it(&long).contains("too long"));
    std::fs::write(&file, &whole).unwrap();
    assert!(Checkpoints::resume(&folder).is_ok());
    assert!(matches!(
        Checkpoints::resume(Path::new("nowhere")),
        Err(RunError::Malformed { .. })
    ));
    assert!(
        matches!(
            checkpoints.delete(root.path()),
            Err(RunError::Malformed { .. })
        ),
        "nothing else is ever deleted"
    );
}

#[test]
fn no_flipped_bit_goes_unnoticed() {
    let root = tempfile::tempdir().unwrap();
    let checkpoints = Checkpoints::new(root.path());
    let mut place = checkpoints.begin();
    place.write(&some()[1]).unwrap();
    let folder = place.path().to_owned();
    drop(place);
    let file = folder.join("checkpoint");
    let mut bytes = std::fs::read(&file).unwrap();
    let card = 16 + u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    // Bits of the card, and all over the rest.
    let ends = [card + 32, bytes.len() - 64];
    let bits = (0..8 * ends[0])
        .step_by(7)
        .chain((8 * ends[0]..8 * ends[1]).step_by(8 * ends[1] / 300))
        .chain((8 * ends[1]..8 * bytes.len()).step_by(3));
    for bit in bits {
        bytes[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&file, &bytes).unwrap();
        assert!(
            matches!(
                Checkpoints::resume(&folder),
                Err(RunError::Malformed { .. })
            ),
            "bit {bit}"
        );
        assert!(
            bit >= 8 * ends[0] || checkpoints.list().is_empty(),
            "bit {bit} of the card"
        );
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    std::fs::write(&file, &bytes).unwrap();
    assert!(Checkpoints::resume(&folder).is_ok());
}

#[test]
fn the_writer_tells_what_it_did_and_clears_up_when_the_run_is_over() {
    let root = tempfile::tempdir().unwrap();
    let checkpoints = Checkpoints::new(root.path());
    let checkpoint_thread = CheckpointThread::start(true).unwrap();
    let start = |checkpoints: &Checkpoints| {
        let (sender, told) = std::sync::mpsc::channel();
        let tell = move |folder: &Path, position: RunPosition, kept: Result<(), RunError>| {
            sender
                .send((folder.to_owned(), position.epochs, kept))
                .unwrap();
        };
        (
            CheckpointWriter::start(&checkpoint_thread, checkpoints.begin(), Box::new(tell))
                .unwrap(),
            told,
        )
    };
    let made = some();
    let (writer, told) = start(&checkpoints);
    writer.write(made[0].clone());
    let (folder, epochs, kept) = told.recv().unwrap();
    assert_eq!((epochs, kept), (1, Ok(())));
    // However fast they come, the last one is there in the end.
    for checkpoint in &made {
        writer.write(checkpoint.clone());
    }
    writer.keep();
    assert_eq!(Checkpoints::resume(&folder).unwrap().1, made[2]);

    let (writer, told) = start(&checkpoints);
    writer.write(made[0].clone());
    let (folder, ..) = told.recv().unwrap();
    writer.remove();
    assert!(!folder.exists());

    let file = root.path().join("a file");
    std::fs::write(&file, "in the way").unwrap();
    let (writer, told) = start(&Checkpoints::new(&file));
    writer.write(made[0].clone());
    assert!(matches!(told.recv().unwrap().2, Err(RunError::Write(_))));
    writer.remove();

    // One that could not be written is tried again, at the latest when the run ends.
    let (writer, told) = start(&Checkpoints::new(&file));
    writer.write(made[0].clone());
    assert!(told.recv().unwrap().2.is_err());
    std::fs::remove_file(&file).unwrap();
    let folder = writer.keep().unwrap();
    assert_eq!(told.recv().unwrap().2, Ok(()));
    assert_eq!(Checkpoints::resume(&folder).unwrap().1, made[0]);
}
