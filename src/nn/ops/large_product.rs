//! Owns one large square product, for measuring this machine's matrix rate: what an op could reach at best.
//! Must not time it.

use rayon::prelude::*;

use super::matrix::{Matrix, Mode, product};
use crate::random::Random;
use crate::run_config::Precision;

/// Two square factors of random numbers and room for their product.
#[derive(Debug)]
pub struct LargeProduct {
    size: usize,
    lhs: Vec<f32>,
    rhs: Vec<f32>,
    out: Vec<f32>,
}

impl LargeProduct {
    /// The number formats products are computed in.
    pub const PRECISIONS: &'static [Precision] = &[Precision::F32];

    /// Factors of `size` rows and columns, in one of `PRECISIONS`.
    pub fn new(size: usize, _precision: Precision) -> Self {
        let mut random = Random::new(size as u64);
        let mut numbers = || (0..size * size).map(|_| random.range(-1.0, 1.0)).collect();
        Self { size, lhs: numbers(), rhs: numbers(), out: vec![0.0; size * size] }
    }

    /// Floating-point operations of one product of this size.
    pub const fn flops(size: usize) -> u64 {
        2 * (size as u64).pow(3)
    }

    /// Computes the product on all threads of the current pool, each of which has as many of its rows.
    pub fn run(&mut self) {
        let Self { size, lhs, rhs, out } = self;
        let (size, rhs) = (*size, rhs.as_slice());
        let rows = size.div_ceil(rayon::current_num_threads());
        out.par_chunks_mut(rows * size).zip(lhs.par_chunks(rows * size)).for_each(|(out, lhs)| {
            product(out, Matrix::new(lhs, lhs.len() / size, size), Matrix::new(rhs, size, size), Mode::Overwrite);
        });
    }
}
