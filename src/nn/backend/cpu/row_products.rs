//! The forward product of a linear layer: inner products of rows with rows.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

#[cfg(target_arch = "x86_64")]
use super::microkernels::bf16;
use super::microkernels::dot::{dot_tile, tile_sizes};
use super::target::Target;
use crate::profiler::RecordedIterator;

/// Multiply-adds below which waking another thread costs more than it brings.
pub const WORTH_SHARING: usize = 1 << 20;
/// Rows of the right-hand side that one task takes.
const TASK_ROWS: usize = 48;

/// `out[a][b] = bias[b] + left[a] · right[b]`, or the `ReLU` of that, for rows of `len` numbers.
pub fn rows_times_rows(
    out: &mut [f32],
    left: &[f32],
    right: &[f32],
    bias: Option<&[f32]>,
    len: usize,
    relu: bool,
) {
    let (lefts, rights) = (left.len() / len, right.len() / len);
    assert_eq!(
        (left.len(), right.len(), out.len()),
        (lefts * len, rights * len, lefts * rights),
        "rows of equal length"
    );
    assert!(
        bias.is_none_or(|bias| bias.len() == rights),
        "a number of the bias for every column"
    );
    let target = Target::new(out);
    let task = |rows: Range<usize>| {
        Arch::new().dispatch(Dots {
            target,
            left,
            right,
            bias,
            len,
            relu,
            rows,
        })
    };
    if left.len() * rights < WORTH_SHARING {
        task(0..rights);
    } else {
        share(rights, task);
    }
}

/// `rows_times_rows` with products of bf16 numbers, where `bf16::is_native`.
#[cfg(target_arch = "x86_64")]
pub fn rows_times_rows_bf16(
    out: &mut [f32],
    left: &[f32],
    right: &[f32],
    bias: Option<&[f32]>,
    len: usize,
    relu: bool,
) {
    /// Rows of either side in a tile.
    const HIGH: usize = 4;
    const WIDE: usize = 6;
    assert!(bf16::is_native(), "the CPU's own bf16 products");
    let (lefts, rights) = (left.len() / len, right.len() / len);
    assert_eq!(
        (left.len(), right.len(), out.len()),
        (lefts * len, rights * len, lefts * rights),
        "rows of equal length"
    );
    assert!(
        bias.is_none_or(|bias| bias.len() == rights),
        "a number of the bias for every column"
    );
    let padded = len.next_multiple_of(bf16::STEP);
    let (left, right) = (
        bf16::Numbers::rows(left, len, padded),
        bf16::Numbers::rows(right, len, padded),
    );
    let (left, right) = (left.bits(), right.bits());
    let target = Target::new(out);
    let task = |columns: Range<usize>| {
        let write = |row: usize, column: usize, sum: f32| {
            let sum = sum + bias.map_or(0.0, |bias| bias[column]);
            assert!(row < lefts && column < rights);
            // SAFETY: the number lies in the result, and this task alone has its column.
            unsafe {
                *target.at(row * rights + column) = if relu && sum <= 0.0 { 0.0 } else { sum }
            };
        };
        for column in columns.clone().step_by(WIDE) {
            for row in (0..lefts).step_by(HIGH) {
                if row + HIGH <= lefts && column + WIDE <= columns.end {
                    let (a, b) = (
                        left[row * padded..][..HIGH * padded].as_ptr(),
                        right[column * padded..][..WIDE * padded].as_ptr(),
                    );
                    // SAFETY: that many rows were just taken, and `is_native` was asked above.
                    unsafe {
                        bf16::dot_tile::<HIGH, WIDE>(a, b, padded, |a, b, sum| {
                            write(row + a, column + b, sum)
                        })
                    };
                    continue;
                }
                for column in column..(column + WIDE).min(columns.end) {
                    for row in row..(row + HIGH).min(lefts) {
                        let (a, b) = (
                            left[row * padded..][..padded].as_ptr(),
                            right[column * padded..][..padded].as_ptr(),
                        );
                        // SAFETY: as above.
                        unsafe {
                            bf16::dot_tile::<1, 1>(a, b, padded, |_, _, sum| {
                                write(row, column, sum)
                            })
                        };
                    }
                }
            }
        }
    };
    share(rights, task);
}

/// Has all threads compute this many columns of a result, a few at a time.
fn share(columns: usize, task: impl Fn(Range<usize>) + Send + Sync) {
    let tasks = (0..columns.div_ceil(TASK_ROWS))
        .into_par_iter()
        .with_max_len(1);
    tasks
        .for_each_recorded(|index| task(index * TASK_ROWS..((index + 1) * TASK_ROWS).min(columns)));
}

struct Dots<'a> {
    target: Target,
    left: &'a [f32],
    right: &'a [f32],
    bias: Option<&'a [f32]>,
    len: usize,
    relu: bool,
    /// The rows of `right`, which are the columns of the result.
    rows: Range<usize>,
}

impl WithSimd for Dots<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            target,
            left,
            right,
            bias,
            len,
            relu,
            rows,
        } = self;
        let (lefts, rights) = (left.len() / len, right.len() / len);
        let (high, wide) = tile_sizes(S::F32_LANES);
        let mut column = rows.start;
        while column < rows.end {
            let columns = wide.min(rows.end - column);
            let of_right = right[column * len..(column + columns) * len].as_ptr();
            let mut row = 0;
            while row < lefts {
                let count = high.min(lefts - row);
                let of_left = left[row * len..(row + count) * len].as_ptr();
                let write = |a: usize, b: usize, sum: f32| {
                    let sum = sum + bias.map_or(0.0, |bias| bias[column + b]);
                    // SAFETY: row + a < lefts and column + b < rights, and this task alone has
                    // these columns.
                    unsafe {
                        *target.at((row + a) * rights + column + b) =
                            if relu && sum <= 0.0 { 0.0 } else { sum }
                    };
                };
                // SAFETY: both slices were just taken with that many rows.
                unsafe {
                    dot_tile(
                        simd,
                        (of_left, len),
                        (of_right, len),
                        (count, columns),
                        len,
                        write,
                    )
                };
                row += count;
            }
            column += columns;
        }
    }
}
