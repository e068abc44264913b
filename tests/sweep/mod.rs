//! Sweeps: definitions, samplers, early ending, the journal, and the loop that ties them together.

mod asha;
mod definition;
mod journal;
mod running;
mod samplers;
mod settings;

use inkling::progress::Cancelled;
use inkling::run_config::{Preset, RunConfig};
use inkling::sweep::{
    Outcome, SettingRange, SweepDefinition, SweepObserver, SweepStatus, Trial, Value,
};

use crate::fake_executor::epoch;

/// A sweep of the preset Quick look over what these texts say.
fn definition(settings: &[&str]) -> SweepDefinition {
    let mut definition = SweepDefinition {
        trials: Some(20),
        ..SweepDefinition::of(RunConfig::preset(Preset::QuickLook))
    };
    for text in settings {
        definition.set(SettingRange::parse(text).unwrap()).unwrap();
    }
    definition
}

/// A trial with these accuracies after its epochs.
fn trial(
    definition: &SweepDefinition,
    number: u32,
    values: Vec<Value>,
    accuracies: &[f64],
    outcome: Option<Outcome>,
) -> Trial {
    let config = definition.config(&values).unwrap();
    let epochs = (1..)
        .zip(accuracies)
        .map(|(number, &accuracy)| epoch(number, accuracy))
        .collect();
    Trial {
        number,
        values,
        config,
        epochs,
        outcome,
    }
}

/// Interrupts after this many reports.
struct RetryPolicy(u32);

impl SweepObserver for RetryPolicy {
    fn report(&mut self, _: &SweepStatus) -> Result<(), Cancelled> {
        self.0 = self.0.checked_sub(1).ok_or(Cancelled)?;
        Ok(())
    }
}

/// Never interrupts.
const fn endless() -> RetryPolicy {
    RetryPolicy(u32::MAX)
}
