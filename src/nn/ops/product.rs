//! Owns the two products of a fully connected layer: rows times rows (forward), and a matrix of mostly zeros times rows
//! (its gradients). Must not know tensors or layers.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::kernels::accumulate::{Reach, Rows, Term, VECTORS, accumulate};
use super::kernels::dot::{dot_tile, tile_sizes};
use super::kernels::{lanes, with_buffer};

/// Multiply-adds below which waking another thread costs more than it brings.
const WORTH_SHARING: usize = 1 << 20;
/// Rows of the right-hand side that one task of `rows_times_rows` takes.
const TASK_ROWS: usize = 48;
/// Numbers of the right-hand side that are walked over and over, and so are kept in the first cache.
const FIRST_CACHE: usize = 10 << 10;

/// `out[a][b] = bias[b] + left[a] · right[b]`, or the `ReLU` of that, for rows of `len` numbers.
pub fn rows_times_rows(out: &mut [f32], left: &[f32], right: &[f32], bias: Option<&[f32]>, len: usize, relu: bool) {
    let (lefts, rights) = (left.len() / len, right.len() / len);
    assert_eq!((left.len(), right.len(), out.len()), (lefts * len, rights * len, lefts * rights), "rows of equal length");
    assert!(bias.is_none_or(|bias| bias.len() == rights), "a number of the bias for every column");
    let target = Target(out.as_mut_ptr());
    let task = |rows: Range<usize>| Arch::new().dispatch(Dots { target, left, right, bias, len, relu, rows });
    if left.len() * rights < WORTH_SHARING {
        task(0..rights);
    } else {
        (0..rights.div_ceil(TASK_ROWS)).into_par_iter().for_each(|index| task(index * TASK_ROWS..((index + 1) * TASK_ROWS).min(rights)));
    }
}

/// The start of a result that several tasks write disjoint parts of.
#[derive(Clone, Copy)]
struct Target(*mut f32);

// SAFETY: only written through by tasks that each have columns of their own.
unsafe impl Send for Target {}
// SAFETY: as above.
unsafe impl Sync for Target {}

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
        let Self { target, left, right, bias, len, relu, rows } = self;
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
                    // SAFETY: row + a < lefts and column + b < rights, and this task alone has these columns.
                    unsafe { *target.0.add((row + a) * rights + column + b) = if relu && sum <= 0.0 { 0.0 } else { sum } };
                };
                // SAFETY: both slices were just taken with that many rows.
                unsafe { dot_tile(simd, (of_left, len), (of_right, len), (count, columns), len, write) };
                row += count;
            }
            column += columns;
        }
    }
}

/// A matrix as lists of what is not zero in each row, cut into blocks of columns.
pub struct Sparse {
    rows: usize,
    cols: usize,
    block: usize,
    /// `[rows, cols]`: a row's terms stand where its block of columns starts; offsets are columns within the block.
    terms: Vec<Term>,
    /// `[rows, blocks]`.
    counts: Vec<u32>,
}

impl Sparse {
    /// The lists of `matrix`, `[rows, cols]`, for a product with rows of `len` numbers.
    pub fn new(matrix: &[f32], cols: usize, len: usize) -> Self {
        Self::build(matrix.len() / cols.max(1), cols, len, |row, col| matrix[row * cols + col])
    }

    /// The lists of the transpose of `matrix`, `[cols, rows]`.
    pub fn transposed(matrix: &[f32], rows: usize, len: usize) -> Self {
        Self::build(rows, matrix.len() / rows.max(1), len, |row, col| matrix[col * rows + row])
    }

    fn build(rows: usize, cols: usize, len: usize, value: impl Fn(usize, usize) -> f32 + Sync) -> Self {
        let (_, width) = widths(len);
        let block = (FIRST_CACHE / width.max(1)).clamp(8, 256);
        let blocks = cols.div_ceil(block);
        let mut terms = vec![Term::default(); rows * cols];
        let mut counts = vec![0; rows * blocks];
        terms.par_chunks_mut(cols.max(1)).with_min_len(16).zip(counts.par_chunks_mut(blocks.max(1))).enumerate().for_each(
            |(row, (terms, counts))| {
                for (block_index, (terms, total)) in terms.chunks_mut(block).zip(counts).enumerate() {
                    let mut count = 0;
                    for offset in 0..terms.len() {
                        let value = value(row, block_index * block + offset);
                        // Written in any case and counted when it matters: cheaper than a branch that cannot be foretold.
                        terms[count] = Term { offset: (offset * width) as u32, value };
                        count += usize::from(value != 0.0);
                    }
                    *total = count as u32;
                }
            },
        );
        Self { rows, cols, block, terms, counts }
    }

