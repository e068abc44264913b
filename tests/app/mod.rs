//! What the window shows, as data.

mod messages;
mod statistics;
mod verdict;
