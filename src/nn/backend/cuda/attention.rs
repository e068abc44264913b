//! Owns multi-head self-attention on a GPU: all heads of all sequences side by side. Must not know where queries, keys and values come from.

use candle_core::cuda_backend::cudarc::driver::DeviceRepr;
use candle_core::{DType, Result, Tensor};

use super::gpu::{gpu, launch, of_kind, place, room, rows_of_blocks, threads};
use super::products::{operand, product, product_into};
use crate::nn::ops::tape::{self, Gradients};
use crate::nn::ops::{Context, Gradient};
use crate::run_config::Precision;

/// `Layout` in `attention.cuh`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Layout {
    sequences: u32,
    tokens: u32,
    parts: u32,
    heads: u32,
    depth: u32,
}

// SAFETY: numbers, laid out as the kernels read them.
unsafe impl DeviceRepr for Layout {}

/// `super::super::attention`.
pub fn attention(qkv: &Tensor, heads: usize, context: Context) -> Result<Tensor> {
    let (sequences, tokens, width) = qkv.dims3()?;
    let [sequences, tokens, heads, depth] = [sequences, tokens, heads, width / (3 * heads)].map(|count| count as u32);
    let attention = Attention { by: Layout { sequences, tokens, parts: 3, heads, depth }, precision: context.precision };
    let split = attention.split(&qkv.contiguous()?, 3)?;
    let scores = product(&split.get(0)?, false, &split.get(1)?, true, context.precision)?;
    let shares = attention.softmax(&scores)?;
    let result = attention.merge(&product(&shares, false, &split.get(2)?, false, context.precision)?, 1)?;
    if context.gradient == Gradient::Kept && tape::leads_back(qkv) {
        tape::note_there(vec![qkv.clone()], &result, move |gradient| {
            let of_qkv = attention.backward(&split, &shares, &gradient.contiguous()?)?;
            Ok(Gradients { inputs: vec![Some(of_qkv)], parameters: Vec::new() })
        });
    }
    Ok(result)
}

#[derive(Clone, Copy)]
struct Attention {
    by: Layout,
    precision: Precision,
}

impl Attention {
    /// What is an operand of products for each head by itself: `[parts, sequences x heads, tokens, depth]`.
    fn split(self, x: &Tensor, parts: u32) -> Result<Tensor> {
        let (by, kind) = (Layout { parts, ..self.by }, operand(self.precision));
        let [sequences, tokens, heads, depth, count] = [by.sequences, by.tokens, by.heads, by.depth, parts].map(|count| count as usize);
        let result = room((count, sequences * heads, tokens, depth), kind, x)?;
        launch!(gpu(x)?, &of_kind("split_heads", kind), threads(x.elem_count()), place(x)?, place(&result)?, by);
        Ok(result)
    }

    /// The way back, to `[sequences, tokens, parts x heads x depth]`.
    fn merge(self, x: &Tensor, parts: u32) -> Result<Tensor> {
        let by = Layout { parts, ..self.by };
        let result = room((by.sequences as usize, by.tokens as usize, (parts * by.heads * by.depth) as usize), DType::F32, x)?;
        launch!(gpu(x)?, "merge_heads", threads(x.elem_count()), place(x)?, place(&result)?, by);
        Ok(result)
    }

    fn scale(self) -> f32 {
        1.0 / (self.by.depth as f32).sqrt()
    }

    /// How much each token attends to each, as an operand of a product.
    fn softmax(self, scores: &Tensor) -> Result<Tensor> {
        let (kind, columns) = (operand(self.precision), self.by.tokens);
        let (shares, rows) = (room(scores.shape(), kind, scores)?, scores.elem_count() as u32 / columns);
        let (kernel, to) = (of_kind("softmax", kind), place(&shares)?);
        launch!(gpu(scores)?, &kernel, rows_of_blocks(rows), place(scores)?, to, rows, columns, self.scale());
        Ok(shares)
    }

    fn backward(self, split: &Tensor, shares: &Tensor, gradient: &Tensor) -> Result<Tensor> {
        let (precision, kind, columns) = (self.precision, operand(self.precision), self.by.tokens);
        let (query, key, value) = (split.get(0)?, split.get(1)?, split.get(2)?);
        let gradient = self.split(gradient, 1)?.get(0)?;
        let of_split = room(split.shape(), DType::F32, split)?;
        product_into(&of_split.get(2)?, shares, true, &gradient, false, precision)?;
        let of_shares = product(&gradient, false, &value, true, precision)?;
        let (of_scores, rows) = (room(shares.shape(), kind, shares)?, shares.elem_count() as u32 / columns);
        let (kernel, from) = (of_kind("softmax_back", kind), (place(&of_shares)?, place(shares)?));
        launch!(gpu(shares)?, &kernel, rows_of_blocks(rows), from.0, from.1, place(&of_scores)?, rows, columns, self.scale());
        product_into(&of_split.get(0)?, &of_scores, false, &key, false, precision)?;
        product_into(&of_split.get(1)?, &of_scores, true, &query, false, precision)?;
        self.merge(&of_split, 3)
    }
}
