//! What the window knows of this machine: its speed, whether its devices compute correctly, how
//! busy it is, NVIDIA's libraries. And of the other machine that it trains on, if it does.

mod benchmark;
mod cuda_libraries;
mod device_check;
mod monitor;
mod other_machine;
mod sending;
mod sent;
pub mod view;

pub use benchmark::{BenchmarkView, Comparison, ComparisonKind};
pub use device_check::{Checked, Checks, SelfTest, automatic};
pub use monitor::{Monitor, SampleLoad};
pub use other_machine::{MachineAction, OtherMachine, OtherMachineDialog, ReachHost, ReachState};
pub use sending::SendingQuestion;
pub use sent::{DeleteReceived, ListReceived, SentView};

use crate::diagnostics;
use crate::system::log::Names;
use crate::window::{Ctx, Draw};

/// This machine, and another one in its place.
#[derive(Default)]
pub struct Machine {
    pub benchmark: BenchmarkView,
    /// The dialog that asks for another machine, while it is open.
    pub machine_dialog: Option<OtherMachineDialog>,
    /// The question whether My digits may be sent to it, while it is asked.
    pub sending_question: Option<SendingQuestion>,
    /// What was sent to it.
    pub sent: SentView,
    /// The other machines that My digits may be sent to.
    pub recipients: Vec<String>,
    /// The machine's recent load, sampled while the monitor is shown.
    pub monitor: Monitor,
    /// True while another folder is searched for NVIDIA's libraries.
    pub looking_for_cuda: bool,
    pub discovery_started: bool,
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
