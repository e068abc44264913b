//! Thicker and thinner strokes: grey-scale dilation and erosion (Serra 1982), in part.

use super::PADDED;

/// Moves every pixel towards the largest (for `amount` above 0) or the smallest of itself and its
/// four neighbours, by this fraction of the difference. The outermost pixels stay.
#[inline(always)]
pub(super) fn thicken(image: &mut [f32; PADDED * PADDED], amount: f32) {
    if amount > 0.0 {
        spread(image, amount, f32::max);
    } else {
        spread(image, -amount, f32::min);
    }
}

#[inline(always)]
fn spread(image: &mut [f32; PADDED * PADDED], fraction: f32, extreme: impl Fn(f32, f32) -> f32) {
    let before = *image;
    // A row at a time, its neighbours side by side, so that the compiler does many pixels at once.
    let rows = before.chunks_exact(PADDED);
    let neighbours = rows.clone().zip(rows.clone().skip(1)).zip(rows.skip(2));
    for (to, ((above, row), below)) in image.chunks_exact_mut(PADDED).skip(1).zip(neighbours) {
        let (inner, left, right) = (&row[1..PADDED - 1], &row[..PADDED - 2], &row[2..]);
        let sides = left
            .iter()
            .zip(right)
            .zip(above[1..].iter().zip(&below[1..]));
        for ((to, &pixel), ((&left, &right), (&above, &below))) in
            to[1..PADDED - 1].iter_mut().zip(inner).zip(sides)
        {
            let reached = extreme(extreme(pixel, extreme(left, right)), extreme(above, below));
            *to = pixel + fraction * (reached - pixel);
        }
    }
}
