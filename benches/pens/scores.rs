//! What is made of the answers: calibration, the ROC curve, a sheet of the mistakes.

use std::path::Path;

use inkling::ink::SIDE;
use inkling::records::Prediction;

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
    format!("{:6.2} %", share * 100.0)
}

/// The expected calibration error with 15 bins of equal width (Naeini, Cooper & Hauskrecht 2015).
pub fn calibration_error(answers: &[Answer]) -> f64 {
    const BINS: usize = 15;
    let mut bins = [(0.0_f64, 0.0_f64); BINS];
    for answer in answers {
        let confidence = f64::from(answer.prediction.confidence);
        let bin = &mut bins[((confidence * BINS as f64) as usize).min(BINS - 1)];
        *bin = (bin.0 + confidence, bin.1 + f64::from(u8::from(answer.is_right())));
    }
    bins.iter().map(|(confidence, right)| (confidence - right).abs()).sum::<f64>() / answers.len() as f64
}

/// The chance that a digit has a higher score than what is none.
pub fn area_under_roc(digits: &[f32], others: &[f32]) -> f64 {
    let mut all: Vec<(f32, bool)> = digits.iter().map(|&score| (score, true)).chain(others.iter().map(|&score| (score, false))).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut pairs) = (0_u64, 0_u64);
    for (_, is_digit) in &all {
        if *is_digit { pairs += below } else { below += 1 }
    }
    pairs as f64 / (digits.len() * others.len()) as f64
}

/// Saves the images that were misread, those with the same label and answer side by side, and prints which they are.
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
                sheet.put_pixel((index % COLUMNS * side + x) as u32, (index / COLUMNS * side + y) as u32, image::Luma([255 - pixel]));
            }
        }
    }
    sheet.save(path)?;
    for row in wrong.chunks(COLUMNS) {
        println!("{}", row.iter().map(|answer| format!("{}>{}", answer.label, answer.prediction.digit)).collect::<Vec<_>>().join(" "));
    }
    Ok(())
}
