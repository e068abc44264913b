//! The forward pass of one image: tiles of pixels by panels of outputs.

use pulp::{Arch, Simd, WithSimd};

#[cfg(target_arch = "x86_64")]
use super::super::microkernels::bf16;
use super::super::microkernels::tile::{PIXELS, Start, Tile};
use super::geometry::{Convolution, FIRST_CACHE};

/// A padded image and the weights to convolve it with.
#[derive(Clone, Copy)]
pub enum Operands<'a> {
    /// Of f32 numbers.
    Single {
        /// From `pad`.
        padded: &'a [f32],
        /// From `pack_panels`.
        panels: &'a [f32],
    },
    /// Of bf16 numbers, where `takes_pairs`.
    Pairs {
        /// The bits of what `pad` gives.
        padded: &'a [u16],
        /// From `pair_panels`.
        panels: &'a [u32],
    },
}

impl Convolution {
    /// The result's pixels whose `offsets` are given, `[pixels, padded_outputs]`, of a padded
    /// image; `bias` has `padded_outputs` numbers.
    pub fn forward(&self, operands: Operands<'_>, bias: &[f32], offsets: &[u32], out: &mut [f32]) {
        let (padded, weights) = match operands {
            Operands::Single { padded, panels } => (padded.len(), panels.len()),
            Operands::Pairs { padded, panels } => (padded.len(), 2 * panels.len()),
        };
        assert!(padded >= self.padded_len() && bias.len() == self.padded_outputs());
        assert!(
            out.len() >= offsets.len() * bias.len()
                && weights == bias.len() * self.kernel * self.kernel_row_len()
        );
        assert!(offsets.iter().all(|&offset| offset as usize
            + (self.kernel - 1) * self.padded_row_len()
            + self.kernel_row_len()
            <= padded));
        Arch::new().dispatch(Forward {
            convolution: *self,
            operands,
            bias,
            offsets,
            out,
        });
    }
}

struct Forward<'a> {
    convolution: Convolution,
    operands: Operands<'a>,
    bias: &'a [f32],
    offsets: &'a [u32],
    out: &'a mut [f32],
}

impl WithSimd for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            convolution,
            operands,
            bias,
            offsets,
            out,
        } = self;
        let (run, step, out_stride, kernel) = (
            convolution.kernel_row_len(),
            convolution.padded_row_len(),
            bias.len(),
            convolution.kernel,
        );
        let mut output = 0;
        while output < out_stride {
            let panel = (out_stride - output).min(2 * S::F32_LANES);
            let weights = kernel * run * panel;
            // All of the panel's weights at once while they fit into the first cache, else those of
            // one kernel row after the other.
            let rows = if weights <= FIRST_CACHE { kernel } else { 1 };
            for row in (0..kernel).step_by(rows) {
                let first = output * kernel * run + row * run * panel;
                let mut pixel = 0;
                for offsets in offsets.chunks(PIXELS) {
                    let count = offsets.len();
                    // Pixels past the end repeat the last; they are not computed.
                    let starts: [usize; PIXELS] = std::array::from_fn(|index| {
                        offsets[index.min(count - 1)] as usize + row * step
                    });
                    let out = out[pixel * out_stride + output
                        ..(pixel + count - 1) * out_stride + output + panel]
                        .as_mut_ptr();
                    let start = if row == 0 {
                        Start::Bias(bias[output..output + panel].as_ptr())
                    } else {
                        Start::Result
                    };
                    match operands {
                        Operands::Single { padded, panels } => {
                            let panels = panels[first..first + rows * run * panel].as_ptr();
                            let tile = Tile {
                                rows,
                                stride: step,
                                run,
                                step: 1,
                                panel: panels,
                                panel_stride: panel,
                                out,
                                out_stride,
                                start,
                            };
                            let pixels = starts.map(|start| padded[start..].as_ptr());
                            // SAFETY: `forward` checked that every offset has its kernel rows in
                            // the image; weights, bias and results are the slices just taken, and
                            // the results are this call's alone.
                            unsafe { tile.compute(simd, &pixels, count, panel / S::F32_LANES) };
                        }
                        #[cfg(target_arch = "x86_64")]
                        Operands::Pairs { padded, panels } => {
                            let panels = panels[first / 2..][..rows * run / 2 * panel].as_ptr();
                            let tile = bf16::PairTile {
                                rows,
                                stride: step,
                                run,
                                panel: panels,
                                out,
                                out_stride,
                                start,
                            };
                            let pixels = starts.map(|start| padded[start..].as_ptr());
                            // SAFETY: as above; and pairs are only made where `bf16::is_native`.
                            unsafe { tile.compute(&pixels, count, panel / S::F32_LANES) };
                        }
                        #[cfg(not(target_arch = "x86_64"))]
                        Operands::Pairs { .. } => {
                            unreachable!("pairs are only made where bf16 is native")
                        }
                    }
                    pixel += count;
                }
            }
            output += panel;
        }
    }
}
