//! Owns how kernels and matrix products are started on a GPU, and room for what they write. Must not know what they compute.

use candle_core::cuda_backend::cudarc::cublas::{result::gemm_strided_batched_ex, sys as cublas};
use candle_core::cuda_backend::cudarc::driver::{CudaSlice, DevicePtr, LaunchConfig};
use candle_core::cuda_backend::{CudaStorageSlice, WrapErr};
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

/// So many threads that each have much to do, in blocks that many parts of a GPU take on.
pub fn small_blocks(count: usize) -> LaunchConfig {
    const FEW: u32 = 32;
    LaunchConfig { grid_dim: ((count as u32).div_ceil(FEW), 1, 1), block_dim: (FEW, 1, 1), shared_mem_bytes: 0 }
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

/// The product of two matrices, `[m, k]` and `[k, n]`, each of which may be stored transposed; sums are f32.
pub fn product(left: &Tensor, left_turned: bool, right: &Tensor, right_turned: bool) -> Result<Tensor> {
    let turned =
        |tensor: &Tensor, turned: bool| tensor.dims2().map(|(rows, columns)| if turned { (columns, rows) } else { (rows, columns) });
    let ((m, inner), (k, n)) = (turned(left, left_turned)?, turned(right, right_turned)?);
    if inner != k {
        candle_core::bail!("matrices {:?} and {:?} have no product", left.shape(), right.shape());
    }
    let result = room((m, n), DType::F32, left)?;
    let (one, zero) = (1.0_f32, 0.0_f32);
    let way = |turned| if turned { cublas::cublasOperation_t::CUBLAS_OP_T } else { cublas::cublasOperation_t::CUBLAS_OP_N };
    let (m, n, k) = (m as i32, n as i32, k as i32);
    // cuBLAS counts column by column: to it the matrices are transposed, and so is their product.
    // SAFETY: the places hold matrices of these sizes, in one piece.
    unsafe {
        gemm_strided_batched_ex(
            *gpu(left)?.cublas_handle().handle(),
            way(right_turned),
            way(left_turned),
            n,
            m,
            k,
            (&raw const one).cast(),
            place(right)? as *const _,
            kind_of(right)?,
            if right_turned { k } else { n },
            0,
            place(left)? as *const _,
            kind_of(left)?,
            if left_turned { m } else { k },
            0,
            (&raw const zero).cast(),
            place(&result)? as *mut _,
            kind_of(&result)?,
            n,
            0,
            1,
            cublas::cublasComputeType_t::CUBLAS_COMPUTE_32F,
            cublas::cublasGemmAlgo_t::CUBLAS_GEMM_DFALT,
        )
    }
    .w()?;
    Ok(result)
}

fn kind_of(tensor: &Tensor) -> Result<cublas::cudaDataType> {
    match tensor.dtype() {
        DType::F32 => Ok(cublas::cudaDataType_t::CUDA_R_32F),
        DType::F16 => Ok(cublas::cudaDataType_t::CUDA_R_16F),
        DType::BF16 => Ok(cublas::cudaDataType_t::CUDA_R_16BF),
        kind => candle_core::bail!("there are no products of {kind:?}"),
    }
}
