//! Owns the average over all places of a picture, or over all tokens of a sequence. Must not know models.

use candle_core::{CpuStorage, CustomOp1, Device, Layout, Result, Shape, Tensor};
use rayon::prelude::*;

use super::{Context, elsewhere, floats, tape, vectorized, with_floats};

/// The mean over everything between batch and channels: `[batch, …, channels]` to `[batch, channels]`.
pub fn global_average_pool(x: &Tensor, context: Context) -> Result<Tensor> {
    let [batch, between @ .., channels] = x.dims() else { candle_core::bail!("no places to average over in {:?}", x.shape()) };
    if context.is_elsewhere() {
        return elsewhere::global_average_pool(x, context);
    }
    let op = GlobalAverage { batch: *batch, places: between.iter().product(), channels: *channels };
    tape::apply1(x, op, context.gradient)
}

struct GlobalAverage {
    batch: usize,
    places: usize,
    channels: usize,
}

impl GlobalAverage {
    const fn picture_len(&self) -> usize {
        self.places * self.channels
    }

    /// What each place counts for.
    fn share(&self) -> f32 {
        1.0 / self.places as f32
    }
}

impl CustomOp1 for GlobalAverage {
    fn name(&self) -> &'static str {
        "global-average-pool"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let mut means = vec![0.0_f32; self.batch * self.channels];
        let pictures = floats(x, layout)?.par_chunks(self.picture_len()).zip(means.par_chunks_mut(self.channels));
        pictures.for_each(|(picture, means)| {
            vectorized!({
                for pixel in picture.chunks_exact(self.channels) {
                    means.iter_mut().zip(pixel).for_each(|(sum, value)| *sum += value);
                }
                for sum in means {
                    *sum *= self.share();
                }
            });
        });
        Ok((CpuStorage::F32(means), (self.batch, self.channels).into()))
    }

    fn bwd(&self, x: &Tensor, _result: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        let mut values = vec![0.0; x.elem_count()];
        with_floats(gradient, |gradient| {
            let pictures = values.par_chunks_mut(self.picture_len()).zip(gradient.par_chunks(self.channels));
            pictures.for_each(|(picture, gradient)| {
                vectorized!({
                    for pixel in picture.chunks_exact_mut(self.channels) {
                        pixel.iter_mut().zip(gradient).for_each(|(value, g)| *value = self.share() * g);
                    }
                });
            });
            Ok(())
        })?;
        Tensor::from_vec(values, x.shape(), &Device::Cpu).map(Some)
    }
}
