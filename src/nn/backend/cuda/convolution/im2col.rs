//! Convolution as one matrix multiplication of cuBLAS, of im2col's matrix with the weights.
//!
//! The bias is the weight of a pixel that is always 1, so that its gradient comes out of the same
//! matrix multiplication as theirs; in half precision it is rounded with them.

use candle_core::{DType, Result, Tensor};

use super::super::launch::{blocks, empty, for_dtype, gpu, launch, threads};
use super::super::matmul::{Products, matmul, matmul_as, matmul_over_rows};
use super::{Geometry, Sizes};
use crate::nn::Parameter;

/// Elements that a block writes, as in `im2col.cuh`.
pub const BLOCK_ELEMENTS: usize = 256 * 4 * 4;
/// The length of a patch is a multiple of this: half-precision matrix multiplications need it to be
/// fast.
const PATCH_MULTIPLE: usize = 8;

pub struct Im2col {
    sizes: Sizes,
    geometry: Geometry,
    products: Products,
    /// The weights and the bias in the order of a patch, `[outputs, patch_len]`.
    packed: Tensor,
}

impl Im2col {
    pub fn new(
        sizes: Sizes,
        weight: &Parameter,
        bias: Option<&Parameter>,
        products: Products,
    ) -> Result<Self> {
        let patch_len = (sizes.window.size.pow(2) * sizes.channels + usize::from(bias.is_some()))
            .next_multiple_of(PATCH_MULTIPLE);
        let geometry = sizes.geometry(patch_len);
        let (weight, bias) = (weight.tensor(), bias.map(Parameter::tensor));
        let packed = empty((sizes.outputs, patch_len), products.dtype(), &weight)?;
        let kernel = for_dtype("pack_weight", products.dtype());
        let config = threads(packed.elem_count());
        // SAFETY: a thread for each element of `packed`, which is of the kernel's type; weight and
        // bias have the geometry's sizes.
        let packed = unsafe {
            launch! { gpu(&weight)?, &kernel, config, weight, bias, packed, geometry }
            packed.assume_init()
        };
        Ok(Self {
            sizes,
            geometry,
            products,
            packed,
        })
    }

    /// `[rows, outputs]`.
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        matmul(&self.patches(x)?, false, &self.packed, true, self.products)
    }

    /// The gradient of `packed` from that of the sums.
    pub fn weight_gradient(&self, x: &Tensor, of_sums: &Tensor) -> Result<Tensor> {
        matmul_over_rows(
            &of_sums.to_dtype(self.products.dtype())?,
            &self.patches(x)?,
            self.products,
        )
    }

    /// The gradient of `x` from that of the sums.
    pub fn input_gradient(&self, x: &Tensor, of_sums: &Tensor) -> Result<Tensor> {
        let dtype = self.products.dtype();
        let of_patches = matmul_as(
            dtype,
            &of_sums.to_dtype(dtype)?,
            false,
            &self.packed,
            false,
            self.products,
        )?;
        let of_x = empty(x.shape(), DType::F32, x)?;
        let together = if self.sizes.channels.is_multiple_of(4) {
            4
        } else {
            1
        };
        let kernel = for_dtype("col2im", dtype);
        let config = threads(of_x.elem_count() / together);
        // SAFETY: a thread for each pixel's channels, or each four of them; `of_patches` is
        // `[rows, patch_len]` of the kernel's type.
        unsafe {
            launch! { gpu(x)?, &kernel, config, of_patches, of_x, self.geometry }
            Ok(of_x.assume_init())
        }
    }

    /// `[rows, patch_len]`.
    fn patches(&self, x: &Tensor) -> Result<Tensor> {
        let Geometry {
            images,
            blocks: per_image,
            patch_len,
            ..
        } = self.geometry;
        let config = blocks(images as usize * per_image.value as usize);
        let patches = empty(
            (self.sizes.rows(), patch_len as usize),
            self.products.dtype(),
            x,
        )?;
        // SAFETY: the blocks of an image write its patches, which are of the kernel's type.
        unsafe {
            launch! {
                gpu(x)?, &for_dtype("im2col", self.products.dtype()), config, x, patches,
                self.geometry
            }
            Ok(patches.assume_init())
        }
    }
}
