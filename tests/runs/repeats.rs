//! Repeated runs: which belong together, and what is said of them.

use std::path::PathBuf;

use inkling::records::{Annotation, EpochRecord};
use inkling::run_config::{Preset, RunConfig};
use inkling::runs::{Repeats, RunEntry, missing_repetitions};

use crate::fake_engine::summary;

pub fn config(repeats: u32) -> RunConfig {
    RunConfig {
        repeats,
        seed: 7,
        ..RunConfig::preset(Preset::QuickLook)
    }
}

/// A run that was saved, with these validation accuracies after its epochs.
pub fn saved(config: &RunConfig, accuracies: &[f32], test: Option<f64>) -> RunEntry {
    let record = |(epoch, &validation_accuracy): (u32, &f32)| EpochRecord {
        epoch,
        step: u64::from(epoch) * 10,
        train_loss: 0.3,
        train_accuracy: 0.9,
        validation_loss: 0.25,
        validation_accuracy,
        seconds: 1.0,
    };
    let mut run = summary(
        config,
        (1..).zip(accuracies).map(record).collect(),
        test.is_none(),
    );
    if let (Some(accuracy), Some(measured)) = (test, &mut run.test) {
        measured.evaluation.accuracy = accuracy;
    }
    RunEntry {
        folder: PathBuf::from(format!("runs/{}", config.seed)),
        summary: Ok(Box::new(run)),
        annotation: Annotation::default(),
        title: String::new(),
    }
}

#[test]
fn repetitions_have_consecutive_seeds_and_belong_together() {
    let runs = config(4).repetitions("now");
    assert_eq!(
        runs.iter().map(|run| run.seed).collect::<Vec<_>>(),
        [7, 8, 9, 10]
    );
    assert_eq!(
        runs.iter()
            .map(|run| run.repetition.as_ref().unwrap().number)
            .collect::<Vec<_>>(),
        [1, 2, 3, 4]
    );
    assert_eq!(runs[1].next_repetitions(), runs[2..]);
    assert!(
        runs.iter().all(
            |run| run.matching_preset() == Some(Preset::QuickLook) && run.problems().is_empty()
        )
    );
    let single = RunConfig {
        repetition: runs[0].repetition.clone(),
        ..config(1)
    }
    .repetitions("now");
    assert_eq!(
        single,
        [config(1)],
        "a run by itself is not a repetition, whatever it was before"
    );
    let highest = RunConfig {
        seed: u64::MAX,
        ..config(2)
    }
    .repetitions("now");
    assert_eq!(highest[1].seed, 0);
}

#[test]
fn a_configuration_without_repetitions_is_written_as_before() {
    let text = serde_json::to_string(&config(1)).unwrap();
    assert!(!text.contains("repe"), "{text}");
    let runs = config(2).repetitions("now");
    let text = serde_json::to_string(&runs[1]).unwrap();
    assert_eq!(serde_json::from_str::<RunConfig>(&text).unwrap(), runs[1]);
}

#[test]
fn the_mean_is_that_of_the_runs_that_were_repeated_together_and_not_stopped() {
    let asked = config(5).repetitions("now");
    let mut runs: Vec<RunEntry> = asked
        .iter()
        .zip([0.98, 0.99, 0.985, 0.97])
        .map(|(config, test)| saved(config, &[0.9, 0.95], Some(test)))
        .collect();
    runs.push(saved(&asked[4], &[0.1], None));
    runs.push(saved(&config(1), &[0.5], Some(0.5)));
    runs.push(saved(&config(2).repetitions("then")[0], &[0.5], Some(0.5)));
    runs.reverse();
    let one = runs
        .iter()
        .flat_map(|run| &run.summary)
        .find(|run| run.config == asked[0])
        .unwrap();
    let repeats = Repeats::of(&runs, one).unwrap();
    let mean = repeats.mean().unwrap();
    assert_eq!((mean.count, repeats.measured_on()), (4, "test"));
    assert!((mean.mean - 0.98125).abs() < 1e-12);
    assert_eq!(
        repeats
            .runs()
            .iter()
            .map(|(_, run)| run.config.seed)
            .collect::<Vec<_>>(),
        [7, 8, 9, 10]
    );
    let (lowest, highest) = repeats.extremes().unwrap();
    assert_eq!((lowest.config.seed, highest.config.seed), (10, 8));
    // The quantile of Student's t with 3 degrees of freedom is 3.182: 98.125 ± 3.182 · 0.854 / √4.
    assert_eq!(
        repeats.sentence(),
        "4 runs: mean test accuracy 98.13%, 95% interval of the mean 96.77% to 99.48% (Student's t), standard deviation 0.85 percentage points; \
         lowest 97.00% (seed 10), highest 99.00% (seed 8)."
    );
    assert_eq!(
        repeats
            .by_epoch()
            .iter()
            .map(|(epoch, mean)| (*epoch, mean.count))
            .collect::<Vec<_>>(),
        [(1, 4), (2, 4)]
    );
    let alone = runs
        .iter()
        .flat_map(|run| &run.summary)
        .find(|run| run.config.repeats == 1)
        .unwrap();
    assert!(Repeats::of(&runs, alone).is_none());
}

#[test]
fn after_an_interruption_only_what_is_missing_is_trained() {
    let asked = config(5).repetitions("now");
    let runs: Vec<RunEntry> = [0, 3]
        .map(|index| saved(&asked[index], &[0.9], Some(0.9)))
        .into();
    assert_eq!(
        missing_repetitions(&asked[1], &runs),
        [asked[2].clone(), asked[4].clone()]
    );
}
