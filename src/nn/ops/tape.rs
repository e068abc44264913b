//! Owns the order in which ops were applied, and the way back through it. Must not know what any op computes.
//!
//! candle's own `backward` adds every gradient to zeros it allocates, by threads of its own that wait in a spin: a quarter
//! of a training step. Its graph is private, so ops are noted here as they are applied; walking back from the last one hands
//! each gradient on as it is and adds only where a result was used twice. Ops are candle's `CustomOp`s all the same, and candle's
//! `backward` through them gives the same gradients.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use candle_core::{CustomOp1, CustomOp2, CustomOp3, Device, Result, Shape, Tensor, TensorId};
use rayon::prelude::*;

use super::add::sum_into;
use super::{Context, Gradient, PIECE, with_slices};
use crate::nn::Parameter;

enum Applied {
    /// The same numbers in another shape.
    Reshape(Tensor),
    One(Tensor, Arc<Box<dyn CustomOp1 + Send + Sync>>),
    Two([Tensor; 2], Arc<Box<dyn CustomOp2 + Send + Sync>>),
    Three([Tensor; 3], Arc<Box<dyn CustomOp3 + Send + Sync>>),
    /// What was computed on a device by kernels of ours.
    #[cfg(feature = "cuda")]
    There(Vec<Tensor>, Back),
}

/// The way back through an op on a device: from the gradient of its result to those of what it was applied to.
#[cfg(feature = "cuda")]
type Back = Box<dyn FnOnce(&Tensor) -> Result<Gradients>>;

/// What an op on a device makes of the gradient of its result.
#[cfg(feature = "cuda")]
pub struct Gradients {
    /// That of each tensor it was applied to, where one is wanted.
    pub inputs: Vec<Option<Tensor>>,
    /// Those of parameters.
    pub parameters: Vec<(Parameter, Tensor)>,
}

struct Node {
    applied: Applied,
    result: Tensor,
}

thread_local! {
    /// What was applied on this thread since the last `forget` or `backward`.
    static TAPE: RefCell<Vec<Node>> = const { RefCell::new(Vec::new()) };
}

fn note(applied: Applied, result: &Tensor) {
    TAPE.with(|tape| tape.borrow_mut().push(Node { applied, result: result.clone() }));
}

/// Applies an op of one tensor, so that `backward` finds it where a gradient is kept.
pub fn apply1(x: &Tensor, op: impl CustomOp1 + Send + Sync + 'static, gradient: Gradient) -> Result<Tensor> {
    if gradient == Gradient::None {
        return x.apply_op1_no_bwd(&op);
    }
    let op: Arc<Box<dyn CustomOp1 + Send + Sync>> = Arc::new(Box::new(op));
    let result = x.apply_op1_arc(op.clone())?;
    note(Applied::One(x.clone(), op), &result);
    Ok(result)
}

/// Applies an op of two tensors, so that `backward` finds it where a gradient is kept.
pub fn apply2(x: &Tensor, y: &Tensor, op: impl CustomOp2 + Send + Sync + 'static, gradient: Gradient) -> Result<Tensor> {
    if gradient == Gradient::None {
        return x.apply_op2_no_bwd(y, &op);
    }
    let op: Arc<Box<dyn CustomOp2 + Send + Sync>> = Arc::new(Box::new(op));
    let result = x.apply_op2_arc(y, op.clone())?;
    note(Applied::Two([x.clone(), y.clone()], op), &result);
    Ok(result)
}

/// Applies an op of three tensors, so that `backward` finds it where a gradient is kept.
pub fn apply3(x: &Tensor, y: &Tensor, z: &Tensor, op: impl CustomOp3 + Send + Sync + 'static, gradient: Gradient) -> Result<Tensor> {
    if gradient == Gradient::None {
        return x.apply_op3_no_bwd(y, z, &op);
    }
    let op: Arc<Box<dyn CustomOp3 + Send + Sync>> = Arc::new(Box::new(op));
    let result = x.apply_op3_arc(y, z, op.clone())?;
    note(Applied::Three([x.clone(), y.clone(), z.clone()], op), &result);
    Ok(result)
}

/// Notes what was computed of `inputs` on a device, and how its gradient leads back.
#[cfg(feature = "cuda")]
pub fn note_there(inputs: Vec<Tensor>, result: &Tensor, back: impl FnOnce(&Tensor) -> Result<Gradients> + 'static) {
    note(Applied::There(inputs, Box::new(back)), result);
}

/// True where the gradient of `x` is wanted: something learned is behind it.
#[cfg(feature = "cuda")]
pub fn leads_back(x: &Tensor) -> bool {
    TAPE.with(|tape| tape.borrow().iter().any(|node| node.result.id() == x.id()))
}

