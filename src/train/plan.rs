//! The initial state of a run, its extent, and whether it can be computed at all.

use std::path::Path;

use super::batches::EpochSteps;
use super::memory::too_many_parameters;
use crate::data::{Split, ValidationSplit};
use crate::hardware;
use crate::nn::{ModelFile, Net, initialize, parameter_count};
use crate::optim::Schedule;
use crate::problem::Problem;
use crate::records::{InitializationReport, RunPlan};
use crate::run_config::{Classes, ConfigError, RunConfig};

/// Whether `train` accepts this configuration, to be checked before its data is loaded.
pub fn check(config: &RunConfig) -> Result<(), Problem> {
    config
        .problems()
        .into_iter()
        .chain(too_many_parameters(config))
        .next()
        .map_or(Ok(()), Err)?;
    config
        .initial_weights
        .as_ref()
        .map_or(Ok(()), |path| trained_net(config, path).map(drop))
}

#[derive(Clone, Debug)]
pub struct InitialState {
    /// The network before the first step.
    pub net: Net,
    /// What was found by an initialization that depends on the training images; `None` for random
    /// or given weights.
    pub initialization: Option<InitializationReport>,
    /// The classes of its images.
    pub classes: Classes,
    /// The images for validation, and which of the training images to train on.
    pub split: ValidationSplit,
    /// The learning rates of its steps, if they are not those that the settings say.
    pub schedule: Option<Schedule>,
}

impl InitialState {
    /// Of a run with these settings on these training images of these classes.
    pub fn new(
        config: &RunConfig,
        train_split: &Split,
        classes: &Classes,
    ) -> Result<Self, Problem> {
        let split = ValidationSplit::of_run(train_split, config);
        let (net, initialization) = initial_net(config, train_split, &split.train, classes)?;
        Ok(Self {
            net,
            initialization,
            classes: classes.clone(),
            split,
            schedule: None,
        })
    }
}

/// The network for these classes before its first step: initialized, perhaps from the training
/// images at these indices, or with the weights of an earlier model.
fn initial_net(
    config: &RunConfig,
    images: &Split,
    indices: &[u32],
    classes: &Classes,
) -> Result<(Net, Option<InitializationReport>), Problem> {
    match &config.initial_weights {
        Some(path) => {
            let net = trained_net(config, path)?;
            if net.classes() != classes.len() {
                return Err(ConfigError::InitialClasses {
                    path: path.clone(),
                    found: net.classes(),
                    asked: classes.len(),
                }
                .into());
            }
            Ok((net, None))
        }
        None => Ok(initialize(
            config.network(),
            config.activation,
            classes.len(),
            config.initialization,
            (images, indices),
            config.seed,
        )?),
    }
}

/// An earlier model, which must be the same network.
fn trained_net(config: &RunConfig, path: &Path) -> Result<Net, Problem> {
    let ModelFile { net, card } = ModelFile::load(path)?;
    let [found, asked] = [
        (card.network(), card.config.activation),
        (config.network(), config.activation),
    ];
    if found != asked {
        let [found, asked] = [found, asked].map(|(network, activation)| {
            format!("{} with {}", network.label(), activation.label())
        });
        return Err(ConfigError::InitialWeights {
            path: path.to_owned(),
            found,
            asked,
        }
        .into());
    }
    Ok(net)
}

/// The plan of a run over this many images for training, validation and test, of these classes.
pub fn plan(
    config: &RunConfig,
    images: [usize; 3],
    classes: Classes,
    threads: usize,
) -> Result<RunPlan, ConfigError> {
    let [train_images, validation_images, test_images] = images.map(|count| count as u64);
    if u64::from(config.batch_size) > train_images {
        return Err(ConfigError::BatchLargerThanSet {
            given: config.batch_size,
            images: train_images,
        });
    }
    let steps_per_epoch = EpochSteps::new(config, train_images).count();
    Ok(RunPlan {
        train_images,
        validation_images,
        test_images,
        parameters: parameter_count(config.network(), classes.len()),
        classes,
        steps_per_epoch,
        total_steps: steps_per_epoch * u64::from(config.epochs),
        device: config.device.resolved(),
        precision: config.precision,
        threads: threads as u32,
    })
}

pub fn threads(config: &RunConfig) -> usize {
    config.threads.unwrap_or_else(hardware::usable_cores) as usize
}
