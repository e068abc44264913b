//! The operating system: files that are written whole, input files that are read within limits, the
//! folders of this installation, the log, child processes, the priority of threads, one window at a
//! time. Does not depend on what they are used for.

#[cfg(feature = "gui")]
pub mod c_memory;
pub mod disk;
mod error;
pub mod files;
pub mod input_file;
pub mod log;
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
