//! Models as the window shows them: exporting and importing them, and their evaluation on a test set.

mod deletion;
mod import_export;
mod results;

pub use import_export::{Dropped, ExportView, InTheWay};
pub use results::ResultsView;
