//! Owns how each digit can be written: stroke skeletons, authored by hand, as data.
//! Must not know how hands vary them.
//!
//! A skeleton is a list of strokes in order of time, a stroke a list of points the pen passes through, in percent of
//! the digit's height, y down. A point given twice is a corner. Shapes of one form have the same strokes and points, so
//! that anything between them (and a little beyond) is a way to write the digit too.

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
pub(super) struct Form {
    /// How often people write it so, relative to the digit's other forms.
    pub weight: f32,
    /// Shapes it ranges between.
    pub shapes: &'static [Shape],
}

/// The ways to write a digit; none for more than 9.
pub(super) fn of(digit: u8) -> &'static [Form] {
    match digit {
        0 => zero::FORMS,
        1 => one::FORMS,
        2 => two::FORMS,
        3 => three::FORMS,
        4 => four::FORMS,
        5 => five::FORMS,
        6 => six::FORMS,
        7 => seven::FORMS,
        8 => eight::FORMS,
        9 => nine::FORMS,
        _ => &[],
    }
}

/// Refuses to compile forms whose shapes do not match each other: between them, strokes would be lost.
const _: () = {
    check(zero::FORMS);
    check(one::FORMS);
    check(two::FORMS);
    check(three::FORMS);
    check(four::FORMS);
    check(five::FORMS);
    check(six::FORMS);
    check(seven::FORMS);
    check(eight::FORMS);
    check(nine::FORMS);
};

const fn check(forms: &[Form]) {
    let mut form = 0;
    while form < forms.len() {
        let shapes = forms[form].shapes;
        let mut shape = 0;
        while shape < shapes.len() {
            assert!(shapes[shape].len() == shapes[0].len(), "the shapes of a form have the same strokes");
            let mut stroke = 0;
            while stroke < shapes[shape].len() {
                assert!(shapes[shape][stroke].len() == shapes[0][stroke].len(), "the shapes of a form have the same points");
                stroke += 1;
            }
            shape += 1;
        }
        assert!(!shapes.is_empty() && forms[form].weight > 0.0, "a form has a shape and is written now and then");
        form += 1;
    }
}
