//! Samplers stay within the ranges, are repeatable, and learn.

use std::collections::BTreeSet;

use inkling::sweep::{Outcome, SamplerKind, SweepDefinition, Trial, Value, importance, suggest};

use super::{definition, trial};
use crate::fake_executor::accuracy;

const SPACE: [&str; 5] = [
    "learning-rate=1e-4..1e-1:log",
    "batch-size=16..256:log",
    "weight-decay=0..0.5",
    "epochs=1..3",
    "augmentation=off,gentle,medium",
];

/// So many trials, one after the other, with the accuracy that their settings have.
fn search(definition: &SweepDefinition, trials: u32) -> Vec<Trial> {
    let mut done = Vec::new();
    for number in 1..=trials {
        let values = suggest(definition, number, &done).unwrap();
        let accuracy = accuracy(&definition.config(&values).unwrap(), 1);
        done.push(trial(
            definition,
            number,
            values,
            &[accuracy],
            Some(Outcome::Completed),
        ));
    }
    done
}

#[test]
fn values_lie_within_their_ranges_and_depend_on_the_seed_alone() {
    for sampler in [SamplerKind::Random, SamplerKind::Tpe] {
        let definition = SweepDefinition {
            sampler,
            ..definition(&SPACE)
        };
        let trials = search(&definition, 60);
        for trial in &trials {
            for (dimension, value) in definition.space.iter().zip(&trial.values) {
                assert!(
                    dimension.contains(value),
                    "{value} is not a value of {dimension}"
                );
            }
        }
        let values = |trials: &[Trial]| {
            trials
                .iter()
                .map(|trial| trial.values.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(values(&search(&definition, 60)), values(&trials));
        assert_ne!(
            values(&search(
                &SweepDefinition {
                    seed: 2,
                    ..definition.clone()
                },
                60
            )),
            values(&trials)
        );
        let epochs: BTreeSet<String> = trials
            .iter()
            .map(|trial| trial.values[3].to_string())
            .collect();
        assert_eq!(
            epochs.len(),
            3,
            "both ends of a range of whole numbers are among them"
        );
    }
}

#[test]
fn no_combination_is_tried_twice_and_all_are_tried_where_there_are_few() {
    for sampler in [SamplerKind::Random, SamplerKind::Tpe] {
        for seed in 1..=5 {
            let definition = SweepDefinition {
                sampler,
                seed,
                trials: Some(50),
                ..definition(&[
                    "widths=default,64,128-64",
                    "epochs=1..3",
                    "learning-rate=1e-3,1e-2",
                ])
            };
            assert_eq!(definition.max_trials(), Some(18), "there are no more");
            let trials = search(&definition, 18);
            let different: BTreeSet<String> = trials
                .iter()
                .map(|trial| format!("{:?}", trial.values))
                .collect();
            assert_eq!(different.len(), 18);
            assert_eq!(suggest(&definition, 19, &trials), None);
        }
    }
}

#[test]
fn only_time_ends_a_sweep_of_more_combinations_than_there_can_be_trials() {
    let seeds = (1..=200)
        .map(|seed| seed.to_string())
        .collect::<Vec<_>>()
        .join(",");
    let many = [
        "batch-size=1..100",
        "epochs=1..100",
        &format!("seed={seeds}"),
    ];
    let definition = SweepDefinition {
        trials: None,
        seconds: Some(60.0),
        ..definition(&many)
    };
    assert_eq!(definition.max_trials(), None);
    assert!(!definition.is_exhausted(10_000));
}

#[test]
fn the_first_trial_has_the_settings_that_the_sweep_starts_from_if_they_may_be_tried() {
    let definition = SweepDefinition {
        sampler: SamplerKind::Random,
        ..definition(&["learning-rate=1e-4..1e-2:log", "batch-size=64,128"])
    };
    assert_eq!(
        suggest(&definition, 1, &[]),
        Some(vec![Value::Number(3e-3), Value::Number(128.0)])
    );
    let elsewhere = SweepDefinition {
        sampler: SamplerKind::Random,
        ..super::definition(&["learning-rate=1e-4..1e-3:log"])
    };
    let Some([Value::Number(rate)]) = suggest(&elsewhere, 1, &[])
        .as_deref()
        .map(|values| [values[0].clone()])
    else {
        panic!("no rate")
    };
    assert!((1e-4..=1e-3).contains(&rate));
}

#[test]
fn random_values_of_a_logarithmic_range_are_spread_evenly_over_its_orders_of_magnitude() {
    let definition = SweepDefinition {
        sampler: SamplerKind::Random,
        ..definition(&["learning-rate=1e-4..1e-1:log"])
    };
    let trials = search(&definition, 600);
    let below = |limit: f64| {
        trials
            .iter()
            .filter(|trial| trial.config.learning_rate < limit)
            .count()
    };
    assert!((160..240).contains(&below(1e-3)), "{}", below(1e-3));
    assert!((360..440).contains(&below(1e-2)), "{}", below(1e-2));
}

#[test]
fn a_grid_tries_every_combination_once() {
    let definition = SweepDefinition {
        sampler: SamplerKind::Grid,
        trials: None,
        ..definition(&["learning-rate=1e-3,1e-2", "epochs=1..3", "model=mlp,tiny"])
    };
    assert_eq!(definition.max_trials(), Some(12));
    let points: BTreeSet<String> = (1..=12)
        .map(|number| format!("{:?}", suggest(&definition, number, &[]).unwrap()))
        .collect();
    assert_eq!(points.len(), 12);
    assert_eq!(suggest(&definition, 13, &[]), None);
    assert_eq!(
        SweepDefinition {
            trials: Some(5),
            ..definition
        }
        .max_trials(),
        Some(5)
    );
}

#[test]
fn the_model_based_search_comes_closer_to_the_best_settings_than_chance() {
    let best = |sampler, seed| {
        // It starts from settings that are far from the best.
        let start = definition(&[
            "learning-rate=0.9",
            "batch-size=500",
            "learning-rate=1e-5..1:log",
            "batch-size=16..512:log",
        ]);
        let trials = search(
            &SweepDefinition {
                sampler,
                seed,
                ..start
            },
            40,
        );
        trials.iter().filter_map(Trial::result).fold(0.0, f64::max)
    };
    let pairs: Vec<[f64; 2]> = (1..=20)
        .map(|seed| [SamplerKind::Tpe, SamplerKind::Random].map(|sampler| best(sampler, seed)))
        .collect();
    // Both begin with the same trials, and where one of these is the best there is a tie.
    let losses = pairs.iter().filter(|[tpe, random]| tpe < random).count();
    let gain: f64 = pairs.iter().map(|[tpe, random]| tpe - random).sum();
    assert!(
        losses <= 5 && gain > 0.05,
        "{losses} of 20, {gain}: {pairs:?}"
    );
}

#[test]
fn a_setting_that_decides_is_more_important_than_one_that_does_not() {
    let definition = SweepDefinition {
        sampler: SamplerKind::Random,
        ..definition(&["weight-decay=0..0.5", "learning-rate=1e-5..1:log"])
    };
    assert_eq!(
        importance(&definition, &search(&definition, 7)),
        None,
        "too few trials"
    );
    let shares = importance(&definition, &search(&definition, 60)).unwrap();
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    assert!(shares[1] > 0.8, "{shares:?}");
}
