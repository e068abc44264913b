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
mod update;
pub mod verdict;
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
pub use update::DrawAction;

use crate::run_config::Classes;
use crate::window::Ctx;

impl Ctx {
    /// What the classes of the model in use stand for.
    pub fn classes(&self) -> Classes {
        self.model_in_use
            .as_ref()
            .map(|model| model.classes.clone())
            .unwrap_or_default()
    }
}

/// The canvas, and what the model reads on it.
pub struct Draw {
    pub drawing: Drawing,
    pub number: NumberCanvas,
    /// What the pointer does to the canvas.
    pub tool: Tool,
    /// The drawings that were cleared from the canvas.
    pub recent_drawings: RecentDrawings,
    pub(in crate::window) inference: InferenceDevice,
    pub(in crate::window) predictions: PredictionQueue,
    pub(in crate::window) preprocessing: Preprocessing,
    /// The images that are open over the canvas.
    pub(in crate::window) images: OpenImages,
    /// Training seconds at which the drawing was last classified again automatically.
    pub(in crate::window) classified_at: f32,
}
