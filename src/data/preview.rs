//! A few images of a data set and what it holds, to show before training.

use std::path::PathBuf;

use super::load::BUILTIN_SEED;
use super::{DataError, Overview, Split, builtin, gather_batch, load};
use crate::progress::Unwatched;
use crate::run_config::DataSpec;

/// What a data set is like.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preview {
    /// A few training images, digit by digit.
    pub samples: Split,
    /// What it holds and what may be wrong with it; `None` for generated digits, of which there are as many of each as asked for.
    pub overview: Option<Overview>,
}

/// Looks at a data set. Reads the whole set, unless it is generated: this is not for the user interface's thread.
pub fn preview(spec: &DataSpec, folders: &[PathBuf], per_digit: usize) -> Result<Preview, DataError> {
    if *spec == DataSpec::builtin() {
        // Its digits come in turn.
        let few = builtin::generate(BUILTIN_SEED, 10 * per_digit, 0, &mut Unwatched)?.train;
        return Ok(Preview { samples: samples(&few, per_digit), overview: None });
    }
    let set = load(spec, folders, &mut Unwatched)?;
    Ok(Preview { samples: samples(&set.train, per_digit), overview: Some(Overview::of(&set, 10)) })
}

/// The first `per_digit` training images of each digit, digit by digit, or as many as there are.
fn samples(train: &Split, per_digit: usize) -> Split {
    let of_digit = |digit: u8| {
        let indices = (0_u32..).zip(&train.labels).filter(move |(_, label)| **label == digit).map(|(index, _)| index);
        indices.take(per_digit)
    };
    let chosen: Vec<u32> = (0..10).flat_map(of_digit).collect();
    let mut shown = Split::default();
    gather_batch(train, &chosen, &mut shown);
    shown
}
