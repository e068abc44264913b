//! Rounding the operands of matrix products to a shorter number format.

use std::borrow::Cow;

use half::f16;
use half::slice::HalfFloatSliceExt;

use super::vectorized;
use crate::run_config::{DeviceChoice, Precision};

/// The bits of a number rounded to bf16: to nearest, ties to even; a NaN stays one.
#[inline(always)]
pub const fn bf16_bits(value: f32) -> u16 {
    let bits = value.to_bits();
    // Infinity rounds to itself, and what is beyond bf16's largest number to infinity; only a NaN
    // could overflow into the sign.
    let nearest = (bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) >> 16) as u16;
    if value.is_nan() {
        (bits >> 16) as u16 | 0x40
    } else {
        nearest
    }
}

/// Rounds every number in place to the nearest of that format, which for f16 may be infinite.
pub fn round(values: &mut [f32], precision: Precision) {
    match precision {
        Precision::F32 | Precision::Tf32 => {}
        Precision::Bf16 => vectorized!(for value in values {
            *value = f32::from_bits(u32::from(bf16_bits(*value)) << 16);
        }),
        Precision::F16 => {
            let mut halves = [f16::ZERO; 64];
            for values in values.chunks_mut(halves.len()) {
                let halves = &mut halves[..values.len()];
                halves.convert_from_f32_slice(values);
                halves.convert_to_f32_slice(values);
            }
        }
    }
}

/// The numbers, rounded where the format is a shorter one.
pub fn rounded(values: &[f32], precision: Precision) -> Cow<'_, [f32]> {
    let mut values = Cow::Borrowed(values);
    if precision.differs_on(DeviceChoice::Cpu) {
        round(values.to_mut(), precision);
    }
    values
}
