//! Owns what the window knows of whether this machine computes rightly: the check under way and what the last one found.
//! Must not check: a process of its own does, so that whatever goes wrong there stays there.

use std::sync::Arc;

use super::background::Finding;
use super::state::App;
use crate::problem::Problem;
use crate::run_config::Precision;
use crate::self_test::Report;

/// Checks this machine; blocks until it is done.
pub type SelfTest = Arc<dyn Fn() -> Result<Report, Problem> + Send + Sync>;

/// What is known.
#[derive(Clone, Debug, Default)]
pub struct Checking {
    /// A check is under way.
    pub under_way: bool,
    /// What the last one found, or why it found nothing.
    pub last: Option<Result<Report, Problem>>,
}

impl App {
    /// Checks this machine, unless a check is under way.
    pub(super) fn check_machine(&mut self) {
        if std::mem::replace(&mut self.checking.under_way, true) {
            return;
        }
        let check = Arc::clone(&self.around.self_test);
        self.background.run(move || Some(Finding::Checked(Box::new(check()))));
    }

    pub(super) fn checked(&mut self, found: Result<Report, Problem>) {
        self.checking = Checking { under_way: false, last: Some(found) };
    }

    /// Why this number format cannot be used here, if it was found wrong.
    pub fn why_not_precision(&self, precision: Precision) -> Option<String> {
        self.checking.last.as_ref()?.as_ref().ok()?.vouches_for(precision).err()
    }
}
