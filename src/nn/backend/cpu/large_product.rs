//! One large square matrix product, for benchmarks: the highest rate an op could reach on this
//! machine.

use rayon::prelude::*;

use super::matrix::{Matrix, Mode, product};
use super::precision::rounded;
#[cfg(target_arch = "x86_64")]
use super::{microkernels::bf16, row_products::rows_times_rows_bf16};
use crate::math::random::Random;
use crate::run_config::Precision;

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
                product(
                    out,
                    Matrix::new(&lhs, lhs.len() / size, size),
                    Matrix::new(&rhs, size, size),
                    Mode::Overwrite,
                );
            });
    }
}
