//! Whether data is little, found out before a run without reading what is not.

use std::path::{Path, PathBuf};

use super::idx_set::IdxSet;
use super::load::count_training_images;
use super::path_table::PathTable;
use super::tables::is_named_like_a_table;
use super::{DataError, validation_size};
use crate::run_config::{DataSource, DataSpec};

/// A set with more images than this is not small.
const FEW_IMAGES: u64 = 4_000;
/// A file, or the files of a folder, with more bytes than this hold more images than that, or take
/// long to read.
const FEW_BYTES: u64 = 8 << 20;

/// The images that a run on this data trains on, without those for validation, where they are few;
/// `None` if they are many or cannot be read.
pub fn small_training_set(data: &DataSpec, folders: &[PathBuf]) -> Option<u64> {
    if !data
        .sources()
        .iter()
        .all(|source| may_be_small(source, folders))
    {
        return None;
    }
    let counts = data
        .sources()
        .iter()
        .map(|source| count_training_images(source, folders));
    let images = counts.sum::<Result<usize, DataError>>().ok()? as u64;
    (images <= FEW_IMAGES).then(|| images - validation_size(images))
}

fn may_be_small(source: &DataSource, folders: &[PathBuf]) -> bool {
    let counts = |set: Option<IdxSet>| {
        set.and_then(|set| set.counts().ok())
            .map(|[train, _]| train)
    };
    match source {
        DataSource::Builtin | DataSource::Unknown => false,
        DataSource::Mine => true,
        DataSource::Named(set) => counts(IdxSet::find(*set, folders).ok().flatten())
            .is_some_and(|images| images <= FEW_IMAGES),
        DataSource::Path(path) => match counts(IdxSet::open(path).ok().flatten()) {
            Some(images) => images <= FEW_IMAGES,
            None => has_few_bytes(path) && names_few_images(path),
        },
    }
}

/// False for a table of many images, which may be larger than it is.
fn names_few_images(path: &Path) -> bool {
    let table = if is_named_like_a_table(path) {
        PathTable::open(path).ok().flatten()
    } else {
        None
    };
    table.is_none_or(|table| {
        table
            .count(path)
            .is_ok_and(|images| images as u64 <= FEW_IMAGES)
    })
}

/// True if everything in there, on a few levels, is at most [`FEW_BYTES`] in at most twice
/// [`FEW_IMAGES`] files.
fn has_few_bytes(path: &Path) -> bool {
    let (mut bytes, mut files) = (0, 0);
    let mut left = vec![(path.to_owned(), 0)];
    while let Some((path, depth)) = left.pop() {
        let Ok(about) = path.metadata() else {
            return false;
        };
        files += 1;
        if about.is_dir() && depth < 4 {
            let Ok(entries) = path.read_dir() else {
                return false;
            };
            left.extend(
                entries
                    .take(3 * FEW_IMAGES as usize)
                    .flatten()
                    .map(|entry| (entry.path(), depth + 1)),
            );
        } else if about.is_file() {
            bytes += about.len();
        }
        if bytes > FEW_BYTES || files > 2 * FEW_IMAGES {
            return false;
        }
    }
    true
}
