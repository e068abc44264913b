//! The loop of a sweep, with an executor that trains nothing.

use inkling::protocol::EngineError;
use inkling::records::Divergence;
use inkling::sweep::{
    Outcome, Sweep, SweepDefinition, SweepEnd, SweepError, Trial, TrialEvent, run,
};
use inkling::train::TrainError;

use super::{RetryPolicy, definition, endless};
use crate::fake_executor::FakeExecutor;

fn sweep(home: &tempfile::TempDir, change: impl FnOnce(&mut SweepDefinition)) -> Sweep {
    let mut definition = SweepDefinition {
        trials: Some(12),
        ..definition(&["learning-rate=1e-4..1e-1:log", "batch-size=32,64"])
    };
    change(&mut definition);
    Sweep::create(&home.path().join("sweep"), definition).unwrap()
}

/// Runs the sweep with this executor, to its end.
#[track_caller]
fn complete(sweep: &mut Sweep, executor: &mut FakeExecutor) {
    assert_eq!(run(sweep, executor, &mut endless()), Ok(SweepEnd::Complete));
}

/// An executor in which this happens instead to the trial with this number.
fn instead(trial: u32, event: TrialEvent) -> FakeExecutor {
    FakeExecutor {
        instead: Some((trial, event)),
        ..FakeExecutor::default()
    }
}

#[test]
fn as_many_trials_train_at_once_as_were_asked_for_and_poor_ones_end_early() {
    for (parallel, prunes) in [(1, true), (3, true), (2, false)] {
        let home = tempfile::tempdir().unwrap();
        let mut sweep = sweep(&home, |definition| {
            definition.parallel = parallel;
            definition.pruner = definition.pruner.filter(|_| prunes);
        });
        let mut executor = FakeExecutor::default();
        complete(&mut sweep, &mut executor);
        executor.stopped.sort_unstable();
        assert_eq!(executor.most_at_once, parallel as usize);
        assert_eq!(executor.started, (1..=12).collect::<Vec<_>>());
        let pruned: Vec<u32> = sweep
            .trials()
            .iter()
            .filter(|t| t.outcome == Some(Outcome::Pruned))
            .map(|t| t.number)
            .collect();
        assert_eq!(executor.stopped, pruned);
        assert_eq!(pruned.is_empty(), !prunes);
        assert!(
            sweep.best().unwrap().epochs.len() == 5,
            "the best trained to its end"
        );
    }
}

#[test]
fn an_interruption_loses_no_trial_that_has_ended_and_the_search_goes_on_as_it_would_have() {
    let home = tempfile::tempdir().unwrap();
    let mut undisturbed = sweep(&home, |_| {});
    complete(&mut undisturbed, &mut FakeExecutor::default());

    let other = tempfile::tempdir().unwrap();
    let mut interrupted = sweep(&other, |_| {});
    let mut sessions = 0;
    while run(
        &mut interrupted,
        &mut FakeExecutor::default(),
        &mut RetryPolicy(9),
    ) == Ok(SweepEnd::Interrupted)
    {
        let folder = interrupted.folder().to_owned();
        // As after a crash, only what is on the disk is left.
        drop(interrupted);
        interrupted = Sweep::open(&folder).unwrap();
        sessions += 1;
    }
    assert!(sessions > 2, "{sessions}");
    assert_eq!(interrupted.trials(), undisturbed.trials());
}

#[test]
fn where_no_machine_is_left_trials_in_progress_end_and_the_sweep_is_resumed() {
    let home = tempfile::tempdir().unwrap();
    let mut sweep = sweep(&home, |definition| {
        definition.parallel = 2;
        definition.pruner = None;
    });
    let mut executor = FakeExecutor {
        machines_last: Some(5),
        ..FakeExecutor::default()
    };
    assert_eq!(
        run(&mut sweep, &mut executor, &mut endless()),
        Err(SweepError::Problem(EngineError::Gone.into()))
    );
    let is_complete = |trial: &&Trial| trial.outcome == Some(Outcome::Completed);
    assert_eq!(sweep.trials().iter().filter(is_complete).count(), 5);
    complete(&mut sweep, &mut FakeExecutor::default());
    assert_eq!(sweep.trials().len(), 12);
}

#[test]
fn a_sweep_that_is_complete_goes_on_with_a_larger_budget() {
    let home = tempfile::tempdir().unwrap();
    let mut sweep = sweep(&home, |_| {});
    complete(&mut sweep, &mut FakeExecutor::default());
    let before: Vec<Trial> = sweep.trials().to_vec();
    sweep.extend(Some(15), None, Some(2)).unwrap();
    let folder = sweep.folder().to_owned();
    drop(sweep);
    let mut sweep = Sweep::open(&folder).unwrap();
    complete(&mut sweep, &mut FakeExecutor::default());
    assert_eq!(
        (sweep.trials().len(), &sweep.trials()[..12]),
        (15, &before[..])
    );
}

#[test]
fn no_trial_starts_after_the_time_of_all_sessions_is_over() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("sweep");
    drop(sweep(&home, |definition| definition.seconds = Some(100.0)));
    for (elapsed, trials) in [(0.0, 12), (100.0, 1)] {
        let begun = format!(
            r#"{{"trial":1,"elapsed":{elapsed},"event":"started","values":{{"lr":0.001,"batch-size":32}}}}"#
        );
        std::fs::write(folder.join("journal.jsonl"), format!("{begun}\n")).unwrap();
        let mut sweep = Sweep::open(&folder).unwrap();
        complete(&mut sweep, &mut FakeExecutor::default());
        assert_eq!(sweep.trials().len(), trials, "after {elapsed} s");
        assert_ne!(
            sweep.trials()[0].outcome,
            None,
            "one that had begun is completed"
        );
        assert!(sweep.is_complete());
    }
}

#[test]
fn a_trial_that_diverges_has_failed_and_the_others_go_on() {
    let home = tempfile::tempdir().unwrap();
    let mut sweep = sweep(&home, |_| {});
    let diverged = TrainError::Diverged {
        step: 3,
        cause: Divergence::NotFinite,
    };
    let failed = TrialEvent::Failed(diverged.into());
    complete(&mut sweep, &mut instead(1, failed));
    assert!(matches!(
        sweep.trials()[0].outcome,
        Some(Outcome::Failed { .. })
    ));
    assert_eq!(sweep.trials().len(), 12);
}

#[test]
fn what_no_trial_can_do_without_ends_the_sweep_at_its_first() {
    let home = tempfile::tempdir().unwrap();
    let mut sweep = sweep(&home, |_| {});
    let gone = || TrialEvent::Failed(EngineError::Gone.into());
    assert_eq!(
        run(&mut sweep, &mut instead(1, gone()), &mut endless()),
        Err(SweepError::Problem(EngineError::Gone.into()))
    );
    assert_eq!(sweep.trials().len(), 1);
    // Later, it costs a trial.
    complete(&mut sweep, &mut instead(5, gone()));
    assert!(matches!(
        sweep.trials()[4].outcome,
        Some(Outcome::Failed { .. })
    ));
}

#[test]
fn a_trial_whose_engine_was_asked_to_end_begins_again() {
    let home = tempfile::tempdir().unwrap();
    let mut sweep = sweep(&home, |_| {});
    let mut executor = instead(1, TrialEvent::Interrupted);
    complete(&mut sweep, &mut executor);
    let starts = executor.started.iter().filter(|&&trial| trial == 1);
    assert_eq!(starts.count(), 2);
    assert_eq!(sweep.trials().len(), 12);
    assert_eq!(sweep.trials()[0].outcome, Some(Outcome::Completed));
}
