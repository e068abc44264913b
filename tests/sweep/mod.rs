//! Sweeps: definitions, samplers, early ending, the journal, and the loop that ties them together.

mod asha;
mod definition;
mod journal;
mod running;
mod samplers;
mod settings;

use std::collections::VecDeque;
use std::time::Duration;

use inkling::problem::Problem;
use inkling::progress::Cancelled;
use inkling::run_config::{Preset, RunConfig};
use inkling::sweep::{Definition, Executor, Observer, Outcome, SettingRange, Status, Trial, TrialEpoch, TrialEvent, Value};

/// A sweep of the preset Quick look over what these texts say.
fn definition(settings: &[&str]) -> Definition {
    let mut definition = Definition { trials: Some(20), ..Definition::of(RunConfig::preset(Preset::QuickLook)) };
    for text in settings {
        definition.set(SettingRange::parse(text).unwrap()).unwrap();
    }
    definition
}

fn epoch(epoch: u32, validation_accuracy: f64) -> TrialEpoch {
    TrialEpoch { epoch, validation_accuracy: validation_accuracy as f32, validation_loss: Some(0.5), seconds: 1.0 }
}

/// A trial with these accuracies after its epochs.
fn trial(definition: &Definition, number: u32, values: Vec<Value>, accuracies: &[f64], outcome: Option<Outcome>) -> Trial {
    let config = definition.config(&values).unwrap();
    let epochs = (1..).zip(accuracies).map(|(number, &accuracy)| epoch(number, accuracy)).collect();
    Trial { number, values, config, epochs, outcome }
}

/// An accuracy that is best for a learning rate of 0.003 and small batches, and grows with the epochs.
fn accuracy(config: &RunConfig, epoch: u32) -> f64 {
    let distance = (config.learning_rate / 3e-3).log10().abs() + f64::from(config.batch_size) / 1000.0;
    0.99 - 0.1 * distance - 0.05 / f64::from(epoch)
}

/// Trains nothing: each trial completes an epoch whenever it is its turn, with [`accuracy`].
#[derive(Default)]
struct Pretender {
    training: VecDeque<(u32, RunConfig, u32)>,
    /// Trials in the order in which they were started.
    started: Vec<u32>,
    stopped: Vec<u32>,
    /// What happens, once, to the trial with this number instead of its next epoch.
    instead: Option<(u32, TrialEvent)>,
    most_at_once: usize,
}

impl Executor for Pretender {
    fn start(&mut self, trial: u32, config: &RunConfig) -> Result<(), Problem> {
        self.started.push(trial);
        self.training.push_back((trial, config.clone(), 0));
        self.most_at_once = self.most_at_once.max(self.training.len());
        Ok(())
    }

    fn stop(&mut self, trial: u32) {
        self.stopped.push(trial);
        self.training.retain(|(training, ..)| *training != trial);
    }

    fn next(&mut self, _: Duration) -> Option<(u32, TrialEvent)> {
        let (trial, config, done) = self.training.pop_front()?;
        if let Some(instead) = self.instead.take_if(|(other, _)| *other == trial) {
            return Some(instead);
        }
        if done == config.epochs {
            return Some((trial, TrialEvent::Completed));
        }
        let event = TrialEvent::Epoch(epoch(done + 1, accuracy(&config, done + 1)));
        self.training.push_back((trial, config, done + 1));
        Some((trial, event))
    }
}

/// Interrupts after so many reports.
struct Patience(u32);

impl Observer for Patience {
    fn report(&mut self, _: &Status) -> Result<(), Cancelled> {
        self.0 = self.0.checked_sub(1).ok_or(Cancelled)?;
        Ok(())
    }
}

/// Never interrupts.
const fn endless() -> Patience {
    Patience(u32::MAX)
}
