//! Files and folders, child processes, and one window at a time.

mod groups;
mod leftovers;
mod log;
#[cfg(unix)]
mod processes;
mod reading;
#[cfg(feature = "gui")]
mod single_instance;
mod temporary_folders;
mod writing;
