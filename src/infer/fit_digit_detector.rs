//! Learns what a network does not know: trains its [`DigitDetector`] on digits and on drawings that
//! are not digits.

use candle_core::{Device, Tensor};

use crate::data::builtin;
use crate::ink::PIXELS;
use crate::math::random::Random;
use crate::nn::ops::{self, Context};
use crate::nn::{DETECTOR_UNITS, DeviceContext, DigitDetector, Net, Parameter, autograd};
use crate::optim::{Optimizer, OptimizerConfig};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::run_config::{Classes, OptimizerKind, RunConfig};

/// Drawings of each kind: as many as there are images to learn from, within these limits.
const DRAWINGS: [usize; 2] = [128, 4096];
/// Operations that recognizing all of them may take without images to learn from.
const OPERATIONS: u64 = 40_000_000_000;
/// The most for the network of an ONNX file, of which only the logits are seen: four times as many
/// teach no more about these in as many steps.
const MOST_FOR_LOGITS: usize = 1024;
/// Passes over them; of fewer drawings for logits as many more.
const EPOCHS: usize = 12;
const BATCH: usize = 128;
const LEARNING_RATE: f32 = 3e-3;
const WEIGHT_DECAY: f32 = 1e-2;
/// Images whose features are computed at a time.
const CHUNK: usize = 128;
/// Added to standard deviations: features that hardly ever change say little.
const MIN_STD: f32 = 1e-3;

/// Trains the detector of a network that has learned `images` of these classes, 784 pixels each:
/// with some of them, if they are digits with as many built-in ones, and with drawings that are
/// none of them (outlier exposure: Hendrycks, Mazeika & Dietterich 2019), which differ from
/// built-in digits in nothing but their shapes. The same seed gives the same detector. `progress`
/// gets the fraction done; an error from it cancels.
pub fn fit_digit_detector(
    net: &Net,
    images: &[u8],
    classes: &Classes,
    seed: u64,
    progress: &mut impl Progress,
) -> Result<DigitDetector, Problem> {
    let are_digits = classes.are_digits();
    let [fewest, most] = DRAWINGS;
    let count = if images.is_empty() {
        (OPERATIONS / (2 * net.operations()).max(1)) as usize
    } else {
        images.len() / PIXELS
    };
    let (most, epochs) = if net.model().is_trainable() {
        (most, EPOCHS)
    } else {
        (MOST_FOR_LOGITS, EPOCHS * most / MOST_FOR_LOGITS)
    };
    let drawings = count.clamp(fewest, most);
    let mut pixels = sample(
        images,
        if are_digits { drawings / 2 } else { drawings },
        seed,
    );
    if are_digits {
        let missing = drawings - pixels.len() / PIXELS;
        pixels.extend(builtin::digits(seed, missing));
    }
    let digits = pixels.len() / PIXELS;
    pixels.extend(match classes {
        Classes::Digits | Classes::Clothing | Classes::Hiragana => {
            builtin::not_digits(seed, drawings)
        }
        // Letters and signs may be what the network has learned.
        Classes::Letters | Classes::Named(_) => builtin::scribbles(seed, drawings),
    });
    let mut rows = rows(net, &pixels, &mut progress.part(0.0, 0.6))?;
    let inputs = rows.len() / (pixels.len() / PIXELS);
    let moments = standardize(&mut rows, inputs);
    let labels: Vec<u8> = (0..pixels.len() / PIXELS)
        .map(|row| u8::from(row < digits))
        .collect();
    let part = &mut progress.part(0.6, 1.0);
    let weights = train(&rows, &labels, epochs, seed, part)?;
    Ok(fold(weights, &moments, inputs))
}

/// At most `count` of the images, chosen at random.
fn sample(images: &[u8], count: usize, seed: u64) -> Vec<u8> {
    let all = images.len() / PIXELS;
    let mut order: Vec<u32> = (0..all as u32).collect();
    Random::stream(seed, "digit detector's images", 0).shuffle(&mut order);
    order.truncate(count);
    order
        .iter()
        .flat_map(|&index| &images[index as usize * PIXELS..(index as usize + 1) * PIXELS])
        .copied()
        .collect()
}

/// The features and logits of each image, one after the other.
fn rows(net: &Net, pixels: &[u8], progress: &mut dyn Progress) -> Result<Vec<f32>, Problem> {
    let mut rows = Vec::new();
    let chunks = pixels.chunks(CHUNK * PIXELS);
    let count = chunks.len() as f32;
    for (done, chunk) in (1_u16..).zip(chunks) {
        let (features, logits) = net.features_and_logits(chunk)?;
        for (features, logits) in features
            .to_vec2::<f32>()?
            .iter()
            .zip(logits.to_vec2::<f32>()?)
        {
            rows.extend_from_slice(features);
            rows.extend(logits);
        }
        progress.report(f32::from(done) / count)?;
    }
    Ok(rows)
}

