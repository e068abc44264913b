//! The gradients of a linear layer: a matrix of mostly zeros times rows.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::microkernels::accumulate::{Parts, Reach, Rows, Term, VECTORS, accumulate};
use super::microkernels::{Scratch, lanes};
use super::row_products::WORTH_SHARING;
use super::target::Target;
use super::vectorized;
use crate::profiler::RecordedIterator;

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

    /// Each row's terms and counts.
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
        let parts = Parts::new::<S>(1, width / S::F32_LANES, Reach::Short);
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
                let (from, to) = (
                    Rows {
                        start: block.as_ptr(),
                        stride: 0,
                    },
                    Rows {
                        start: sums.as_mut_ptr(),
                        stride: 0,
                    },
                );
                // SAFETY: a term's offset is that of one of the block's rows of `width` numbers, as
                // `sums` is one.
                unsafe { accumulate(simd, terms, from, to, parts) };
            }
        }
    }
}
