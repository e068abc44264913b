//! The dense tile of a convolution: a few pixels by a panel of outputs, all sums in registers.

use pulp::Simd;

use super::{load, store};

/// Pixels of a full tile: with two vectors of outputs each, twelve sums, which hides the latency of
/// a multiply-add on every CPU and leaves AVX2's sixteen registers room for the operands.
pub const PIXELS: usize = 6;

/// Where a tile's sums start from.
#[derive(Clone, Copy)]
pub enum Start {
    /// One number per output, as wide as the panel.
    Bias(*const f32),
    /// What the result holds already.
    Result,
}

/// One tile: `out[p][o] = start + Σ_r Σ_i pixels[p][r · stride + i · step] · panel[r][i][o]` for
/// `rows` runs of `run` numbers per pixel.
#[derive(Clone, Copy)]
pub struct Tile {
    /// Runs per pixel.
    pub rows: usize,
    /// From one run to the next.
    pub stride: usize,
    /// Numbers in a run.
    pub run: usize,
    /// From one number of a run to the next.
    pub step: usize,
    /// Weights `[rows][run][panel]`.
    pub panel: *const f32,
    /// From one number's panel of weights to the next's.
    pub panel_stride: usize,
    /// The result of the first pixel.
    pub out: *mut f32,
    /// From one pixel's result to the next's.
    pub out_stride: usize,
    /// Where the sums start from.
    pub start: Start,
}

impl Tile {
    /// Computes the tile of these pixels (at most `PIXELS`) with a panel of `vectors` (1 or 2)
    /// vectors.
    ///
    /// # Safety
    ///
    /// The runs at each pixel, a panel of weights for each number of them, the bias if any, and a
    /// panel of results for each pixel must be valid, and no one else may use the results
    /// meanwhile.
    #[inline(always)]
    pub unsafe fn compute<S: Simd>(
        self,
        simd: S,
        pixels: &[*const f32; PIXELS],
        count: usize,
        vectors: usize,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            match (vectors, count) {
                (2, 6) => self.sized::<S, 6, 2>(simd, pixels),
                (2, 5) => self.sized::<S, 5, 2>(simd, pixels),
                (2, 4) => self.sized::<S, 4, 2>(simd, pixels),
                (2, 3) => self.sized::<S, 3, 2>(simd, pixels),
                (2, 2) => self.sized::<S, 2, 2>(simd, pixels),
                (2, _) => self.sized::<S, 1, 2>(simd, pixels),
                (_, 6) => self.sized::<S, 6, 1>(simd, pixels),
                (_, 5) => self.sized::<S, 5, 1>(simd, pixels),
                (_, 4) => self.sized::<S, 4, 1>(simd, pixels),
                (_, 3) => self.sized::<S, 3, 1>(simd, pixels),
                (_, 2) => self.sized::<S, 2, 1>(simd, pixels),
                _ => self.sized::<S, 1, 1>(simd, pixels),
            }
        }
    }

    #[inline(always)]
    unsafe fn sized<S: Simd, const COUNT: usize, const VECTORS: usize>(
        self,
        simd: S,
        pixels: &[*const f32; PIXELS],
    ) {
        let lanes = S::F32_LANES;
        let mut sums = [[simd.splat_f32s(0.0); VECTORS]; COUNT];
        // SAFETY: every offset is below the sizes promised for it.
        unsafe {
            for (pixel, sums) in sums.iter_mut().enumerate() {
                for (vector, sum) in sums.iter_mut().enumerate() {
                    *sum = match self.start {
                        Start::Bias(bias) => load::<S>(bias.add(vector * lanes)),
                        Start::Result => {
                            load::<S>(self.out.add(pixel * self.out_stride + vector * lanes))
                        }
                    };
                }
            }
            let mut panel = self.panel;
            for row in 0..self.rows {
                let pixels = pixels.map(|pixel| pixel.wrapping_add(row * self.stride));
                for index in 0..self.run {
                    let at = index * self.step;
                    let mut weights = [simd.splat_f32s(0.0); VECTORS];
                    for (vector, weights) in weights.iter_mut().enumerate() {
                        *weights = load::<S>(panel.add(vector * lanes));
                    }
                    panel = panel.wrapping_add(self.panel_stride);
                    for (pixel, sums) in pixels.iter().zip(&mut sums) {
                        let value = simd.splat_f32s(*pixel.add(at));
                        for (sum, weights) in sums.iter_mut().zip(weights) {
                            *sum = simd.mul_add_e_f32s(value, weights, *sum);
                        }
                    }
                }
            }
            for (pixel, sums) in sums.into_iter().enumerate() {
                for (vector, sum) in sums.into_iter().enumerate() {
                    store::<S>(self.out.add(pixel * self.out_stride + vector * lanes), sum);
                }
            }
        }
    }
}
