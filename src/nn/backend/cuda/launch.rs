//! Launching kernels.

use std::sync::Arc;

use candle_core::cuda_backend::WrapErr;
use candle_core::cuda_backend::cudarc::driver::{
    CudaFunction, CudaStream, DeviceRepr, LaunchArgs, LaunchConfig,
};
use candle_core::{CudaDevice, DType, Result};

use super::memory::plain_args;

/// `kernels.cu`, compiled by `build.rs`.
const PTX: &str = include_str!(concat!(env!("OUT_DIR"), "/kernels.ptx"));
/// Threads in a block.
const THREADS: usize = 256;

/// `Divisor` in `common.cuh`: what a kernel divides by without dividing.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Divisor {
    pub value: u32,
    multiplier: u32,
    shift: u32,
}

// SAFETY: the same fields in the same order as the kernels' struct.
unsafe impl DeviceRepr for Divisor {}
plain_args!(Divisor);

impl Divisor {
    /// A quotient is the upper half of the dividend's product with the multiplier, plus the
    /// dividend, shifted (Granlund and Montgomery 1994, figure 4.1). 0 counts as 1.
    pub const fn new(value: u32) -> Self {
        let value = if value == 0 { 1 } else { value };
        let shift = u32::BITS - (value - 1).leading_zeros();
        let multiplier =
            ((1_u64 << 32) * ((1_u64 << shift) - value as u64) / value as u64 + 1) as u32;
        Self {
            value,
            multiplier,
            shift,
        }
    }
}

/// One thread for each of this many elements.
pub fn threads(count: usize) -> LaunchConfig {
    blocks(count.div_ceil(THREADS))
}

/// One thread for each four of this many elements.
pub fn fours(count: usize) -> LaunchConfig {
    threads(count.div_ceil(4))
}

/// So many blocks of 256 threads.
pub fn blocks(count: usize) -> LaunchConfig {
    LaunchConfig {
        grid_dim: (count as u32, 1, 1),
        block_dim: (THREADS as u32, 1, 1),
        shared_mem_bytes: 0,
    }
}

/// 32 threads for each of this many rows, eight rows a block.
pub fn rows(count: usize) -> LaunchConfig {
    LaunchConfig {
        grid_dim: ((count as u32).div_ceil(8), 1, 1),
        block_dim: (32, 8, 1),
        shared_mem_bytes: 0,
    }
}

/// The name of a kernel's variant for operands of this type.
pub fn for_dtype(kernel: &str, dtype: DType) -> String {
    format!("{kernel}_{}", dtype.as_str())
}

/// A kernel of `kernels.cu`, and the stream it is launched on: a GPU's only one.
pub fn load(gpu: &CudaDevice, kernel: &str) -> Result<(CudaFunction, Arc<CudaStream>)> {
    Ok((
        gpu.get_or_load_custom_func(kernel, "inkling", PTX)?
            .into_cuda_function(),
        gpu.cuda_stream(),
    ))
}

/// Launches what `launch!` prepared.
///
/// # Safety
/// As for `launch!`.
pub unsafe fn start(builder: &mut LaunchArgs<'_>, config: LaunchConfig) -> Result<()> {
    // SAFETY: the caller's.
    unsafe { builder.launch(config) }.w()?;
    Ok(())
}

/// Launches a kernel on a GPU: its name, threads, and arguments in the order of its declaration.
/// Leaves the function where that fails.
///
/// # Safety
/// Calling a kernel is calling a foreign function: the arguments must be of the types it declares,
/// and every pointer must have as many elements as it reads or writes for the sizes it is given.
/// That memory stays allocated long enough needs no thought: it is freed in the order of the
/// stream.
macro_rules! launch {
    ($gpu:expr, $kernel:expr, $config:expr, $($argument:expr),+ $(,)?) => {{
        let (kernel, stream) = $crate::nn::backend::cuda::launch::load($gpu, $kernel)?;
        let mut builder = stream.launch_builder(&kernel);
        $(
            let argument = $crate::nn::backend::cuda::memory::KernelArg::raw(&$argument)?;
            candle_core::cuda_backend::cudarc::driver::PushKernelArg::arg(&mut builder, &argument);
        )+
        $crate::nn::backend::cuda::launch::start(&mut builder, $config)?;
    }};
}
pub(super) use launch;
