//! The fully connected layer.

use candle_core::{DType, Result, Tensor};

use super::launch::{for_dtype, launch, threads};
use super::matmul::{Products, column_sums, matmul, matmul_over_rows};
use super::memory::{empty, gpu};
use crate::nn::autograd::Gradients;
use crate::nn::{GradMode, Output, Parameter};

/// See [`crate::nn::ops::linear`].
pub fn linear(
    x: &Tensor,
    weight: &Parameter,
    bias: &Parameter,
    relu: bool,
    grad: GradMode,
    products: Products,
) -> Result<Output> {
    let dtype = products.dtype();
    let (rows, kernel) = (
        x.contiguous()?.to_dtype(dtype)?,
        weight.tensor().to_dtype(dtype)?,
    );
    let result = matmul(&rows, false, &kernel, true, products)?;
    let count = result.elem_count();
    // SAFETY: a thread for each of the result's `count` elements rewrites it; its rows are as long
    // as the bias. Nobody else has the result yet.
    unsafe {
        launch!(
            gpu(x)?,
            "add_bias",
            threads(count),
            result,
            bias.tensor(),
            count,
            bias.len(),
            relu
        );
    }
    let (weight, bias) = (weight.clone(), bias.clone());
    Ok(Output::new(
        result.clone(),
        grad,
        move |gradient, needed| {
            let of_sums = relu_backward(gradient, &result, relu, dtype)?;
            let of_weight = matmul_over_rows(&of_sums, &rows, products)?;
            let of_bias = column_sums(&of_sums)?;
            let of_x = needed[0]
                .then(|| matmul(&of_sums, false, &kernel, false, products))
                .transpose()?;
            Ok(Gradients {
                inputs: vec![of_x],
                parameters: vec![(weight, of_weight), (bias, of_bias)],
            })
        },
    ))
}

/// The gradient before `ReLU` (or as it is, where there is none) as the operand of a matrix
/// product.
fn relu_backward(gradient: &Tensor, result: &Tensor, relu: bool, dtype: DType) -> Result<Tensor> {
    let gradient = gradient.contiguous()?;
    if !relu && dtype == DType::F32 {
        return Ok(gradient);
    }
    let (operand, count) = (empty(result.shape(), dtype, result)?, result.elem_count());
    // SAFETY: a thread for each of the `count` elements that all three tensors have; `operand` is
    // of the kernel's type.
    unsafe {
        launch!(
            gpu(result)?,
            &for_dtype("relu_backward", dtype),
            threads(count),
            gradient,
            result,
            operand,
            count,
            relu
        );
        Ok(operand.assume_init())
    }
}
