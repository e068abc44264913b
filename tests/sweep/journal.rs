//! The folder of a sweep: whatever is left of its journal, it can be resumed; what is wrong with it
//! is said.

use std::fs;
use std::path::Path;

use inkling::sweep::{Outcome, Sweep, SweepEnd, SweepError, Tested, Trial, run};

use super::{definition, endless};
use crate::fake_executor::FakeExecutor;

/// A sweep that is complete, in this folder.
fn complete(folder: &Path) -> Vec<Trial> {
    let definition = inkling::sweep::SweepDefinition {
        trials: Some(8),
        parallel: 2,
        ..definition(&["learning-rate=1e-4..1e-1:log", "batch-size=32,64"])
    };
    let mut sweep = Sweep::create(folder, definition).unwrap();
    assert_eq!(
        run(&mut sweep, &mut FakeExecutor::default(), &mut endless()),
        Ok(SweepEnd::Complete)
    );
    sweep.trials().to_vec()
}

#[test]
fn a_sweep_is_read_back_as_it_was() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("sweep");
    let trials = complete(&folder);
    let mut sweep = Sweep::open(&folder).unwrap();
    assert_eq!(sweep.trials(), trials);
    assert!(
        trials
            .iter()
            .any(|trial| trial.outcome == Some(Outcome::Pruned))
    );
    let best = sweep.best().unwrap();
    assert!(trials.iter().all(|trial| trial.result() <= best.result()));

    let (number, tested) = (
        best.number,
        Tested {
            run: "runs/1".into(),
            test_accuracy: Some(0.98),
        },
    );
    sweep.record_test(number, tested.clone()).unwrap();
    assert!(
        matches!(Sweep::open(&folder), Err(SweepError::InUse { .. })),
        "nobody else works on it"
    );
    drop(sweep);
    assert_eq!(
        Sweep::open(&folder).unwrap().tested(),
        Some(&(number, tested))
    );
}

#[test]
fn a_journal_cut_at_any_byte_is_resumed_and_ends_as_it_would_have() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("sweep");
    let whole = complete(&folder);
    let journal = fs::read(folder.join("journal.jsonl")).unwrap();
    for length in (0..journal.len())
        .step_by(97)
        .chain((journal.len() - 45..journal.len()).step_by(4))
    {
        fs::write(folder.join("journal.jsonl"), &journal[..length]).unwrap();
        let mut sweep = Sweep::open(&folder).unwrap();
        let kept: Vec<Trial> = sweep
            .trials()
            .iter()
            .filter(|trial| trial.outcome.is_some())
            .cloned()
            .collect();
        assert!(
            kept.iter().all(|trial| whole.contains(trial)),
            "cut at {length}"
        );
        assert_eq!(
            run(&mut sweep, &mut FakeExecutor::default(), &mut endless()),
            Ok(SweepEnd::Complete),
            "cut at {length}"
        );
        assert!(
            kept.iter().all(|trial| sweep.trials().contains(trial)),
            "what had ended is not trained again; cut at {length}"
        );
        assert_eq!(sweep.trials().len(), 8);
        assert!(sweep.trials().iter().all(|trial| trial.outcome.is_some()));
        drop(sweep);
        assert_eq!(
            Sweep::open(&folder).unwrap().trials().len(),
            8,
            "cut at {length}"
        );
    }
}

