//! Tiles of inner products between the rows of two matrices.

use pulp::Simd;

use super::load;

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
