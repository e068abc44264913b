//! What the window shows, as data.

mod statistics;
mod verdict;
