//! Folders of images whose names tell their labels: `7_0001.png`, `digit-7.png`; or two such
//! folders, `train` and `test`.
//!
//! A name is divided at `_`, `-` and spaces, after its ending and the ` (2)` of a copy are taken
//! off. The label is the first part or the last, of all files of the folder the same, and that part
//! is a single digit.

use std::path::{Path, PathBuf};

use super::data_file::malformed;
use super::labelled_images::{self, images_in};
use super::{DataError, DataSet, Split};
use crate::progress::{PartialProgress, Progress};
use crate::run_config::Classes;

/// The images of a folder with their labels.
type Files = Vec<(PathBuf, u8)>;

/// A folder of such images.
pub struct NamedImages {
    train: Files,
    test: Files,
}

impl NamedImages {
    /// The images in this folder, or those in `train` and `test` in it; `None` where there are
    /// none, an error where their names do not tell the labels.
    pub fn open(folder: &Path) -> Result<Option<Self>, DataError> {
        let labelled = |folder: &Path| {
            if folder.is_dir() {
                labelled(folder, images_in(folder)?)
            } else {
                Ok(Files::new())
            }
        };
        let train = labelled(folder)?;
        if !train.is_empty() {
            return Ok(Some(Self {
                train,
                test: Files::new(),
            }));
        }
        let train = labelled(&folder.join("train"))?;
        if train.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self {
            train,
            test: labelled(&folder.join("test"))?,
        }))
    }

    /// How many images there are for training and for test.
    pub const fn counts(&self) -> [usize; 2] {
        [self.train.len(), self.test.len()]
    }

    /// Reads the images.
    pub fn read(&self, progress: &mut dyn Progress) -> Result<DataSet, DataError> {
        let all = (self.train.len() + self.test.len()) as f32;
        let share = self.train.len() as f32 / all;
        let read = |files: &Files, progress: &mut dyn Progress| -> Result<Split, DataError> {
            labelled_images::read(
                files.len(),
                &Classes::Digits,
                |index| files[index].clone(),
                progress,
            )
        };
        let train = read(
            &self.train,
            &mut PartialProgress {
                whole: progress,
                start: 0.0,
                end: share,
            },
        )?;
        let test = read(
            &self.test,
            &mut PartialProgress {
                whole: progress,
                start: share,
                end: 1.0,
            },
        )?;
        Ok(DataSet {
            train,
            test,
            classes: Classes::Digits,
        })
    }
}

/// The images, sorted, each with its label.
fn labelled(folder: &Path, mut images: Vec<PathBuf>) -> Result<Files, DataError> {
    // A file system lists files in any order; the same folder should give the same set.
    images.sort_unstable();
    let ends: Vec<[Option<u8>; 2]> = images.iter().map(|image| ends(image)).collect();
    // The first image that has no label at this place.
    let lacking = |place: usize| ends.iter().position(|ends| ends[place].is_none());
    let name = |index: usize| {
        images[index]
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let place = match [0, 1].map(lacking) {
        [None, None] => match ends.iter().position(|[first, last]| first != last) {
            None => 0,
            Some(index) => {
                let reason = format!(
                    "\"{}\" begins and ends with a digit, as all other names do, so that either could be the label",
                    name(index)
                );
                return Err(malformed(folder, reason));
            }
        },
        [None, Some(_)] => 0,
        [Some(_), None] => 1,
        [Some(first), Some(last)] => {
            let without = if ends[first] == [None; 2] {
                first
            } else {
                last
            };
            let reason = if ends[without] == [None; 2] {
                format!(
                    "the name of \"{}\" has no label, a single digit at its beginning or end, as 7_0001.png and digit-7.png have",
                    name(without)
                )
            } else {
                format!(
                    "the label is the last part of the name \"{}\" but the first of \"{}\"; it should be at the same place in all",
                    name(first),
                    name(last)
                )
            };
            return Err(malformed(folder, reason));
        }
    };
    let labels: Vec<u8> = ends.iter().filter_map(|ends| ends[place]).collect();
    Ok(images.into_iter().zip(labels).collect())
}

/// The first and the last part of a file's name, each where it is a single digit.
fn ends(path: &Path) -> [Option<u8>; 2] {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut parts = without_copy(&name).split(['_', '-', ' ']);
    let digit = |part: &str| {
        if part.len() == 1 {
            part.parse().ok()
        } else {
            None
        }
    };
    let first = parts.next().unwrap_or_default();
    [digit(first), digit(parts.next_back().unwrap_or(first))]
}

/// `7 (2)` is a second file of the name `7`.
fn without_copy(name: &str) -> &str {
    let original = || {
        let (original, number) = name.trim_end().strip_suffix(')')?.rsplit_once(" (")?;
        (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(original)
    };
    original().unwrap_or(name).trim()
}
