//! What a search for a learning rate makes of the losses it sees, and that its steps are those of a
//! run.

use inkling::data::Dataset;
use inkling::nn::DeviceContext;
use inkling::optim::Schedule;
use inkling::problem::{Code, Message, Problem};
use inkling::records::{
    Intervention, LearningRateFinding, LearningRateSearch, SEARCH_RATES, SEARCH_STEPS, SearchEnd,
    StepPoint, Telemetry,
};
use inkling::run_config::{ModelKind, OptimizerKind, RunConfig};
use inkling::train::{EndRequest, RunObserver, search_learning_rate};

use crate::synthetic;

/// A search that saw this loss at each rate.
fn search(loss: impl Fn(f64) -> f64) -> LearningRateSearch {
    let schedule = Schedule::growing(SEARCH_RATES, SEARCH_STEPS);
    let mut search = LearningRateSearch::default();
    for rate in (0..SEARCH_STEPS).map(|step| schedule.lr(step)) {
        search.add(rate, loss(f64::from(rate)) as f32);
    }
    search
}

/// Flat, then falling by the logarithm of the rate between these, then rising.
fn valley(rate: f64) -> f64 {
    if rate < 1e-4 {
        2.3
    } else if rate < 1e-2 {
        2.3 - (rate / 1e-4).log10()
    } else {
        0.3 * (rate / 1e-2).powf(2.0)
    }
}

#[test]
fn rates_grow_by_the_same_factor_from_the_first_to_the_last() {
    let schedule = Schedule::growing([1e-4, 1.0], 5);
    let rates: Vec<f32> = (0..6).map(|step| schedule.lr(step)).collect();
    for (rate, expected) in rates.iter().zip([1e-4, 1e-3, 1e-2, 1e-1, 1.0, 1.0]) {
        assert!((rate / expected - 1.0).abs() < 1e-5, "{rates:?}");
    }
}

#[test]
fn the_suggestion_is_halfway_between_the_steepest_fall_and_the_lowest_loss() {
    let search = search(valley);
    let finding = search.finding(false);
    let suggestion = finding.suggestion.expect("it fell");
    assert!(
        (1e-4..1e-2).contains(&suggestion.steepest),
        "{suggestion:?}"
    );
    assert!((5e-3..5e-2).contains(&suggestion.lowest), "{suggestion:?}");
    assert!(
        (suggestion.rate / (suggestion.steepest * suggestion.lowest).sqrt() - 1.0).abs() < 0.15,
        "{suggestion:?}"
    );
    assert!((suggestion.tenth_of_lowest() / suggestion.lowest * 10.0 - 1.0).abs() < 0.06);
    assert_eq!(finding.end, SearchEnd::Risen);
    assert!(
        search.is_over() && finding.steps < SEARCH_STEPS,
        "it ends where the loss rises"
    );
    let last = search.points().last().unwrap();
    let lowest = search
        .points()
        .iter()
        .map(|point| point.smoothed)
        .fold(f64::INFINITY, f64::min);
    assert!(last.smoothed > 4.0 * lowest);
    let said = Message::learning_rate_found(&finding);
    assert!(
        said.what.contains("falls fastest") && said.what.contains("then rises"),
        "{said}"
    );
}

#[test]
fn the_average_is_that_of_the_steps_there_are() {
    let mut search = LearningRateSearch::default();
    for loss in [2.0, 4.0] {
        search.add(1e-3, loss);
    }
    // (0.9 * 2 + 4) / 1.9, with weights of 0.1 that are corrected for by dividing by 1 - 0.9².
    let smoothed: Vec<f64> = search.points().iter().map(|point| point.smoothed).collect();
    assert!(
        (smoothed[0] - 2.0).abs() < 1e-9 && (smoothed[1] - 5.8 / 1.9).abs() < 1e-9,
        "{smoothed:?}"
    );
}

#[test]
fn without_a_fall_there_is_no_suggestion() {
    for (loss, end) in [
        ((|_| 2.3) as fn(f64) -> f64, SearchEnd::Completed),
        (|rate| 2.3 + rate, SearchEnd::Risen),
    ] {
        let finding = search(loss).finding(false);
        assert_eq!((finding.suggestion, finding.end), (None, end));
        assert!(
            Message::learning_rate_found(&finding)
                .what
                .contains("did not fall")
        );
    }
    assert_eq!(
        LearningRateSearch::default().finding(true),
        LearningRateFinding {
            suggestion: None,
            end: SearchEnd::Diverged,
            steps: 0
        }
    );
}

/// A small network.
fn base() -> RunConfig {
    RunConfig {
        model: ModelKind::Mlp,
        ..RunConfig::default()
    }
}

/// Follows a search to its end.
#[derive(Default)]
struct Follower {
    search: LearningRateSearch,
    diverged: bool,
}

impl RunObserver for Follower {
    fn on_micro_batch(&mut self, _net: &inkling::nn::Net) -> Result<(), EndRequest> {
        if self.diverged || self.search.is_over() {
            Err(EndRequest::Interrupt)
        } else {
            Ok(())
        }
    }

    fn step(&mut self, point: StepPoint, _now: Telemetry) {
        self.search.add(point.learning_rate, point.loss);
    }

    fn intervened(&mut self, intervention: Intervention) {
        self.diverged |= matches!(intervention, Intervention::RolledBack { .. });
    }
}

fn follow(config: &RunConfig, data: &Dataset) -> Result<LearningRateFinding, Problem> {
    let mut follower = Follower::default();
    search_learning_rate(config, data, &DeviceContext::CPU, &mut follower)?;
    Ok(follower.search.finding(follower.diverged))
}

#[test]
fn the_same_seed_finds_the_same_on_any_number_of_threads_and_test_images_play_no_part() {
    let data = synthetic::square_set(700, 60);
    let config = RunConfig {
        threads: Some(1),
        batch_size: 50,
        ..base()
    };
    let found = follow(&config, &data).unwrap();
    assert!(found.suggestion.is_some(), "{found:?}");
    let without_test = Dataset {
        test: inkling::data::Split::default(),
        ..data.clone()
    };
    assert_eq!(
        follow(
            &RunConfig {
                threads: Some(2),
                ..config.clone()
            },
            &without_test
        )
        .unwrap(),
        found
    );
    assert_ne!(
        follow(&RunConfig { seed: 77, ..config }, &data).unwrap(),
        found
    );
}

#[test]
fn a_search_that_diverges_still_says_what_it_saw() {
    let data = synthetic::square_set(700, 10);
    let config = RunConfig {
        threads: Some(1),
        batch_size: 50,
        optimizer: OptimizerKind::Sgd,
        ..base()
    };
    let found = follow(&config, &data).unwrap();
    assert!(
        found
            .suggestion
            .is_some_and(|suggestion| suggestion.rate < 10.0),
        "{found:?}"
    );
}

#[test]
fn settings_that_cannot_be_are_refused() {
    let data = synthetic::square_set(100, 10);
    let refused = follow(
        &RunConfig {
            batch_size: 5000,
            ..base()
        },
        &data,
    )
    .unwrap_err();
    assert_eq!(refused.code, Code::BatchLargerThanSet { images: 90 });
}
