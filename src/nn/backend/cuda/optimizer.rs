//! The optimizer's step over all parameters in two passes, the norm of their gradients, and the
//! moving average of the weights.

use candle_core::cuda_backend::cudarc::driver::DeviceRepr;
use candle_core::{DType, Result, Tensor};

use super::launch::{KernelArg, blocks, empty, gpu, launch, plain_args};
use crate::nn::Parameter;
use crate::nn::backend::{OptimizerStep, UpdatedParameter};
use crate::run_config::OptimizerKind;

/// Parameters that a kernel takes at a time, as in `optimizer.cuh`.
const MAX_PARAMETERS: usize = 64;
/// Elements of a parameter that a block takes, as in `optimizer.cuh`.
const CHUNK: u32 = 2048;

/// `ParameterList` in `optimizer.cuh`.
#[derive(Clone, Copy)]
#[repr(C)]
struct ParameterList {
    weight: [u64; MAX_PARAMETERS],
    gradient: [u64; MAX_PARAMETERS],
    length: [u32; MAX_PARAMETERS],
    offset: [u32; MAX_PARAMETERS],
    first_block: [u32; MAX_PARAMETERS],
    decay: [f32; MAX_PARAMETERS],
    count: u32,
}

impl ParameterList {
    /// The blocks of a pass over it.
    fn blocks(&self) -> usize {
        let last = (self.count as usize).saturating_sub(1);
        (self.first_block[last] + self.length[last].div_ceil(CHUNK)) as usize
    }
}

// SAFETY: the same fields in the same order as the kernels' struct.
unsafe impl DeviceRepr for ParameterList {}

/// The constants of a step; `Step` in `optimizer.cuh`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Step {
    /// 0: SGD, 1: `AdamW`, 2: Adam.
    rule: u32,
    nesterov: u32,
    lr: f32,
    scale: f32,
    /// 0 for no clipping.
    clip: f32,
    momentum: f32,
    beta1: f32,
    beta2: f32,
    epsilon: f32,
    correction1: f32,
    correction2: f32,
}

// SAFETY: the same fields in the same order as the kernels' struct.
unsafe impl DeviceRepr for Step {}
plain_args!(ParameterList, Step);

impl Step {
    fn new(rule: u32, step: OptimizerStep) -> Self {
        let OptimizerStep {
            lr,
            scale,
            clip_norm,
            nesterov,
            momentum,
            betas: [beta1, beta2],
            epsilon,
            bias_corrections,
            ..
        } = step;
        let ([correction1, correction2], nesterov, clip) = (
            bias_corrections,
            nesterov.into(),
            clip_norm.unwrap_or_default(),
        );
        Self {
            rule,
            nesterov,
            lr,
            scale,
            clip,
            momentum,
            beta1,
            beta2,
            epsilon,
            correction1,
            correction2,
        }
    }
}

pub fn optimizer_step(
    updated: &[UpdatedParameter],
    step: OptimizerStep,
    slots: &[Tensor],
) -> Result<Option<Tensor>> {
    let (rule, exp_avg, exp_avg_sq) = match (step.kind, slots) {
        (OptimizerKind::Sgd, [velocity]) => (0, velocity, None),
        (OptimizerKind::AdamW, [exp_avg, exp_avg_sq]) => (1, exp_avg, Some(exp_avg_sq)),
        (OptimizerKind::Adam, [exp_avg, exp_avg_sq]) => (2, exp_avg, Some(exp_avg_sq)),
        // Adafactor, Lion and Langevin dynamics have no kernel.
        _ => return Ok(None),
    };
    let weights: Vec<Tensor> = updated
        .iter()
        .map(|updated| updated.parameter.tensor())
        .collect();
    let gradients = updated
        .iter()
        .map(|updated| updated.gradient.contiguous())
        .collect::<Result<Vec<_>>>()?;
    for slot in slots {
        check_row(&weights, slot)?;
    }
    let lists = lists(
        &weights,
        &gradients,
        &updated
            .iter()
            .map(|updated| updated.decay)
            .collect::<Vec<_>>(),
    )?;
    if lists.is_empty() {
        return Ok(None);
    }
    let partials = sum_squares(&lists, exp_avg)?;
    let norm = empty((), DType::F32, exp_avg)?;
    let step = Step::new(rule, step);
    // SAFETY: the blocks write every listed weight and its elements of the slots, which nobody else
    // uses during a step, and the first of them the norm. SGD does not touch the second slot.
    unsafe {
        for list in lists {
            launch! {
                gpu(exp_avg)?, "optimizer_step", blocks(list.blocks()), list, step, exp_avg,
                exp_avg_sq, partials, partials.elem_count(), norm
            }
        }
        Ok(Some(norm.assume_init()))
    }
}

