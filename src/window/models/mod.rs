//! Models as the window shows them: naming, deleting, comparing, exporting and importing them, and
//! their evaluation on a test set.

mod changes;
mod comparison;
mod import_export;
mod names;
mod reproduction;
mod thumbnails;
mod update;
pub mod view;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::records::{JobId, RunSummary};
use crate::runs::RunEntry;

pub use changes::{Change, Changes};
pub use comparison::ComparisonView;
pub(super) use import_export::is_named_like_weights;
pub use import_export::{Dropped, ExportView, ImportQuestion, InTheWay};
pub use thumbnails::Thumbnail;
pub use update::ModelsAction;

/// The saved runs.
#[derive(Default)]
pub struct Models {
    /// Finished runs, newest first, once listed.
    pub runs: Option<Vec<RunEntry>>,
    pub thumbnails: BTreeMap<PathBuf, Thumbnail>,
    /// Changes to saved runs that are being made.
    pub changes: Changes,
    /// The comparison of models, while it is open.
    pub comparison: Option<ComparisonView>,
    /// The export dialog, while it is open.
    pub export: Option<ExportView>,
    /// The run to select under Models, until that has been done: the one that was imported last or
    /// is to be exported.
    pub run_to_select: Option<PathBuf>,
    /// The question how the weights of a file are meant, while it is asked.
    pub import_question: Option<ImportQuestion>,
    /// The run that trains an earlier one again, and that one.
    pub reproducing: Option<(JobId, Box<RunSummary>)>,
}
