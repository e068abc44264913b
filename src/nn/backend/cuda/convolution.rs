//! Owns convolution on a GPU: a row for the pixels under the kernel at each place, and one matrix product with the weights; what follows, pooling
//! or nothing, in one pass. Must not know models.
//!
//! The bias is a weight of a pixel that is always 1, so that its gradient comes out of the same product as theirs; in shorter number formats it is
//! rounded with them.

use candle_core::cuda_backend::cudarc::driver::{DeviceRepr, LaunchConfig};
use candle_core::{DType, Result, Tensor};

use super::gpu::{gpu, launch, of_kind, place, place_of, room, threads};
use super::products::{operand, product, product_over_rows};
use crate::nn::Parameter;
use crate::nn::ops::tape::{self, Gradients};
use crate::nn::ops::{Context, Gradient, Kernel};
use crate::run_config::Precision;

/// What is done with a convolution's sums.
#[derive(Clone, Copy)]
pub enum After {
    /// Nothing.
    Nothing,
    /// The largest of every 2x2, and perhaps `ReLU`.
    Pool {
        /// Whether it is there.
        relu: bool,
    },
}

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
    lead: u32,
}

// SAFETY: numbers, laid out as the kernels read them.
unsafe impl DeviceRepr for Geometry {}

/// Rows of places, and columns of their matrix, that a block of `patches` takes on, as in `convolution.cuh`.
const BAND: u32 = 4;
/// See `BAND`.
const COLUMNS: u32 = 256;
/// Numbers that a row of patches is a multiple of: what products of half precision go through at a time.
const ROUND: usize = 8;

/// `super::super::conv2d`, or `conv_pool`.
pub fn convolution(
    x: &Tensor,
    weight: &Parameter,
    bias: Option<&Parameter>,
    kernel: Kernel,
    after: After,
    context: Context,
) -> Result<Tensor> {
    let pictures = x.contiguous()?;
    let conv = Convolution::new(&pictures, weight, bias, kernel, after, context.precision)?;
    let packed = conv.packed()?;
    let sums = product(&conv.patches(&pictures)?, false, &packed, true, context.precision)?;
    let (result, places) = match after {
        After::Nothing => (conv.as_pictures(&sums)?, None),
        After::Pool { relu } => {
            let (result, places) = conv.pooled(&sums, relu)?;
            (result, Some(places))
        }
    };
    if context.gradient == Gradient::Kept {
        let (of_x, noted) = (tape::leads_back(x), result.clone());
        tape::note_there(vec![x.clone()], &result, move |gradient| {
            conv.backward(&pictures, &packed, &noted, places.as_ref(), gradient, of_x)
        });
    }
    Ok(result)
}

struct Convolution {
    geometry: Geometry,
    precision: Precision,
    kind: DType,
    after: After,
    weight: Parameter,
    bias: Option<Parameter>,
}

impl Convolution {
    fn new(x: &Tensor, weight: &Parameter, bias: Option<&Parameter>, kernel: Kernel, after: After, precision: Precision) -> Result<Self> {
        let (images, height, width, channels) = x.dims4()?;
        let Kernel { size, stride, padding } = kernel;
        let (out_height, out_width) = (kernel.places(height)?, kernel.places(width)?);
        let outputs = weight.tensor().dim(0)?;
        let lead = (size * size * channels + usize::from(bias.is_some())).next_multiple_of(ROUND);
        let [images, height, width, channels, outputs] = [images, height, width, channels, outputs].map(|count| count as u32);
        let [size, stride, padding, out_height, out_width, lead] =
            [size, stride, padding, out_height, out_width, lead].map(|count| count as u32);
        let geometry = Geometry { images, height, width, channels, outputs, size, stride, padding, out_height, out_width, lead };
        Ok(Self { geometry, precision, kind: operand(precision), after, weight: weight.clone(), bias: bias.cloned() })
    }

    /// Places of the kernel, in all pictures.
    const fn rows(&self) -> usize {
        self.geometry.images as usize * self.geometry.out_height as usize * self.geometry.out_width as usize
    }

    const fn outputs(&self) -> usize {
        self.geometry.outputs as usize
    }

    const fn lead(&self) -> usize {
        self.geometry.lead as usize
    }

