//! Whether a run that was trained again has the same weights.

use inkling::records::RunSummary;
use inkling::run_config::{DeviceChoice, ModelKind, RunConfig, WeightFormat};
use inkling::runs::{Reproduction, Store, reproduced_config};
use inkling::train::TrainedModel;

use crate::train::watcher::config;

fn trained(seed: u64) -> TrainedModel {
    super::trained(&RunConfig {
        seed,
        epochs: 1,
        ..config(ModelKind::LeNet)
    })
}

#[test]
fn the_same_seed_is_reproduced_and_another_is_not() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::new(home.path());
    let save =
        |seed: u64, weights: WeightFormat| store.save(&trained(seed), weights, None).unwrap();
    let (first, again, other) = (
        save(1, WeightFormat::F32),
        save(1, WeightFormat::F32),
        save(2, WeightFormat::F32),
    );
    let same = Reproduction::compare(&first, &again).unwrap();
    assert!(
        same.is_same() && same.tensors > 4 && same.largest_difference == Some(0.0),
        "{same:?}"
    );
    assert_eq!(
        same.sentence(),
        "The run was reproduced: its weights are the same, bit for bit."
    );
    let half = Reproduction::compare(&first, &save(1, WeightFormat::F16)).unwrap();
    assert!(half.is_same(), "halved, they are the same: {half:?}");
    assert!(
        !Reproduction::compare(&save(1, WeightFormat::F16), &other)
            .unwrap()
            .is_same()
    );

    let different = Reproduction::compare(&first, &other).unwrap();
    assert!(
        different.differing == different.tensors && different.largest_difference > Some(0.0),
        "{different:?}"
    );
    assert!(
        different
            .sentence()
            .starts_with("The weights are not the same: ")
            && different.sentence().contains("may have changed since")
    );
    let moved = RunSummary {
        machine: "Another".to_owned(),
        ..other
    };
    assert!(
        Reproduction::compare(&first, &moved)
            .unwrap()
            .sentence()
            .ends_with("Also different: the machine.")
    );
    let missing = RunSummary {
        model_path: home.path().join("none"),
        ..first.clone()
    };
    assert!(Reproduction::compare(&first, &missing).is_err());
}

#[test]
fn it_is_started_again_where_it_was_trained_and_by_itself() {
    let asked = RunConfig {
        repeats: 3,
        device: DeviceChoice::Auto,
        ..config(ModelKind::LeNet)
    }
    .repetitions("now")
    .pop()
    .unwrap();
    let run = crate::fake_engine::summary(&asked, Vec::new(), false);
    let again = reproduced_config(&run);
    assert_eq!(
        (again.repeats, again.repetition, again.seed, again.device),
        (1, None, asked.seed, run.plan.device)
    );
}