/// `x` in another shape of as many numbers, which it shares, so that `backward` finds it.
pub fn reshape(x: &Tensor, shape: impl Into<Shape>, context: Context) -> Result<Tensor> {
    let result = x.reshape(shape.into())?;
    if context.gradient == Gradient::Kept {
        note(Applied::Reshape(x.clone()), &result);
    }
    Ok(result)
}

/// Forgets what was applied on this thread, for a fresh forward pass.
pub fn forget() {
    TAPE.take();
}

/// Adds to the parameters' gradients those of the sum of `result`'s numbers, times `scale`, through all that was applied on this
/// thread since the last `forget`. An error where something else was applied in between: its gradient would be lost.
pub fn backward(result: &Tensor, scale: f32) -> Result<()> {
    let mut gradients = HashMap::new();
    gradients.insert(result.id(), (Tensor::full(scale, result.shape(), result.device())?, false));
    let mut tape = TAPE.take();
    #[cfg_attr(not(feature = "cuda"), expect(unused_mut, reason = "only what is computed on a GPU hands these over"))]
    let mut learned: Vec<(Parameter, Tensor)> = Vec::new();
    // Each result is dropped as soon as its gradient was handed on.
    while let Some(Node { applied, result }) = tape.pop() {
        let Some((gradient, _)) = gradients.remove(&result.id()) else { continue };
        match applied {
            Applied::Reshape(x) => {
                let wanted = x.track_op() || tape.iter().any(|node| node.result.id() == x.id());
                add_to(&mut gradients, &x, wanted.then(|| gradient.reshape(x.shape())).transpose()?)?;
            }
            #[cfg(feature = "cuda")]
            Applied::There(inputs, back) => {
                let Gradients { inputs: of_inputs, parameters } = back(&gradient)?;
                learned.extend(parameters);
                for (input, gradient) in inputs.iter().zip(of_inputs) {
                    add_to(&mut gradients, input, gradient)?;
                }
            }
            Applied::One(x, op) => hand_on(&mut gradients, &x, op.bwd(&x, &result, &gradient)?)?,
            Applied::Two([x, y], op) => {
                let (of_x, of_y) = op.bwd(&x, &y, &result, &gradient)?;
                hand_on(&mut gradients, &x, of_x)?;
                hand_on(&mut gradients, &y, of_y)?;
            }
            Applied::Three([x, y, z], op) => {
                let (of_x, of_y, of_z) = op.bwd(&x, &y, &z, &result, &gradient)?;
                hand_on(&mut gradients, &x, of_x)?;
                hand_on(&mut gradients, &y, of_y)?;
                hand_on(&mut gradients, &z, of_z)?;
            }
        }
    }
    if gradients.values().any(|(_, variable)| !variable) {
        candle_core::bail!("a gradient came to something that is neither a variable nor the result of an op of ours");
    }
    // All or none: where memory runs out in between, the same part is computed again.
    let mut sums: Vec<(Parameter, Tensor)> = Vec::new();
    for (parameter, gradient) in learned {
        match sums.iter_mut().find(|(known, _)| known.tracked().id() == parameter.tracked().id()) {
            Some((_, sum)) => *sum = (&*sum + gradient)?,
            None => sums.push((parameter.clone(), parameter.with_device_gradient(&gradient)?)),
        }
    }
    for (parameter, sum) in sums {
        parameter.set_device_gradient(sum);
    }
    Ok(())
}

/// Adds `gradient` to that of `to` where candle knows something learned behind it.
fn hand_on(gradients: &mut HashMap<TensorId, (Tensor, bool)>, to: &Tensor, gradient: Option<Tensor>) -> Result<()> {
    add_to(gradients, to, gradient.filter(|_| to.track_op()))
}

/// Adds `gradient` to that of `to`. Beside each gradient stands whether it is a variable's.
fn add_to(gradients: &mut HashMap<TensorId, (Tensor, bool)>, to: &Tensor, gradient: Option<Tensor>) -> Result<()> {
    let Some(gradient) = gradient else { return Ok(()) };
    let sum = match gradients.remove(&to.id()) {
        None => gradient,
        Some((earlier, _)) if !to.device().is_cpu() => (earlier + gradient)?,
        Some((earlier, _)) => {
            let mut sum = vec![0.0; gradient.elem_count()];
            with_slices([&earlier, &gradient], |[a, b]| {
                let pieces = sum.par_chunks_mut(PIECE).zip(a.par_chunks(PIECE)).zip(b.par_chunks(PIECE));
                pieces.for_each(|((sum, a), b)| sum_into(sum, a, b));
            })?;
            Tensor::from_vec(sum, to.shape(), &Device::Cpu)?
        }
    };
    gradients.insert(to.id(), (sum, to.is_variable()));
    Ok(())
}