#[test]
fn what_cannot_be_in_a_journal_is_found() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("sweep");
    complete(&folder);
    let begun = r#"{"trial":1,"elapsed":0,"event":"started","values":{"learning-rate":0.001,"batch-size":32}}"#;
    let last = r#"{"trial":1,"elapsed":3,"event":"completed"}"#;
    for (lines, words) in [
        (vec!["nonsense"], "line 1"),
        (
            vec![
                r#"{"trial":2,"elapsed":0,"event":"started","values":{"learning-rate":0.001,"batch-size":32}}"#,
            ],
            "trial 2 cannot begin",
        ),
        (
            vec![
                r#"{"trial":1,"elapsed":0,"event":"started","values":{"learning-rate":5,"batch-size":32}}"#,
            ],
            "not in the ranges",
        ),
        (
            vec![r#"{"trial":1,"elapsed":0,"event":"started","values":{"learning-rate":0.001}}"#],
            "not in the ranges",
        ),
        (
            vec![begun, begun.replace("0.001", "0.002").as_str()]
                .into_iter()
                .map(|line| line.to_owned().leak() as &str)
                .collect(),
            "cannot begin",
        ),
        (
            vec![
                begun,
                r#"{"trial":1,"elapsed":1,"event":"epoch","epoch":2,"validation_accuracy":0.5,"validation_loss":1,"seconds":1}"#,
            ],
            "epoch 2",
        ),
        (
            vec![
                begun,
                r#"{"trial":1,"elapsed":1,"event":"epoch","epoch":1,"validation_accuracy":1.5,"validation_loss":1,"seconds":1}"#,
            ],
            "epoch 1",
        ),
        (
            vec![begun, r#"{"trial":1,"elapsed":1,"event":"completed"}"#],
            "without an epoch",
        ),
        (
            vec![begun, r#"{"trial":9,"elapsed":1,"event":"pruned"}"#],
            "trial 9 has not begun",
        ),
        (
            vec![
                r#"{"trial":1,"elapsed":-1,"event":"started","values":{"learning-rate":0.001,"batch-size":32}}"#,
            ],
            "seconds",
        ),
    ] {
        fs::write(
            folder.join("journal.jsonl"),
            format!("{}\n{last}\n", lines.join("\n")),
        )
        .unwrap();
        let Err(SweepError::Malformed { reason, .. }) = Sweep::open(&folder) else {
            panic!("{words} was not found")
        };
        assert!(reason.contains(words), "{words}: {reason}");
    }
    fs::write(
        folder.join("journal.jsonl"),
        format!("{begun}\n{last} \n").replace("completed", "rejoiced"),
    )
    .unwrap();
    assert_eq!(
        Sweep::open(&folder).unwrap().trials().len(),
        1,
        "a last line that is damaged is dropped"
    );
}

#[test]
fn a_definition_that_cannot_be_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("sweep");
    complete(&folder);
    let path = folder.join("sweep.json");
    let definition = fs::read_to_string(&path).unwrap();
    for (from, to) in [
        ("\"version\": 1", "\"version\": 99"),
        ("\"parallel\": 2", "\"parallel\": 0"),
        ("\"learning-rate\"", "\"rate\""),
        ("{", "["),
    ] {
        let broken = definition.replace(from, to);
        assert_ne!(broken, definition, "{from}");
        fs::write(&path, broken).unwrap();
        assert!(
            matches!(Sweep::open(&folder), Err(SweepError::Malformed { .. })),
            "{to}"
        );
    }
    fs::remove_file(&path).unwrap();
    assert!(matches!(
        Sweep::open(&folder),
        Err(SweepError::Unreadable { .. })
    ));
}

#[test]
fn a_new_sweep_takes_no_folder_with_something_in_it() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("thesis.txt"), "precious").unwrap();
    let definition = definition(&["learning-rate=1e-4..1e-2"]);
    assert!(matches!(
        Sweep::create(home.path(), definition.clone()),
        Err(SweepError::Occupied { .. })
    ));
    assert!(matches!(
        Sweep::newest(&home.path().join("sweeps")),
        Err(SweepError::None { .. })
    ));
    let [one, two] = [(); 2]
        .map(|()| Sweep::create_in(&home.path().join("sweeps"), definition.clone()).unwrap());
    assert_ne!(one.folder(), two.folder());
    assert_eq!(
        Sweep::newest(&home.path().join("sweeps")).unwrap(),
        two.folder()
    );
    // A folder that another process is still creating does not count.
    let hidden = home.path().join("sweeps/.inkling-abcdef");
    fs::create_dir(&hidden).unwrap();
    fs::copy(one.folder().join("sweep.json"), hidden.join("sweep.json")).unwrap();
    assert_eq!(Sweep::folders_in(&home.path().join("sweeps")).count(), 2);
}
