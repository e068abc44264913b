//! Launching kernels: the memory they write, and the arguments they take.

use std::sync::Arc;

use candle_core::cuda_backend::cudarc::driver::{
    CudaFunction, CudaSlice, CudaStream, DevicePtr, DeviceRepr, LaunchArgs, LaunchConfig,
};
use candle_core::cuda_backend::{CudaStorageSlice, WrapErr};
use candle_core::{CudaDevice, DType, Error, Result, Shape, Storage, Tensor};

/// `kernels.cu`, compiled by `build.rs`.
const PTX: &str = include_str!(concat!(env!("OUT_DIR"), "/kernels.ptx"));
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
/// Leaves the function if that fails.
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
            let argument = $crate::nn::backend::cuda::launch::KernelArg::raw(&$argument)?;
            candle_core::cuda_backend::cudarc::driver::PushKernelArg::arg(&mut builder, &argument);
        )+
        $crate::nn::backend::cuda::launch::start(&mut builder, $config)?;
    }};
}
pub(super) use launch;

pub fn gpu(tensor: &Tensor) -> Result<&CudaDevice> {
    tensor.device().as_cuda_device()
}

/// A tensor on a GPU whose elements have not been written yet.
pub struct Uninit(Tensor);

/// Memory for a tensor, on the GPU of `like`.
pub fn empty(shape: impl Into<Shape>, dtype: DType, like: &Tensor) -> Result<Uninit> {
    // SAFETY: nobody reads its elements before `assume_init`, whose callers vouch that they have
    // been written.
    unsafe { Tensor::empty(shape, dtype, like.device()) }.map(Uninit)
}

impl Uninit {
    pub fn elem_count(&self) -> usize {
        self.0.elem_count()
    }

    pub fn dtype(&self) -> DType {
        self.0.dtype()
    }

    /// The part of it at this index of the first dimension, in the same memory.
    pub fn get(&self, index: usize) -> Result<Self> {
        self.0.get(index).map(Self)
    }

    /// The tensor.
    ///
    /// # Safety
    /// Kernels (or cuBLAS) that write every element have been launched. Whatever reads it is
    /// launched on the same stream, hence runs later.
    pub unsafe fn assume_init(self) -> Tensor {
        self.0
    }
}

pub trait KernelArg {
    /// As the kernel sees it.
    type Raw: DeviceRepr;

    /// An error if there is no such thing, as for a tensor that is not contiguous.
    fn raw(&self) -> Result<Self::Raw>;
}

impl<T: KernelArg> KernelArg for &T {
    type Raw = T::Raw;

    fn raw(&self) -> Result<T::Raw> {
        (*self).raw()
    }
}

/// A pointer to its elements, which are contiguous.
impl KernelArg for Tensor {
    type Raw = u64;

    fn raw(&self) -> Result<u64> {
        device_ptr(self)
    }
}

impl KernelArg for Uninit {
    type Raw = u64;

    fn raw(&self) -> Result<u64> {
        device_ptr(&self.0)
    }
}

/// A pointer, null for `None`.
impl<T: KernelArg<Raw = u64>> KernelArg for Option<T> {
    type Raw = u64;

    fn raw(&self) -> Result<u64> {
        self.as_ref().map_or(Ok(0), KernelArg::raw)
    }
}

/// Kernels count in 32 bits.
impl KernelArg for usize {
    type Raw = u32;

    fn raw(&self) -> Result<u32> {
        u32::try_from(*self).map_err(Error::wrap)
    }
}

impl KernelArg for bool {
    type Raw = u32;

    fn raw(&self) -> Result<u32> {
        Ok((*self).into())
    }
}

/// Arguments that are passed as they are: numbers, and structs that a header declares with the same
/// fields.
macro_rules! plain_args {
    ($($type:ty),+) => {$(
        impl $crate::nn::backend::cuda::launch::KernelArg for $type {
            type Raw = Self;

            fn raw(&self) -> candle_core::Result<Self> {
                Ok(*self)
            }
        }
    )+};
}
pub(super) use plain_args;
plain_args!(u32, u64, f32);

fn device_ptr(tensor: &Tensor) -> Result<u64> {
    let (storage, layout) = tensor.storage_and_layout();
    let (Storage::Cuda(storage), Some((start, _))) = (&*storage, layout.contiguous_offsets())
    else {
        candle_core::bail!("a kernel was given a tensor that is not contiguous on a GPU");
    };
    match &storage.slice {
        CudaStorageSlice::F32(slice) => Ok(at(slice, start)),
        CudaStorageSlice::F16(slice) => Ok(at(slice, start)),
        CudaStorageSlice::BF16(slice) => Ok(at(slice, start)),
        CudaStorageSlice::U8(slice) => Ok(at(slice, start)),
        CudaStorageSlice::U32(slice) => Ok(at(slice, start)),
        _ => candle_core::bail!("a kernel was given {:?}", tensor.dtype()),
    }
}

fn at<T>(slice: &CudaSlice<T>, index: usize) -> u64 {
    slice.device_ptr(slice.stream()).0 + (index * size_of::<T>()) as u64
}
