//! Text that people read.

mod format;
mod licenses;
mod visible;
