//! Exponential, hyperbolic tangent, logistic function and normal distribution in f32, without
//! branches or calls, so that loops over them are vectorised.

#![expect(
    clippy::inline_always,
    reason = "a call left in a loop would keep it from becoming vector instructions"
)]

/// `eˣ` within 2 units in the last place; 0 below -87.3 and infinite above 88.3.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    // x = n ln 2 + r with |r| ≤ ln 2 / 2; adding and taking away 1.5 x 2^23 rounds to the nearest
    // integer.
    const ROUND: f32 = 12_582_912.0;
    let clamped = x.clamp(-87.336, 88.376);
    let shifted = clamped * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    // ln 2 in two parts, the first with trailing zeros, so that n ln 2 is exact enough.
    let r = clamped - n * 0.693_359_4 + n * 2.121_944_4e-4;
    // Minimax polynomial of the Cephes library (Moshier), expf.
    let p = 1.987_569_1e-4_f32;
    let p = p * r + 1.398_199_9e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 1.666_666_5e-1;
    let p = p * r + 0.5;
    let p = p * r * r + r + 1.0;
    // The rounded integer lies in the low bits of the shifted sum, and 2^n in the exponent's.
    let scale = f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0_f32.to_bits()));
    // Comparisons that NaN fails, so that NaN stays NaN.
    let value = if x > 88.376 { f32::INFINITY } else { p * scale };
    if x < -87.336 { 0.0 } else { value }
}

/// `1 / (1 + e⁻ˣ)`.
#[inline(always)]
pub fn logistic(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// Hyperbolic tangent, with an absolute error of at most 2e-7.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    1.0 - 2.0 / (exp(2.0 * x) + 1.0)
}

/// The normal distribution `Φ(x)` and its density `φ(x)`, with an absolute error of at most 2e-7
/// (Abramowitz & Stegun 1964, 7.1.26).
#[inline(always)]
pub fn normal(x: f32) -> (f32, f32) {
    let bell = exp(-0.5 * x * x);
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let series = ((((1.061_405_4 * t - 1.453_152) * t + 1.421_413_7) * t - 0.284_496_74) * t
        + 0.254_829_6)
        * t;
    let tail = 0.5 * series * bell;
    (if x < 0.0 { tail } else { 1.0 - tail }, bell * 0.398_942_3)
}
