//! What a run computes follows from its settings alone: whoever repeats it, or interrupts it
//! anywhere and resumes it, gets the same steps, epochs and weights, bit for bit. Sampled from all
//! networks, optimizers, precisions and settings that change what a step does.

use inkling::data::Dataset;
use inkling::math::random::Random;
use inkling::records::{Calibration, EpochRecord, Intervention, StepPoint};
use inkling::run_config::{
    Augmentation, Initialization, ModelKind, OptimizerKind, Precision, RunConfig, ScheduleKind,
};
use inkling::train::TrainedModel;

use super::watcher::{Watcher, config};
use crate::synthetic::{resume, square_set, train};

/// Runs that are tried, unless the environment asks for more, as `.ci/run` does.
const CASES: u64 = 5;

/// More than the times a run is asked after its last step. What it does there begins anew each
/// time, so it must be left alone at some time.
const AT_THE_END: u64 = 40;

fn cases() -> u64 {
    std::env::var("INKLING_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(CASES)
}

/// Settings and images of a case. Networks, optimizers and precisions take turns, so that a few
/// cases meet all of them.
fn case(number: u64) -> (RunConfig, Dataset) {
    fn pick<T: Copy>(random: &mut Random, from: &[T]) -> T {
        from[random.below(from.len())]
    }
    let random = &mut Random::stream(17, "case", number);
    let model = ModelKind::ALL[number as usize % ModelKind::ALL.len()];
    let optimizer = OptimizerKind::ALL[number as usize % OptimizerKind::ALL.len()];
    let precision = Precision::ALL[number as usize % Precision::ALL.len()];
    let batch_size = pick(random, &[7, 16, 24, 33]);
    let of = RunConfig {
        model,
        optimizer,
        precision,
        batch_size,
        epochs: 1 + random.below(3) as u32,
        // Some of them diverge and are rolled back.
        learning_rate: if optimizer == OptimizerKind::Sgd {
            pick(random, &[0.02, 0.5])
        } else {
            2e-3
        },
        threads: Some(pick(random, &[1, 2, 3])),
        schedule: pick(random, ScheduleKind::ALL),
        augmentation: pick(random, Augmentation::ALL),
        accumulation: pick(random, &[1, 1, 3]),
        weight_averaging: pick(random, &[None, Some(0.9)]),
        clip_norm: pick(random, &[None, Some(0.5)]),
        label_smoothing: pick(random, &[0.0, 0.1]),
        early_stopping: pick(random, &[None, Some(1)]),
        weight_decay: pick(random, &[0.0, 0.01]),
        seed: random.next_u64() >> 1,
        // Statistics take longer than these runs.
        initialization: pick(
            random,
            &[
                Initialization::Random,
                Initialization::Random,
                Initialization::Lsuv,
                Initialization::Pca,
            ],
        ),
        activation_checkpointing: pick(random, &[false, true]),
        ..config(model)
    };
    (of, square_set(70 + random.below(90), 20))
}

/// Everything that a run computed, but for the time it took.
#[derive(Debug, Default, PartialEq)]
struct Computed {
    steps: Vec<StepPoint>,
    epochs: Vec<EpochRecord>,
    interventions: Vec<Intervention>,
    end: Option<End>,
}

/// Weights, calibration, test accuracy and the epoch that was kept.
type End = (Vec<Vec<f32>>, Calibration, Option<f64>, Option<u32>);

impl Computed {
    fn add(&mut self, watcher: Watcher, outcome: Option<TrainedModel>) {
        self.steps.extend(watcher.steps);
        self.epochs
            .extend(watcher.epochs.into_iter().map(|record| EpochRecord {
                seconds: 0.0,
                ..record
            }));
        self.interventions.extend(watcher.interventions);
        self.end = outcome.map(|trained| {
            let summary = trained.summary;
            (
                trained.net.weights().unwrap(),
                trained.calibration,
                summary.test.map(|test| test.evaluation.loss),
                summary.kept_epoch,
            )
        });
    }
}

fn whole(of: &RunConfig, data: &Dataset, every_step: bool) -> (Computed, u64) {
    let (mut computed, mut watcher) = (
        Computed::default(),
        Watcher {
            every_step,
            looks: every_step,
            ..Watcher::default()
        },
    );
    let outcome = train(of, data, &mut watcher).ok().flatten();
    let between = watcher.between;
    computed.add(watcher, outcome);
    (computed, between)
}

/// The same run, interrupted again and again, at moments that `random` chooses among those of the
/// rest of the run.
fn in_pieces(
    of: &RunConfig,
    data: &Dataset,
    random: &mut Random,
    mut left: u64,
) -> (Computed, u32) {
    let (mut computed, mut from, mut pieces) = (Computed::default(), None, 0);
    loop {
        let interrupt_at = Some(1 + random.below(left as usize) as u64);
        let mut watcher = Watcher {
            interrupt_at,
            ..Watcher::default()
        };
        let outcome = match from.clone() {
            None => train(of, data, &mut watcher),
            Some(checkpoint) => resume(of, data, checkpoint, &mut watcher),
        };
        pieces += 1;
        // A run that is interrupted while it is tested has handed over its last checkpoint before.
        from = watcher.checkpoints.last().cloned().or(from);
        left = left.saturating_sub(watcher.between).max(AT_THE_END);
        let ended = !matches!(outcome, Ok(None));
        computed.add(watcher, outcome.ok().flatten());
        if ended {
            return (computed, pieces);
        }
    }
}

/// Compares runs with these settings, and gives what they computed and in how many pieces one of
/// them did.
fn check(number: u64, of: &RunConfig, data: &Dataset) -> (Computed, u32) {
    let (once, between) = whole(of, data, false);
    assert!(
        once == whole(of, data, false).0,
        "case {number} repeated: {of:?}"
    );
    assert!(
        once == whole(of, data, true).0,
        "case {number} with a checkpoint after every step: {of:?}"
    );
    let (resumed, count) = in_pieces(
        of,
        data,
        &mut Random::stream(3, "interruptions", number),
        between,
    );
    assert!(
        once.steps == resumed.steps,
        "case {number} in {count} pieces: {of:?}"
    );
    assert_eq!(
        once.epochs, resumed.epochs,
        "case {number} in {count} pieces: {of:?}"
    );
    assert_eq!(
        once.interventions, resumed.interventions,
        "case {number} in {count} pieces: {of:?}"
    );
    assert!(
        once.end == resumed.end,
        "case {number} in {count} pieces ends differently: {of:?}"
    );
    (once, count)
}

#[test]
fn a_run_repeated_watched_closely_or_interrupted_anywhere_computes_the_same() {
    let mut pieces = 0;
    for number in 0..cases() {
        let (of, data) = case(number);
        pieces += check(number, &of, &data).1;
    }
    assert!(u64::from(pieces) > 2 * cases(), "{pieces} pieces");
}

#[test]
fn and_so_does_one_whose_batches_grow() {
    // Every epoch ends with a batch that is smaller, also when batches have grown.
    let data = square_set(700, 20);
    for number in 0..cases().div_ceil(10) {
        let of = RunConfig {
            growing_batches: true,
            batch_size: 4,
            epochs: 3,
            seed: number,
            ..config(ModelKind::Tiny)
        };
        let (once, pieces) = check(number, &of, &data);
        let grew = |intervention: &&Intervention| {
            matches!(intervention, Intervention::LargerBatches { .. })
        };
        assert!(
            once.interventions
                .iter()
                .any(|intervention| grew(&intervention)),
            "{:?}",
            once.interventions
        );
        assert!(pieces > 1);
    }
}
