//! Owns ink: strokes, their rasteriser and their normalisation to the 28x28 picture every model reads.
//! Canvas, `predict` and the built-in data set all go through here, so what a model was trained on and what a person
//! draws are made by the same code. Must not know tensors, models or windows.

mod file;
mod normalise;
mod photo;
mod picture;
mod render;
mod strokes;

pub use file::{InkEntry, InkFile, read_ink_file};
pub use photo::picture_from_image_file;
pub use picture::{PIXELS, Picture, SIDE};
pub use render::picture;
pub(crate) use render::picture_as_scanned;
pub use strokes::{Ink, Stroke};

/// Why a picture or an ink file could not be read.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, thiserror::Error)]
pub enum InkError {
    /// The file could not be opened or read.
    #[error("cannot read {path}: {reason}")]
    Unreadable {
        /// The file.
        path: std::path::PathBuf,
        /// The system's words.
        reason: String,
    },
    /// The file is not what it should be.
    #[error("{path} is not an image or ink file: {reason}")]
    Malformed {
        /// The file, with `:LINE` for JSON lines.
        path: std::path::PathBuf,
        /// What is wrong.
        reason: String,
    },
}
