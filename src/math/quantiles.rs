//! The median and other quantiles.

/// The value that half of the values are at most (the mean of the middle two of an even count); NaN
/// without values.
pub fn median(values: &[f64]) -> f64 {
    let sorted = sorted(values);
    let at = |index: usize| sorted.get(index).copied().unwrap_or(f64::NAN);
    let middle = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) {
        f64::midpoint(at(middle.wrapping_sub(1)), at(middle))
    } else {
        at(middle)
    }
}

/// The value that a share of the values are at most (nearest rank); NaN without values.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let rank = (share * values.len() as f64).ceil() as usize;
    sorted(values)
        .get(rank.saturating_sub(1))
        .copied()
        .unwrap_or(f64::NAN)
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}
