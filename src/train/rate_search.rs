//! The steps of a search for a learning rate: those of a run, with rates that grow.

use super::TrainError;
use super::observer::Observer;
use super::plan::check;
use super::session::{Start, train_from};
use crate::data::DataSet;
use crate::nn::DeviceContext;
use crate::optim::Schedule;
use crate::records::{SEARCH_RATES, SEARCH_STEPS, search_config};
use crate::run_config::RunConfig;

/// Trains a fresh network on the training images, as a run with these settings would, but with
/// rates that grow from step to step. The observer ends it, with [`super::EndRequest::Interrupt`],
/// once it has seen enough. The test images are not looked at.
pub fn search_learning_rate(
    config: &RunConfig,
    data: &DataSet,
    context: &DeviceContext,
    observer: &mut dyn Observer,
) -> Result<(), TrainError> {
    let config = search_config(config);
    check(&config)?;
    let start = Start {
        schedule: Some(Schedule::growing(SEARCH_RATES, SEARCH_STEPS)),
        ..Start::new(&config, &data.train, &data.classes)?
    };
    train_from(&config, data, start, context, None, observer).map(drop)
}
