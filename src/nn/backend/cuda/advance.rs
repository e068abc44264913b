//! Owns an optimiser's step on a GPU: all parameters in two passes, wherever each of them lies. Must not know when a step is due.

use candle_core::cuda_backend::cudarc::driver::DeviceRepr;
use candle_core::{DType, Result, Tensor};

use super::gpu::{blocks, gpu, launch, place, room};
use crate::nn::Parameter;

/// Parameters that a kernel takes at a time, as in `advance.cuh`.
const LISTED: usize = 64;
/// Blocks of a pass: enough for every GPU, few enough to add up.
const BLOCKS: usize = 512;

/// `Lists` in `advance.cuh`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Lists {
    weight: [u64; LISTED],
    gradient: [u64; LISTED],
    length: [u32; LISTED],
    start: [u32; LISTED],
    decay: [f32; LISTED],
    count: u32,
}

// SAFETY: numbers, laid out as the kernels read them.
unsafe impl DeviceRepr for Lists {}

/// A rule and what it goes by in this step; `Rule` in `advance.cuh`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Rule {
    /// 0: SGD, 1: `AdamW`, 2: Adam.
    pub kind: u32,
    /// 1 where SGD's momentum is Nesterov's.
    pub nesterov: u32,
    /// The learning rate.
    pub rate: f32,
    /// What gathered gradients are multiplied by.
    pub scale: f32,
    /// The norm they are brought down to; 0 for none.
    pub clip: f32,
    /// μ, for SGD.
    pub momentum: f32,
    /// β₁ and β₂, for Adam.
    pub beta1: f32,
    /// See `beta1`.
    pub beta2: f32,
    /// ε, for Adam.
    pub epsilon: f32,
    /// `1 - β₁ᵗ` and `1 - β₂ᵗ`.
    pub correction1: f32,
    /// See `correction1`.
    pub correction2: f32,
}

// SAFETY: numbers, laid out as the kernels read them.
unsafe impl DeviceRepr for Rule {}

/// A parameter in a step.
pub struct Moved {
    /// What is moved.
    pub parameter: Parameter,
    /// By what.
    pub gradient: Tensor,
    /// λ.
    pub decay: f32,
}

/// Moves parameters by a rule that remembers `first` and `second`, a row each with a number for every weight, in their order. Gives the norm the
/// gradients had after `scale`, still on the GPU.
pub fn advance(moved: &[Moved], rule: Rule, first: &Tensor, second: &Tensor) -> Result<Tensor> {
    let gpu = gpu(first)?;
    let weights: Vec<Tensor> = moved.iter().map(|moved| moved.parameter.tensor()).collect();
    let gradients = moved.iter().map(|moved| moved.gradient.contiguous()).collect::<Result<Vec<_>>>()?;
    let lists = lists(&weights, &gradients, &moved.iter().map(|moved| moved.decay).collect::<Vec<_>>())?;
    let (parts, norm) = (squares(&lists, first)?, room((), DType::F32, first)?);
    for lists in lists {
        let (remembered, count) = ((place(first)?, place(second)?), BLOCKS as u32);
        launch!(gpu, "advance", blocks(BLOCKS), lists, rule, remembered.0, remembered.1, place(&parts)?, count, place(&norm)?);
    }
    Ok(norm)
}

/// The L2 norm of all these gradients together, still on the GPU.
pub fn gradient_norm(gradients: &[Tensor], beside: &Tensor) -> Result<Tensor> {
    let parts = squares(&lists(gradients, gradients, &vec![0.0; gradients.len()])?, beside)?;
    let norm = room((), DType::F32, beside)?;
    launch!(gpu(beside)?, "join_squares", blocks(1), place(&parts)?, BLOCKS as u32, place(&norm)?);
    Ok(norm)
}

/// The squares of all listed gradients, a sum for each block.
fn squares(lists: &[Lists], beside: &Tensor) -> Result<Tensor> {
    let parts = room(BLOCKS, DType::F32, beside)?;
    for (further, lists) in (0_u32..).zip(lists) {
        launch!(gpu(beside)?, "squares", blocks(BLOCKS), *lists, place(&parts)?, further);
    }
    Ok(parts)
}

/// Takes `share` of each parameter into a row with their averages.
pub fn follow(parameters: &[Parameter], average: &Tensor, share: f32) -> Result<()> {
    let weights: Vec<Tensor> = parameters.iter().map(Parameter::tensor).collect();
    for lists in lists(&weights, &weights, &vec![0.0; weights.len()])? {
        launch!(gpu(average)?, "follow", blocks(BLOCKS), lists, place(average)?, share);
    }
    Ok(())
}

fn lists(weights: &[Tensor], gradients: &[Tensor], decays: &[f32]) -> Result<Vec<Lists>> {
    let mut start = 0;
    let mut all = Vec::new();
    for ((weights, gradients), decays) in weights.chunks(LISTED).zip(gradients.chunks(LISTED)).zip(decays.chunks(LISTED)) {
        let mut lists = Lists {
            weight: [0; LISTED],
            gradient: [0; LISTED],
            length: [0; LISTED],
            start: [0; LISTED],
            decay: [0.0; LISTED],
            count: weights.len() as u32,
        };
        for (index, ((weight, gradient), &decay)) in weights.iter().zip(gradients).zip(decays).enumerate() {
            let length = weight.elem_count() as u32;
            (lists.weight[index], lists.gradient[index]) = (place(weight)?, place(gradient)?);
            (lists.length[index], lists.start[index], lists.decay[index]) = (length, start, decay);
            start += length;
        }
        all.push(lists);
    }
    Ok(all)
}
