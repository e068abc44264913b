//! Owns 2x2 max-pooling with stride 2 on `[height, width, channels]`: the maximum, where it was, and the way back.
//! An odd last row or column is left out, as in `PyTorch`; of equal values the first in reading order is the maximum.
//! Must not know what comes before or after.

/// The four pixels of the window over pooled pixel `(y, x)`, as offsets of their first channel.
const fn window(y: usize, x: usize, width: usize, channels: usize) -> [usize; 4] {
    let first = (2 * y * width + 2 * x) * channels;
    let below = first + width * channels;
    [first, first + channels, below, below + channels]
}

/// Writes the maxima of `input` to `output` and, for each, which of its four pixels it was to `places`.
pub fn max_pool(input: &[f32], width: usize, channels: usize, pooled_width: usize, output: &mut [f32], places: &mut [u8]) {
    let pixels = output.chunks_exact_mut(channels).zip(places.chunks_exact_mut(channels));
    for (pixel, (output, places)) in pixels.enumerate() {
        let [a, b, c, d] = window(pixel / pooled_width, pixel % pooled_width, width, channels).map(|start| &input[start..start + channels]);
        for channel in 0..channels {
            let (mut best, mut place) = (a[channel], 0);
            for (candidate, value) in [(1, b[channel]), (2, c[channel]), (3, d[channel])] {
                let better = value > best;
                best = if better { value } else { best };
                place = if better { candidate } else { place };
            }
            output[channel] = best;
            places[channel] = place;
        }
    }
}

/// Writes to `input_gradient` (all of it) each pooled pixel's gradient at the place of its maximum and 0 elsewhere.
pub fn max_pool_gradient(gradient: &[f32], places: &[u8], width: usize, channels: usize, pooled_width: usize, input_gradient: &mut [f32]) {
    let covered = 4 * gradient.len();
    if covered < input_gradient.len() {
        input_gradient.fill(0.0);
    }
    for (pixel, (gradient, places)) in gradient.chunks_exact(channels).zip(places.chunks_exact(channels)).enumerate() {
        let starts = window(pixel / pooled_width, pixel % pooled_width, width, channels);
        for (candidate, start) in (0_u8..).zip(starts) {
            let values = input_gradient[start..start + channels].iter_mut();
            for ((value, &gradient), &place) in values.zip(gradient).zip(places) {
                *value = if place == candidate { gradient } else { 0.0 };
            }
        }
    }
}
