//! How each digit can be written: stroke skeletons, authored by hand, as data.
//!
//! A skeleton is a list of strokes in order of time, a stroke a list of points the pen passes
//! through, in percent of the digit's height, y down. A point given twice is a corner. Shapes of
//! one variant have the same strokes and points, so that anything between them (and a little
//! beyond) is a way to write the digit too.

mod eight;
mod five;
mod four;
mod nine;
mod one;
mod seven;
mod six;
mod three;
mod two;
mod zero;

/// A point in percent of the digit's height, y down.
pub(super) type Knot = [i16; 2];
/// Strokes in order of time.
pub(super) type Shape = &'static [&'static [Knot]];

/// One way to write a digit.
pub(super) struct Variant {
    /// How often people write the digit this way, relative to its other variants.
    pub weight: f32,
    /// Extremes of its shape; samples are between two of them.
    pub shapes: &'static [Shape],
}

/// The variants of a digit; none above 9.
pub(super) fn of(digit: u8) -> &'static [Variant] {
    match digit {
        0 => zero::VARIANTS,
        1 => one::VARIANTS,
        2 => two::VARIANTS,
        3 => three::VARIANTS,
        4 => four::VARIANTS,
        5 => five::VARIANTS,
        6 => six::VARIANTS,
        7 => seven::VARIANTS,
        8 => eight::VARIANTS,
        9 => nine::VARIANTS,
        _ => &[],
    }
}

/// Checks at compile time that a variant's shapes match each other: between them, strokes would be
/// lost.
const _: () = {
    check(zero::VARIANTS);
    check(one::VARIANTS);
    check(two::VARIANTS);
    check(three::VARIANTS);
    check(four::VARIANTS);
    check(five::VARIANTS);
    check(six::VARIANTS);
    check(seven::VARIANTS);
    check(eight::VARIANTS);
    check(nine::VARIANTS);
};

const fn check(variants: &[Variant]) {
    let mut variant = 0;
    while variant < variants.len() {
        let shapes = variants[variant].shapes;
        let mut shape = 0;
        while shape < shapes.len() {
            assert!(
                shapes[shape].len() == shapes[0].len(),
                "the shapes of a variant have the same strokes"
            );
            let mut stroke = 0;
            while stroke < shapes[shape].len() {
                assert!(
                    shapes[shape][stroke].len() == shapes[0][stroke].len(),
                    "the shapes of a variant have the same points"
                );
                stroke += 1;
            }
            shape += 1;
        }
        assert!(
            !shapes.is_empty() && variants[variant].weight > 0.0,
            "a variant has a shape and a weight"
        );
        variant += 1;
    }
}
