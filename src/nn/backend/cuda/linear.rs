//! Owns the fully connected layer on a GPU. Must not know models.

use candle_core::{DType, Result, Tensor};

use super::gpu::{gpu, launch, of_kind, place, room, threads};
use super::products::{column_sums, operand, product, product_over_rows};
use crate::nn::Parameter;
use crate::nn::ops::tape::{self, Gradients};
use crate::nn::ops::{Context, Gradient};

/// `super::super::linear`.
pub fn linear(x: &Tensor, weight: &Parameter, bias: &Parameter, relu: bool, context: Context) -> Result<Tensor> {
    let (precision, kind) = (context.precision, operand(context.precision));
    let (rows, kernel) = (x.contiguous()?.to_dtype(kind)?, weight.tensor().to_dtype(kind)?);
    let result = product(&rows, false, &kernel, true, precision)?;
    let (count, outputs) = (result.elem_count(), bias.len());
    launch!(gpu(x)?, "add_bias", threads(count), place(&result)?, place(&bias.tensor())?, count as u32, outputs as u32, u32::from(relu));
    if context.gradient == Gradient::Kept {
        let (of_x, noted) = (tape::leads_back(x), result.clone());
        let (weight, bias) = (weight.clone(), bias.clone());
        tape::note_there(vec![x.clone()], &result, move |gradient| {
            let live = past_relu(gradient, &noted, relu, kind)?;
            let of_weight = product_over_rows(&live, &rows, precision)?;
            let of_bias = column_sums(&live)?;
            let of_x = of_x.then(|| product(&live, false, &kernel, false, precision)).transpose()?;
            Ok(Gradients { inputs: vec![of_x], parameters: vec![(weight, of_weight), (bias, of_bias)] })
        });
    }
    Ok(result)
}

/// The gradient of `result` as the operand of a product, where `ReLU` passed it.
fn past_relu(gradient: &Tensor, result: &Tensor, relu: bool, kind: DType) -> Result<Tensor> {
    let gradient = gradient.contiguous()?;
    if !relu && kind == DType::F32 {
        return Ok(gradient);
    }
    let (live, count) = (room(result.shape(), kind, result)?, result.elem_count());
    let from = (place(&gradient)?, place(result)?);
    launch!(gpu(result)?, &of_kind("past_relu", kind), threads(count), from.0, from.1, place(&live)?, count as u32, u32::from(relu));
    Ok(live)
}
