//! How each digit can be written, and signs that are none: the stroke skeletons of
//! `assets/skeletons.txt`, which describes its form.
//!
//! The shapes of one variant have the same strokes and points, so that anything between them (and a
//! little beyond) is a way to write the digit too.

use std::sync::LazyLock;

/// The skeletons that Inkling writes with.
pub const TEXT: &str = include_str!("../../../assets/skeletons.txt");

/// Strokes in order of time: the points that the pen passes through, in percent of the digit's
/// height, y down.
pub type Shape = Vec<Vec<[i16; 2]>>;

/// One way to write a digit or a sign.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// How often people write it this way, relative to its other variants.
    pub weight: f32,
    /// Extremes of its shape; samples are between two of them.
    pub shapes: Vec<Shape>,
}

/// The ways to write each digit and sign.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skeletons {
    pub digits: [Vec<Variant>; 10],
    pub signs: Vec<Variant>,
}

static ALL: LazyLock<Skeletons> = LazyLock::new(|| {
    // A test proves that the text can be read.
    parse(TEXT).unwrap_or_default()
});

pub(super) fn of(digit: u8) -> &'static [Variant] {
    ALL.digits
        .get(usize::from(digit))
        .map_or(&[], Vec::as_slice)
}

/// The variants of signs that share no shape with a digit.
pub(super) fn signs() -> &'static [Variant] {
    &ALL.signs
}

/// Reads skeletons; errors name the line and what is wrong with it.
pub fn parse(text: &str) -> Result<Skeletons, String> {
    let mut all = Skeletons::default();
    let mut variants = None;
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        let wrong = |what: &str| format!("line {number}: {what}");
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|line| line.strip_suffix(']'))
        {
            variants = match name.parse::<usize>() {
                Ok(digit) => all.digits.get_mut(digit),
                Err(_) => (name == "signs").then_some(&mut all.signs),
            };
            continue;
        }
        let variants = variants
            .as_mut()
            .ok_or_else(|| wrong("it belongs to no digit, nor to the signs"))?;
        if let Some(weight) = line.strip_prefix("variant ") {
            let weight = weight.parse().ok().filter(|weight| *weight > 0.0);
            variants.push(Variant {
                weight: weight.ok_or_else(|| wrong("a weight is a number above 0"))?,
                shapes: Vec::new(),
            });
            continue;
        }
        let shape = shape(line).ok_or_else(|| wrong("it is no shape"))?;
        let shapes = match variants.last_mut() {
            Some(variant) => &mut variant.shapes,
            None => return Err(wrong("a shape belongs to a variant")),
        };
        let points = |shape: &Shape| shape.iter().map(Vec::len).collect::<Vec<_>>();
        if shapes
            .first()
            .is_some_and(|first| points(first) != points(&shape))
        {
            // Between them, strokes would be lost.
            return Err(wrong(
                "the shapes of a variant have the same strokes and points",
            ));
        }
        shapes.push(shape);
    }
    let shapeless =
        |variants: &Vec<Variant>| variants.iter().any(|variant| variant.shapes.is_empty());
    if all.digits.iter().any(shapeless) || shapeless(&all.signs) {
        return Err("a variant has no shape".to_owned());
    }
    Ok(all)
}

fn shape(line: &str) -> Option<Shape> {
    let point = |point: &str| {
        let (x, y) = point.split_once(',')?;
        Some([x.parse().ok()?, y.parse().ok()?])
    };
    line.split('|')
        .map(|stroke| stroke.split_whitespace().map(point).collect())
        .collect()
}
