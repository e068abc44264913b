//! What the window shows, as data.

mod drawing;
mod history;
mod interrupted;
mod messages;
mod settings;
mod state;
mod statistics;
mod verdict;
