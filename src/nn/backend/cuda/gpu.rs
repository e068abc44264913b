//! Owns how kernels are started on a GPU, and room for what they write. Must not know what they compute.

use candle_core::cuda_backend::CudaStorageSlice;
use candle_core::cuda_backend::cudarc::driver::{CudaSlice, DevicePtr, LaunchConfig};
use candle_core::{CudaDevice, DType, Result, Shape, Storage, Tensor};

/// `kernels.cu`, compiled by `build.rs`.
pub const PTX: &str = include_str!(concat!(env!("OUT_DIR"), "/kernels.ptx"));
/// Threads in a block.
const THREADS: usize = 256;

/// The GPU that a tensor lies on.
pub fn gpu(tensor: &Tensor) -> Result<&CudaDevice> {
    tensor.device().as_cuda_device()
}

/// Room for numbers, which are yet to be written.
pub fn room(shape: impl Into<Shape>, kind: DType, beside: &Tensor) -> Result<Tensor> {
    // SAFETY: whoever asks for room has a kernel write all of it.
    unsafe { Tensor::empty(shape, kind, beside.device()) }
}

/// Where a tensor's numbers lie, one after the other.
pub fn place(tensor: &Tensor) -> Result<u64> {
    let (storage, layout) = tensor.storage_and_layout();
    let (Storage::Cuda(storage), Some((start, _))) = (&*storage, layout.contiguous_offsets()) else {
        candle_core::bail!("a kernel was given a tensor that is not in one piece on a GPU");
    };
    match &storage.slice {
        CudaStorageSlice::F32(slice) => Ok(beyond(slice, start)),
        CudaStorageSlice::F16(slice) => Ok(beyond(slice, start)),
        CudaStorageSlice::BF16(slice) => Ok(beyond(slice, start)),
        CudaStorageSlice::U8(slice) => Ok(beyond(slice, start)),
        CudaStorageSlice::U32(slice) => Ok(beyond(slice, start)),
        _ => candle_core::bail!("a kernel was given {:?}", tensor.dtype()),
    }
}

fn beyond<T>(slice: &CudaSlice<T>, start: usize) -> u64 {
    slice.device_ptr(slice.stream()).0 + (start * size_of::<T>()) as u64
}

/// Where a tensor's numbers lie; 0 where there is none.
pub fn place_of(tensor: Option<&Tensor>) -> Result<u64> {
    tensor.map_or(Ok(0), place)
}

/// So many threads, in blocks.
pub fn threads(count: usize) -> LaunchConfig {
    blocks(count.div_ceil(THREADS))
}

/// So many rows, each of which 32 threads pass over, in blocks of eight.
pub fn rows_of_blocks(rows: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (rows.div_ceil(8), 1, 1), block_dim: (32, 8, 1), shared_mem_bytes: 0 }
}

/// So many blocks.
pub fn blocks(count: usize) -> LaunchConfig {
    LaunchConfig { grid_dim: (count as u32, 1, 1), block_dim: (THREADS as u32, 1, 1), shared_mem_bytes: 0 }
}

/// The kernel of a name for operands of this kind.
pub fn of_kind(name: &str, kind: DType) -> String {
    format!("{name}_{}", kind.as_str())
}

/// Starts a kernel with these arguments, of just the types that it takes.
macro_rules! launch {
    ($gpu:expr, $name:expr, $threads:expr, $($argument:expr),+ $(,)?) => {{
        use candle_core::cuda_backend::WrapErr as _;
        use candle_core::cuda_backend::cudarc::driver::PushKernelArg as _;
        let kernel = $gpu.get_or_load_custom_func($name, "inkling", $crate::nn::ops::cuda::gpu::PTX)?;
        let mut launch = kernel.builder();
        $(
            let argument = $argument;
            launch.arg(&argument);
        )+
        // SAFETY: the arguments are those of the kernel, and the places they name were made as large as it writes.
        unsafe { launch.launch($threads) }.w()?;
    }};
}
pub(crate) use launch;