    /// `out += self dense`, or `out = self dense`, where `dense` has `cols` rows of `len` numbers.
    pub fn times(&self, dense: &[f32], len: usize, out: &mut [f32], add: bool) {
        assert_eq!((dense.len(), out.len()), (self.cols * len, self.rows * len), "the sizes of a product must agree");
        let (chunks, width) = widths(len);
        let target = Target(out.as_mut_ptr());
        let task = |chunk: usize| {
            let columns = (chunk * width).min(len)..((chunk + 1) * width).min(len);
            with_buffer(self.rows * width, |sums| {
                with_buffer(self.block * width, |block| {
                    sums.fill(0.0);
                    Arch::new().dispatch(Products { sparse: self, dense, len, width, columns: columns.clone(), block, sums });
                });
                for (row, sums) in sums.chunks_exact(width).enumerate() {
                    // SAFETY: the columns lie below `len` in each of the result's rows, and this task alone has them.
                    let out = unsafe { std::slice::from_raw_parts_mut(target.at(row * len + columns.start), columns.len()) };
                    for (out, &sum) in out.iter_mut().zip(sums) {
                        *out = if add { *out + sum } else { sum };
                    }
                }
            });
        };
        if self.rows * self.cols * len < WORTH_SHARING {
            (0..chunks).for_each(task);
        } else {
            (0..chunks).into_par_iter().for_each(task);
        }
    }
}

impl Target {
    /// # Safety
    ///
    /// `index` must lie in the result.
    const unsafe fn at(self, index: usize) -> *mut f32 {
        // SAFETY: the caller's promise.
        unsafe { self.0.add(index) }
    }
}

/// How many chunks rows of `len` numbers are summed in, and how many numbers, in whole vectors, a chunk has.
fn widths(len: usize) -> (usize, usize) {
    let vectors = len.div_ceil(lanes()).max(1);
    // At least a few chunks, so that there is one for every thread.
    let chunks = vectors.div_ceil(VECTORS).max(vectors.min(4));
    let width = vectors.div_ceil(chunks);
    (vectors.div_ceil(width), width * lanes())
}

struct Products<'a, 'b> {
    sparse: &'a Sparse,
    dense: &'a [f32],
    len: usize,
    width: usize,
    columns: Range<usize>,
    block: &'b mut [f32],
    sums: &'b mut [f32],
}

impl WithSimd for Products<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { sparse, dense, len, width, columns, block, sums } = self;
        let blocks = sparse.cols.div_ceil(sparse.block.max(1));
        for index in 0..blocks {
            let first = index * sparse.block;
            let count = sparse.block.min(sparse.cols - first);
            // Side by side, the rows' parts neither compete for the same places of the cache nor end in another's.
            for (to, from) in block.chunks_exact_mut(width).zip(dense.chunks_exact(len).skip(first).take(count)) {
                let (used, rest) = to.split_at_mut(columns.len());
                used.copy_from_slice(&from[columns.clone()]);
                rest.fill(0.0);
            }
            for (row, sums) in sums.chunks_exact_mut(width).enumerate() {
                let terms = &sparse.terms[row * sparse.cols + first..][..sparse.counts[row * blocks + index] as usize];
                let (from, to) = (Rows { start: block.as_ptr(), stride: 0 }, Rows { start: sums.as_mut_ptr(), stride: 0 });
                // SAFETY: a term's offset is that of one of the block's rows of `width` numbers, as `sums` is one.
                unsafe { accumulate(simd, terms, from, to, 1, width / S::F32_LANES, Reach::Short) };
            }
        }
    }
}
