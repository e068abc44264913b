//! The exact Euclidean distance transform.

/// The Euclidean distance from each pixel to the nearest one that `is_goal`, exact: along rows to
/// the nearest goal on either side, and along columns as lower envelopes of parabolas (Felzenszwalb
/// & Huttenlocher 2012).
pub(super) fn distances(values: &[f32], side: usize, is_goal: impl Fn(f32) -> bool) -> Vec<f32> {
    // Farther than any distance in the field, yet small enough for its square to be added to
    // exactly.
    let far = (4 * side * side) as f32;
    let mut squared = vec![far; values.len()];
    for (row, squared) in values.chunks(side).zip(squared.chunks_mut(side)) {
        to_nearest(row, &is_goal, squared);
    }
    let (mut column, mut lowest) = (Vec::with_capacity(side), Vec::with_capacity(side));
    for x in 0..side {
        column.clear();
        column.extend(squared.iter().skip(x).step_by(side).copied());
        lower_envelope(&column, &mut lowest, |y, value| {
            squared[y * side + x] = value
        });
    }
    squared.into_iter().map(f32::sqrt).collect()
}

/// Puts the squared distance to the nearest goal in the row into each place; a row without any
/// stays as it is.
fn to_nearest(row: &[f32], is_goal: impl Fn(f32) -> bool, squared: &mut [f32]) {
    let mut goal = None;
    for (place, (&value, squared)) in row.iter().zip(squared.iter_mut()).enumerate() {
        goal = if is_goal(value) { Some(place) } else { goal };
        if let Some(goal) = goal {
            *squared = ((place - goal) as f32).powi(2);
        }
    }
    let mut goal = None;
    for (place, squared) in squared.iter_mut().enumerate().rev() {
        goal = if *squared == 0.0 { Some(place) } else { goal };
        if let Some(goal) = goal {
            *squared = squared.min(((goal - place) as f32).powi(2));
        }
    }
}

/// Gives at each place `q` the least `(q - p)^2 + heights[p]` over all `p`. `lowest` is what it
/// works with.
fn lower_envelope(
    heights: &[f32],
    lowest: &mut Vec<(usize, f32)>,
    mut give: impl FnMut(usize, f32),
) {
    let meet = |p: usize, q: usize| {
        let (pf, qf) = (p as f32, q as f32);
        ((heights[q] + qf * qf) - (heights[p] + pf * pf)) / (2.0 * (qf - pf))
    };
    // The parabolas of the envelope from left to right, each with where it begins to be the lowest.
    lowest.clear();
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
    for q in 0..heights.len() {
        while lowest
            .get(current + 1)
            .is_some_and(|(_, begin)| *begin < q as f32)
        {
            current += 1;
        }
        let p = lowest[current].0;
        give(q, (q as f32 - p as f32).powi(2) + heights[p]);
    }
}
