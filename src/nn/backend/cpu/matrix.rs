//! Dense matrix products: views of slices, and the only call of `gemm`.

use std::ops::Range;

use gemm::Parallelism;

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
        assert_eq!(
            values.len(),
            rows * cols,
            "a matrix needs rows x cols numbers"
        );
        Self {
            values,
            rows,
            cols,
            row_stride: cols,
            col_stride: 1,
        }
    }

    /// Some of its columns.
    pub fn columns(self, columns: Range<usize>) -> Self {
        assert!(
            columns.start <= columns.end && columns.end <= self.cols,
            "columns of the matrix"
        );
        Self {
            values: &self.values[columns.start * self.col_stride..],
            cols: columns.len(),
            ..self
        }
    }

    /// The same numbers with rows and columns exchanged.
    pub const fn transposed(self) -> Self {
        let Self {
            values,
            rows,
            cols,
            row_stride,
            col_stride,
        } = self;
        Self {
            values,
            rows: cols,
            cols: rows,
            row_stride: col_stride,
            col_stride: row_stride,
        }
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
    assert_eq!(
        lhs.cols, rhs.rows,
        "the inner sizes of a product must agree"
    );
    assert_eq!(
        out.len(),
        lhs.rows * rhs.cols,
        "the result of a product has the outer sizes"
    );
    // SAFETY: views lie in slices that hold all their numbers, the result has as many as was just
    // checked, and `gemm` touches only the sizes it is given.
    unsafe {
        gemm::gemm(
            lhs.rows,
            rhs.cols,
            lhs.cols,
            out.as_mut_ptr(),
            1,
            rhs.cols as isize,
            into == Mode::Add,
            lhs.values.as_ptr(),
            lhs.col_stride as isize,
            lhs.row_stride as isize,
            rhs.values.as_ptr(),
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
