//! Where trials train.

use super::trial::TrialEpoch;
use crate::problem::Problem;
use crate::records::DataUpload;
use crate::run_config::RunConfig;
use std::time::Duration;

/// Trains trials, on this machine or on others. Every trial that was started ends with
/// [`TrialEvent::Completed`], [`TrialEvent::Interrupted`] or [`TrialEvent::Failed`], unless it is
/// stopped: of that one nothing more is heard.
pub trait Executor {
    /// Starts a trial. Its first epoch is 1, whatever was started under the same number before.
    fn start(&mut self, trial: u32, config: &RunConfig) -> Result<(), Problem>;

    /// Ends a trial. At once afterwards, another can be started in its place.
    fn stop(&mut self, trial: u32);

    /// How many trials can train at the same time now; fewer than were asked for where machines
    /// cannot be reached. An error where none ever will.
    fn capacity(&mut self) -> Result<u32, Problem> {
        Ok(u32::MAX)
    }

    /// The next event, waiting for it at most this long.
    fn next(&mut self, limit: Duration) -> Option<(u32, TrialEvent)>;
}

#[derive(Clone, Debug, PartialEq)]
pub enum TrialEvent {
    /// How much of it is done, 0 to 1.
    Progress(f32),
    /// Its data is about to be sent to another machine.
    Sending(DataUpload),
    Epoch(TrialEpoch),
    /// It trained to its end.
    Completed,
    /// What trained it was asked to end, by a signal for example; the trial can begin again.
    Interrupted,
    /// It cannot be trained, or diverged, or where it trained is gone.
    Failed(Problem),
}
