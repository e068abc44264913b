//! Convolution, with 2x2 max pooling (and `ReLU`) of its sums in one pass if a layer has it.
//!
//! If possible it is an implicit matrix multiplication: a kernel of ours reads the pixels it
//! multiplies from the image ([`implicit`]). Elsewhere im2col writes them as a matrix for cuBLAS
//! ([`im2col`]). Both accumulate in f32.

mod im2col;
mod implicit;

use candle_core::cuda_backend::cudarc::driver::DeviceRepr;
use candle_core::{DType, Result, Tensor};

use self::im2col::Im2col;
use super::launch::{Divisor, empty, for_dtype, gpu, launch, plain_args, threads};
use super::matmul::{Products, column_sums};
use crate::nn::autograd::Gradients;
use crate::nn::ops::{Conv2d, ConvGeometry};
use crate::nn::{GradMode, Output, Parameter};

/// `Geometry` in `geometry.cuh`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Geometry {
    images: u32,
    height: u32,
    stride: u32,
    padding: u32,
    patch_len: u32,
    channels: Divisor,
    width: Divisor,
    size: Divisor,
    outputs: Divisor,
    out_height: Divisor,
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

/// The sizes of a convolution, and of its output.
#[derive(Clone, Copy)]
struct Sizes {
    images: usize,
    height: usize,
    width: usize,
    channels: usize,
    outputs: usize,
    window: ConvGeometry,
    out_height: usize,
    out_width: usize,
}

impl Sizes {
    fn new(x: &Tensor, layer: &Conv2d<'_>) -> Result<Self> {
        let (images, height, width, channels) = x.dims4()?;
        let window = layer.window;
        let (out_height, out_width) = (window.output_size(height)?, window.output_size(width)?);
        Ok(Self {
            images,
            height,
            width,
            channels,
            outputs: layer.weight.tensor().dim(0)?,
            window,
            out_height,
            out_width,
        })
    }

    const fn rows(&self) -> usize {
        self.images * self.out_height * self.out_width
    }

    /// For patches of this many elements: the pixels under the kernel, the bias if it is a part
    /// of them, and zeros.
    fn geometry(&self, patch_len: usize) -> Geometry {
        let Self {
            window:
                ConvGeometry {
                    size,
                    stride,
                    padding,
                },
            ..
        } = *self;
        let divisor = |count: usize| Divisor::new(count as u32);
        Geometry {
            images: self.images as u32,
            height: self.height as u32,
            stride: stride as u32,
            padding: padding as u32,
            patch_len: patch_len as u32,
            channels: divisor(self.channels),
            width: divisor(self.width),
            size: divisor(size),
            outputs: divisor(self.outputs),
            out_height: divisor(self.out_height),
            out_width: divisor(self.out_width),
            pooled_width: divisor(self.out_width.div_ceil(2)),
            pooled_height: divisor(self.out_height.div_ceil(2)),
            fours: divisor(patch_len / 4),
            blocks: divisor(
                (self.out_height * self.out_width * patch_len).div_ceil(im2col::BLOCK_ELEMENTS),
            ),
        }
    }
}

/// See [`crate::nn::ops::conv2d`], and `conv2d_max_pool` if pooling follows.
pub fn conv2d(x: &Tensor, layer: Conv2d<'_>, grad: GradMode, products: Products) -> Result<Output> {
    let images = x.contiguous()?;
    let conv = Convolution::new(Sizes::new(&images, &layer)?, &layer, products)?;
    let sums = conv.forward(&images)?;
    let (result, pooled) = if layer.pool {
        let pooled = Pooled::new(&sums, conv.sizes, layer.relu)?;
        (pooled.result.clone(), Some(pooled))
    } else {
        (conv.as_images(&sums)?, None)
    };
    Ok(Output::new(result, grad, move |gradient, needed| {
        let gradient = gradient.contiguous()?;
        let of_sums = match &pooled {
            None => gradient.reshape((conv.sizes.rows(), conv.sizes.outputs))?,
            Some(pooled) => pooled.backward(&gradient, conv.dtype_of_sums())?,
        };
        conv.backward(&images, &of_sums, needed[0])
    }))
}

struct Convolution {
    sizes: Sizes,
    products: Products,
    weight: Parameter,
    bias: Option<Parameter>,
    /// `None` if the implicit product is used.
    im2col: Option<Im2col>,
}

impl Convolution {
    fn new(sizes: Sizes, layer: &Conv2d<'_>, products: Products) -> Result<Self> {
        let (weight, bias) = (layer.weight.clone(), layer.bias.cloned());
        let is_implicit = implicit::suits(&sizes, products.precision);
        let im2col = (!is_implicit)
            .then(|| Im2col::new(sizes, &weight, bias.as_ref(), products))
            .transpose()?;
        Ok(Self {
            sizes,
            products,
            weight,
            bias,
            im2col,
        })
    }

