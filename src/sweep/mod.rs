//! Hyper-parameter sweeps: many short runs, called trials, that look for the settings with the
//! highest validation accuracy.
//!
//! A [`SweepDefinition`] is what varies and how long to search. A [`Sweep`] is its folder: the
//! definition, and a journal to which everything that happens is added immediately, so that
//! whatever ends the process, the sweep is resumed from there. [`run`] ties the parts together: a
//! sampler chooses settings, an [`Executor`] trains them, [`Asha`] ends poor trials early. Trials
//! never see the test split.

mod definition;
mod engines;
mod error;
mod journal;
mod run;
mod sampler;
mod slurm;
mod space;
mod store;
mod trial;

pub use definition::{
    DefinitionFile, MAX_TRIALS, NUMBER_OF_TRIALS, PARALLEL, SECONDS, SamplerKind, SweepDefinition,
    seconds,
};
pub use engines::{EngineExecutor, Executor, TrialEvent, Work, usual_parallel};
pub use error::{DefinitionError, SweepError};
pub use journal::{Record, Sweep, Tested};
pub use run::{SweepEnd, SweepObserver, SweepStatus, run};
pub use sampler::{importance, suggest};
pub use slurm::SlurmArray;
pub use space::{Dimension, Range, SettingRange, Value};
pub use store::{SweepCard, SweepEntry, SweepStore};
pub use trial::{Asha, Outcome, Trial, TrialEpoch};
