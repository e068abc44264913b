//! Convolution: im2col and one matrix product with the weights, then 2x2 max-pooling (with `ReLU`) in one pass where a layer has it.
//!
//! The bias is the weight of a pixel that is always 1, so that its gradient comes out of the same matrix product as theirs; in half precision it is
//! rounded with them.

use candle_core::cuda_backend::cudarc::driver::{DeviceRepr, LaunchConfig};
use candle_core::{DType, Result, Tensor};

use super::launch::{for_dtype, launch, threads};
use super::matmul::{matmul, matmul_over_rows, operand_dtype};
use super::memory::{empty, gpu, plain_args};
use crate::nn::autograd::Gradients;
use crate::nn::ops::{Context, Conv2d, Window};
use crate::nn::{Output, Parameter};
use crate::run_config::Precision;

/// `Geometry` in `convolution.cuh`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Geometry {
    images: u32,
    height: u32,
    width: u32,
    channels: u32,
    outputs: u32,
    size: u32,
    stride: u32,
    padding: u32,
    out_height: u32,
    out_width: u32,
    patch_len: u32,
}

// SAFETY: the same fields in the same order as the kernels' struct.
unsafe impl DeviceRepr for Geometry {}
plain_args!(Geometry);

/// Rows of output pixels that a block of `im2col` takes, as in `convolution.cuh`,
const BAND: u32 = 4;
/// and columns of the matrix.
const COLUMNS: u32 = 256;
/// The length of a patch is a multiple of this: half-precision matrix products need it to be fast.
const PATCH_MULTIPLE: usize = 8;

/// See [`crate::nn::ops::conv2d`], and `conv2d_max_pool` where pooling follows.
pub fn conv2d(x: &Tensor, layer: Conv2d<'_>, context: Context) -> Result<Output> {
    let images = x.contiguous()?;
    let conv = Convolution::new(&images, layer, context.precision)?;
    let packed = conv.packed_weight()?;
    let sums = matmul(&conv.im2col(&images)?, false, &packed, true, context.precision)?;
    let (result, pooled) = if layer.pool {
        let (result, argmax) = conv.max_pool(&sums, layer.relu)?;
        (result.clone(), Some(Pooled { result, argmax, relu: layer.relu }))
    } else {
        (conv.as_images(&sums)?, None)
    };
    Ok(Output::new(result, context.grad, move |gradient, needed| {
        let gradient = gradient.contiguous()?;
        let of_sums = match &pooled {
            None => gradient.reshape((conv.rows(), conv.outputs()))?.to_dtype(conv.dtype)?,
            Some(pooled) => conv.max_pool_backward(pooled, &gradient)?,
        };
        conv.backward(&images, &packed, &of_sums, needed[0])
    }))
}

/// What the gradient of pooling needs: its result, and where in each window the maximum was.
struct Pooled {
    result: Tensor,
    argmax: Tensor,
    relu: bool,
}

struct Convolution {
    geometry: Geometry,
    precision: Precision,
    /// Of the operands of matrix products.
    dtype: DType,
    weight: Parameter,
    bias: Option<Parameter>,
}

impl Convolution {
    fn new(x: &Tensor, Conv2d { weight, bias, window, .. }: Conv2d<'_>, precision: Precision) -> Result<Self> {
        let (images, height, width, channels) = x.dims4()?;
        let Window { size, stride, padding } = window;
        let (out_height, out_width) = (window.output_size(height)?, window.output_size(width)?);
        let outputs = weight.tensor().dim(0)?;
        let patch_len = (size * size * channels + usize::from(bias.is_some())).next_multiple_of(PATCH_MULTIPLE);
        let [images, height, width, channels, outputs] = [images, height, width, channels, outputs].map(|count| count as u32);
        let [size, stride, padding, out_height, out_width, patch_len] =
            [size, stride, padding, out_height, out_width, patch_len].map(|count| count as u32);
        let geometry = Geometry { images, height, width, channels, outputs, size, stride, padding, out_height, out_width, patch_len };
        Ok(Self { geometry, precision, dtype: operand_dtype(precision), weight: weight.clone(), bias: bias.cloned() })
    }

    /// Output pixels of all images.
    const fn rows(&self) -> usize {
        self.geometry.images as usize * self.geometry.out_height as usize * self.geometry.out_width as usize
    }

    const fn outputs(&self) -> usize {
        self.geometry.outputs as usize
    }

    const fn patch_len(&self) -> usize {
        self.geometry.patch_len as usize
    }

    fn bias(&self) -> Option<Tensor> {
        self.bias.as_ref().map(Parameter::tensor)
    }

    /// The weights and the bias in the order of a patch, `[outputs, patch_len]`.
    fn packed_weight(&self) -> Result<Tensor> {
        let (weight, bias) = (self.weight.tensor(), self.bias());
        let packed = empty((self.outputs(), self.patch_len()), self.dtype, &weight)?;
        let (kernel, config) = (for_dtype("pack_weight", self.dtype), threads(packed.elem_count()));
        // SAFETY: a thread for each element of `packed`, which is of the kernel's type; weight and bias have the geometry's sizes.
        unsafe {
            launch!(gpu(&weight)?, &kernel, config, weight, bias, packed, self.geometry);
            Ok(packed.assume_init())
        }
    }