    /// `[rows, outputs]`.
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        if let Some(im2col) = &self.im2col {
            return im2col.forward(x);
        }
        let weight = self.weight.tensor();
        let bias = self.bias.as_ref().map(Parameter::tensor);
        implicit::forward(
            x,
            &weight,
            bias.as_ref(),
            self.sizes,
            self.products.precision,
        )
    }

    fn as_images(&self, sums: &Tensor) -> Result<Tensor> {
        let Sizes {
            images,
            out_height,
            out_width,
            outputs,
            ..
        } = self.sizes;
        sums.reshape((images, out_height, out_width, outputs))
    }

    /// Of the sums' gradient, if a kernel writes it.
    const fn dtype_of_sums(&self) -> DType {
        if self.im2col.is_some() {
            self.products.dtype()
        } else {
            DType::F32
        }
    }

    /// Gradients from that of the sums, `[rows, outputs]`.
    fn backward(&self, x: &Tensor, of_sums: &Tensor, of_x: bool) -> Result<Gradients> {
        let (of_packed, of_bias) = if let Some(im2col) = &self.im2col {
            (im2col.weight_gradient(x, of_sums)?, None)
        } else {
            let of_bias = self
                .bias
                .as_ref()
                .map(|_| column_sums(of_sums))
                .transpose()?;
            (
                implicit::weight_gradient(x, of_sums, self.sizes, self.products.precision)?,
                of_bias,
            )
        };
        let parameters = self.unpacked(&of_packed, of_bias)?;
        let of_x = of_x.then(|| self.input_gradient(x, of_sums)).transpose()?;
        Ok(Gradients {
            inputs: vec![of_x],
            parameters,
        })
    }

    fn input_gradient(&self, x: &Tensor, of_sums: &Tensor) -> Result<Tensor> {
        if let Some(im2col) = &self.im2col {
            return im2col.input_gradient(x, of_sums);
        }
        match implicit::flipped(&self.sizes, self.products.precision) {
            Some(flipped) => implicit::input_gradient(
                x,
                of_sums,
                &self.weight.tensor(),
                flipped,
                self.products.precision,
            ),
            None => Im2col::new(self.sizes, &self.weight, None, self.products)?
                .input_gradient(x, of_sums),
        }
    }

    /// The gradients of weights and bias from theirs in the order of a patch,
    /// `[outputs, patch_len]`. If the bias is not a part of a patch, its own is given.
    fn unpacked(
        &self,
        of_packed: &Tensor,
        of_bias: Option<Tensor>,
    ) -> Result<Vec<(Parameter, Tensor)>> {
        let of_weight = empty(self.weight.tensor().shape(), DType::F32, of_packed)?;
        let packed_bias = self.bias.as_ref().filter(|_| of_bias.is_none());
        let unpacked_bias = packed_bias
            .map(|bias| empty(bias.len(), DType::F32, of_packed))
            .transpose()?;
        let geometry = self.sizes.geometry(of_packed.dim(1)?);
        // SAFETY: a thread for each element of `of_packed`; every weight, and the bias if it is
        // a part of a patch, is among them.
        unsafe {
            launch! {
                gpu(of_packed)?, "unpack_gradient", threads(of_packed.elem_count()), of_packed,
                of_weight, unpacked_bias, geometry
            }
            let of_bias = of_bias.or(unpacked_bias.map(|of_bias| of_bias.assume_init()));
            Ok(
                std::iter::once((self.weight.clone(), of_weight.assume_init()))
                    .chain(self.bias.clone().zip(of_bias))
                    .collect(),
            )
        }
    }
}

/// The result of pooling, and what its gradient needs.
struct Pooled {
    /// `[images, height / 2, width / 2, outputs]`.
    result: Tensor,
    /// Where in each window the maximum was.
    argmax: Tensor,
    relu: bool,
    sizes: Sizes,
}

impl Pooled {
    /// The maximum of every 2x2 window of the sums, `[rows, outputs]`.
    fn new(sums: &Tensor, sizes: Sizes, relu: bool) -> Result<Self> {
        let shape = (
            sizes.images,
            sizes.out_height / 2,
            sizes.out_width / 2,
            sizes.outputs,
        );
        let result = empty(shape, DType::F32, sums)?;
        let argmax = empty(shape, DType::U8, sums)?;
        // SAFETY: a thread for each element of both results; `sums` has `rows` of `outputs`.
        unsafe {
            launch! {
                gpu(sums)?, "max_pool_2x2", threads(result.elem_count()), sums, result, argmax,
                sizes.geometry(0), relu
            }
            Ok(Self {
                result: result.assume_init(),
                argmax: argmax.assume_init(),
                relu,
                sizes,
            })
        }
    }

    /// The gradient of the sums, `[rows, outputs]`, in this type.
    fn backward(&self, gradient: &Tensor, dtype: DType) -> Result<Tensor> {
        let Self {
            result,
            argmax,
            relu,
            sizes,
        } = self;
        let of_sums = empty((sizes.rows(), sizes.outputs), dtype, gradient)?;
        let windows = sizes.images
            * sizes.out_height.div_ceil(2)
            * sizes.out_width.div_ceil(2)
            * sizes.outputs;
        // SAFETY: a thread for each window, also those that the edge cuts, writes the elements
        // under it, which are of the kernel's type; gradient, result and argmax have one for each
        // whole window.
        unsafe {
            let kernel = for_dtype("max_pool_2x2_backward", dtype);
            launch! {
                gpu(gradient)?, &kernel, threads(windows), gradient, result, argmax, of_sums,
                sizes.geometry(0), *relu
            }
            Ok(of_sums.assume_init())
        }
    }
}
