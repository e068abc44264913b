//! A run whose learning rate is moved, and one whose steps are looked at, while it trains.

use inkling::nn::Net;
use inkling::records::{LearningRateChange, UnitName, Update};
use inkling::run_config::{
    Augmentation, ModelKind, OptimizerKind, Precision, RunConfig, ScheduleKind,
};
use inkling::train::StepRequest;

use super::watcher::{Watcher, config};
use crate::synthetic::{resume, square_set, train};

/// Plain gradient descent.
fn plain(model: ModelKind) -> RunConfig {
    RunConfig {
        optimizer: OptimizerKind::Sgd,
        momentum: 0.0,
        weight_decay: 0.0,
        clip_norm: None,
        schedule: ScheduleKind::Constant,
        learning_rate: 0.05,
        ..config(model)
    }
}

fn looking_at(layer: &str, unit: usize) -> Watcher {
    Watcher {
        looks_at: Some(StepRequest {
            unit: Some(UnitName {
                layer: layer.to_owned(),
                unit,
            }),
        }),
        ..Watcher::default()
    }
}

fn row(net: &Net, name: &str, unit: usize) -> Vec<f32> {
    let parameter = net.parameters().iter().find(|p| p.name() == name).unwrap();
    let row = parameter.tensor().get(unit).unwrap();
    row.flatten_all().unwrap().to_vec1().unwrap()
}

#[test]
fn a_run_whose_steps_are_looked_at_gives_the_same_weights() {
    let data = square_set(200, 20);
    for of in [
        RunConfig {
            augmentation: Augmentation::Gentle,
            label_smoothing: 0.1,
            ..config(ModelKind::ConvNetBn)
        },
        RunConfig {
            precision: Precision::F16,
            ..config(ModelKind::ConvNet)
        },
    ] {
        let mut alone = Watcher::default();
        let expected = train(&of, &data, &mut alone).unwrap().unwrap();
        let mut watcher = looking_at("conv1", 3);
        let trained = train(&of, &data, &mut watcher).unwrap().unwrap();
        assert!(trained.net.weights().unwrap() == expected.net.weights().unwrap());
        assert_eq!(watcher.single_steps.len(), watcher.steps.len());
        for (step, point) in watcher.single_steps.iter().zip(&alone.steps) {
            assert_eq!((step.step, step.losses[0]), (point.step, point.loss));
            assert!(step.losses[1].is_finite() && step.losses[1] != step.losses[0]);
        }
        let last = watcher.single_steps.last().unwrap().unit.clone().unwrap();
        assert_eq!(last.weights.after, row(&trained.net, "conv1.weight", 3));
    }
}

#[test]
fn the_numbers_of_a_step_of_gradient_descent_add_up() {
    let data = square_set(200, 20);
    let mut watcher = looking_at("fc1", 7);
    train(&plain(ModelKind::Mlp), &data, &mut watcher).unwrap();
    let steps = &watcher.single_steps;
    let lower = steps.iter().filter(|step| step.losses[1] < step.losses[0]);
    assert_eq!(
        lower.count(),
        steps.len(),
        "a small step lowers the loss of its batch"
    );
    for (step, next) in steps.iter().zip(&steps[1..]) {
        let unit = step.unit.as_ref().unwrap();
        let bias = unit.bias.as_ref().unwrap();
        assert_eq!((unit.weights.before.len(), bias.before.len()), (784, 1));
        for Update {
            before,
            gradient,
            after,
        } in [&unit.weights, bias]
        {
            for ((before, gradient), after) in before.iter().zip(gradient).zip(after) {
                let expected = before - step.learning_rate * gradient;
                assert!((after - expected).abs() < 1e-6, "{after} {expected}");
            }
        }
        assert!(unit.weights.change().iter().any(|change| *change != 0.0));
        assert_eq!(
            unit.weights.after,
            next.unit.as_ref().unwrap().weights.before
        );
    }
}

#[test]
fn a_unit_that_is_not_there_is_left_out() {
    let data = square_set(120, 20);
    for (layer, unit) in [("fc1", 100_000), ("nothing", 0), ("", 0)] {
        let mut watcher = looking_at(layer, unit);
        train(&plain(ModelKind::Mlp), &data, &mut watcher).unwrap();
        assert!(watcher.single_steps.iter().all(|step| step.unit.is_none()));
    }
}

#[test]
fn the_learning_rate_follows_what_was_asked_for_and_a_resumed_run_does_too() {
    let data = square_set(200, 20);
    let of = RunConfig {
        schedule: ScheduleKind::Constant,
        epochs: 3,
        ..config(ModelKind::Mlp)
    };
    let mut watcher = Watcher {
        // After so many steps. The last ones change nothing.
        rate_factors: [(4, 0.1), (9, 10.0), (10, f32::NAN), (11, 1e9), (12, 10.0)].into(),
        ..Watcher::default()
    };
    let trained = train(&of, &data, &mut watcher).unwrap().unwrap();
    let changes = [(4, 0.1), (9, 10.0)].map(|(step, factor)| LearningRateChange { step, factor });
    assert_eq!(watcher.rate_changes, changes);
    assert_eq!(trained.summary.rate_changes, changes);
    assert!(!trained.summary.is_typical());
    for point in &watcher.steps {
        let factor = match point.step {
            ..=4 => 1.0,
            5..=9 => 0.1,
            _ => 10.0,
        };
        let expected = of.learning_rate as f32 * factor;
        assert!(
            (point.learning_rate / expected - 1.0).abs() < 1e-6,
            "{point:?}"
        );
    }
    for checkpoint in &watcher.checkpoints[1..] {
        let mut rest = Watcher::default();
        let resumed = resume(&of, &data, checkpoint.clone(), &mut rest);
        let resumed = resumed.unwrap().unwrap();
        assert!(resumed.net.weights().unwrap() == trained.net.weights().unwrap());
        assert_eq!(resumed.summary.rate_changes, changes);
    }
    let mut damaged = watcher.checkpoints[1].clone();
    damaged.card.rate_changes[0].factor = f32::INFINITY;
    let refused = resume(&of, &data, damaged, &mut Watcher::default());
    assert!(refused.is_err());
}