    /// `[rows, patch_len]`.
    fn im2col(&self, x: &Tensor) -> Result<Tensor> {
        let Geometry { images, out_height, patch_len, .. } = self.geometry;
        let grid_dim = (images * out_height.div_ceil(BAND), patch_len.div_ceil(COLUMNS), 1);
        let config = LaunchConfig { grid_dim, block_dim: (32, 8, 1), shared_mem_bytes: 0 };
        let patches = empty((self.rows(), self.patch_len()), self.dtype, x)?;
        // SAFETY: a block for each band of each image and each 256 columns writes them; `patches` is of the kernel's type.
        unsafe {
            launch!(gpu(x)?, &for_dtype("im2col", self.dtype), config, x, patches, self.geometry);
            Ok(patches.assume_init())
        }
    }

    fn as_images(&self, sums: &Tensor) -> Result<Tensor> {
        let Geometry { images, out_height, out_width, .. } = self.geometry;
        sums.reshape((images as usize, out_height as usize, out_width as usize, self.outputs()))
    }

    /// The maximum of every 2x2 window, and its position in it.
    fn max_pool(&self, sums: &Tensor, relu: bool) -> Result<(Tensor, Tensor)> {
        let Geometry { images, out_height, out_width, .. } = self.geometry;
        let shape = (images as usize, out_height as usize / 2, out_width as usize / 2, self.outputs());
        let (result, argmax) = (empty(shape, DType::F32, sums)?, empty(shape, DType::U8, sums)?);
        // SAFETY: a thread for each element of both results; `sums` has `rows` of `outputs`.
        unsafe {
            launch!(gpu(sums)?, "max_pool_2x2", threads(result.elem_count()), sums, result, argmax, self.geometry, relu);
            Ok((result.assume_init(), argmax.assume_init()))
        }
    }

    /// The gradient of the sums, `[rows, outputs]`, as the operand of a matrix product.
    fn max_pool_backward(&self, Pooled { result, argmax, relu }: &Pooled, gradient: &Tensor) -> Result<Tensor> {
        let of_sums = empty((self.rows(), self.outputs()), self.dtype, gradient)?;
        let Geometry { images, out_height, out_width, outputs, .. } = self.geometry;
        let windows = images * out_height.div_ceil(2) * out_width.div_ceil(2) * outputs;
        let (kernel, config) = (for_dtype("max_pool_2x2_backward", self.dtype), threads(windows as usize));
        // SAFETY: a thread for each window, also those that the edge cuts, writes the elements under it, which are of the kernel's type; gradient,
        // result and argmax have one for each whole window.
        unsafe {
            launch!(gpu(gradient)?, &kernel, config, gradient, result, argmax, of_sums, self.geometry, *relu);
            Ok(of_sums.assume_init())
        }
    }

    fn backward(&self, x: &Tensor, packed: &Tensor, of_sums: &Tensor, of_x: bool) -> Result<Gradients> {
        let of_packed = matmul_over_rows(of_sums, &self.im2col(x)?, self.precision)?;
        let parameters = self.unpacked(&of_packed)?;
        let of_x = of_x.then(|| self.col2im(&matmul(of_sums, false, packed, false, self.precision)?, x)).transpose()?;
        Ok(Gradients { inputs: vec![of_x], parameters })
    }

    /// The gradients of weights and bias from theirs in the order of a patch.
    fn unpacked(&self, of_packed: &Tensor) -> Result<Vec<(Parameter, Tensor)>> {
        let of_weight = empty(self.weight.tensor().shape(), DType::F32, of_packed)?;
        let of_bias = self.bias.as_ref().map(|bias| empty(bias.len(), DType::F32, of_packed)).transpose()?;
        let config = threads(of_packed.elem_count());
        // SAFETY: a thread for each element of `of_packed`; every weight, and the bias if there is one, is among them.
        unsafe {
            launch!(gpu(of_packed)?, "unpack_gradient", config, of_packed, of_weight, of_bias, self.geometry);
            let of_bias = of_bias.map(|of_bias| of_bias.assume_init());
            Ok(std::iter::once((self.weight.clone(), of_weight.assume_init())).chain(self.bias.clone().zip(of_bias)).collect())
        }
    }

    /// The gradient of `x` from that of its patches.
    fn col2im(&self, of_patches: &Tensor, x: &Tensor) -> Result<Tensor> {
        let of_x = empty(x.shape(), DType::F32, x)?;
        // SAFETY: a thread for each pixel's channels; `of_patches` is `[rows, patch_len]`.
        unsafe {
            launch!(gpu(x)?, "col2im", threads(of_x.elem_count()), of_patches, of_x, self.geometry);
            Ok(of_x.assume_init())
        }
    }
}
