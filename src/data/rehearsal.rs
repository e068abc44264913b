//! Images of what a model has learned from before, to learn along with new ones so that it does not
//! forget (rehearsal; Robins 1995, <https://doi.org/10.1080/09540099550039318>).

use std::collections::HashSet;
use std::path::PathBuf;

use super::dataset::validation_indices;
use super::load::{BUILTIN_SEED, load};
use super::{DataError, Split, builtin, gather_batch};
use crate::math::random::Random;
use crate::progress::Progress;
use crate::run_config::{DataSource, DataSpec};

/// Built-in digits that no model has learned from have another seed.
const UNSEEN_SEED: u64 = BUILTIN_SEED + 1;

/// Images of a model's former data.
#[derive(Clone, Debug)]
pub struct Rehearsal {
    /// The sets they are from.
    pub data: DataSpec,
    pub train: Split,
    /// To measure with: of sets known by name, images that were for validation and that the model
    /// has not learned from.
    pub validation: Split,
}

impl Rehearsal {
    /// At most this many images, in equal parts from each named set in `data` that is in `folders`,
    /// and from the built-in digits if it has those or none of its sets is there. `seed` is the
    /// seed of the model's run, which determines what it has not learned from. A person's own
    /// drawings and folders are left out.
    pub fn load(
        data: &DataSpec,
        seed: u64,
        folders: &[PathBuf],
        counts: [usize; 2],
        progress: &mut dyn Progress,
    ) -> Result<Self, DataError> {
        let mut parts = Vec::new();
        let mut complete = true;
        for source in data
            .sources()
            .iter()
            .filter(|source| **source != DataSource::Mine)
        {
            let (set, images) = match source {
                // Counted below.
                DataSource::Builtin => (Split::default(), 0),
                DataSource::Named(_) => {
                    match load(&DataSpec::single(source.clone()), folders, progress) {
                        Ok(set) => (set.train.clone(), set.train.len()),
                        Err(DataError::Cancelled(cancelled)) => return Err(cancelled.into()),
                        Err(error) => {
                            tracing::info!(%error, "a model's former data is not at hand");
                            complete = false;
                            continue;
                        }
                    }
                }
                DataSource::Mine | DataSource::Path(_) | DataSource::Unknown => {
                    complete = false;
                    continue;
                }
            };
            parts.push((source.clone(), set, images));
        }
        if parts.is_empty() {
            parts.push((DataSource::Builtin, Split::default(), 0));
        }
        let others = parts.iter().map(|(.., images)| images).sum();
        for (.., images) in parts
            .iter_mut()
            .filter(|(source, ..)| *source == DataSource::Builtin)
        {
            *images = builtin::training_images(others);
        }
        // Of all sets together, as they were when the model was trained; else of each on its own.
        let first: usize = parts.iter().map(|(.., images)| images).sum();
        let [train, validation] = counts.map(|count| count.div_ceil(parts.len()));
        let data = DataSpec::of(parts.iter().map(|(source, ..)| source.clone()).collect());
        let mut rehearsal = Self {
            data,
            train: Split::default(),
            validation: Split::default(),
        };
        let mut offset = 0;
        for (source, set, images) in parts {
            if source == DataSource::Builtin {
                let unseen = builtin::generate(UNSEEN_SEED, train, validation, progress)?;
                rehearsal.train.append(&unseen.train);
                rehearsal.validation.append(&unseen.test);
            } else {
                let (whole, from) = if complete {
                    (first, offset)
                } else {
                    (images, 0)
                };
                let held_out: HashSet<u32> =
                    validation_indices(whole, seed).1.into_iter().collect();
                let mut order: Vec<u32> = (0..set.len() as u32).collect();
                Random::stream(seed, "rehearsal", 0).shuffle(&mut order);
                let (held_out, learned): (Vec<u32>, Vec<u32>) = order
                    .into_iter()
                    .partition(|index| held_out.contains(&(index + from as u32)));
                for (indices, count, split) in [
                    (learned, train, &mut rehearsal.train),
                    (held_out, validation, &mut rehearsal.validation),
                ] {
                    let mut chosen = Split::default();
                    gather_batch(&set, &indices[..count.min(indices.len())], &mut chosen);
                    split.append(&chosen);
                }
            }
            offset += images;
        }
        Ok(rehearsal)
    }
}
