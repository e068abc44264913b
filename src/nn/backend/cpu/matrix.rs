//! Dense matrix multiplications: views of slices, small products of tiles, the only call of `gemm`,
//! and rounding operands to a shorter precision.

use std::borrow::Cow;
use std::ops::Range;

use gemm::Parallelism;
use half::f16;
use half::slice::HalfFloatSliceExt;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

#[cfg(target_arch = "x86_64")]
use super::microkernels::bf16;
use super::microkernels::tiles::{InitialSums, Tile, pixels_per_tile};
#[cfg(target_arch = "x86_64")]
use super::row_products::rows_times_rows_bf16;
use super::{microkernels, vectorized};
use crate::math::random::Random;
use crate::run_config::{DeviceChoice, Precision};

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

/// Numbers of a right-hand side that is small: it stays in the second cache, so that packing it, as
/// `gemm` does with both sides, would only cost time.
pub const SMALL: usize = 1 << 15;

/// Whether a product replaces the numbers in the result or is added to them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Overwrite,
    Add,
}

/// `out = lhs rhs` on this thread; `out` has its rows one after the other.
pub fn multiply(out: &mut [f32], lhs: Matrix<'_>, rhs: Matrix<'_>) {
    product(out, lhs, rhs, Mode::Overwrite);
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
    let has_whole_vectors = rhs.col_stride == 1
        && rhs.row_stride == rhs.cols
        && rhs.cols.is_multiple_of(microkernels::lanes());
    if has_whole_vectors && rhs.rows > 0 && rhs.rows * rhs.cols <= SMALL {
        return Arch::new().dispatch(Tiles {
            out,
            lhs,
            rhs,
            into,
        });
    }
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

/// A product whose right-hand side and result have rows of whole vectors, one after the other.
struct Tiles<'a> {
    out: &'a mut [f32],
    lhs: Matrix<'a>,
    rhs: Matrix<'a>,
    into: Mode,
}

impl WithSimd for Tiles<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        /// Vectors of a tile.
        const WIDE: usize = 2;
        static ZEROS: [f32; 64] = [0.0; 64];
        let Self {
            out,
            lhs,
            rhs,
            into,
        } = self;
        let (lanes, width) = (S::F32_LANES, rhs.cols);
        assert!(WIDE * lanes <= ZEROS.len(), "zeros for a tile");
        let pixels = pixels_per_tile(lhs.rows, lanes, WIDE);
        for row in (0..lhs.rows).step_by(pixels) {
            let count = pixels.min(lhs.rows - row);
            for column in (0..width).step_by(WIDE * lanes) {
                let tile = Tile {
                    pixels: lhs.values[row * lhs.row_stride..].as_ptr(),
                    pitch: lhs.row_stride,
                    rows: 1,
                    stride: 0,
                    run: rhs.rows,
                    step: lhs.col_stride,
                    panel: rhs.values[column..].as_ptr(),
                    panel_stride: width,
                    out: out[row * width + column..].as_mut_ptr(),
                    out_stride: width,
                    start: match into {
                        Mode::Overwrite => InitialSums::Bias(ZEROS.as_ptr()),
                        Mode::Add => InitialSums::Result,
                    },
                };
                let vectors = WIDE.min((width - column) / lanes);
                // SAFETY: views lie in slices that hold all their numbers, so that each of these
                // rows has as many as `rhs` has rows; the panels of `rhs` and of the result lie
                // within their rows, which have whole vectors.
                unsafe { tile.compute(simd, count, vectors) };
            }
        }
    }
}

/// The bits of a number rounded to bf16: to nearest, ties to even; a NaN stays one.
#[inline(always)]
pub const fn bf16_bits(value: f32) -> u16 {
    let bits = value.to_bits();
    // Infinity rounds to itself, and what is beyond bf16's largest number to infinity; only a NaN
    // could overflow into the sign.
    let nearest = (bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) >> 16) as u16;
    if value.is_nan() {
        (bits >> 16) as u16 | 0x40
    } else {
        nearest
    }
}

/// Rounds every number in place to the nearest of that format, which for f16 may be infinite.
pub fn round(values: &mut [f32], precision: Precision) {
    match precision {
        Precision::F32 | Precision::Tf32 => {}
        Precision::Bf16 => vectorized!(for value in values.iter_mut() {
            *value = f32::from_bits(u32::from(bf16_bits(*value)) << 16);
        }),
        Precision::F16 => {
            let mut halves = [f16::ZERO; 64];
            for values in values.chunks_mut(halves.len()) {
                let halves = &mut halves[..values.len()];
                halves.convert_from_f32_slice(values);
                halves.convert_to_f32_slice(values);
            }
        }
    }
}

/// The numbers, rounded where the format is a shorter one.
pub fn rounded(values: &[f32], precision: Precision) -> Cow<'_, [f32]> {
    let mut values = Cow::Borrowed(values);
    if precision.differs_on(DeviceChoice::Cpu) {
        round(values.to_mut(), precision);
    }
    values
}

/// Two square factors of random numbers and room for their product.
#[derive(Debug)]
pub struct LargeProduct {
    size: usize,
    precision: Precision,
    lhs: Vec<f32>,
    rhs: Vec<f32>,
    out: Vec<f32>,
}

impl LargeProduct {
    /// Factors of `size` rows and columns.
    pub fn new(size: usize, precision: Precision) -> Self {
        let mut random = Random::new(size as u64);
        let mut numbers = || (0..size * size).map(|_| random.range(-1.0, 1.0)).collect();
        Self {
            size,
            precision,
            lhs: numbers(),
            rhs: numbers(),
            out: vec![0.0; size * size],
        }
    }

    /// Floating-point operations of one product of this size.
    pub const fn flops(size: usize) -> u64 {
        2 * (size as u64).pow(3)
    }

    /// Computes the product on all threads of the current pool, each of which has as many of its
    /// rows. As in training, the factors are f32 and rounded for each product.
    pub fn run(&mut self) {
        let Self {
            size,
            precision,
            lhs,
            rhs,
            out,
        } = self;
        let (size, precision) = (*size, *precision);
        #[cfg(target_arch = "x86_64")]
        if precision == Precision::Bf16 && bf16::is_native() {
            return rows_times_rows_bf16(out, lhs, rhs, None, size, false);
        }
        let rhs = rounded(rhs, precision);
        let rows = size.div_ceil(rayon::current_num_threads());
        out.par_chunks_mut(rows * size)
            .zip(lhs.par_chunks(rows * size))
            .for_each(|(out, lhs)| {
                let lhs = rounded(lhs, precision);
                multiply(
                    out,
                    Matrix::new(&lhs, lhs.len() / size, size),
                    Matrix::new(&rhs, size, size),
                );
            });
    }
}
