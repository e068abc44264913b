//! Data sets: finding, reading and checking them, generating the built-in one, the validation
//! split, and augmentation.
//!
//! It does not depend on models, tensors or windows.

pub mod augment;
pub mod builtin;
mod dataset;
mod error;
mod formats;
mod issues;
mod load;
pub mod my_digits;
mod preview;
mod rehearsal;

pub use dataset::{
    ClassLabels, Dataset, Fingerprint, Split, ValidationSplit, gather_batch, validation_size,
};
pub use error::{DataError, DataPart};
pub use formats::export::{export_drawings, export_set};
pub use formats::idx::{Kind as IdxKind, read_idx};
pub use formats::ink::read_not_digits;
pub use formats::pixel_table::{PixelRows, PixelTable};
pub use formats::{ArraySet, is_named_like_a_table};
pub use issues::{Example, Issue, IssueKind, Overview, Part};
pub use load::{
    EvaluationSet, NotDigits, Writers, check, check_labels, find, is_among, load,
    load_for_evaluation, load_sealed, small_training_set,
};
pub use my_digits::{MyDigits, Recipients};
pub use preview::{Preview, contact_sheet, preview};
pub use rehearsal::Rehearsal;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundDataset {
    pub set: crate::run_config::PublicDataset,
    pub folder: std::path::PathBuf,
    /// Training images, as its header claims.
    pub train_images: u64,
    /// Test images, as its header claims.
    pub test_images: u64,
    /// Whether these are the published files, by the SHA-256 of their decompressed content; `None`
    /// if that is not known.
    pub original: Option<bool>,
}
