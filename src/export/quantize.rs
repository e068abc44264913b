//! Quantisation of weights to 8-bit integers: symmetric, with one scale per output channel (Jacob
//! et al. 2018; Nagel et al. 2021).

use super::ExportError;
use crate::nn::DeviceContext;
use crate::nn::{Net, Parameter, Role};

/// The largest integer used; -128 is left out to keep the range symmetric.
const MAX_INTEGER: f32 = 127.0;

/// A tensor as integers and one scale per channel.
pub struct Quantized {
    /// From -127 to 127, in the order of the original values.
    pub values: Vec<i8>,
    /// One per channel.
    pub scales: Vec<f32>,
}

/// Whether a parameter is quantised: only weights are; biases and normalisation parameters are few
/// and stay in floating point.
pub fn is_quantized(parameter: &Parameter) -> bool {
    parameter.role() == Role::Weight
}

impl Quantized {
    /// Rounds to the nearest integers. `values` holds `channels` channels of equal size, one after
    /// the other.
    pub fn of(values: &[f32], channels: usize) -> Self {
        let size = values.len() / channels.max(1);
        let scale = |channel: &[f32]| {
            let largest = channel
                .iter()
                .fold(0.0_f32, |largest, value| largest.max(value.abs()));
            // For a channel of zeros any scale but zero will do.
            if largest > 0.0 {
                largest / MAX_INTEGER
            } else {
                1.0
            }
        };
        let scales: Vec<f32> = values.chunks(size.max(1)).map(scale).collect();
        let round = |(channel, scale): (&[f32], &f32)| -> Vec<i8> {
            channel
                .iter()
                .map(|value| (value / scale).round().clamp(-MAX_INTEGER, MAX_INTEGER) as i8)
                .collect()
        };
        Self {
            values: values
                .chunks(size.max(1))
                .zip(&scales)
                .flat_map(round)
                .collect(),
            scales,
        }
    }

    /// The floating-point values that the integers stand for.
    pub fn dequantized(&self) -> Vec<f32> {
        let size = self.values.len() / self.scales.len().max(1);
        let widen = |(channel, scale): (&[i8], &f32)| -> Vec<f32> {
            channel
                .iter()
                .map(|&value| f32::from(value) * scale)
                .collect()
        };
        self.values
            .chunks(size.max(1))
            .zip(&self.scales)
            .flat_map(widen)
            .collect()
    }
}

/// A copy of the network with quantised and dequantised weights, on the CPU: what its accuracy is
/// after quantisation.
pub fn quantized(net: &Net) -> Result<Net, ExportError> {
    let copy = net.to_device(&DeviceContext::CPU)?;
    let weights = copy.parameters().iter().map(|parameter| {
        let values = parameter.values()?;
        let channels = parameter.tensor().dims().first().copied().unwrap_or(1);
        Ok(if is_quantized(parameter) {
            Quantized::of(&values, channels).dequantized()
        } else {
            values
        })
    });
    copy.set_weights(&weights.collect::<candle_core::Result<Vec<_>>>()?)?;
    Ok(copy)
}
