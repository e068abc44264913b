//! Owns layer normalisation on a GPU, and positions added to tokens. Must not know models.

use candle_core::{DType, Result, Tensor};

use super::gpu::{gpu, launch, place, room, rows_of_blocks, threads};
use super::products::column_sums;
use super::stripes::Stripes;
use crate::nn::Parameter;
use crate::nn::ops::layer_norm::EPSILON;
use crate::nn::ops::tape::{self, Gradients};
use crate::nn::ops::{Context, Gradient};

/// `super::super::layer_norm`.
pub fn layer_norm(x: &Tensor, weight: &Parameter, bias: &Parameter, context: Context) -> Result<Tensor> {
    let (rows, features) = (x.contiguous()?, weight.len());
    let (count, wide) = ((x.elem_count() / features) as u32, features as u32);
    let (result, statistics) = (room(x.shape(), DType::F32, x)?, room((count as usize, 2), DType::F32, x)?);
    let (from, learned) = (place(&rows)?, (place(&weight.tensor())?, place(&bias.tensor())?));
    let (blocks, to) = (rows_of_blocks(count), (place(&result)?, place(&statistics)?));
    launch!(gpu(x)?, "layer_norm", blocks, from, learned.0, learned.1, to.0, to.1, count, wide, EPSILON);
    if context.gradient == Gradient::Kept {
        let (of_x, weight, bias) = (tape::leads_back(x), weight.clone(), bias.clone());
        tape::note_there(vec![x.clone()], &result, move |gradient| {
            let gradient = gradient.contiguous()?;
            let from = (place(&rows)?, place(&statistics)?, place(&gradient)?);
            let gpu = gpu(&rows)?;
            let stripes = Stripes { rows: count as usize, channels: features };
            let [of_bias, of_weight] = stripes.two_sums(&rows, |sums, products| {
                launch!(gpu, "layer_norm_sums", stripes.blocks(), from.0, from.1, from.2, sums, products, count, wide);
                Ok(())
            })?;
            let of_x = if of_x {
                let (of_x, learned) = (room(rows.shape(), DType::F32, &rows)?, place(&weight.tensor())?);
                launch!(gpu, "layer_norm_back", blocks, from.0, from.1, learned, from.2, place(&of_x)?, count, wide);
                Some(of_x)
            } else {
                None
            };
            Ok(Gradients { inputs: vec![of_x], parameters: vec![(weight, of_weight), (bias, of_bias)] })
        });
    }
    Ok(result)
}

/// `super::super::add_positions`.
pub fn add_positions(x: &Tensor, embedding: &Parameter, context: Context) -> Result<Tensor> {
    let (sequences, count, length) = (x.contiguous()?, x.elem_count(), embedding.len());
    let result = room(x.shape(), DType::F32, x)?;
    let from = (place(&sequences)?, place(&embedding.tensor())?);
    launch!(gpu(x)?, "add_positions", threads(count), from.0, from.1, place(&result)?, count as u32, length as u32);
    if context.gradient == Gradient::Kept {
        let (of_x, embedding) = (tape::leads_back(x), embedding.clone());
        tape::note_there(vec![x.clone()], &result, move |gradient| {
            let gradient = gradient.contiguous()?;
            let of_embedding = column_sums(&gradient.reshape((count / length, length))?)?.reshape(embedding.tensor().shape())?;
            Ok(Gradients { inputs: vec![of_x.then(|| gradient.clone())], parameters: vec![(embedding, of_embedding)] })
        });
    }
    Ok(result)
}
