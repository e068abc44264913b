//! What the window knows of this machine: its speed, whether its devices compute correctly, how
//! busy it is, NVIDIA's libraries. And of the other machine that it trains on, if it does.

pub mod about;
mod benchmark;
mod cuda_libraries;
mod device_check;
pub mod diagnostics;
mod monitor;
mod other_machine;
mod sending;
mod sent;
#[cfg(feature = "gui")]
pub mod view;

pub use benchmark::{BenchmarkView, Comparison, ComparisonKind};
pub use device_check::{Checked, Checks, SelfTest, automatic};
pub use monitor::{Monitor, SampleLoad};
pub use other_machine::{MachineAction, OtherMachine, OtherMachineDialog, ReachHost, ReachState};
pub use sending::SendingQuestion;
pub use sent::{DeleteReceived, ListReceived, SentView};

/// This machine, and another one in its place.
pub struct Machine {
    pub benchmark: BenchmarkView,
    /// The dialog that asks for another machine, while it is open.
    pub machine_dialog: Option<OtherMachineDialog>,
    /// The question whether My digits may be sent to it, while it is asked.
    pub sending_question: Option<SendingQuestion>,
    /// What was sent to it.
    pub sent: SentView,
    /// The other machines that My digits may be sent to.
    pub(in crate::window) recipients: Vec<String>,
    /// The machine's recent load, sampled while the monitor is shown.
    pub monitor: Monitor,
    /// True while another folder is searched for NVIDIA's libraries.
    pub looking_for_cuda: bool,
    pub(in crate::window) discovery_started: bool,
}
