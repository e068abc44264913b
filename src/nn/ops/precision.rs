//! Owns the rounding of products' operands to a shorter number format. Must not know which product they are for.

use half::{bf16, f16};

use crate::run_config::Precision;

/// `value` as the nearest number of that format, which for f16 may be infinite.
#[inline(always)]
pub fn rounded(value: f32, precision: Precision) -> f32 {
    match precision {
        Precision::F32 => value,
        Precision::Bf16 => bf16::from_f32(value).to_f32(),
        Precision::F16 => f16::from_f32(value).to_f32(),
    }
}

/// Rounds every number in place.
pub fn round(values: &mut [f32], precision: Precision) {
    if precision != Precision::F32 {
        for value in values {
            *value = rounded(*value, precision);
        }
    }
}
