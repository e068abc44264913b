//! The ops of transformers: self-attention, with all heads of all sequences side by side; layer
//! normalization; positional embeddings.

use candle_core::cuda_backend::cudarc::driver::DeviceRepr;
use candle_core::{DType, Result, Tensor};

use super::batch_norm::ColumnReduction;
use super::launch::{self, empty, for_dtype, gpu, launch, plain_args, threads};
use super::matmul::{Products, column_sums, matmul, matmul_into};
use crate::nn::autograd::Gradients;
use crate::nn::ops::LAYER_NORM_EPSILON;
use crate::nn::{GradMode, Output, Parameter};

/// `HeadLayout` in `attention.cuh`.
#[derive(Clone, Copy)]
#[repr(C)]
struct HeadLayout {
    sequences: u32,
    tokens: u32,
    parts: u32,
    heads: u32,
    head_dim: u32,
}

// SAFETY: the same fields in the same order as the kernels' struct.
unsafe impl DeviceRepr for HeadLayout {}
plain_args!(HeadLayout);

pub fn attention(qkv: &Tensor, heads: usize, grad: GradMode, products: Products) -> Result<Output> {
    let (sequences, tokens, width) = qkv.dims3()?;
    let [sequences, tokens, heads, head_dim] =
        [sequences, tokens, heads, width / (3 * heads)].map(|count| count as u32);
    let attention = Attention {
        layout: HeadLayout {
            sequences,
            tokens,
            parts: 3,
            heads,
            head_dim,
        },
        products,
    };
    let split = attention.split(&qkv.contiguous()?, 3)?;
    let scores = matmul(&split.get(0)?, false, &split.get(1)?, true, products)?;
    let weights = attention.softmax(&scores)?;
    let result = attention.merge(
        &matmul(&weights, false, &split.get(2)?, false, products)?,
        1,
    )?;
    Ok(Output::new(result, grad, move |gradient, _| {
        Ok(Gradients::input(Some(attention.backward(
            &split,
            &weights,
            &gradient.contiguous()?,
        )?)))
    }))
}

#[derive(Clone, Copy)]
struct Attention {
    layout: HeadLayout,
    products: Products,
}

impl Attention {
    /// The parts as operands of a matrix multiplication for each head:
    /// `[parts, sequences x heads, tokens, head_dim]`.
    fn split(self, x: &Tensor, parts: u32) -> Result<Tensor> {
        let layout = HeadLayout {
            parts,
            ..self.layout
        };
        let dtype = self.products.dtype();
        let [sequences, tokens, heads, head_dim, parts] = [
            layout.sequences,
            layout.tokens,
            layout.heads,
            layout.head_dim,
            parts,
        ]
        .map(|count| count as usize);
        let result = empty((parts, sequences * heads, tokens, head_dim), dtype, x)?;
        // SAFETY: a thread for each element of `x` and the result, both of which have those of
        // `layout`; the result is of the kernel's type.
        unsafe {
            launch! {
                gpu(x)?, &for_dtype("split_heads", dtype), threads(result.elem_count()), x, result,
                layout
            }
            Ok(result.assume_init())
        }
    }

    /// The inverse, to `[sequences, tokens, parts x heads x head_dim]`.
    fn merge(self, x: &Tensor, parts: u32) -> Result<Tensor> {
        let layout = HeadLayout {
            parts,
            ..self.layout
        };
        let shape = (
            layout.sequences as usize,
            layout.tokens as usize,
            (parts * layout.heads * layout.head_dim) as usize,
        );
        let result = empty(shape, DType::F32, x)?;
        // SAFETY: a thread for each element of `x` and the result, both of which have those of
        // `layout`.
        unsafe {
            launch! { gpu(x)?, "merge_heads", threads(result.elem_count()), x, result, layout }
            Ok(result.assume_init())
        }
    }

    fn scale(self) -> f32 {
        1.0 / (self.layout.head_dim as f32).sqrt()
    }

