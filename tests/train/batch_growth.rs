//! Batches that grow with the gradient noise scale.

use inkling::records::{Intervention, StepPoint};
use inkling::run_config::{ModelKind, OptimizerKind, RunConfig, ScheduleKind};

use super::watcher::{Watcher, config};
use crate::synthetic::{square_set, train};

#[test]
fn steps_over_larger_batches_count_as_several() {
    let data = square_set(1000, 20);
    for (optimizer, learning_rate) in [(OptimizerKind::Sgd, 0.01), (OptimizerKind::AdamW, 1e-3)] {
        let schedule = ScheduleKind::Constant;
        let of = RunConfig {
            growing_batches: true,
            batch_size: 3,
            epochs: 3,
            optimizer,
            learning_rate,
            schedule,
            ..config(ModelKind::Mlp)
        };
        let mut watcher = Watcher::default();
        train(&of, &data, &mut watcher).unwrap().unwrap();
        let plan = watcher.plan.as_ref().unwrap();
        let grown = watcher
            .interventions
            .iter()
            .find_map(|intervention| match *intervention {
                Intervention::LargerBatches {
                    epoch,
                    batch_size,
                    noise_scale,
                } => Some((epoch, batch_size, noise_scale)),
                _ => None,
            });
        let (epoch, batch_size, noise_scale) = grown.expect("they grow");
        let factor = batch_size / 3;
        assert!(
            factor.is_power_of_two()
                && factor > 1
                && f64::from(batch_size) <= noise_scale.map_or(1024.0, f64::from),
            "{batch_size}, {noise_scale:?}"
        );
        assert!(
            u64::from(batch_size) * 20 <= plan.train_images,
            "an epoch has enough steps"
        );

        let end = |epoch: u32| u64::from(epoch) * plan.steps_per_epoch;
        assert_eq!(
            watcher
                .epochs
                .iter()
                .map(|record| record.step)
                .collect::<Vec<_>>(),
            [1, 2, 3].map(end)
        );
        let before: Vec<&StepPoint> = watcher
            .steps
            .iter()
            .filter(|point| point.step <= end(epoch - 1))
            .collect();
        assert!(
            before
                .windows(2)
                .all(|pair| pair[1].step == pair[0].step + 1)
        );
        let mut last = end(epoch - 1);
        for point in watcher
            .steps
            .iter()
            .filter(|point| point.step > end(epoch - 1) && point.step <= end(epoch))
        {
            let is_last = point.step == end(epoch);
            assert!(
                point.step.abs_diff(last + u64::from(factor)) <= 1 || is_last,
                "{last}, then {}",
                point.step
            );
            let ratio = f64::from(point.learning_rate) / learning_rate;
            let expected = if optimizer == OptimizerKind::Sgd {
                f64::from(factor)
            } else {
                f64::from(factor).sqrt()
            };
            assert!(
                (ratio / expected - 1.0).abs() < 1e-5,
                "{optimizer}: {ratio} and not {expected}"
            );
            last = point.step;
        }
        assert_eq!(last, end(epoch));
        assert!(
            watcher.epochs.last().unwrap().validation_accuracy > 0.9,
            "{optimizer}: {:?}",
            watcher.epochs
        );
    }
}

#[test]
fn batches_stay_as_they_are_where_epochs_have_few_steps() {
    let of = RunConfig {
        growing_batches: true,
        batch_size: 32,
        epochs: 3,
        ..config(ModelKind::Mlp)
    };
    let mut watcher = Watcher::default();
    train(&of, &square_set(1000, 20), &mut watcher)
        .unwrap()
        .unwrap();
    assert!(
        watcher.interventions.is_empty(),
        "{:?}",
        watcher.interventions
    );
}
