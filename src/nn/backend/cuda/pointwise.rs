//! Owns what passes over numbers once on a GPU: activations, sums of branches, dropout, means of pictures, the order of features.
//! Must not know models.

use candle_core::{DType, Result, Tensor};

use super::gpu::{gpu, launch, place, place_of, room, threads};
use crate::nn::ops::dropout::Draw;
use crate::nn::ops::tape::{self, Gradients};
use crate::nn::ops::{Context, Gradient};
use crate::run_config::Activation;

/// As `activated` in `pointwise.cuh` counts them.
pub const fn number_of(activation: Option<Activation>) -> u32 {
    match activation {
        None => 0,
        Some(Activation::Relu) => 1,
        Some(Activation::LeakyRelu) => 2,
        Some(Activation::Gelu) => 3,
        Some(Activation::Silu) => 4,
        Some(Activation::Tanh) => 5,
    }
}

/// `super::super::activate`, or `add` where there are two branches.
pub fn activate(a: &Tensor, b: Option<&Tensor>, activation: Option<Activation>, context: Context) -> Result<Tensor> {
    let inputs: Vec<Tensor> = std::iter::once(a).chain(b).map(Tensor::contiguous).collect::<Result<_>>()?;
    let (count, kind) = (a.elem_count(), number_of(activation));
    let result = room(a.shape(), DType::F32, a)?;
    let from = (place(&inputs[0])?, place_of(inputs.get(1))?);
    launch!(gpu(a)?, "activate", threads(count), from.0, from.1, place(&result)?, count as u32, kind);
    if context.gradient == Gradient::Kept {
        let noted: Vec<Tensor> = std::iter::once(a).chain(b).cloned().collect();
        let wanted: Vec<bool> = noted.iter().map(tape::leads_back).collect();
        tape::note_there(noted, &result, move |gradient| {
            let gradient = gradient.contiguous()?;
            let of_sum = if activation.is_some() {
                let of_sum = room(gradient.shape(), DType::F32, &gradient)?;
                let from = (place(&inputs[0])?, place_of(inputs.get(1))?, place(&gradient)?);
                let to = place(&of_sum)?;
                launch!(gpu(&gradient)?, "activate_back", threads(count), from.0, from.1, from.2, to, count as u32, kind);
                of_sum
            } else {
                gradient
            };
            Ok(Gradients { inputs: wanted.iter().map(|wanted| wanted.then(|| of_sum.clone())).collect(), parameters: Vec::new() })
        });
    }
    Ok(result)
}

/// Applies `there`, and where a gradient is wanted `back` to it.
fn apply(
    x: &Tensor,
    there: impl FnOnce(&Tensor) -> Result<Tensor>,
    back: impl FnOnce(&Tensor) -> Result<Tensor> + 'static,
    context: Context,
) -> Result<Tensor> {
    let result = there(&x.contiguous()?)?;
    if context.gradient == Gradient::Kept && tape::leads_back(x) {
        tape::note_there(vec![x.clone()], &result, |gradient| {
            Ok(Gradients { inputs: vec![Some(back(&gradient.contiguous()?)?)], parameters: Vec::new() })
        });
    }
    Ok(result)
}

/// `super::super::dropout` of these numbers.
pub fn dropout(x: &Tensor, draw: Draw, context: Context) -> Result<Tensor> {
    let pass = move |x: &Tensor| {
        let (result, count) = (room(x.shape(), DType::F32, x)?, x.elem_count());
        let Draw { seed, dropped, scale } = draw;
        launch!(gpu(x)?, "dropout", threads(count.div_ceil(4)), place(x)?, place(&result)?, count as u32, seed, dropped, scale);
        Ok(result)
    };
    apply(x, pass, pass, context)
}

/// `super::super::flatten`.
pub fn flatten(x: &Tensor, context: Context) -> Result<Tensor> {
    let (images, height, width, channels) = x.dims4()?;
    let (pixels, shape) = (height * width, x.shape().clone());
    apply(
        x,
        |x| transpose_each(x, pixels, channels)?.reshape((images, pixels * channels)),
        move |gradient| transpose_each(gradient, channels, pixels)?.reshape(shape),
        context,
    )
}

fn transpose_each(x: &Tensor, rows: usize, columns: usize) -> Result<Tensor> {
    let (result, count) = (room(x.shape(), DType::F32, x)?, x.elem_count());
    launch!(gpu(x)?, "transpose_each", threads(count), place(x)?, place(&result)?, count as u32, rows as u32, columns as u32);
    Ok(result)
}

/// `super::super::global_average_pool`.
pub fn global_average_pool(x: &Tensor, context: Context) -> Result<Tensor> {
    let (images, channels) = (x.dim(0)?, x.dim(candle_core::D::Minus1)?);
    let (places, shape) = (x.elem_count() / (images * channels).max(1), x.shape().clone());
    let pass = move |kernel: &str, x: &Tensor, result: Tensor| {
        let count = result.elem_count();
        launch!(gpu(x)?, kernel, threads(count), place(x)?, place(&result)?, count as u32, places as u32, channels as u32);
        Ok(result)
    };
    apply(
        x,
        |x| pass("average", x, room((images, channels), DType::F32, x)?),
        move |gradient| pass("average_back", gradient, room(shape, DType::F32, gradient)?),
        context,
    )
}
