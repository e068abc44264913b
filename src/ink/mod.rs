//! Ink: strokes, their rasteriser and the normalisation to the 28x28 image that every model takes
//! as input. The canvas, `predict` and the built-in data set all go through here, so training
//! images and drawings are made by the same code. Depends on no tensors, models or windows.

mod distance;
mod gray_image;
mod image;
mod image_file;
mod ink_file;
mod mnist_frame;
mod rasterize;
mod segment;
mod steps;
mod strokes;
mod thick_pen;

pub use self::gray_image::GrayImage;
pub use self::image::{Image, PIXELS, SIDE};
pub use self::image_file::{
    Framing, IMAGE_ENDINGS, IMAGE_FORMATS, PreparedImage, SourceImage, is_named_like_an_image,
    read_image, read_image_file, read_set_image, read_writing, read_writing_file,
};
pub use self::ink_file::{InkEntry, InkFile, MAX_WRITER_CHARS, read_ink_file};
pub(crate) use self::rasterize::rasterize_as_scanned;
pub use self::rasterize::{rasterize, rasterize_steps};
pub use self::segment::{Bounds, Candidate, CandidateImage, Writing};
pub use self::steps::{Stage, StageImage, StageKind, Step, Steps};
pub use self::strokes::{Ink, Stroke};
pub(crate) use self::thick_pen::rasterize_as_thinned;

/// Why an image or an ink file could not be read.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, thiserror::Error)]
pub enum InkError {
    /// The file could not be opened or read.
    #[error("cannot read {path}: {reason}")]
    Unreadable {
        path: std::path::PathBuf,
        reason: String,
    },
    /// The file is not what it should be.
    #[error("{path} is not an image or ink file: {reason}")]
    Malformed {
        /// The file, with `:LINE` for JSON lines.
        path: std::path::PathBuf,
        reason: String,
    },
    /// The file takes more memory than Inkling spends on one.
    #[error("{path} is too large: {reason}")]
    TooLarge {
        path: std::path::PathBuf,
        reason: String,
    },
}
