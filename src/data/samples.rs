//! A few images of a data set, to show what it is like.

use std::path::PathBuf;

use super::load::BUILTIN_SEED;
use super::{DataError, Split, builtin, gather_batch, load};
use crate::progress::Unwatched;
use crate::run_config::{DataSource, DataSpec};

/// The first `per_digit` training images of each digit, digit by digit, or as many as there are. Reads the whole set, unless its first source
/// is generated: this is not for the user interface's thread.
pub fn samples(spec: &DataSpec, folders: &[PathBuf], per_digit: usize) -> Result<Split, DataError> {
    let train = if spec.sources().first() == Some(&DataSource::Builtin) {
        // Its digits come in turn.
        builtin::generate(BUILTIN_SEED, 10 * per_digit, 0, &mut Unwatched)?.train
    } else {
        load(spec, folders, &mut Unwatched)?.train
    };
    let of_digit = |digit: u8| {
        let indices = (0_u32..).zip(&train.labels).filter(move |(_, label)| **label == digit).map(|(index, _)| index);
        indices.take(per_digit)
    };
    let chosen: Vec<u32> = (0..10).flat_map(of_digit).collect();
    let mut shown = Split::default();
    gather_batch(&train, &chosen, &mut shown);
    Ok(shown)
}
