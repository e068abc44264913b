//! Memory that kernels write, and the arguments they take.

use candle_core::cuda_backend::CudaStorageSlice;
use candle_core::cuda_backend::cudarc::driver::{CudaSlice, DevicePtr, DeviceRepr};
use candle_core::{CudaDevice, DType, Error, Result, Shape, Storage, Tensor};

/// The GPU that a tensor is on.
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
    /// How many elements it has.
    pub fn elem_count(&self) -> usize {
        self.0.elem_count()
    }

    /// The type of its elements.
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

/// What kernels take as an argument.
pub trait KernelArg {
    /// As the kernel sees it.
    type Raw: DeviceRepr;

    /// An error where there is no such thing, as for a tensor that is not contiguous.
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

/// A pointer to the memory.
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
        impl $crate::nn::backend::cuda::memory::KernelArg for $type {
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
