//! Owns what this program asks of the system it runs on: whole files, its folders, child processes, one window at a time.

mod error;
pub mod files;
pub mod paths;
pub mod process;
#[cfg(feature = "gui")]
pub mod single_instance;

pub use error::WriteError;