    /// How much each token attends to each, as an operand of a matrix multiplication.
    fn softmax(self, scores: &Tensor) -> Result<Tensor> {
        let (dtype, columns) = (self.products.dtype(), self.layout.tokens as usize);
        let weights = empty(scores.shape(), dtype, scores)?;
        let rows = scores.elem_count() / columns;
        let (kernel, config) = (for_dtype("softmax", dtype), launch::rows(rows));
        // SAFETY: 32 threads for each row read `columns` scores and write as many weights, which
        // are of the kernel's type.
        unsafe {
            launch! { gpu(scores)?, &kernel, config, scores, weights, rows, columns, self.scale() }
            Ok(weights.assume_init())
        }
    }

    fn backward(self, split: &Tensor, weights: &Tensor, gradient: &Tensor) -> Result<Tensor> {
        let products = self.products;
        let (query, key, value) = (split.get(0)?, split.get(1)?, split.get(2)?);
        let gradient = self.split(gradient, 1)?.get(0)?;
        let of_split = empty(split.shape(), DType::F32, split)?;
        matmul_into(&of_split.get(2)?, weights, true, &gradient, false, products)?;
        let of_scores =
            self.softmax_backward(weights, &matmul(&gradient, false, &value, true, products)?)?;
        matmul_into(&of_split.get(0)?, &of_scores, false, &key, false, products)?;
        matmul_into(&of_split.get(1)?, &of_scores, true, &query, false, products)?;
        // SAFETY: the products above wrote all three parts.
        self.merge(&unsafe { of_split.assume_init() }, 3)
    }

    fn softmax_backward(self, weights: &Tensor, of_weights: &Tensor) -> Result<Tensor> {
        let (dtype, columns) = (self.products.dtype(), self.layout.tokens as usize);
        let of_scores = empty(weights.shape(), dtype, weights)?;
        let rows = weights.elem_count() / columns;
        let (kernel, config) = (for_dtype("softmax_backward", dtype), launch::rows(rows));
        // SAFETY: as in `softmax`, with a gradient for each weight.
        unsafe {
            launch! {
                gpu(weights)?, &kernel, config, of_weights, weights, of_scores, rows, columns,
                self.scale()
            }
            Ok(of_scores.assume_init())
        }
    }
}

pub fn layer_norm(
    x: &Tensor,
    weight: &Parameter,
    bias: &Parameter,
    grad: GradMode,
) -> Result<Output> {
    let features = weight.len();
    let rows = x.elem_count() / features;
    let values = x.contiguous()?;
    let result = empty(x.shape(), DType::F32, x)?;
    let statistics = empty((rows, 2), DType::F32, x)?;
    let config = launch::rows(rows);
    // SAFETY: 32 threads for each row read its `features` values, weights and biases, and write as
    // many and the row's two statistics.
    let (result, statistics) = unsafe {
        launch! {
            gpu(x)?, "layer_norm", config, values, weight.tensor(), bias.tensor(), result,
            statistics, rows, features, LAYER_NORM_EPSILON
        }
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
                launch! {
                    gpu, "layer_norm_backward_sums", config, values, statistics, gradient, sums,
                    products, rows, features
                }
                Ok(())
            })?
        };
        let of_x = needed[0].then(|| {
            let (of_x, weight) = (empty(values.shape(), DType::F32, &values)?, weight.tensor());
            // SAFETY: 32 threads for each row read its values, statistics and gradients, and write
            // as many.
            unsafe {
                launch! {
                    gpu, "layer_norm_backward", config, values, statistics, weight, gradient, of_x,
                    rows, features
                }
                Ok::<_, candle_core::Error>(of_x.assume_init())
            }
        });
        Ok(Gradients {
            inputs: vec![of_x.transpose()?],
            parameters: vec![(weight, of_weight), (bias, of_bias)],
        })
    }))
}

pub fn add_positions(x: &Tensor, embedding: &Parameter, grad: GradMode) -> Result<Output> {
    let (values, count, length) = (x.contiguous()?, x.elem_count(), embedding.len());
    let result = empty(x.shape(), DType::F32, x)?;
    // SAFETY: a thread for each of the `count` elements of `values` and the result; an embedding
    // has `length`.
    let result = unsafe {
        launch! {
            gpu(x)?, "add_positions", threads(count), values, embedding.tensor(), result, count,
            length
        }
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
