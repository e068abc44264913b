//! 2x2 max-pooling of a convolution's sums, with `ReLU` where a layer has it.

use candle_core::{DType, Result, Tensor};

use super::super::launch::{for_dtype, launch, threads};
use super::super::memory::{empty, gpu};
use super::Sizes;

/// The result of pooling, and what its gradient needs.
pub struct Pooled {
    /// `[images, height / 2, width / 2, outputs]`.
    pub result: Tensor,
    /// Where in each window the maximum was.
    argmax: Tensor,
    relu: bool,
    sizes: Sizes,
}

impl Pooled {
    /// The maximum of every 2x2 window of the sums, `[rows, outputs]`.
    pub fn new(sums: &Tensor, sizes: Sizes, relu: bool) -> Result<Self> {
        let shape = (
            sizes.images,
            sizes.out_height / 2,
            sizes.out_width / 2,
            sizes.outputs,
        );
        let (result, argmax) = (
            empty(shape, DType::F32, sums)?,
            empty(shape, DType::U8, sums)?,
        );
        // SAFETY: a thread for each element of both results; `sums` has `rows` of `outputs`.
        unsafe {
            launch!(
                gpu(sums)?,
                "max_pool_2x2",
                threads(result.elem_count()),
                sums,
                result,
                argmax,
                sizes.geometry(0),
                relu
            );
            Ok(Self {
                result: result.assume_init(),
                argmax: argmax.assume_init(),
                relu,
                sizes,
            })
        }
    }

    /// The gradient of the sums, `[rows, outputs]`, in this type.
    pub fn backward(&self, gradient: &Tensor, dtype: DType) -> Result<Tensor> {
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
            launch!(
                gpu(gradient)?,
                &kernel,
                threads(windows),
                gradient,
                result,
                argmax,
                of_sums,
                sizes.geometry(0),
                *relu
            );
            Ok(of_sums.assume_init())
        }
    }
}
