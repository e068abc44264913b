//! Computes an ONNX file with candle-onnx: `candle_onnx MODEL IMAGES PROBABILITIES`. IMAGES has 784
//! bytes for each image; the probabilities are written as 10 little-endian f32 each.

use std::collections::HashMap;

use candle_core::{Device, Tensor};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [model, given, got] = std::env::args()
        .skip(1)
        .collect::<Vec<_>>()
        .try_into()
        .map_err(|_| "three arguments")?;
    let model = candle_onnx::read_file(model)?;
    let pixels = std::fs::read(given)?;
    let images = Tensor::from_slice(&pixels, (pixels.len() / 784, 28, 28), &Device::Cpu)?;
    let mut outputs =
        candle_onnx::simple_eval(&model, HashMap::from([("image".to_owned(), images)]))?;
    let probabilities = outputs
        .remove("probabilities")
        .ok_or("no probabilities")?
        .flatten_all()?
        .to_vec1::<f32>()?;
    std::fs::write(
        got,
        probabilities
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect::<Vec<_>>(),
    )?;
    Ok(())
}
