//! The thread of a sweep in progress: what it is asked for, and what it reports to the
//! window.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::engine::{EngineHost, EngineSettings};
use crate::progress::Cancelled;
use crate::records::DataUpload;
use crate::sweep::{
    self, Executor, Sweep, SweepEnd, SweepError, SweepObserver, SweepStatus, Trial,
};
use crate::window::SweepView;

/// Makes what trains this many trials at once; called on the thread of the sweep.
pub type ExecutorFactory =
    Arc<dyn Fn(EngineHost, EngineSettings, u32) -> Box<dyn Executor> + Send + Sync>;

/// Figures that change all the time are sent to the window at this interval, in seconds.
const UPDATE_INTERVAL: f64 = 0.25;

#[derive(Debug, Default)]
pub struct SweepRequests {
    pub interrupt: AtomicBool,
    /// To leave it at the trials that have ended by then.
    pub for_good: AtomicBool,
}

#[derive(Clone, Debug)]
pub enum SweepNews {
    /// It was opened or made, and is about to go on.
    Began(Box<SweepView>),
    /// These trials have begun, completed an epoch or ended, and so far it is.
    Progress(Vec<Trial>, SweepStatus),
    /// Its data is about to be sent to another machine.
    Sending(DataUpload),
    /// This was done to its data besides reading it.
    DataNotes(Vec<String>),
    /// It goes on no further: it is complete or was interrupted, or there is an error.
    Ended(Box<SweepView>, Option<SweepError>),
    Failed(SweepError),
    /// One that is not in progress was read, to be shown.
    Opened(Box<SweepView>),
}

/// Runs a sweep to its end, or until it is interrupted.
pub fn run(
    open: impl FnOnce() -> Result<Sweep, SweepError>,
    executor: impl FnOnce(u32) -> Box<dyn Executor>,
    requests: &SweepRequests,
    tell: &dyn Fn(SweepNews),
) {
    let mut sweep = match open() {
        Ok(sweep) => sweep,
        Err(error) => return tell(SweepNews::Failed(error)),
    };
    tell(SweepNews::Began(Box::new(SweepView::of(&sweep))));
    let mut executor = executor(sweep.definition().parallel);
    let mut news = NewsOfSweep {
        requests,
        tell,
        changed: BTreeMap::new(),
        told: None,
    };
    let ended = sweep::run(&mut sweep, &mut *executor, &mut news);
    drop(executor);
    let ended = match ended {
        Ok(SweepEnd::Interrupted) if requests.for_good.load(Ordering::Relaxed) => {
            let trials = sweep.ends().len().max(1) as u32;
            sweep.extend(Some(trials), None, None)
        }
        ended => ended.map(drop),
    };
    let loaded = Box::new(SweepView::of(&sweep));
    // Whoever gets this may open it.
    drop(sweep);
    tell(SweepNews::Ended(loaded, ended.err()));
}

/// Collects what changes between two updates of the window.
struct NewsOfSweep<'t> {
    requests: &'t SweepRequests,
    tell: &'t dyn Fn(SweepNews),
    changed: BTreeMap<u32, Trial>,
    /// The trials in progress and the seconds at the last update.
    told: Option<(Vec<u32>, f64)>,
}

impl NewsOfSweep<'_> {
    fn note(&mut self, trial: &Trial) {
        self.changed.insert(trial.number, trial.clone());
    }
}

impl SweepObserver for NewsOfSweep<'_> {
    fn started(&mut self, trial: &Trial) {
        self.note(trial);
    }

    fn sending(&mut self, upload: &DataUpload) {
        (self.tell)(SweepNews::Sending(upload.clone()));
    }

    fn data_notes(&mut self, notes: &[String]) {
        (self.tell)(SweepNews::DataNotes(notes.to_vec()));
    }

    fn epoch(&mut self, trial: &Trial) {
        self.note(trial);
    }

    fn ended(&mut self, trial: &Trial) {
        self.note(trial);
    }

    fn report(&mut self, status: &SweepStatus) -> Result<(), Cancelled> {
        let due = self.told.as_ref().is_none_or(|(running, seconds)| {
            *running != status.running || status.elapsed - seconds >= UPDATE_INTERVAL
        });
        if due {
            self.told = Some((status.running.clone(), status.elapsed));
            let trials = std::mem::take(&mut self.changed).into_values().collect();
            (self.tell)(SweepNews::Progress(trials, status.clone()));
        }
        if self.requests.interrupt.load(Ordering::Relaxed) {
            Err(Cancelled)
        } else {
            Ok(())
        }
    }
}
