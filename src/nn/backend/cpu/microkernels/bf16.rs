//! Products of bfloat16 numbers by the CPU's own instruction for them (AVX-512 BF16): two products
//! and two sums a lane. On other CPUs operands are rounded to bf16 and multiplied as f32, which
//! gives the same products but is no faster than f32.

#[cfg(target_arch = "x86_64")]
use rayon::prelude::*;

#[cfg(target_arch = "x86_64")]
use super::Buffer;
#[cfg(target_arch = "x86_64")]
use crate::nn::backend::cpu::{matrix::bf16_bits, vectorized};
#[cfg(target_arch = "x86_64")]
use crate::profiler::RecordedIterator;

/// Numbers that one instruction takes of each row.
#[cfg(target_arch = "x86_64")]
pub const STEP: usize = 32;

/// Whether this CPU multiplies bf16 numbers by itself.
pub fn is_native() -> bool {
    #[cfg(target_arch = "x86_64")]
    return super::lanes() == 16
        && std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512bf16");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

/// The bits of a number that was rounded to bf16 already.
#[inline(always)]
pub const fn bits_of(rounded: f32) -> u16 {
    (rounded.to_bits() >> 16) as u16
}

/// bf16 numbers that start at a cache line.
#[cfg(target_arch = "x86_64")]
pub struct AlignedBf16(Buffer);

#[cfg(target_arch = "x86_64")]
impl AlignedBf16 {
    pub fn zeros(len: usize) -> Self {
        Self(Buffer::zeros(len.div_ceil(2)))
    }

    /// Rows of `len` numbers, rounded, each filled up to `padded` with zeros.
    pub fn rows(values: &[f32], len: usize, padded: usize) -> Self {
        let mut numbers = Self::zeros(values.len() / len * padded);
        numbers
            .bits_mut()
            .par_chunks_mut(padded)
            .zip(values.par_chunks(len))
            .for_each_recorded(|(to, from)| {
                vectorized!(
                    to.iter_mut()
                        .zip(from)
                        .for_each(|(to, &from)| *to = bf16_bits(from))
                );
            });
        numbers
    }

    pub fn bits(&self) -> &[u16] {
        pulp::bytemuck::cast_slice(&self.0)
    }

    fn bits_mut(&mut self) -> &mut [u16] {
        pulp::bytemuck::cast_slice_mut(&mut self.0)
    }
}

#[cfg(target_arch = "x86_64")]
pub use native::{PairTile, dot_tile};

#[cfg(target_arch = "x86_64")]
mod native {
    use std::arch::x86_64::{
        __m512, __m512bh, __m512i, _mm512_dpbf16_ps, _mm512_loadu_ps, _mm512_loadu_si512,
        _mm512_reduce_add_ps, _mm512_set1_epi32, _mm512_setzero_ps, _mm512_storeu_ps,
    };

    use super::STEP;
    use crate::nn::backend::cpu::microkernels::tiles::{InitialSums, dispatch_size};

    /// Numbers in a vector of sums.
    const LANES: usize = 16;

    #[inline]
    #[target_feature(enable = "avx512f,avx512bf16")]
    fn multiply_add(sum: __m512, a: __m512i, b: __m512i) -> __m512 {
        // SAFETY: the two types are the same 512 bits.
        let (a, b) = unsafe {
            (
                std::mem::transmute::<__m512i, __m512bh>(a),
                std::mem::transmute::<__m512i, __m512bh>(b),
            )
        };
        _mm512_dpbf16_ps(sum, a, b)
    }

    /// A `Tile` of bf16 numbers: weights are `[rows][run / 2][panel]` pairs, the first number of
    /// each in the lower half.
    #[derive(Clone, Copy)]
    pub struct PairTile {
        pub pixels: *const u16,
        /// Numbers from one pixel to the next.
        pub pitch: usize,
        pub rows: usize,
        /// Numbers from one run to the next.
        pub stride: usize,
        /// Numbers in a run; even.
        pub run: usize,
        pub panel: *const u32,
        /// The result of the first pixel.
        pub out: *mut f32,
        /// From one pixel's result to the next's.
        pub out_stride: usize,
        pub start: InitialSums,
    }

    impl PairTile {
        /// Computes the tile of `count` pixels (at most `pixels_per_tile`) with a panel of `vectors` (1 or
        /// 2) vectors.
        ///
        /// # Safety
        ///
        /// As for `Tile::compute`; and the CPU must have AVX-512 BF16.
        pub unsafe fn compute(self, count: usize, vectors: usize) {
            macro_rules! sized {
                ($pixels:literal, $vectors:literal) => {
                    // SAFETY: the caller's promise.
                    unsafe { self.sized::<$pixels, $vectors>() }
                };
            }
            dispatch_size!(vectors, count, sized);
        }

        #[target_feature(enable = "avx512f,avx512bf16")]
        unsafe fn sized<const COUNT: usize, const VECTORS: usize>(self) {
            let mut sums = [[_mm512_setzero_ps(); VECTORS]; COUNT];
            // SAFETY: every offset is below the sizes promised for it.
            unsafe {
                for (pixel, sums) in sums.iter_mut().enumerate() {
                    for (vector, sum) in sums.iter_mut().enumerate() {
                        *sum = match self.start {
                            InitialSums::Bias(bias) => _mm512_loadu_ps(bias.add(vector * LANES)),
                            InitialSums::Result => _mm512_loadu_ps(
                                self.out.add(pixel * self.out_stride + vector * LANES),
                            ),
                        };
                    }
                }
                let mut panel = self.panel;
                for row in 0..self.rows {
                    let mut pixels = self.pixels.add(row * self.stride);
                    for _ in 0..self.run / 2 {
                        let mut weights = [_mm512_set1_epi32(0); VECTORS];
                        for (vector, weights) in weights.iter_mut().enumerate() {
                            *weights = _mm512_loadu_si512(panel.add(vector * LANES).cast());
                        }
                        panel = panel.add(VECTORS * LANES);
                        for (pixel, sums) in sums.iter_mut().enumerate() {
                            let value = _mm512_set1_epi32(i32::from_ne_bytes(
                                pixels.add(pixel * self.pitch).cast::<[u8; 4]>().read(),
                            ));
                            for (sum, weights) in sums.iter_mut().zip(weights) {
                                *sum = multiply_add(*sum, value, weights);
                            }
                        }
                        pixels = pixels.wrapping_add(2);
                    }
                }
                for (pixel, sums) in sums.into_iter().enumerate() {
                    for (vector, sum) in sums.into_iter().enumerate() {
                        _mm512_storeu_ps(
                            self.out.add(pixel * self.out_stride + vector * LANES),
                            sum,
                        );
                    }
                }
            }
        }
    }

    /// `out(a, b, left[a] · right[b])` for `A` x `B` rows of `len` numbers (a multiple of `STEP`),
    /// one right after the other.
    ///
    /// # Safety
    ///
    /// That many rows must be readable, and the CPU must have AVX-512 BF16.
    #[target_feature(enable = "avx512f,avx512bf16")]
    pub unsafe fn dot_tile<const A: usize, const B: usize>(
        left: *const u16,
        right: *const u16,
        len: usize,
        mut out: impl FnMut(usize, usize, f32),
    ) {
        let mut sums = [[_mm512_setzero_ps(); A]; B];
        // SAFETY: every offset is below `len` in a row promised.
        unsafe {
            for index in (0..len).step_by(STEP) {
                let mut values = [_mm512_set1_epi32(0); A];
                for (a, value) in values.iter_mut().enumerate() {
                    *value = _mm512_loadu_si512(left.add(a * len + index).cast());
                }
                for (b, sums) in sums.iter_mut().enumerate() {
                    let weights = _mm512_loadu_si512(right.add(b * len + index).cast());
                    for (sum, value) in sums.iter_mut().zip(values) {
                        *sum = multiply_add(*sum, value, weights);
                    }
                }
            }
        }
        for (b, sums) in sums.into_iter().enumerate() {
            for (a, sum) in sums.into_iter().enumerate() {
                out(a, b, _mm512_reduce_add_ps(sum));
            }
        }
    }
}
