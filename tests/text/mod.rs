//! Text that people read.

mod licences;
mod visible;
