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
