//! The exact Euclidean distance transform.

/// The Euclidean distance from each pixel to the nearest one that `is_goal`, exact, as lower envelopes of parabolas along
/// rows and then columns (Felzenszwalb & Huttenlocher 2012).
pub(super) fn distances(values: &[f32], side: usize, is_goal: impl Fn(f32) -> bool) -> Vec<f32> {
    // Farther than any distance in the field, yet small enough for its square to be added to exactly.
    let far = (4 * side * side) as f32;
    let mut squared: Vec<f32> = values.iter().map(|&value| if is_goal(value) { 0.0 } else { far }).collect();
    for row in squared.chunks_mut(side) {
        let envelope = lower_envelope(row);
        row.copy_from_slice(&envelope);
    }
    for x in 0..side {
        let column: Vec<f32> = squared.iter().skip(x).step_by(side).copied().collect();
        for (y, value) in lower_envelope(&column).into_iter().enumerate() {
            squared[y * side + x] = value;
        }
    }
    squared.into_iter().map(f32::sqrt).collect()
}

/// At each place `q` the least `(q - p)^2 + heights[p]` over all `p`.
fn lower_envelope(heights: &[f32]) -> Vec<f32> {
    let meet = |p: usize, q: usize| {
        let (pf, qf) = (p as f32, q as f32);
        ((heights[q] + qf * qf) - (heights[p] + pf * pf)) / (2.0 * (qf - pf))
    };
    // The parabolas of the envelope from left to right, each with where it begins to be the lowest.
    let mut lowest: Vec<(usize, f32)> = Vec::with_capacity(heights.len());
    for q in 0..heights.len() {
        let mut from = f32::NEG_INFINITY;
        while let Some(&(p, begin)) = lowest.last() {
            from = meet(p, q);
            if from > begin {
                break;
            }
            lowest.pop();
            from = f32::NEG_INFINITY;
        }
        lowest.push((q, from));
    }
    let mut current = 0;
    (0..heights.len())
        .map(|q| {
            while lowest.get(current + 1).is_some_and(|(_, begin)| *begin < q as f32) {
                current += 1;
            }
            let p = lowest[current].0;
            (q as f32 - p as f32).powi(2) + heights[p]
        })
        .collect()
}
