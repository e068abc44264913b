//! The canvas and what the model makes of the drawing on it: strokes, prediction requests, the device that predicts, the verdict's wording.

mod canvas;
mod inference_device;
mod prediction_queue;
pub mod verdict;

pub use canvas::{CANVAS, Drawing};
pub use inference_device::{ReadingPlace, about_comparison, device_name, reading_row};
pub use prediction_queue::ReadingLine;
