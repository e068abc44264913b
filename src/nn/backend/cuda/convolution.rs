//! Convolution: im2col and one matrix product with the weights, then 2x2 max-pooling (with `ReLU`) in one pass where a layer has it.
//!
//! The bias is the weight of a pixel that is always 1, so that its gradient comes out of the same matrix product as theirs; in half precision it is
//! rounded with them.

use candle_core::cuda_backend::cudarc::driver::DeviceRepr;
use candle_core::{DType, Result, Tensor};

use super::launch::{Divisor, blocks, for_dtype, launch, threads};
use super::matmul::{Products, matmul, matmul_as, matmul_over_rows};
use super::memory::{empty, gpu, plain_args};
use crate::nn::autograd::Gradients;
use crate::nn::ops::{Conv2d, Window};
use crate::nn::{GradMode, Output, Parameter};

/// `Geometry` in `convolution.cuh`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Geometry {
    images: u32,
    height: u32,
    stride: u32,
    padding: u32,
    out_height: u32,
    patch_len: u32,
    channels: Divisor,
    width: Divisor,
    size: Divisor,
    outputs: Divisor,
    out_width: Divisor,
    /// 2x2 windows along either side, those that the edge cuts among them.
    pooled_width: Divisor,
    pooled_height: Divisor,
    /// A patch's elements by four.
    fours: Divisor,
    /// Of `im2col`, for each image.
    blocks: Divisor,
}

// SAFETY: the same fields in the same order as the kernels' struct.
unsafe impl DeviceRepr for Geometry {}
plain_args!(Geometry);

/// Elements that a block of `im2col` writes, as in `convolution.cuh`.
const BLOCK_ELEMENTS: u32 = 256 * 4 * 4;
/// The length of a patch is a multiple of this: half-precision matrix products need it to be fast.
const PATCH_MULTIPLE: usize = 8;

/// See [`crate::nn::ops::conv2d`], and `conv2d_max_pool` where pooling follows.
pub fn conv2d(x: &Tensor, layer: Conv2d<'_>, grad: GradMode, products: Products) -> Result<Output> {
    let images = x.contiguous()?;
    let conv = Convolution::new(&images, layer, products)?;
    let packed = conv.packed_weight()?;
    let sums = matmul(&conv.im2col(&images)?, false, &packed, true, products)?;
    let (result, pooled) = if layer.pool {
        let (result, argmax) = conv.max_pool(&sums, layer.relu)?;
        (result.clone(), Some(Pooled { result, argmax, relu: layer.relu }))
    } else {
        (conv.as_images(&sums)?, None)
    };
    Ok(Output::new(result, grad, move |gradient, needed| {
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
    products: Products,
    /// Of the operands of matrix products.
    dtype: DType,
    weight: Parameter,
    bias: Option<Parameter>,
}

impl Convolution {
    fn new(x: &Tensor, Conv2d { weight, bias, window, .. }: Conv2d<'_>, products: Products) -> Result<Self> {
        let (images, height, width, channels) = x.dims4()?;
        let Window { size, stride, padding } = window;
        let (out_height, out_width) = (window.output_size(height)?, window.output_size(width)?);
        let outputs = weight.tensor().dim(0)?;
        let patch_len = (size * size * channels + usize::from(bias.is_some())).next_multiple_of(PATCH_MULTIPLE);
        let [images, height, width, channels, outputs, size, stride, padding, out_height, out_width, patch_len] =
            [images, height, width, channels, outputs, size, stride, padding, out_height, out_width, patch_len].map(|count| count as u32);
        let geometry = Geometry {
            images,
            height,
            stride,
            padding,
            out_height,
            patch_len,
            channels: Divisor::new(channels),
            width: Divisor::new(width),
            size: Divisor::new(size),
            outputs: Divisor::new(outputs),
            out_width: Divisor::new(out_width),
            pooled_width: Divisor::new(out_width.div_ceil(2)),
            pooled_height: Divisor::new(out_height.div_ceil(2)),
            fours: Divisor::new(patch_len / 4),
            blocks: Divisor::new((out_height * out_width * patch_len).div_ceil(BLOCK_ELEMENTS)),
        };
        Ok(Self { geometry, products, dtype: products.dtype(), weight: weight.clone(), bias: bias.cloned() })
    }

    /// Output pixels of all images.
    const fn rows(&self) -> usize {
        self.geometry.images as usize * self.geometry.out_height as usize * self.geometry.out_width.value as usize
    }

    const fn outputs(&self) -> usize {
        self.geometry.outputs.value as usize
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
        let Geometry { images, blocks: per_image, .. } = self.geometry;
        let config = blocks(images as usize * per_image.value as usize);
        let patches = empty((self.rows(), self.patch_len()), self.dtype, x)?;
        // SAFETY: the blocks of an image write its patches, which are of the kernel's type.
        unsafe {
            launch!(gpu(x)?, &for_dtype("im2col", self.dtype), config, x, patches, self.geometry);
            Ok(patches.assume_init())
        }
    }

    fn as_images(&self, sums: &Tensor) -> Result<Tensor> {
        let Geometry { images, out_height, out_width, .. } = self.geometry;
        sums.reshape((images as usize, out_height as usize, out_width.value as usize, self.outputs()))
    }

    /// The maximum of every 2x2 window, and its position in it.
    fn max_pool(&self, sums: &Tensor, relu: bool) -> Result<(Tensor, Tensor)> {
        let Geometry { images, out_height, out_width, .. } = self.geometry;
        let shape = (images as usize, out_height as usize / 2, out_width.value as usize / 2, self.outputs());
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
        let Geometry { images, pooled_height, pooled_width, outputs, .. } = self.geometry;
        let windows = images * pooled_height.value * pooled_width.value * outputs.value;
        let (kernel, config) = (for_dtype("max_pool_2x2_backward", self.dtype), threads(windows as usize));
        // SAFETY: a thread for each window, also those that the edge cuts, writes the elements under it, which are of the kernel's type; gradient,
        // result and argmax have one for each whole window.
        unsafe {
            launch!(gpu(gradient)?, &kernel, config, gradient, result, argmax, of_sums, self.geometry, *relu);
            Ok(of_sums.assume_init())
        }
    }

    fn backward(&self, x: &Tensor, packed: &Tensor, of_sums: &Tensor, of_x: bool) -> Result<Gradients> {
        let of_packed = matmul_over_rows(of_sums, &self.im2col(x)?, self.products)?;
        let parameters = self.unpacked(&of_packed)?;
        let of_patches = || matmul_as(self.dtype, of_sums, false, packed, false, self.products);
        let of_x = of_x.then(|| self.col2im(&of_patches()?, x)).transpose()?;
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
        let together = if self.geometry.channels.value.is_multiple_of(4) { 4 } else { 1 };
        let (kernel, config) = (for_dtype("col2im", self.dtype), threads(of_x.elem_count() / together));
        // SAFETY: a thread for each pixel's channels, or each four of them; `of_patches` is `[rows, patch_len]` of the kernel's type.
        unsafe {
            launch!(gpu(x)?, &kernel, config, of_patches, of_x, self.geometry);
            Ok(of_x.assume_init())
        }
    }
}
