//! Trains a small network on built-in digits, prints each epoch, and saves the model.
//!
//!     cargo run --release --example train -- digits.safetensors

use std::error::Error;
use std::path::Path;

use inkling::data::builtin;
use inkling::nn::{DeviceContext, Net};
use inkling::progress::Unwatched;
use inkling::records::{Calibration, EpochRecord};
use inkling::run_config::{Preset, RunConfig, WeightFormat};
use inkling::system::files::write_whole;
use inkling::train::{EndRequest, RunObserver, TrainOutcome, train};

/// Prints each epoch. An observer can also pause or stop the run, and gets checkpoints.
struct Printer;

impl RunObserver for Printer {
    fn on_micro_batch(&mut self, _net: &Net) -> Result<(), EndRequest> {
        Ok(())
    }

    fn epoch(&mut self, record: &EpochRecord, _net: &Net, _calibration: Calibration) {
        let accuracy = 100.0 * record.validation_accuracy;
        println!(
            "epoch {}: {accuracy:.1}% on validation images",
            record.epoch
        );
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let data = builtin::generate(1, 6_000, 1_000, &mut Unwatched)?;
    let config = RunConfig {
        epochs: 3,
        ..RunConfig::preset(Preset::QuickLook)
    };
    let outcome = train(&config, &data, &DeviceContext::CPU, None, &mut Printer)?;
    let TrainOutcome::Trained(model) = outcome else {
        return Err("the run ended before its first epoch".into());
    };
    if let Some(test) = &model.summary.test {
        println!("{:.1}% on test images", 100.0 * test.evaluation.accuracy);
    }
    if let Some(path) = std::env::args_os().nth(1) {
        write_whole(
            Path::new(&path),
            &model.model_file().to_bytes(WeightFormat::F32)?,
        )?;
    }
    Ok(())
}
