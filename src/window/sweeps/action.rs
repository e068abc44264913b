//! What a person does on the screen Sweep.

use std::path::PathBuf;

use super::form::SweepForm;
use crate::run_config::Setting;

#[derive(Clone, Debug, PartialEq)]
pub enum SweepAction {
    /// Change what varies, or how long it searches.
    Change(Box<SweepForm>),
    /// Let this setting vary too, in the usual range.
    Add(Setting),
    /// Vary the usual settings in their usual ranges.
    Reset,
    Start,
    /// Interrupt the sweep, so that it can be resumed.
    Pause,
    /// End it with the trials that have ended.
    Stop,
    Resume(PathBuf),
    /// Resume it with this many trials more than it has.
    Extend(PathBuf, u32),
    Open(PathBuf),
    /// Go back to setting one up and the list.
    Close,
    /// Delete the one in this folder; it can be restored until the window closes.
    Delete(PathBuf),
    Restore(PathBuf),
    /// Highlight the trial with this number, or none.
    Select(Option<u32>),
    /// Put the settings of this trial into the run panel.
    Use(u32),
    /// Train the best settings as a run that is saved, and read its test accuracy.
    Test,
    /// Write the trials to a CSV file chosen in a dialog.
    SaveTable,
}
