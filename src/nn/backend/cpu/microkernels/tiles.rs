//! Dense tiles: of a convolution, a few pixels by a panel of outputs, and of inner products between the
//! rows of two matrices; all sums in registers.

use pulp::{Simd, WithSimd};

use super::{accumulators, load, store};

/// Pixels in each tile of a row of `row` pixels, if a panel has `vectors` vectors; the last tile may have
/// fewer. At most 14 pixels make enough sums to hide the latency of a multiply-add, and leave registers
/// for the operands; 7, 14 and 28, the widths of MNIST's images and feature maps, are whole tiles.
pub const fn pixels_per_tile(row: usize, lanes: usize, vectors: usize) -> usize {
    let held = accumulators(lanes) / vectors;
    let most = if held < 14 { held } else { 14 };
    if row == 0 {
        1
    } else {
        row.div_ceil(row.div_ceil(most))
    }
}

#[derive(Clone, Copy)]
pub enum InitialSums {
    /// One number per output, as wide as the panel.
    Bias(*const f32),
    /// The initial content of the result.
    Result,
}

/// One tile: `out[p][o] = start + Σ_r Σ_i pixels[p · pitch + r · stride + i · step] · panel[r][i][o]` for
/// `rows` runs of `run` numbers per pixel.
#[derive(Clone, Copy)]
pub struct Tile {
    pub pixels: *const f32,
    /// From one pixel to the next.
    pub pitch: usize,
    pub rows: usize,
    pub stride: usize,
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
    pub start: InitialSums,
}

/// Calls what `sized!` defines for a tile's vectors (1 or 2) and pixels (1 to 14) as constants.
macro_rules! dispatch_size {
    ($vectors:expr, $count:expr, $sized:ident) => {
        dispatch_size!(@ $vectors, $count, $sized, 1 2 3 4 5 6 7 8 9 10 11 12 13 14)
    };
    (@ $vectors:expr, $count:expr, $sized:ident, $($pixels:literal)*) => {
        match ($vectors, $count) {
            $((1, $pixels) => $sized!($pixels, 1), (2, $pixels) => $sized!($pixels, 2),)*
            (vectors, count) => unreachable!("a tile of {count} pixels by {vectors} vectors"),
        }
    };
}
#[cfg(target_arch = "x86_64")]
pub(super) use dispatch_size;

impl Tile {
    /// Computes the tile of `count` pixels (at most `pixels_per_tile`) with a panel of `vectors` (1 or 2)
    /// vectors.
    ///
    /// # Safety
    ///
    /// The runs at each pixel, a panel of weights for each number of them, the bias if any, and a
    /// panel of results for each pixel must be valid, and no one else may use the results
    /// meanwhile.
    #[inline(always)]
    pub unsafe fn compute<S: Simd>(self, simd: S, count: usize, vectors: usize) {
        // A call, since each size in each place it is used would take minutes to compile.
        macro_rules! sized {
            ($pixels:literal, $vectors:literal) => {
                match self.pitch {
                    1 => simd.vectorize(SizedTile::<$pixels, $vectors, 1>(self)),
                    16 => simd.vectorize(SizedTile::<$pixels, $vectors, 16>(self)),
                    32 => simd.vectorize(SizedTile::<$pixels, $vectors, 32>(self)),
                    _ => simd.vectorize(SizedTile::<$pixels, $vectors, ANY>(self)),
                }
            };
        }
        dispatch_size!(vectors, count, sized);
    }
}

/// The `PITCH` of tiles that have it as a variable. As a constant it is part of the instructions;
/// otherwise the addresses of the pixels are added up one after the other, which takes as long as the
/// products with one vector.
const ANY: usize = 0;

/// A tile whose promise was made to `Tile::compute`.
struct SizedTile<const COUNT: usize, const VECTORS: usize, const PITCH: usize>(Tile);

