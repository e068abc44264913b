//! Runs that cannot be are refused with the reason.

use inkling::data::Dataset;
use inkling::problem::Problem;
use inkling::run_config::{ConfigError, ModelKind, RunConfig, Setting};

use super::watcher::{Watcher, config};
use crate::synthetic::{square_set, train};

fn refused(config: &RunConfig, data: &Dataset) -> Problem {
    let mut watcher = Watcher::default();
    let problem = train(config, data, &mut watcher).unwrap_err();
    assert!(watcher.plan.is_none(), "refused before it began");
    problem
}

#[test]
fn values_no_run_can_have() {
    let data = square_set(24, 0);
    let base = config(ModelKind::Mlp);
    assert_eq!(
        refused(
            &RunConfig {
                epochs: 0,
                ..base.clone()
            },
            &data
        ),
        ConfigError::OutOfRange {
            setting: Setting::Epochs,
            given: "0".to_owned()
        }
        .into()
    );
    assert_eq!(
        refused(
            &RunConfig {
                memory_limit: Some(0),
                ..base.clone()
            },
            &data
        ),
        ConfigError::OutOfRange {
            setting: Setting::MemoryLimit,
            given: "0".to_owned()
        }
        .into()
    );
    assert_eq!(
        refused(
            &RunConfig {
                batch_size: 0,
                ..base
            },
            &data
        ),
        ConfigError::OutOfRange {
            setting: Setting::BatchSize,
            given: "0".to_owned()
        }
        .into()
    );
}

#[test]
fn a_batch_larger_than_what_is_learned_from() {
    // 24 images, 4 of them held back.
    let of = |batch_size| RunConfig {
        batch_size,
        epochs: 1,
        ..config(ModelKind::Mlp)
    };
    assert_eq!(
        refused(&of(21), &square_set(24, 0)),
        ConfigError::BatchLargerThanSet {
            given: 21,
            images: 20
        }
        .into()
    );
    assert!(train(&of(20), &square_set(24, 0), &mut Watcher::default()).is_ok());
    assert_eq!(
        refused(&of(1), &Dataset::default()),
        ConfigError::BatchLargerThanSet {
            given: 1,
            images: 0
        }
        .into()
    );
    assert_eq!(
        refused(&of(1), &square_set(1, 0)),
        ConfigError::BatchLargerThanSet {
            given: 1,
            images: 0
        }
        .into()
    );
}
