//! Owns weights as 8-bit integers: one scale for each output channel, symmetric about zero (Jacob et al. 2018; Nagel et al. 2021).
//! Must not know which file they go to.

use crate::device::Place;
use crate::nn::{Net, Parameter, Role};
use crate::problem::Problem;

/// The largest of the 8-bit integers used; -128 is not, so that they are symmetric.
const LARGEST: f32 = 127.0;

/// Numbers as integers times a scale for each channel.
pub struct Quantized {
    /// From -127 to 127, in the order of the numbers they stand for.
    pub values: Vec<i8>,
    /// One for each channel.
    pub scales: Vec<f32>,
}

/// True for what is stored as integers: the operands of products. Biases and norms are few, and stay as they are.
pub fn quantizes(parameter: &Parameter) -> bool {
    parameter.role() == Role::Weight
}

impl Quantized {
    /// The nearest integers; `values` are those of so many channels, one after the other.
    pub fn of(values: &[f32], channels: usize) -> Self {
        let size = values.len() / channels.max(1);
        let scale = |channel: &[f32]| {
            let largest = channel.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
            // A channel of zeros has any scale but zero.
            if largest > 0.0 { largest / LARGEST } else { 1.0 }
        };
        let scales: Vec<f32> = values.chunks(size.max(1)).map(scale).collect();
        let round = |(channel, scale): (&[f32], &f32)| -> Vec<i8> {
            channel.iter().map(|value| (value / scale).round().clamp(-LARGEST, LARGEST) as i8).collect()
        };
        Self { values: values.chunks(size.max(1)).zip(&scales).flat_map(round).collect(), scales }
    }

    /// The numbers that come back.
    pub fn dequantized(&self) -> Vec<f32> {
        let size = self.values.len() / self.scales.len().max(1);
        let widen = |(channel, scale): (&[i8], &f32)| -> Vec<f32> { channel.iter().map(|&value| f32::from(value) * scale).collect() };
        self.values.chunks(size.max(1)).zip(&self.scales).flat_map(widen).collect()
    }
}

/// A copy of the network that computes with what quantising leaves of its weights.
pub fn quantized(net: &Net) -> Result<Net, Problem> {
    let copy = net.to_place(&Place::CPU)?;
    let weights = copy.parameters().iter().map(|parameter| {
        let values = parameter.values()?;
        let channels = parameter.tensor().dims().first().copied().unwrap_or(1);
        Ok(if quantizes(parameter) { Quantized::of(&values, channels).dequantized() } else { values })
    });
    copy.set_weights(&weights.collect::<candle_core::Result<Vec<_>>>()?)?;
    Ok(copy)
}
