//! Folders, child processes, and one window at a time.

#[cfg(feature = "gui")]
mod single_instance;