    /// The weights and the bias as rows, `[outputs, lead]`.
    fn packed(&self) -> Result<Tensor> {
        let (weight, bias) = (self.weight.tensor(), self.bias.as_ref().map(Parameter::tensor));
        let packed = room((self.outputs(), self.lead()), self.kind, &weight)?;
        let count = threads(packed.elem_count());
        launch!(
            gpu(&weight)?,
            &of_kind("pack", self.kind),
            count,
            place(&weight)?,
            place_of(bias.as_ref())?,
            place(&packed)?,
            self.geometry
        );
        Ok(packed)
    }

    /// `[rows, lead]`.
    fn patches(&self, x: &Tensor) -> Result<Tensor> {
        let Geometry { images, out_height, lead, .. } = self.geometry;
        let grid_dim = (images * out_height.div_ceil(BAND), lead.div_ceil(COLUMNS), 1);
        let blocks = LaunchConfig { grid_dim, block_dim: (32, 8, 1), shared_mem_bytes: 0 };
        let rows = room((self.rows(), self.lead()), self.kind, x)?;
        launch!(gpu(x)?, &of_kind("patches", self.kind), blocks, place(x)?, place(&rows)?, self.geometry);
        Ok(rows)
    }

    fn as_pictures(&self, sums: &Tensor) -> Result<Tensor> {
        let Geometry { images, out_height, out_width, .. } = self.geometry;
        sums.reshape((images as usize, out_height as usize, out_width as usize, self.outputs()))
    }

    /// The largest of every 2x2 sums, and which it was.
    fn pooled(&self, sums: &Tensor, relu: bool) -> Result<(Tensor, Tensor)> {
        let Geometry { images, out_height, out_width, .. } = self.geometry;
        let shape = (images as usize, out_height as usize / 2, out_width as usize / 2, self.outputs());
        let (result, places) = (room(shape, DType::F32, sums)?, room(shape, DType::U8, sums)?);
        let count = threads(result.elem_count());
        launch!(gpu(sums)?, "pool", count, place(sums)?, place(&result)?, place(&places)?, self.geometry, u32::from(relu));
        Ok((result, places))
    }

    fn backward(
        &self,
        x: &Tensor,
        packed: &Tensor,
        result: &Tensor,
        places: Option<&Tensor>,
        gradient: &Tensor,
        of_x: bool,
    ) -> Result<Gradients> {
        let gpu = gpu(x)?;
        let gradient = gradient.contiguous()?;
        let sums = match (self.after, places) {
            (After::Pool { relu }, Some(places)) => {
                let sums = room((self.rows(), self.outputs()), self.kind, x)?;
                let Geometry { images, out_height, out_width, outputs, .. } = self.geometry;
                let windows = images * out_height.div_ceil(2) * out_width.div_ceil(2) * outputs;
                let (count, relu) = (threads(windows as usize), u32::from(relu));
                let from = (place(&gradient)?, place(result)?, place(places)?);
                launch!(gpu, &of_kind("unpool", self.kind), count, from.0, from.1, from.2, place(&sums)?, self.geometry, relu);
                sums
            }
            _ => gradient.reshape((self.rows(), self.outputs()))?.to_dtype(self.kind)?,
        };
        let of_packed = product_over_rows(&sums, &self.patches(x)?, self.precision)?;
        let of_weight = room(self.weight.tensor().shape(), DType::F32, x)?;
        let of_bias = self.bias.as_ref().map(|bias| room(bias.len(), DType::F32, x)).transpose()?;
        let to = (place(&of_weight)?, place_of(of_bias.as_ref())?);
        launch!(gpu, "unpack", threads(of_packed.elem_count()), place(&of_packed)?, to.0, to.1, self.geometry);
        let of_x = if of_x {
            let of_rows = product(&sums, false, packed, false, self.precision)?;
            let of_x = room(x.shape(), DType::F32, x)?;
            launch!(gpu, "fold", threads(of_x.elem_count()), place(&of_rows)?, place(&of_x)?, self.geometry);
            Some(of_x)
        } else {
            None
        };
        let parameters = std::iter::once((self.weight.clone(), of_weight)).chain(self.bias.clone().zip(of_bias)).collect();
        Ok(Gradients { inputs: vec![of_x], parameters })
    }
}
