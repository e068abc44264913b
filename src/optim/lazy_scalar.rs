//! A number that a GPU may not have computed yet.

use candle_core::{Result, Tensor};

/// A number that is known, or a scalar on a device that computes asynchronously.
#[derive(Clone, Debug)]
pub enum LazyScalar {
    /// A known number.
    Known(f64),
    /// A scalar on a device; reading it waits for the device.
    OnDevice(Tensor),
}

impl LazyScalar {
    /// The number. Waits for the device.
    pub fn read(&self) -> Result<f64> {
        match self {
            Self::Known(value) => Ok(*value),
            Self::OnDevice(tensor) => Ok(f64::from(tensor.to_scalar::<f32>()?)),
        }
    }
}
