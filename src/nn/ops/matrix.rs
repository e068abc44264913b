//! Owns matrix products: views on slices, and the one place that calls `gemm`.
//! Must not know layers.

use gemm::Parallelism;
use rayon::prelude::*;

/// Rows or columns of a result that one task computes. Fixed, so that the result is the same for any number of threads.
const BLOCK: usize = 128;

/// A matrix in a slice.
#[derive(Clone, Copy)]
pub struct Matrix<'a> {
    values: &'a [f32],
    rows: usize,
    cols: usize,
    row_stride: usize,
    col_stride: usize,
}

impl<'a> Matrix<'a> {
    /// `rows` rows of `cols` numbers.
    pub fn new(values: &'a [f32], rows: usize, cols: usize) -> Self {
        assert_eq!(values.len(), rows * cols, "a matrix needs rows x cols numbers");
        Self { values, rows, cols, row_stride: cols, col_stride: 1 }
    }

    /// The same numbers with rows and columns exchanged.
    pub const fn transposed(self) -> Self {
        let Self { values, rows, cols, row_stride, col_stride } = self;
        Self { values, rows: cols, cols: rows, row_stride: col_stride, col_stride: row_stride }
    }
}

/// What happens to the numbers already in the result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// They are overwritten.
    Overwrite,
    /// The product is added to them.
    Add,
}

/// `out = lhs rhs` or `out += lhs rhs` on this thread; `out` has its rows one after the other.
pub fn product(out: &mut [f32], lhs: Matrix<'_>, rhs: Matrix<'_>, into: Mode) {
    assert_eq!(lhs.cols, rhs.rows, "the inner sizes of a product must agree");
    assert_eq!(out.len(), lhs.rows * rhs.cols, "the result of a product has the outer sizes");
    // SAFETY: the whole result is this call's, and its size was just checked.
    unsafe { block(Target(out.as_mut_ptr()), 0..lhs.rows, 0..rhs.cols, lhs, rhs, into) };
}

/// As `product`, with blocks of the larger side of the result shared among the threads of the current pool.
pub fn product_parallel(out: &mut [f32], lhs: Matrix<'_>, rhs: Matrix<'_>, into: Mode) {
    assert_eq!(lhs.cols, rhs.rows, "the inner sizes of a product must agree");
    assert_eq!(out.len(), lhs.rows * rhs.cols, "the result of a product has the outer sizes");
    let (rows, cols) = (lhs.rows, rhs.cols);
    let target = Target(out.as_mut_ptr());
    (0..rows.max(cols).div_ceil(BLOCK)).into_par_iter().for_each(|index| {
        let piece = index * BLOCK..((index + 1) * BLOCK).min(rows.max(cols));
        let (rows, cols) = if rows >= cols { (piece, 0..cols) } else { (0..rows, piece) };
        // SAFETY: `out` has rows x cols numbers, and no two pieces share a row (or a column) of it.
        unsafe { block(target, rows, cols, lhs, rhs, into) };
    });
}

/// The start of a result that several tasks write disjoint blocks of.
#[derive(Clone, Copy)]
struct Target(*mut f32);

// SAFETY: the pointer is only written through by `block`, whose callers give each task a block of its own.
unsafe impl Send for Target {}
// SAFETY: as above.
unsafe impl Sync for Target {}

/// Computes the block `rows` x `cols` of `lhs rhs` into the result that starts at `target`.
///
/// # Safety
///
/// `target` must point to `lhs.rows` rows of `rhs.cols` numbers, nobody else may use the block meanwhile, `rows` must lie in
/// `lhs`, `cols` in `rhs`, and the inner sizes must agree.
unsafe fn block(target: Target, rows: std::ops::Range<usize>, cols: std::ops::Range<usize>, lhs: Matrix<'_>, rhs: Matrix<'_>, into: Mode) {
    if rows.is_empty() || cols.is_empty() {
        return;
    }
    let row_stride = rhs.cols;
    // SAFETY: by the contract above every offset lies in its slice or in the result: views are made from slices of exactly
    // rows x cols numbers, and `gemm` touches only the sizes it is given.
    unsafe {
        gemm::gemm(
            rows.len(),
            cols.len(),
            lhs.cols,
            target.0.add(rows.start * row_stride + cols.start),
            1,
            row_stride as isize,
            into == Mode::Add,
            lhs.values.as_ptr().add(rows.start * lhs.row_stride),
            lhs.col_stride as isize,
            lhs.row_stride as isize,
            rhs.values.as_ptr().add(cols.start * rhs.col_stride),
            rhs.col_stride as isize,
            rhs.row_stride as isize,
            1.0,
            1.0,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}
