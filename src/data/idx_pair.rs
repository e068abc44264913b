//! The two IDX files of a split, images and labels, by the names of MNIST or by any others that
//! differ only in that word.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::data_file::{malformed, open, unreadable};
use super::idx::{self, Kind};
use super::{DataError, Split};
use crate::ink::{PIXELS, SIDE};
use crate::progress::Progress;

/// How files of images begin.
const IMAGES: [u8; 4] = [0, 0, 8, 3];

/// The two files of a split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The images.
    pub images: PathBuf,
    /// A label for each of them.
    pub labels: PathBuf,
}

impl Pair {
    /// `NAME-images` and `NAME-labels`.
    pub fn find(folder: &Path, name: &str) -> Result<Option<Self>, DataError> {
        let missing = |what: &str| {
            Err(DataError::Missing {
                path: folder.join(format!("{name}-{what}-ubyte")),
            })
        };
        match (
            find_file(folder, name, "images", 3),
            find_file(folder, name, "labels", 1),
        ) {
            (Some(images), Some(labels)) => Ok(Some(Self { images, labels })),
            (Some(_), None) => missing("labels-idx1"),
            (None, Some(_)) => missing("images-idx3"),
            (None, None) => Ok(None),
        }
    }

    /// The pair that a file of images belongs to: the labels are beside it, where its name has
    /// `labels` for `images` and `idx1` for `idx3`, gzipped or not. `None` where its name has no
    /// `images` in it or it holds something else.
    pub fn of_images(path: &Path) -> Result<Option<Self>, DataError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let Some(labels) = name_of_labels(&name) else {
            return Ok(None);
        };
        let mut start = Vec::new();
        open(path)?
            .take(4)
            .read_to_end(&mut start)
            .map_err(|error| unreadable(path, &error))?;
        if start != IMAGES {
            return Ok(None);
        }
        let plain = labels.strip_suffix(".gz").unwrap_or(&labels);
        let files = [labels.clone(), plain.to_owned(), format!("{plain}.gz")]
            .map(|name| path.with_file_name(name));
        match files.iter().find(|file| file.is_file()) {
            Some(labels) => Ok(Some(Self {
                images: path.to_owned(),
                labels: labels.clone(),
            })),
            None => Err(DataError::Missing {
                path: path.with_file_name(labels),
            }),
        }
    }

    /// Reads both; `transposed` where rows and columns are exchanged.
    pub fn read(&self, transposed: bool, progress: &mut dyn Progress) -> Result<Split, DataError> {
        let labels = idx::read(&self.labels, Kind::Labels, &mut |_: f32| {
            progress.report(0.0)
        })?;
        // Whether the large file belongs to the small one is checked before it is read.
        let count = idx::count(&self.images, Kind::Images)?;
        if count != labels.len() as u64 {
            let reason = format!(
                "it holds {count} images, but {} holds {} labels",
                self.labels.display(),
                labels.len()
            );
            return Err(malformed(&self.images, reason));
        }
        if !transposed {
            return Ok(Split {
                images: idx::read(&self.images, Kind::Images, progress)?,
                labels,
            });
        }
        // Nothing is shown as it is in the file: on its side.
        let mut images = idx::read(&self.images, Kind::Images, &mut |done: f32| {
            progress.report(done)
        })?;
        images.chunks_exact_mut(PIXELS).for_each(transpose);
        progress.images(&images);
        Ok(Split { images, labels })
    }
}

/// `Digits_Images.idx3.gz` becomes `Digits_Labels.idx1.gz`.
fn name_of_labels(images: &str) -> Option<String> {
    let replaced = |name: &str, from: &str, to: &str| {
        // Letters outside ASCII keep their places.
        let at = name.to_ascii_lowercase().rfind(from)?;
        let is_capital = |offset: usize| {
            name.as_bytes()
                .get(at + offset)
                .is_some_and(u8::is_ascii_uppercase)
        };
        let word: String = match (is_capital(0), is_capital(1)) {
            (true, true) => to.to_ascii_uppercase(),
            (true, false) => to[..1].to_ascii_uppercase() + &to[1..],
            _ => to.to_owned(),
        };
        Some(format!("{}{word}{}", &name[..at], &name[at + from.len()..]))
    };
    let labels = replaced(images, "images", "labels")?;
    Some(replaced(&labels, "idx3", "idx1").unwrap_or(labels))
}

fn transpose(image: &mut [u8]) {
    for row in 0..SIDE {
        for column in row + 1..SIDE {
            image.swap(row * SIDE + column, column * SIDE + row);
        }
    }
}

fn find_file(folder: &Path, which: &str, what: &str, dimensions: u8) -> Option<PathBuf> {
    // Both spellings are in use, and some tools decompress files without renaming them.
    ["-", "."]
        .into_iter()
        .flat_map(|dot| {
            ["", ".gz"]
                .map(|end| folder.join(format!("{which}-{what}{dot}idx{dimensions}-ubyte{end}")))
        })
        .find(|path| path.is_file())
}
