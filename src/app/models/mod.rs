//! Models as the window shows them: exporting and importing them, and how they did on a test set.

mod import_export;
mod results;

pub use import_export::{Dropped, ExportView};
pub use results::ResultsView;
