//! Reads raw pictures with an ONNX file through tract: `tract MODEL PICTURES OUT`, bytes in, little-endian f32 probabilities out.

use tract_onnx::prelude::*;

fn main() -> TractResult<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, model, pictures, out] = arguments.as_slice() else { panic!("three arguments") };
    let pixels = std::fs::read(pictures)?;
    let count = pixels.len() / 784;
    let model = tract_onnx::onnx().model_for_path(model)?.into_optimized()?.into_runnable()?;
    let given: Tensor = tract_ndarray::Array3::from_shape_vec((count, 28, 28), pixels)?.into();
    let answers = model.run(tvec!(given.into()))?;
    let bytes: Vec<u8> = answers[0].to_array_view::<f32>()?.iter().flat_map(|value| value.to_le_bytes()).collect();
    std::fs::write(out, bytes)?;
    Ok(())
}