pub fn gradient_norm(parameters: &[&Parameter]) -> Result<Tensor> {
    let Some(like) = parameters.first().map(|parameter| parameter.tensor()) else {
        candle_core::bail!("there are no parameters")
    };
    let gradients = parameters.iter().filter_map(|parameter| parameter.grad());
    let gradients = gradients
        .map(|gradient| gradient.contiguous())
        .collect::<Result<Vec<_>>>()?;
    let partials = sum_squares(
        &lists(&gradients, &gradients, &vec![0.0; gradients.len()])?,
        &like,
    )?;
    let norm = empty((), DType::F32, &like)?;
    // SAFETY: one block reads all partial sums and writes the norm.
    unsafe {
        launch! { gpu(&like)?, "gradient_norm", blocks(1), partials, partials.elem_count(), norm }
        Ok(norm.assume_init())
    }
}

/// The sum of squares of all listed gradients, a partial sum for each block.
fn sum_squares(lists: &[ParameterList], like: &Tensor) -> Result<Tensor> {
    if lists.is_empty() {
        return Tensor::zeros(1, DType::F32, like.device());
    }
    let partials = empty(
        lists.iter().map(ParameterList::blocks).sum::<usize>(),
        DType::F32,
        like,
    )?;
    let mut first = 0;
    // SAFETY: each block writes its partial sum, those of one list after those of the other.
    unsafe {
        for list in lists {
            launch! {
                gpu(like)?, "sum_squares", blocks(list.blocks()), *list,
                partials.raw()? + first * size_of::<f32>() as u64
            }
            first += list.blocks() as u64;
        }
        Ok(partials.assume_init())
    }
}

/// See [`crate::nn::Backend::ema_update`]; `average` is updated in place.
pub fn ema_update(parameters: &[Parameter], average: &Tensor, ema_weight: f32) -> Result<()> {
    let weights: Vec<Tensor> = parameters.iter().map(Parameter::tensor).collect();
    check_row(&weights, average)?;
    for list in lists(&weights, &weights, &vec![0.0; weights.len()])? {
        // SAFETY: the blocks read every listed weight and update its average, which nobody else
        // uses during a step.
        unsafe {
            launch! {
                gpu(average)?, "ema_update", blocks(list.blocks()), list, average, ema_weight
            }
        }
    }
    Ok(())
}

/// A slot, or the average, has an element for every weight.
fn check_row(weights: &[Tensor], row: &Tensor) -> Result<()> {
    if weights.iter().map(Tensor::elem_count).sum::<usize>() != row.elem_count() {
        candle_core::bail!(
            "a row {:?} of an optimizer's state does not fit its {} parameters",
            row.shape(),
            weights.len()
        );
    }
    Ok(())
}

fn lists(weights: &[Tensor], gradients: &[Tensor], decays: &[f32]) -> Result<Vec<ParameterList>> {
    let mut offset = 0;
    let mut lists = Vec::new();
    let chunks = weights
        .chunks(MAX_PARAMETERS)
        .zip(gradients.chunks(MAX_PARAMETERS))
        .zip(decays.chunks(MAX_PARAMETERS));
    for ((weights, gradients), decays) in chunks {
        let mut list = ParameterList {
            weight: [0; MAX_PARAMETERS],
            gradient: [0; MAX_PARAMETERS],
            length: [0; MAX_PARAMETERS],
            offset: [0; MAX_PARAMETERS],
            first_block: [0; MAX_PARAMETERS],
            decay: [0.0; MAX_PARAMETERS],
            count: weights.len() as u32,
        };
        let mut block = 0;
        for (index, ((weight, gradient), &decay)) in
            weights.iter().zip(gradients).zip(decays).enumerate()
        {
            if weight.elem_count() != gradient.elem_count() {
                candle_core::bail!(
                    "a gradient {:?} does not fit a weight {:?}",
                    gradient.shape(),
                    weight.shape()
                );
            }
            let length = weight.elem_count() as u32;
            (list.weight[index], list.gradient[index]) = (weight.raw()?, gradient.raw()?);
            (
                list.length[index],
                list.offset[index],
                list.first_block[index],
                list.decay[index],
            ) = (length, offset, block, decay);
            offset += length;
            block += length.div_ceil(CHUNK);
        }
        lists.push(list);
    }
    Ok(lists)
}
