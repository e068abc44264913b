//! Sums over numbers in lanes, as vector instructions compute them: one after the other, each
//! addition would wait for the one before it.

/// Numbers in the widest vector.
const LANES: usize = 16;

/// The sum of `term` over the numbers.
#[inline(always)]
pub fn sum(numbers: &[f32], term: impl Fn(f32) -> f32) -> f32 {
    let add = |lane: f32, number: f32| lane + term(number);
    fold(numbers, 0.0, add, |a, b| a + b)
}

/// The sum of `term` over the numbers of two rows of the same length.
#[inline(always)]
pub fn sum_of_pairs(a: &[f32], b: &[f32], term: impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes = [0.0; LANES];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for ((lane, &a), &b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += term(a, b);
        }
    }
    for ((lane, &a), &b) in lanes.iter_mut().zip(a_rest).zip(b_rest) {
        *lane += term(a, b);
    }
    join(lanes, |a, b| a + b)
}

/// The largest of the numbers.
#[inline(always)]
pub fn largest(numbers: &[f32]) -> f32 {
    let larger = |a: f32, b: f32| if b > a { b } else { a };
    fold(numbers, f32::NEG_INFINITY, larger, larger)
}

#[inline(always)]
fn fold(
    numbers: &[f32],
    start: f32,
    add: impl Fn(f32, f32) -> f32,
    both: impl Fn(f32, f32) -> f32,
) -> f32 {
    let mut lanes = [start; LANES];
    let (chunks, rest) = numbers.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, &number) in lanes.iter_mut().zip(chunk) {
            *lane = add(*lane, number);
        }
    }
    for (lane, &number) in lanes.iter_mut().zip(rest) {
        *lane = add(*lane, number);
    }
    join(lanes, both)
}

#[inline(always)]
fn join(mut lanes: [f32; LANES], both: impl Fn(f32, f32) -> f32) -> f32 {
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] = both(lanes[lane], lanes[lane + width]);
        }
        width /= 2;
    }
    lanes[0]
}
