//! A few images of a data set and what it holds, to show before training.

use std::path::PathBuf;

use super::load::BUILTIN_SEED;
use super::{DataError, Overview, Split, builtin, gather_batch, load};
use crate::progress::Unwatched;
use crate::run_config::{Classes, DataSpec};

/// What a data set is like.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preview {
    /// A few training images, digit by digit.
    pub samples: Split,
    /// What it holds and what may be wrong with it; `None` for generated digits, of which there are
    /// as many of each as asked for.
    pub overview: Option<Overview>,
    /// What its classes stand for.
    pub classes: Classes,
}

/// Looks at a data set: at most this many of its images, as many of each class. Reads the whole
/// set, unless it is generated: this is not for the user interface's thread.
pub fn preview(spec: &DataSpec, folders: &[PathBuf], most: usize) -> Result<Preview, DataError> {
    if *spec == DataSpec::builtin() {
        // Its digits come in turn.
        let few = builtin::generate(BUILTIN_SEED, most, 0, &mut Unwatched)?.train;
        return Ok(Preview {
            samples: samples(&few, 10, most),
            overview: None,
            classes: Classes::Digits,
        });
    }
    let set = load(spec, folders, &mut Unwatched)?;
    let overview = Some(Overview::of(&set));
    Ok(Preview {
        samples: samples(&set.train, set.classes.len(), most),
        overview,
        classes: set.classes,
    })
}

/// The first training images of each of this many classes, class by class, at most this many in
/// all.
fn samples(train: &Split, classes: usize, most: usize) -> Split {
    let of_each = (most / classes.max(1)).max(1);
    let of_digit = |digit: u8| {
        let indices = (0_u32..)
            .zip(&train.labels)
            .filter(move |(_, label)| **label == digit)
            .map(|(index, _)| index);
        indices.take(of_each)
    };
    let chosen: Vec<u32> = (0..classes as u8).flat_map(of_digit).take(most).collect();
    let mut shown = Split::default();
    gather_batch(train, &chosen, &mut shown);
    shown
}
