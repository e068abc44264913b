//! Layer normalisation, and adding a positional embedding.

use candle_core::{DType, Result, Tensor};

use super::column_reduction::ColumnReduction;
use super::launch::{self, launch, threads};
use super::matmul::column_sums;
use super::memory::{empty, gpu};
use crate::nn::autograd::Gradients;
use crate::nn::ops::LAYER_NORM_EPSILON;
use crate::nn::{GradMode, Output, Parameter};

/// See [`crate::nn::ops::layer_norm`].
pub fn layer_norm(
    x: &Tensor,
    weight: &Parameter,
    bias: &Parameter,
    grad: GradMode,
) -> Result<Output> {
    let features = weight.len();
    let rows = x.elem_count() / features;
    let values = x.contiguous()?;
    let (result, statistics) = (
        empty(x.shape(), DType::F32, x)?,
        empty((rows, 2), DType::F32, x)?,
    );
    let config = launch::rows(rows);
    // SAFETY: 32 threads for each row read its `features` values, weights and biases, and write as
    // many and the row's two statistics.
    let (result, statistics) = unsafe {
        launch!(
            gpu(x)?,
            "layer_norm",
            config,
            values,
            weight.tensor(),
            bias.tensor(),
            result,
            statistics,
            rows,
            features,
            LAYER_NORM_EPSILON
        );
        (result.assume_init(), statistics.assume_init())
    };
    let (weight, bias) = (weight.clone(), bias.clone());
    Ok(Output::new(result, grad, move |gradient, needed| {
        let (gpu, gradient) = (gpu(&values)?, gradient.contiguous()?);
        let reduction = ColumnReduction {
            rows,
            channels: features,
        };
        // SAFETY: a block for each chunk of rows and up to 32 features writes their partial sums.
        let [of_bias, of_weight] = unsafe {
            reduction.two_sums(&values, |sums, products| {
                let config = reduction.blocks();
                launch!(
                    gpu,
                    "layer_norm_backward_sums",
                    config,
                    values,
                    statistics,
                    gradient,
                    sums,
                    products,
                    rows,
                    features
                );
                Ok(())
            })?
        };
        let of_x = needed[0].then(|| {
            let (of_x, weight) = (empty(values.shape(), DType::F32, &values)?, weight.tensor());
            // SAFETY: 32 threads for each row read its values, statistics and gradients, and write
            // as many.
            unsafe {
                launch!(
                    gpu,
                    "layer_norm_backward",
                    config,
                    values,
                    statistics,
                    weight,
                    gradient,
                    of_x,
                    rows,
                    features
                );
                Ok::<_, candle_core::Error>(of_x.assume_init())
            }
        });
        Ok(Gradients {
            inputs: vec![of_x.transpose()?],
            parameters: vec![(weight, of_weight), (bias, of_bias)],
        })
    }))
}

/// See [`crate::nn::ops::add_positions`].
pub fn add_positions(x: &Tensor, embedding: &Parameter, grad: GradMode) -> Result<Output> {
    let (values, count, length) = (x.contiguous()?, x.elem_count(), embedding.len());
    let result = empty(x.shape(), DType::F32, x)?;
    // SAFETY: a thread for each of the `count` elements of `values` and the result; an embedding
    // has `length`.
    let result = unsafe {
        launch!(
            gpu(x)?,
            "add_positions",
            threads(count),
            values,
            embedding.tensor(),
            result,
            count,
            length
        );
        result.assume_init()
    };
    let embedding = embedding.clone();
    Ok(Output::new(result, grad, move |gradient, needed| {
        let gradient = gradient.contiguous()?;
        let of_embedding =
            column_sums(&gradient.reshape((count / length, length))?)?.reshape(embedding.dims())?;
        Ok(Gradients {
            inputs: vec![needed[0].then_some(gradient)],
            parameters: vec![(embedding, of_embedding)],
        })
    }))
}
