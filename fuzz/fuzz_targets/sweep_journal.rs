//! The journal of a sweep: what is read is read again, also without the half line at its end, which
//! is dropped.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use inkling::sweep::Sweep;

#[path = "../sweep.rs"]
mod sweep;

/// A sweep of this process's own.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("inkling-fuzzed-sweep-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    drop(
        Sweep::create(&folder, sweep::definition())
            .expect("a sweep in the folder for temporary files"),
    );
    folder
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    std::fs::write(FOLDER.join("journal.jsonl"), bytes).expect("the journal");
    let Ok(sweep) = Sweep::open(&FOLDER) else {
        return;
    };
    let trials = sweep.trials().to_vec();
    assert!(sweep.ends().len() <= trials.len() && sweep.elapsed() >= 0.0);
    assert!(sweep.best().is_none_or(|best| best.result().is_some()));
    let complete = sweep.is_complete();
    // The next process can have it only now.
    drop(sweep);
    let again = Sweep::open(&FOLDER).expect("a journal that was just read");
    assert_eq!(
        (again.trials(), again.is_complete()),
        (&trials[..], complete)
    );
});
