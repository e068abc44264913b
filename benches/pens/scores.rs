//! What is made of the answers: the calibration error, a sheet of the mistakes.

use std::path::Path;

use inkling::ink::SIDE;
use inkling::math::statistics;
use inkling::records::{Evaluation, Prediction, RELIABILITY_BINS, ReliabilityBin};

/// A model's answer to a drawing.
pub struct Answer {
    /// What the drawing shows.
    pub label: char,
    /// What the model says.
    pub prediction: Prediction,
}

impl Answer {
    pub fn is_right(&self) -> bool {
        self.label.to_digit(10) == Some(u32::from(self.prediction.digit))
    }
}

pub fn percent(share: f64) -> String {
    format!("{:6.2}%", share * 100.0)
}

/// The expected calibration error of the answers.
pub fn calibration_error(answers: &[Answer]) -> f64 {
    let mut bins = [ReliabilityBin::default(); RELIABILITY_BINS];
    for answer in answers {
        let confidence = answer.prediction.confidence;
        bins[ReliabilityBin::index_of(confidence)].add(confidence, answer.is_right());
    }
    let evaluation = Evaluation {
        reliability: bins,
        ..Evaluation::default()
    };
    statistics::calibration_error(&evaluation).unwrap_or_default()
}

/// Saves the images that were misread, those with the same label and answer side by side, and
/// prints which they are.
pub fn save_sheet(answers: &[Answer], path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    const COLUMNS: usize = 24;
    const ZOOM: usize = 2;
    let mut wrong: Vec<&Answer> = answers.iter().filter(|answer| !answer.is_right()).collect();
    wrong.sort_by_key(|answer| (answer.label, answer.prediction.digit));
    let side = SIDE * ZOOM + 2;
    let rows = wrong.len().div_ceil(COLUMNS).max(1);
    let mut sheet = image::GrayImage::new((COLUMNS * side) as u32, (rows * side) as u32);
    for (index, answer) in wrong.iter().enumerate() {
        for y in 0..SIDE * ZOOM {
            for x in 0..SIDE * ZOOM {
                let pixel = answer.prediction.image.pixels()[y / ZOOM * SIDE + x / ZOOM];
                sheet.put_pixel(
                    (index % COLUMNS * side + x) as u32,
                    (index / COLUMNS * side + y) as u32,
                    image::Luma([255 - pixel]),
                );
            }
        }
    }
    sheet.save(path)?;
    for row in wrong.chunks(COLUMNS) {
        println!(
            "{}",
            row.iter()
                .map(|answer| format!("{}>{}", answer.label, answer.prediction.digit))
                .collect::<Vec<_>>()
                .join(" ")
        );
    }
    Ok(())
}
