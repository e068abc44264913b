//! Owns data sets: finding, reading, checking, writing the built-in one.
//! Must not know models, tensors or windows.

pub mod augment;
pub mod builtin;
mod class_folders;
mod error;
mod idx;
mod idx_folder;
mod ink_set;
mod load;
mod sheet;
mod source;
mod split;
mod table;
mod validation;

pub use error::DataError;
pub use load::{find, load};
pub use sheet::contact_sheet;
pub use split::{DataSet, Split};
pub use validation::{ValidationSplit, gather_batch, validation_size};

/// A data set that was found by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Which.
    pub set: crate::run_config::NamedSet,
    /// The folder its files are in.
    pub folder: std::path::PathBuf,
    /// Training images, as the header says.
    pub train_images: u64,
    /// Test images, as the header says.
    pub test_images: u64,
    /// Whether these are the files as they were published, by SHA-256 of what they unpack to; `None` where that is not known.
    pub original: Option<bool>,
}
