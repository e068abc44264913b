//! Owns what this program asks of the system it runs on: whole files, its folders, child processes, one window at a time.

pub mod files;
pub mod paths;
pub mod process;
#[cfg(feature = "gui")]
pub mod single_instance;
