//! Sweeps as the window shows them: setting one up, the one that is shown, and the list of earlier
//! ones.

mod control;
mod form;
mod state;
mod stored;
mod thread;
pub mod view;

use self::stored::TestRun;
use crate::sweep::SweepEntry;

pub use control::SweepAction;
pub use form::{SettingRow, SweepField, SweepForm, SweepProblem};
pub use state::{SweepPhase, SweepView};
pub use thread::{ExecutorFactory, SweepNews, SweepRequests};

#[derive(Debug, Default)]
pub struct Sweeps {
    /// What is to vary in the next one, and how long it searches; `None` until the screen has been
    /// shown.
    pub form: Option<SweepForm>,
    /// The sweep that is shown, in progress or not.
    pub shown: Option<SweepView>,
    /// Those in Inkling's folder, newest first, once listed.
    pub listed: Option<Vec<SweepEntry>>,
    /// The run that is to tell the test accuracy of a trial's settings.
    testing: Option<TestRun>,
}
