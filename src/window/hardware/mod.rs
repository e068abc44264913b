//! What the window knows of this machine: its speed, whether its devices compute correctly, how
//! busy it is, NVIDIA's libraries. And of the other machine that it trains on, if it does.

mod benchmark;
mod device_check;
mod other_machine;
mod sending;
pub mod view;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::diagnostics;
use crate::hardware::{LoadSample, Watched};
use crate::system::log::Names;
use crate::window::{Ctx, Draw};

pub use benchmark::{BenchmarkView, Comparison, ComparisonKind};
pub use device_check::{Checked, Checks, SelfTest, automatic};
pub use other_machine::{MachineAction, OtherMachine, OtherMachineDialog, ReachHost, ReachState};
pub use sending::{DeleteReceived, ListReceived, SendingQuestion, SentView};

/// This machine, and another one in its place.
#[derive(Default)]
pub struct Machine {
    pub benchmark: BenchmarkView,
    /// The dialog that asks for another machine, while it is open.
    pub machine_dialog: Option<OtherMachineDialog>,
    /// The question whether My digits may be sent to it, while it is asked.
    pub sending_question: Option<SendingQuestion>,
    pub sent: SentView,
    /// The other machines that My digits may be sent to.
    pub recipients: Vec<String>,
    /// The machine's recent load, sampled while the monitor is shown.
    pub monitor: Monitor,
    /// True while another folder is searched for NVIDIA's libraries.
    pub looking_for_cuda: bool,
}

impl Draw {
    /// Copies them; the log is read on another thread, since the disk may keep it waiting.
    pub fn copy_diagnostics(&self, ctx: &Ctx) {
        let (hardware, settings, paths) = (
            ctx.hardware.clone(),
            self.settings_to_save(ctx),
            ctx.deps.paths.clone(),
        );
        ctx.background.run(
            move || {
                diagnostics::text(
                    hardware.as_ref(),
                    &settings,
                    &paths,
                    &Names::of_this_machine(),
                )
            },
            |app, text| app.shell.copy(&mut app.ctx, text),
        );
    }
}

/// Takes a sample; blocks until it is taken.
pub type SampleLoad = Arc<dyn Fn(&Watched) -> LoadSample + Send + Sync>;

const INTERVAL: Duration = Duration::from_secs(1);
const CAPACITY: usize = 120;
/// After a longer gap than this (the window was out of sight) older samples are not part of the
/// same curve.
const GAP: Duration = Duration::from_secs(5);

#[derive(Clone, Debug, Default)]
pub struct Monitor {
    samples: VecDeque<LoadSample>,
    /// When the last one came.
    last_at: Option<Instant>,
    /// True while one is being taken.
    pending: bool,
}

impl Monitor {
    /// The samples of the last two minutes, a second apart, oldest first.
    pub const fn samples(&self) -> &VecDeque<LoadSample> {
        &self.samples
    }

    pub fn newest(&self) -> Option<&LoadSample> {
        self.samples.back()
    }

    pub fn take(&mut self, sample: LoadSample) {
        self.pending = false;
        if self
            .last_at
            .replace(Instant::now())
            .is_some_and(|last_at| last_at.elapsed() > GAP)
        {
            self.samples.clear();
        }
        if self.samples.len() == CAPACITY {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
    }
}

impl Ctx {
    /// True while the monitor is visible.
    pub const fn monitor_is_shown(&self) -> bool {
        self.settings.monitor && self.wizard.is_none()
    }
}

impl Machine {
    /// Takes the next sample in its time, if the monitor is visible. Called for each frame: a
    /// window out of sight takes no more samples, and each sample causes one frame.
    pub fn sample_monitor(&mut self, ctx: &mut Ctx) {
        if !ctx.monitor_is_shown() {
            self.monitor.samples.clear();
            return;
        }
        // One that hangs is not repeated.
        if std::mem::replace(&mut self.monitor.pending, true) {
            return;
        }
        let wait = self.monitor.last_at.map_or(Duration::ZERO, |last_at| {
            INTERVAL.saturating_sub(last_at.elapsed())
        });
        let watched = Watched {
            processes: std::iter::once(std::process::id())
                .chain(ctx.engine.handle.process())
                .collect(),
            gpus: ctx
                .hardware
                .as_ref()
                .is_some_and(|hardware| !hardware.gpus.is_empty()),
        };
        let read = Arc::clone(&ctx.deps.sample_load);
        ctx.background.run(
            move || {
                std::thread::sleep(wait);
                read(&watched)
            },
            |app, sample| app.machine.monitor.take(sample),
        );
    }
}
