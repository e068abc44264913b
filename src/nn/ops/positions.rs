//! Owns learned positional embeddings: what tells a token where it stands. Must not know models.

use candle_core::{CpuStorage, CustomOp2, Layout, Result, Shape, Tensor};
use rayon::prelude::*;

use super::{Context, elsewhere, floats, tape, vectorized, with_floats};
use crate::nn::Parameter;

/// `x + embedding` for every sequence of `x` `[batch, tokens, features]`; `embedding` is `[1, tokens, features]`.
pub fn add_positions(x: &Tensor, embedding: &Parameter, context: Context) -> Result<Tensor> {
    let (_, tokens, features) = x.dims3()?;
    if embedding.tracked().dims() != [1, tokens, features] {
        candle_core::bail!("positions {:?} do not fit {:?}", embedding.tracked().shape(), x.shape());
    }
    if context.is_elsewhere() {
        return elsewhere::add_positions(x, embedding, context);
    }
    let op = AddPositions { embedding: embedding.clone() };
    tape::apply2(x, embedding.tracked(), op, context.gradient)
}

struct AddPositions {
    embedding: Parameter,
}

impl CustomOp2 for AddPositions {
    fn name(&self) -> &'static str {
        "add-positions"
    }

    fn cpu_fwd(&self, x: &CpuStorage, x_layout: &Layout, embedding: &CpuStorage, embedding_layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let embedding = floats(embedding, embedding_layout)?;
        let mut result = floats(x, x_layout)?.to_vec();
        result.par_chunks_mut(embedding.len().max(1)).for_each(|sequence| {
            vectorized!(sequence.iter_mut().zip(embedding).for_each(|(value, place)| *value += place));
        });
        Ok((CpuStorage::F32(result), x_layout.shape().clone()))
    }

    fn bwd(&self, x: &Tensor, _embedding: &Tensor, _result: &Tensor, gradient: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
        with_floats(gradient, |gradient| {
            let mut sums = self.embedding.gradient();
            vectorized!({
                for sequence in gradient.chunks_exact(sums.len().max(1)) {
                    sums.iter_mut().zip(sequence).for_each(|(sum, g)| *sum += g);
                }
            });
            Ok(())
        })?;
        // The embedding's gradient went where `Parameter` gathers it.
        Ok((x.track_op().then(|| gradient.clone()), None))
    }
}
