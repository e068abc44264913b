//! How the numbers of a parameter are split into chunks that threads share, and the sum of squares
//! over them.
//!
//! The split does not depend on the number of threads, and sums over chunks are added in their
//! order, so results do not either.

use rayon::prelude::*;

use crate::profiler::RecordedIterator;

/// Numbers in a chunk: four arrays of them fit a core's own cache.
pub(super) const CHUNK: usize = 1 << 14;

/// The same numbers of a parameter in every array an update reads or writes.
pub(super) struct Chunk<'a, const SLOTS: usize> {
    /// Which chunk it is, counted over all parameters.
    pub index: u64,
    /// The weights.
    pub weights: &'a mut [f32],
    /// Their accumulated gradients.
    pub grad: &'a mut [f32],
    /// The numbers the optimiser keeps for them.
    pub slots: [&'a mut [f32]; SLOTS],
    /// Their running average; empty where there is none.
    pub ema: &'a mut [f32],
}

impl<'a, const SLOTS: usize> Chunk<'a, SLOTS> {
    /// Splits the arrays of one parameter; its chunks are counted from `index` on.
    pub fn split(
        index: u64,
        weights: &'a mut [f32],
        grad: &'a mut [f32],
        slots: [&'a mut [f32]; SLOTS],
        ema: &'a mut [f32],
    ) -> Vec<Self> {
        let (mut slots, mut ema) = (
            slots.map(|slot| slot.chunks_mut(CHUNK)),
            ema.chunks_mut(CHUNK),
        );
        let weights = weights.chunks_mut(CHUNK).zip(grad.chunks_mut(CHUNK));
        (index..)
            .zip(weights)
            .map(|(index, (weights, grad))| Chunk {
                index,
                weights,
                grad,
                slots: slots.each_mut().map(|slot| slot.next().unwrap_or_default()),
                ema: ema.next().unwrap_or_default(),
            })
            .collect()
    }
}

/// The number of chunks of a parameter with this many numbers.
pub(super) const fn count(len: usize) -> u64 {
    len.div_ceil(CHUNK) as u64
}

/// The sum of the squares of a chunk; not finite exactly if one of its numbers is not (or is beyond
/// 1e18).
#[inline(always)]
pub(super) fn sum_of_squares(values: &[f32]) -> f64 {
    const LANES: usize = 32;
    let mut lanes = [0.0_f32; LANES];
    let (blocks, rest) = values.as_chunks::<LANES>();
    for block in blocks {
        for (lane, value) in lanes.iter_mut().zip(block) {
            *lane += value * value;
        }
    }
    let sum = |squares: &mut dyn Iterator<Item = f32>| squares.map(f64::from).sum::<f64>();
    sum(&mut lanes.into_iter()) + sum(&mut rest.iter().map(|value| value * value))
}

/// The sum of the squares of any count of numbers.
pub(super) fn squares(values: &[f32]) -> f64 {
    let chunks: Vec<f64> = values
        .par_chunks(CHUNK)
        .map_recorded(|chunk| pulp::Arch::new().dispatch(Squares(chunk)))
        .collect();
    chunks.iter().sum()
}

/// A type of its own: what is in a closure is not compiled for the instructions it is dispatched
/// to.
struct Squares<'a>(&'a [f32]);

impl pulp::NullaryFnOnce for Squares<'_> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        sum_of_squares(self.0)
    }
}
