//! Ink: strokes, their rasterizer and the normalization to the 28x28 image that every model takes
//! as input. The canvas, `predict` and the built-in data set all go through here, so training
//! images and drawings are made by the same code. Depends on no tensors, models or windows.

mod image;
mod image_file;
mod ink_file;
mod rasterize;
mod segment;
mod steps;

pub use self::image::{GrayImage, Image, PIXELS, SIDE};
pub use self::image_file::{
    Framing, IMAGE_ENDINGS, IMAGE_FORMATS, Original, PreparedImage, SourceImage, frame,
    is_named_like_an_image, read_image, read_image_file, read_set_image, read_writing,
    read_writing_file,
};
pub use self::ink_file::{InkEntry, InkFile, MAX_WRITER_CHARS, read_ink_file};
pub use self::rasterize::{PlacedInk, Placement, rasterize, rasterize_steps};
pub(crate) use self::rasterize::{rasterize_as_scanned, rasterize_as_thinned};
pub use self::segment::{Bounds, Candidate, CandidateImage, Writing};
pub use self::steps::{Stage, StageImage, StageKind, Step, Steps};

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::problem::{Explain, sentence};
use crate::system::NotRegular;

/// Why an image or an ink file could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InkError {
    #[error("{path} could not be read: {}", sentence(reason))]
    Unreadable { path: PathBuf, reason: String },
    #[error(
        "{path} is not an image or an ink file that Inkling can read: {}",
        sentence(reason)
    )]
    Malformed {
        /// The file, with `:LINE` for JSON lines.
        path: PathBuf,
        reason: String,
    },
    /// The file takes more memory than Inkling spends on one.
    #[error("{path} is too large: {}", sentence(reason))]
    TooLarge { path: PathBuf, reason: String },
}

impl InkError {
    fn unreadable(path: &Path) -> impl Fn(io::Error) -> Self + Copy + '_ {
        |error| Self::Unreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        }
    }

    fn malformed(path: &Path, reason: impl Into<String>) -> Self {
        Self::Malformed {
            path: path.to_owned(),
            reason: reason.into(),
        }
    }

    fn too_large(path: &Path, reason: impl Into<String>) -> Self {
        Self::TooLarge {
            path: path.to_owned(),
            reason: reason.into(),
        }
    }
}

impl Explain for InkError {
    fn remedy(&self) -> String {
        match self {
            Self::Unreadable { reason, .. } => NotRegular::remedy(reason),
            Self::Malformed { .. } => {
                return format!(
                    "Use an image ({IMAGE_FORMATS}), or ink as JSON: {{\"strokes\": [[[x, y], …], …]}}."
                );
            }
            Self::TooLarge { .. } => "Use a smaller file. If it is supposed to be small, it is damaged.",
        }
        .to_owned()
    }
}

/// One pen-down to pen-up movement: points `[x, y]` in order of time, any unit, y down.
pub type Stroke = Vec<[f32; 2]>;

/// A drawing. As JSON: `{"strokes": [[[x, y], …], …]}`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ink {
    /// The strokes in order of time.
    pub strokes: Vec<Stroke>,
    /// Diameter of the pen in the unit of the points; `None` means a pen in proportion to the
    /// drawing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pen: Option<f32>,
}

impl Ink {
    /// True when nothing is drawn: no stroke holds a finite point.
    pub fn is_empty(&self) -> bool {
        !self
            .strokes
            .iter()
            .flatten()
            .any(|[x, y]| x.is_finite() && y.is_finite())
    }

    /// The content of an ink file; `None` when nothing is drawn.
    pub fn json(&self) -> Option<String> {
        serde_json::to_string(self)
            .ok()
            .filter(|_| !self.is_empty())
    }

    /// The same with how hard the pen pressed: as [`InkEntry::pressures`].
    pub fn json_with(&self, pressures: &[Vec<f32>]) -> Option<String> {
        #[derive(Serialize)]
        struct Pressed<'i> {
            #[serde(flatten)]
            ink: &'i Ink,
            pressures: &'i [Vec<f32>],
        }
        if pressures.iter().all(Vec::is_empty) {
            return self.json();
        }
        serde_json::to_string(&Pressed {
            ink: self,
            pressures,
        })
        .ok()
        .filter(|_| !self.is_empty())
    }

    /// A line of an ink file with this label; `None` when nothing is drawn.
    pub fn labeled_json(&self, label: char) -> Option<String> {
        #[derive(Serialize)]
        struct Labeled<'i> {
            #[serde(flatten)]
            ink: &'i Ink,
            label: char,
        }
        serde_json::to_string(&Labeled { ink: self, label })
            .ok()
            .filter(|_| !self.is_empty())
    }
}
