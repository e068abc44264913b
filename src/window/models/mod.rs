//! Models as the window shows them: naming, deleting, comparing, exporting and importing them, and
//! their evaluation on a test set.

mod changes;
mod comparison;
mod import_export;
mod names;
mod reproduction;
mod thumbnails;
#[cfg(feature = "gui")]
pub mod view;

pub use changes::{Change, Changes};
pub use comparison::ComparisonView;
pub(super) use import_export::is_named_like_weights;
pub use import_export::{Dropped, ExportView, ImportQuestion, InTheWay};
pub use thumbnails::Thumbnail;
