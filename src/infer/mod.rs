//! Using a model: what it makes of a drawing, how well it does on a data set, alone or among
//! others, and on which device it is fast and right. Depends on networks and data, but not on
//! training, runs or windows.

#![warn(missing_docs)]

mod calibration;
mod classifier;
mod compare_devices;
mod device_comparison;
mod digit_map;
mod error;
mod explain;
mod fit_digit_detector;
mod measure;
pub mod model_comparison;
mod number;
mod outputs;
mod samples;
mod starter_check;

pub use calibration::{fit_shared_temperature, fit_temperature};
pub use classifier::{Classifier, Classify, STARTER_ACCURACIES, model_files, starter_file};
pub use compare_devices::{COMPARED_IMAGES, catch_panic, choose_device, compare_devices};
pub use device_comparison::{
    Agreement, DeviceComparison, DeviceRejection, DeviceTiming, DeviceTrial, TOLERANCE,
};
pub use digit_map::{Effort, MapImages, MappedImages};
pub use error::{ComparisonError, EnsembleError};
pub use fit_digit_detector::fit_digit_detector;
pub use measure::{GPU_BATCH, Measurement, measure};
pub use model_comparison::compare_models;
pub use number::{read_as_one, read_candidates, read_number};
pub use outputs::Scores;
pub use starter_check::StarterCheck;