impl<const COUNT: usize, const VECTORS: usize, const PITCH: usize> WithSimd
    for SizedTile<COUNT, VECTORS, PITCH>
{
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self(tile) = self;
        let pitch = if PITCH == ANY { tile.pitch } else { PITCH };
        let lanes = S::F32_LANES;
        let mut sums = [[simd.splat_f32s(0.0); VECTORS]; COUNT];
        // SAFETY: every offset is below the sizes promised for it.
        unsafe {
            for (pixel, sums) in sums.iter_mut().enumerate() {
                for (vector, sum) in sums.iter_mut().enumerate() {
                    *sum = match tile.start {
                        InitialSums::Bias(bias) => load::<S>(bias.add(vector * lanes)),
                        InitialSums::Result => {
                            load::<S>(tile.out.add(pixel * tile.out_stride + vector * lanes))
                        }
                    };
                }
            }
            let mut panel = tile.panel;
            for row in 0..tile.rows {
                let mut pixels = tile.pixels.add(row * tile.stride);
                for _ in 0..tile.run {
                    let mut weights = [simd.splat_f32s(0.0); VECTORS];
                    for (vector, weights) in weights.iter_mut().enumerate() {
                        *weights = load::<S>(panel.add(vector * lanes));
                    }
                    panel = panel.wrapping_add(tile.panel_stride);
                    for (pixel, sums) in sums.iter_mut().enumerate() {
                        let value = simd.splat_f32s(*pixels.add(pixel * pitch));
                        for (sum, weights) in sums.iter_mut().zip(weights) {
                            *sum = simd.mul_add_e_f32s(value, weights, *sum);
                        }
                    }
                    pixels = pixels.wrapping_add(tile.step);
                }
            }
            for (pixel, sums) in sums.into_iter().enumerate() {
                for (vector, sum) in sums.into_iter().enumerate() {
                    store::<S>(tile.out.add(pixel * tile.out_stride + vector * lanes), sum);
                }
            }
        }
    }
}

/// `out[a][b] = Σ_i left[a][i] · right[b][i]` for `count.0` x `count.1` rows (at most `tile_sizes`)
/// of `len` numbers.
///
/// # Safety
///
/// That many rows of `len` numbers, each `stride` after the one before, must be readable at `left`
/// and `right`.
#[inline(always)]
pub unsafe fn dot_tile<S: Simd>(
    simd: S,
    left: (*const f32, usize),
    right: (*const f32, usize),
    count: (usize, usize),
    len: usize,
    mut out: impl FnMut(usize, usize, f32),
) {
    // SAFETY: the caller's promise.
    unsafe {
        if (count.0, count.1) == tile_sizes(S::F32_LANES) {
            if S::F32_LANES == 16 {
                sized::<S, 4, 6>(simd, left, right, len, out);
            } else {
                sized::<S, 3, 4>(simd, left, right, len, out);
            }
        } else {
            for a in 0..count.0 {
                let left = (left.0.add(a * left.1), left.1);
                let mut b = 0;
                while b + 4 <= count.1 {
                    sized::<S, 1, 4>(
                        simd,
                        left,
                        (right.0.add(b * right.1), right.1),
                        len,
                        |_, column, value| out(a, b + column, value),
                    );
                    b += 4;
                }
                while b < count.1 {
                    sized::<S, 1, 1>(
                        simd,
                        left,
                        (right.0.add(b * right.1), right.1),
                        len,
                        |_, _, value| out(a, b, value),
                    );
                    b += 1;
                }
            }
        }
    }
}

/// Rows of the left and of the right matrix in a full tile: as many sums as the registers hold
/// beside their operands.
pub const fn tile_sizes(lanes: usize) -> (usize, usize) {
    if lanes == 16 { (4, 6) } else { (3, 4) }
}

#[inline(always)]
unsafe fn sized<S: Simd, const A: usize, const B: usize>(
    simd: S,
    left: (*const f32, usize),
    right: (*const f32, usize),
    len: usize,
    mut out: impl FnMut(usize, usize, f32),
) {
    let lanes = S::F32_LANES;
    let whole = len / lanes * lanes;
    let mut sums = [[simd.splat_f32s(0.0); A]; B];
    // SAFETY: every offset is below `len` in a row promised.
    unsafe {
        let mut index = 0;
        while index < whole {
            let mut values = [simd.splat_f32s(0.0); A];
            for (a, value) in values.iter_mut().enumerate() {
                *value = load::<S>(left.0.add(a * left.1 + index));
            }
            for (b, sums) in sums.iter_mut().enumerate() {
                let weights = load::<S>(right.0.add(b * right.1 + index));
                for (sum, value) in sums.iter_mut().zip(values) {
                    *sum = simd.mul_add_e_f32s(value, weights, *sum);
                }
            }
            index += lanes;
        }
        for (b, sums) in sums.into_iter().enumerate() {
            for (a, sum) in sums.into_iter().enumerate() {
                let mut total = simd.reduce_sum_f32s(sum);
                for index in whole..len {
                    total += *left.0.add(a * left.1 + index) * *right.0.add(b * right.1 + index);
                }
                out(a, b, total);
            }
        }
    }
}
