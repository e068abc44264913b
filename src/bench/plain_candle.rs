//! The network of candle's MNIST example as candle's users write it: layers of candle-nn, candle's
//! `backward`, candle-nn's `AdamW`. Timed beside the same network on our kernels, it shows what
//! those are worth.
//!
//! Only the speed is compared: candle's max pooling passes on a quarter of the gradient, and
//! candle's random numbers (here for dropout) cannot be seeded on the CPU. The weights start as
//! ours do.

use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{
    AdamW, Conv2d, Dropout, Linear, Module, Optimizer, ParamsAdamW, VarBuilder, VarMap, conv2d,
    linear, loss,
};

use super::CLASSES;
use super::budget::BenchBudget;
use super::steps::{self, Interleaved};
use crate::data::{Dataset, Split};
use crate::ink::SIDE;
use crate::math::statistics::median;
use crate::nn::{DeviceContext, Net};
use crate::problem::Problem;
use crate::records::Normalization;
use crate::records::benchmark::{Measurement, StepConfig, Workload};
use crate::run_config::{Activation, DeviceChoice, ModelKind, Precision};

const MODEL: ModelKind = ModelKind::ConvNet;
/// Steps of candle's at least; the first is a warm-up.
const MIN_STEPS: usize = 4;
/// Steps of ours for each of candle's.
const OUR_STEPS: u64 = 3;

/// Times steps of plain candle in turn with the steps of our training loop, on as many threads.
pub(super) fn plain_candle(
    budget: &mut BenchBudget<'_>,
    seconds: f64,
    data: &Dataset,
    threads: u32,
) -> std::result::Result<Measurement, Problem> {
    let time = budget.start_part(Workload::PlainCandle, seconds)?;
    let batch_size = steps::batch_size(MODEL);
    let step_config = StepConfig {
        device: DeviceChoice::Cpu,
        precision: Precision::F32,
        threads,
        batch_size,
    };
    let mut plain = PlainCandle::new(&Net::new(MODEL, Activation::Relu, CLASSES, 1)?)?;
    let mut batches = (0..data.train.len() / batch_size as usize).cycle();
    let work = Box::new(move || {
        let first = batches.next().unwrap_or(0) * batch_size as usize;
        plain
            .train(&data.train, first, batch_size as usize)
            .map(drop)
            .map_err(Problem::from)
    });
    let interleaved = Interleaved {
        work,
        every_steps: OUR_STEPS,
        at_least: MIN_STEPS,
    };
    let samples = steps::run(
        budget,
        time,
        &steps::config(MODEL),
        step_config,
        data,
        &DeviceContext::open(step_config.device)?,
        Some(interleaved),
    )?;
    let rate = |seconds: &[f64]| f64::from(batch_size) / median(seconds);
    let (candle, ours) = (
        samples.interleaved.get(1..).unwrap_or_default(),
        samples.steps.as_slice(),
    );
    Ok(Measurement::PlainCandle {
        model: MODEL,
        batch_size,
        threads,
        milliseconds: median(candle) * 1e3,
        images_per_second: rate(candle),
        inkling_images_per_second: rate(ours),
        speedup: median(candle) / median(ours),
    })
}

/// The network, its weights and its optimizer.
pub struct PlainCandle {
    conv1: Conv2d,
    conv2: Conv2d,
    fc1: Linear,
    fc2: Linear,
    dropout: Dropout,
    optimizer: AdamW,
}

impl PlainCandle {
    /// With a copy of the weights of our `ConvNet`.
    pub fn new(ours: &Net) -> Result<Self> {
        let mut weights = VarMap::new();
        let vb = VarBuilder::from_varmap(&weights, DType::F32, &Device::Cpu);
        let conv1 = conv2d(1, 32, 5, candle_nn::Conv2dConfig::default(), vb.pp("conv1"))?;
        let conv2 = conv2d(
            32,
            64,
            5,
            candle_nn::Conv2dConfig::default(),
            vb.pp("conv2"),
        )?;
        let fc1 = linear(1024, 1024, vb.pp("fc1"))?;
        let fc2 = linear(1024, 10, vb.pp("fc2"))?;
        weights.set(
            ours.parameters()
                .iter()
                .map(|parameter| (parameter.name(), parameter.tensor())),
        )?;
        let optimizer = AdamW::new(
            weights.all_vars(),
            ParamsAdamW {
                lr: 1e-5,
                ..ParamsAdamW::default()
            },
        )?;
        Ok(Self {
            conv1,
            conv2,
            fc1,
            fc2,
            dropout: Dropout::new(0.5),
            optimizer,
        })
    }

    /// The logits of images, `[n, 10]`; in training with dropout.
    pub fn forward(&self, images: &Tensor, train: bool) -> Result<Tensor> {
        let x = self.conv1.forward(images)?.max_pool2d(2)?;
        let x = self.conv2.forward(&x)?.max_pool2d(2)?;
        let x = self.fc1.forward(&x.flatten_from(1)?)?.relu()?;
        self.fc2.forward(&self.dropout.forward(&x, train)?)
    }

    /// One step on `count` images of `split`, from `first`; returns the loss before it.
    pub fn train(&mut self, split: &Split, first: usize, count: usize) -> Result<f32> {
        let labels = split
            .labels
            .iter()
            .skip(first)
            .take(count)
            .map(|&label| u32::from(label))
            .collect::<Vec<_>>();
        let labels = Tensor::new(labels, &Device::Cpu)?;
        let loss =
            loss::cross_entropy(&self.forward(&images(split, first, count)?, true)?, &labels)?;
        self.optimizer.backward_step(&loss)?;
        loss.to_scalar()
    }
}

/// `count` images of `split`, from `first`, as `[count, 1, 28, 28]`, normalized as ours are.
fn images(split: &Split, first: usize, count: usize) -> Result<Tensor> {
    let pixels = split
        .images
        .iter()
        .skip(first * SIDE * SIDE)
        .take(count * SIDE * SIDE)
        .copied()
        .collect::<Vec<_>>();
    let pixels =
        Tensor::from_vec(pixels, (count, 1, SIDE, SIDE), &Device::Cpu)?.to_dtype(DType::F32)?;
    let Normalization { mean, std } = Normalization::MNIST;
    pixels.affine(
        1.0 / 255.0 / f64::from(std),
        -f64::from(mean) / f64::from(std),
    )
}
