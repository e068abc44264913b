//! One file for each job an engine can do.

pub(super) mod benchmark;
pub(super) mod evaluate;
pub(super) mod export;
pub(super) mod import;
pub(super) mod train;
