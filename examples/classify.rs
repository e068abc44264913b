//! Recognizes a drawing and evaluates the model on built-in digits.
//!
//!     cargo run --release --example classify -- digits.safetensors
//!
//! Without a model file, it uses the starter model.

use std::error::Error;

use inkling::data::builtin;
use inkling::infer::{Classifier, Classify};
use inkling::ink::{Ink, Steps};
use inkling::progress::Unwatched;
use inkling::records::ModelRef;

fn main() -> Result<(), Box<dyn Error>> {
    let model = match std::env::args_os().nth(1) {
        Some(path) => ModelRef::File(path.into()),
        None => ModelRef::Starter,
    };
    let classifier = Classifier::load(&model)?.ok_or("this model has no file")?;

    // Strokes are lists of points, in any unit.
    let seven = Ink {
        strokes: vec![vec![[10.0, 10.0], [60.0, 10.0], [30.0, 90.0]]],
        pen: None,
    };
    let prediction = classifier.classify_drawing(&seven, &Steps::ALL)?;
    let confidence = 100.0 * prediction.confidence;
    println!("the drawing is a {} ({confidence:.1}%)", prediction.digit);

    let test = builtin::generate(1, 0, 1_000, &mut Unwatched)?.test;
    let digits = classifier.digits(&test.images, &mut Unwatched)?;
    let correct = digits
        .iter()
        .zip(&test.labels)
        .filter(|(digit, label)| digit == label);
    println!(
        "{} of {} test images are correct",
        correct.count(),
        test.labels.len()
    );
    Ok(())
}
