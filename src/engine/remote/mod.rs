//! Engines on other machines, at the end of a handle like any other: reached through OpenSSH or
//! Slurm, they speak on standard input and output. The files that a command names are sent along
//! if they are missing there; runs and checkpoints come back and are saved here, so that an
//! interrupted run can be resumed on any machine.

mod bundle;
mod caller;
mod host;
mod received;
mod received_folder;
mod uploads;

pub use host::{
    RemoteHost, SLURM, SlurmTask, SshHost, delete_received_on, hardware_on, received_on,
    self_test_on,
};
pub use received_folder::ReceivedFolder;

pub(super) use bundle::{BundleStore, files_of};
