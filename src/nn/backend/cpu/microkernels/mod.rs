//! The inner loops of the CPU's ops: register-blocked kernels on the widest vectors the CPU has,
//! chosen at run time (AVX-512, AVX2 + FMA, NEON, or plain loops). They know no tensors, threads or
//! layers.
//!
//! Three kernels carry all of training:
//! - `tile`: a dense tile of a convolution, pixels x outputs, from images and packed weights
//!   (forward);
//! - `dot`: a tile of inner products of rows (a linear layer's forward);
//! - `accumulate`: rows += Σ value · row, over a list of (row, value) pairs (all gradients). A
//!   gradient that comes back through a 2x2 maximum or a `ReLU` is mostly zeros; a list leaves them
//!   out, which beats a dense product at its peak.

pub mod accumulate;
pub mod bf16;
mod buffer;
pub mod tiles;

pub use buffer::{Buffer, Scratch};

use pulp::{Arch, Simd, WithSimd};

/// Numbers in the widest vector of this CPU.
pub fn lanes() -> usize {
    struct Lanes;
    impl WithSimd for Lanes {
        type Output = usize;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _simd: S) -> usize {
            S::F32_LANES
        }
    }
    Arch::new().dispatch(Lanes)
}

/// Vector registers that a kernel may fill with sums: the registers there are, less those its
/// operands need.
const fn accumulators(lanes: usize) -> usize {
    // AVX-512 and NEON have 32 vector registers, AVX2 has 16.
    if lanes == 8 { 12 } else { 30 }
}

/// Reads a vector.
///
/// # Safety
///
/// As many numbers as the vector has must be readable at `from`.
#[inline(always)]
unsafe fn load<S: Simd>(from: *const f32) -> S::f32s {
    // SAFETY: the caller's promise; the read needs no alignment.
    unsafe { from.cast::<S::f32s>().read_unaligned() }
}

/// Writes a vector.
///
/// # Safety
///
/// As many numbers as the vector has must be writable at `to`.
#[inline(always)]
unsafe fn store<S: Simd>(to: *mut f32, value: S::f32s) {
    // SAFETY: the caller's promise; the write needs no alignment.
    unsafe { to.cast::<S::f32s>().write_unaligned(value) }
}