/// Brings each input to mean 0 and standard deviation 1; returns `(mean, deviation)` of each.
fn standardize(rows: &mut [f32], inputs: usize) -> Vec<(f32, f32)> {
    let count = (rows.len() / inputs) as f64;
    let mut sums = vec![(0.0_f64, 0.0_f64); inputs];
    for row in rows.chunks_exact(inputs) {
        for (sum, &value) in sums.iter_mut().zip(row) {
            *sum = (sum.0 + f64::from(value), sum.1 + f64::from(value).powi(2));
        }
    }
    let moments: Vec<(f32, f32)> = sums
        .into_iter()
        .map(|(sum, squares)| {
            let mean = sum / count;
            (
                mean as f32,
                (squares / count - mean * mean).max(0.0).sqrt() as f32 + MIN_STD,
            )
        })
        .collect();
    for row in rows.chunks_exact_mut(inputs) {
        for (value, (mean, deviation)) in row.iter_mut().zip(&moments) {
            *value = (*value - mean) / deviation;
        }
    }
    moments
}

/// Trains both layers with `AdamW` and cross-entropy over two classes: something else, a digit.
fn train(
    rows: &[f32],
    labels: &[u8],
    epochs: usize,
    seed: u64,
    progress: &mut dyn Progress,
) -> Result<[Vec<f32>; 4], Problem> {
    let inputs = rows.len() / labels.len();
    let mut random = Random::stream(seed, "digit detector", 0);
    let mut layer =
        |name: &str, inputs: usize, outputs: usize| -> candle_core::Result<[Parameter; 2]> {
            let bound = (6.0 / inputs as f32).sqrt();
            let weights = (0..outputs * inputs)
                .map(|_| random.range(-bound, bound))
                .collect();
            let weight = Parameter::new(format!("{name}.weight"), weights, &[outputs, inputs])?;
            Ok([
                weight,
                Parameter::new(format!("{name}.bias"), vec![0.0; outputs], &[outputs])?,
            ])
        };
    let [weight, bias] = layer("hidden", inputs, DETECTOR_UNITS)?;
    let [output_weight, output_bias] = layer("output", DETECTOR_UNITS, 2)?;
    let parameters = [weight, bias, output_weight, output_bias];
    let config = RunConfig {
        optimizer: OptimizerKind::AdamW,
        weight_decay: f64::from(WEIGHT_DECAY),
        seed,
        ..RunConfig::default()
    };
    let mut optimizer = Optimizer::new(
        OptimizerConfig::new(&config, labels.len() as u64),
        &parameters,
        &DeviceContext::CPU,
        None,
    )?;
    let mut order: Vec<u32> = (0..labels.len() as u32).collect();
    let batches = labels.len().div_ceil(BATCH);
    for epoch in 0..epochs {
        random.shuffle(&mut order);
        for (number, batch) in order.chunks(BATCH).enumerate() {
            let of_row = |&row: &u32| &rows[row as usize * inputs..(row as usize + 1) * inputs];
            let x = Tensor::from_vec(
                batch.iter().flat_map(of_row).copied().collect(),
                (batch.len(), inputs),
                &Device::Cpu,
            )?;
            let y: Vec<u8> = batch.iter().map(|&row| labels[row as usize]).collect();
            let y = Tensor::from_vec(y, batch.len(), &Device::Cpu)?;
            autograd::clear();
            let [weight, bias, output_weight, output_bias] = &parameters;
            let hidden = ops::linear(&x, weight, bias, true, Context::TRAIN)?;
            let logits = ops::linear(&hidden, output_weight, output_bias, false, Context::TRAIN)?;
            let loss = ops::cross_entropy(&logits, &y, batch.len(), 0.0, Context::TRAIN)?;
            autograd::backward(&loss, loss.ones_like()?, Context::TRAIN.backend)?;
            let done = (epoch * batches + number) as f32 / (epochs * batches) as f32;
            optimizer.step(LEARNING_RATE * (1.0 - done), 1.0, None)?;
        }
        progress.report((epoch + 1) as f32 / epochs as f32)?;
    }
    let [weight, bias, output_weight, output_bias] = &parameters;
    Ok([
        weight.values()?,
        bias.values()?,
        output_weight.values()?,
        output_bias.values()?,
    ])
}

/// The detector for inputs as they are, with one output: the log odds of a digit.
fn fold(
    [
        mut hidden_weight,
        mut hidden_bias,
        output_weight,
        output_bias,
    ]: [Vec<f32>; 4],
    moments: &[(f32, f32)],
    inputs: usize,
) -> DigitDetector {
    for (row, bias) in hidden_weight.chunks_exact_mut(inputs).zip(&mut hidden_bias) {
        for (weight, (mean, deviation)) in row.iter_mut().zip(moments) {
            *weight /= deviation;
            *bias -= *weight * mean;
        }
    }
    let difference = |values: &[f32]| {
        let (other, digit) = values.split_at(values.len() / 2);
        digit
            .iter()
            .zip(other)
            .map(|(digit, other)| digit - other)
            .collect()
    };
    DigitDetector::new(
        [
            hidden_weight,
            hidden_bias,
            difference(&output_weight),
            difference(&output_bias),
        ],
        inputs,
    )
}
