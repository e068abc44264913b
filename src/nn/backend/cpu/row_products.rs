//! The products of linear layers: inner products of rows with rows (forward), and a matrix of
//! mostly zeros times rows (gradients).

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::microkernels::accumulate::{Parts, RegisterBlocking, Rows, Term, VECTORS, accumulate};
#[cfg(target_arch = "x86_64")]
use super::microkernels::bf16;
use super::microkernels::tiles::{dot_tile, tile_sizes};
use super::microkernels::{Scratch, lanes};
use super::vectorized;
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
        });
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
    let left = bf16::AlignedBf16::rows(left, len, padded);
    let right = bf16::AlignedBf16::rows(right, len, padded);
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
                    let a = left[row * padded..][..HIGH * padded].as_ptr();
                    let b = right[column * padded..][..WIDE * padded].as_ptr();
                    // SAFETY: that many rows were just taken, and `is_native` was asked above.
                    unsafe {
                        bf16::dot_tile::<HIGH, WIDE>(a, b, padded, |a, b, sum| {
                            write(row + a, column + b, sum);
                        });
                    };
                    continue;
                }
                for column in column..(column + WIDE).min(columns.end) {
                    for row in row..(row + HIGH).min(lefts) {
                        let a = left[row * padded..][..padded].as_ptr();
                        let b = right[column * padded..][..padded].as_ptr();
                        // SAFETY: as above.
                        unsafe {
                            bf16::dot_tile::<1, 1>(a, b, padded, |_, _, sum| {
                                write(row, column, sum);
                            });
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
                    );
                };
                row += count;
            }
            column += columns;
        }
    }
}

/// Rows of a sparse matrix that one task takes: so many that copying the other matrix close to them
/// costs little.
const LISTS: usize = 512;
/// Elements of the right-hand side that are gone through over and over, and so are kept in the
/// first-level cache.
const FIRST_CACHE: usize = 10 << 10;

/// A matrix as lists of what is not zero in each row, cut into blocks of columns.
pub struct SparseMatrix {
    rows: usize,
    cols: usize,
    block: usize,
    /// `[rows, cols]`: a row's terms stand where its block of columns starts; offsets are columns
    /// within the block.
    terms: Scratch<Term>,
    /// `[rows, blocks]`.
    counts: Vec<u32>,
}

impl SparseMatrix {
    /// The lists of `matrix`, `[rows, cols]`, for a product with rows of `len` numbers.
    pub fn new(matrix: &[f32], cols: usize, len: usize) -> Self {
        let mut sparse = Self::empty(matrix.len() / cols.max(1), cols, len);
        let (block, width) = (sparse.block, widths(len).1);
        sparse
            .rows_mut()
            .zip(matrix.par_chunks(cols.max(1)))
            .for_each_recorded(|((terms, counts), row)| {
                for ((terms, row), count) in
                    terms.chunks_mut(block).zip(row.chunks(block)).zip(counts)
                {
                    for (offset, &value) in row.iter().enumerate() {
                        push(terms, count, offset * width, value);
                    }
                }
            });
        sparse
    }

    /// The lists of the transpose of `matrix`, `[cols, rows]`.
    pub fn transposed(matrix: &[f32], rows: usize, len: usize) -> Self {
        /// Rows whose lists are written side by side: those of a cache line of the matrix.
        const ABREAST: usize = 16;
        let mut sparse = Self::empty(rows, matrix.len() / rows.max(1), len);
        let (cols, block, width) = (sparse.cols, sparse.block, widths(len).1);
        let blocks = cols.div_ceil(block);
        let lists = sparse
            .terms
            .par_chunks_mut(ABREAST * cols.max(1))
            .zip(sparse.counts.par_chunks_mut(ABREAST * blocks.max(1)));
        lists
            .enumerate()
            .for_each_recorded(|(part, (terms, counts))| {
                let part = part * ABREAST..((part + 1) * ABREAST).min(rows);
                for (col, values) in matrix.chunks_exact(rows).enumerate() {
                    let (block_index, offset) = (col / block, col % block);
                    for (row, &value) in values[part.clone()].iter().enumerate() {
                        let terms = &mut terms[row * cols + block_index * block..(row + 1) * cols];
                        push(
                            terms,
                            &mut counts[row * blocks + block_index],
                            offset * width,
                            value,
                        );
                    }
                }
            });
        sparse
    }

    fn empty(rows: usize, cols: usize, len: usize) -> Self {
        let block = (FIRST_CACHE / widths(len).1.max(1)).clamp(8, 256);
        Self {
            rows,
            cols,
            block,
            terms: Scratch::new(rows * cols),
            counts: vec![0; rows * cols.div_ceil(block)],
        }
    }

    fn rows_mut(&mut self) -> impl IndexedParallelIterator<Item = (&mut [Term], &mut [u32])> {
        let blocks = self.cols.div_ceil(self.block);
        self.terms
            .par_chunks_mut(self.cols.max(1))
            .with_min_len(16)
            .zip(self.counts.par_chunks_mut(blocks.max(1)))
    }

