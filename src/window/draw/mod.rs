//! The canvas and what the model makes of the drawing on it: strokes, requests for predictions, the
//! device in use, the prediction as text.

mod canvas;
mod eraser;
mod history;
mod inference_device;
mod number;
mod opened_image;
mod prediction_queue;
mod preprocessing;
mod recent;
pub mod verdict;
#[cfg(feature = "gui")]
pub mod view;

pub use canvas::{CANVAS, Drawing, PenStroke, Tool, WIDE_CANVAS};
pub use inference_device::{
    InferenceDevice, about_inference_comparison, device_name, inference_row,
};
pub use number::NumberCanvas;
pub use opened_image::{ImageReading, OpenImage, OpenImages};
pub use prediction_queue::PredictionQueue;
pub use preprocessing::{Preprocessing, ShownStages};
pub use recent::RecentDrawings;

use super::App;
use crate::run_config::Classes;

impl App {
    /// What the classes of the model in use stand for.
    pub fn classes(&self) -> Classes {
        self.model_in_use
            .as_ref()
            .map(|model| model.classes.clone())
            .unwrap_or_default()
    }
}
