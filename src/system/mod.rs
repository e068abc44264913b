//! The operating system: files that are written whole, input files that are read within limits, the
//! folders of this installation, the log, child processes, the priority of threads, one window at a
//! time. Does not depend on what they are used for.

pub mod disk;
mod error;
pub mod files;
pub mod input_file;
pub mod log;
#[cfg(feature = "gui")]
pub mod memory;
pub mod messagepack;
pub mod paths;
pub mod process;
pub mod sha256;
pub mod signals;
#[cfg(feature = "gui")]
pub mod single_instance;
pub mod targets;
pub mod threads;

pub use error::{NotRegular, TargetError, WriteError, WriteErrorKind};
