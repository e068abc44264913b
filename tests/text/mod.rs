//! Text that people read.

mod licences;