    /// `out += self dense`, or `out = self dense`, where `dense` has `cols` rows of `len` numbers.
    pub fn times(&self, dense: &[f32], len: usize, out: &mut [f32], add: bool) {
        assert_eq!(
            (dense.len(), out.len()),
            (self.cols * len, self.rows * len),
            "the sizes of a product must agree"
        );
        let (chunks, width) = widths(len);
        let target = Target::new(out);
        let task = |task: usize| {
            let (chunk, first) = (task % chunks, task / chunks * LISTS);
            let columns = (chunk * width).min(len)..((chunk + 1) * width).min(len);
            let rows = first..(first + LISTS).min(self.rows);
            let mut sums = Scratch::zeros(rows.len() * width);
            let mut block = Scratch::new(self.block * width);
            Arch::new().dispatch(Products {
                sparse: self,
                dense,
                len,
                width,
                rows: rows.clone(),
                columns: columns.clone(),
                block: &mut block,
                sums: &mut sums,
            });
            for (row, sums) in rows.zip(sums.chunks_exact(width)) {
                // SAFETY: the columns lie below `len` in each of the result's rows, and this task
                // alone has them.
                let out = unsafe {
                    std::slice::from_raw_parts_mut(
                        target.at(row * len + columns.start),
                        columns.len(),
                    )
                };
                vectorized!(for (out, &sum) in out.iter_mut().zip(sums) {
                    *out = if add { *out + sum } else { sum };
                });
            }
        };
        let tasks = chunks * self.rows.div_ceil(LISTS);
        if self.rows * self.cols * len < WORTH_SHARING {
            (0..tasks).for_each(task);
        } else {
            (0..tasks)
                .into_par_iter()
                .with_max_len(1)
                .for_each_recorded(task);
        }
    }
}

/// Puts a term on a list, unless it is zero. Written in any case and counted when it matters:
/// cheaper than a branch that cannot be foretold.
#[inline(always)]
fn push(terms: &mut [Term], count: &mut u32, offset: usize, value: f32) {
    terms[*count as usize] = Term {
        offset: offset as u32,
        value,
    };
    *count += u32::from(value != 0.0);
}

/// How many chunks rows of `len` numbers are summed in, and how many numbers, in whole vectors, a
/// chunk has.
fn widths(len: usize) -> (usize, usize) {
    let vectors = len.div_ceil(lanes()).max(1);
    // At least a few chunks, so that there is one for every thread.
    let chunks = vectors.div_ceil(VECTORS).max(vectors.min(4));
    let width = vectors.div_ceil(chunks);
    (vectors.div_ceil(width), width * lanes())
}

struct Products<'a, 'b> {
    sparse: &'a SparseMatrix,
    dense: &'a [f32],
    len: usize,
    width: usize,
    rows: Range<usize>,
    columns: Range<usize>,
    block: &'b mut [f32],
    sums: &'b mut [f32],
}

impl WithSimd for Products<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            sparse,
            dense,
            len,
            width,
            rows,
            columns,
            block,
            sums,
        } = self;
        let blocks = sparse.cols.div_ceil(sparse.block.max(1));
        let parts = Parts::new::<S>(1, width / S::F32_LANES, RegisterBlocking::Short);
        for index in 0..blocks {
            let first = index * sparse.block;
            let count = sparse.block.min(sparse.cols - first);
            // Side by side, the rows' parts neither compete for the same places of the cache nor
            // end in another's.
            for (to, from) in block
                .chunks_exact_mut(width)
                .zip(dense.chunks_exact(len).skip(first).take(count))
            {
                let (used, rest) = to.split_at_mut(columns.len());
                used.copy_from_slice(&from[columns.clone()]);
                rest.fill(0.0);
            }
            for (row, sums) in rows.clone().zip(sums.chunks_exact_mut(width)) {
                let terms = &sparse.terms[row * sparse.cols + first..]
                    [..sparse.counts[row * blocks + index] as usize];
                let from = Rows {
                    start: block.as_ptr(),
                    stride: 0,
                };
                let to = Rows {
                    start: sums.as_mut_ptr(),
                    stride: 0,
                };
                // SAFETY: a term's offset is that of one of the block's rows of `width` numbers, as
                // `sums` is one.
                unsafe { accumulate(simd, terms, from, to, parts) };
            }
        }
    }
}

/// The start of a output that several tasks write disjoint parts of.
#[derive(Clone, Copy)]
pub struct Target(*mut f32);

// SAFETY: only written through by tasks that each have separate columns.
unsafe impl Send for Target {}
// SAFETY: as above.
unsafe impl Sync for Target {}

impl Target {
    pub const fn new(output: &mut [f32]) -> Self {
        Self(output.as_mut_ptr())
    }

    /// # Safety
    ///
    /// `index` must lie in the output, and no other task may use what is written through it.
    pub const unsafe fn at(self, index: usize) -> *mut f32 {
        // SAFETY: the caller's promise.
        unsafe { self.0.add(index) }
    }
}
