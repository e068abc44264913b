//! Owns tiny data sets made on the spot, that a network learns within a few steps. Must not be used
//! to claim accuracy.

use inkling::data::{Dataset, Split};
use inkling::ink::{PIXELS, SIDE};
use inkling::math::random::Random;
use inkling::nn::DeviceContext;
use inkling::problem::Problem;
use inkling::run_config::RunConfig;
use inkling::train::{Checkpoint, RunObserver, TrainOutcome, TrainedModel};

/// `count` images, their digits in turn: digit `d` is a bright 6x6 square at a place of its own, in
/// noise.
pub fn squares(count: usize, seed: u64) -> Split {
    let mut random = Random::new(seed);
    let mut split = Split::default();
    for index in 0..count {
        let digit = index % 10;
        let (left, top) = (
            2 + digit % 4 * 6 + random.below(2),
            2 + digit / 4 * 8 + random.below(2),
        );
        let mut image = [0; PIXELS];
        for (place, pixel) in image.iter_mut().enumerate() {
            let (x, y) = (place % SIDE, place / SIDE);
            let inside = (left..left + 6).contains(&x) && (top..top + 6).contains(&y);
            *pixel = if inside {
                200 + random.below(56) as u8
            } else {
                random.below(40) as u8
            };
        }
        split.images.extend_from_slice(&image);
        split.labels.push(digit as u8);
    }
    split
}

/// A training and a test split of such images.
pub fn square_set(train: usize, test: usize) -> Dataset {
    Dataset {
        train: squares(train, 1),
        test: squares(test, 2),
        ..Dataset::default()
    }
}

/// The model that came of a run, if it has one.
pub fn model(outcome: TrainOutcome) -> Option<TrainedModel> {
    match outcome {
        TrainOutcome::Trained(trained) => Some(*trained),
        TrainOutcome::Validated | TrainOutcome::Unfinished | TrainOutcome::Interrupted => None,
    }
}

/// Trains on the processor.
pub fn train(
    config: &RunConfig,
    data: &Dataset,
    observer: &mut dyn RunObserver,
) -> Result<Option<TrainedModel>, Problem> {
    inkling::train::train(config, data, &DeviceContext::CPU, None, observer).map(model)
}

/// Goes on from a checkpoint on the processor.
pub fn resume(
    config: &RunConfig,
    data: &Dataset,
    from: Checkpoint,
    observer: &mut dyn RunObserver,
) -> Result<Option<TrainedModel>, Problem> {
    inkling::train::train(config, data, &DeviceContext::CPU, Some(from), observer).map(model)
}
