//! Text that people read.

mod licenses;
mod visible;
