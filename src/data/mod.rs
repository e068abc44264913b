//! Data sets: finding, reading and checking them, generating the built-in one, the validation
//! split, and augmentation.
//!
//! It does not depend on models, tensors or windows.

#![warn(missing_docs)]

pub mod augment;
pub mod builtin;
mod class_folder_set;
mod class_labels;
mod contact_sheet;
mod csv_table;
mod data_file;
mod dataset;
mod error;
mod evaluation_set;
mod fingerprint;
mod idx;
mod idx_pair;
mod idx_set;
mod ink_set;
mod issues;
mod labelled_images;
mod load;
pub mod my_digits;
mod named_image_set;
mod npy;
mod npz_set;
mod parquet_set;
mod path_table;
mod pixel_rows;
mod preview;
mod recipients;
mod rehearsal;
mod set_export;
mod small;
mod tables;
mod validation;

pub use contact_sheet::contact_sheet;
pub use csv_table::read_table;
pub use dataset::{DataSet, Split, gather_batch};
pub use error::{DataError, DataPart, KeepError, SetExportError};
pub use evaluation_set::{EvaluationSet, NotDigits, Writers, is_among, load_for_evaluation};
pub use fingerprint::Fingerprint;
pub use idx::{Kind as IdxKind, read_idx};
pub use ink_set::read_not_digits;
pub use issues::{Example, Issue, IssueKind, Overview, Part};
pub use load::{check, check_labels, find, load};
pub use my_digits::MyDigits;
pub use npz_set::NpzSet;
pub use pixel_rows::PixelRows;
pub use preview::{Preview, preview};
pub use recipients::Recipients;
pub use rehearsal::Rehearsal;
pub use set_export::{export_drawings, export_set};
pub use small::small_training_set;
pub use tables::is_named_like_a_table;
pub use validation::{ValidationSplit, validation_size};

/// A named data set that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Which one.
    pub set: crate::run_config::NamedSet,
    /// The folder its files are in.
    pub folder: std::path::PathBuf,
    /// Training images, as its header claims.
    pub train_images: u64,
    /// Test images, as its header claims.
    pub test_images: u64,
    /// Whether these are the published files, by the SHA-256 of their decompressed content; `None`
    /// where that is not known.
    pub original: Option<bool>,
}
