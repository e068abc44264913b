//! Image files whose labels are known: folders of images, one for each class and named after it
//! (`0/ … 9/`, `cat/` and `dog/`), or one folder of images whose names contain their labels
//! (`7_0001.png`, `digit-7.png`); or the same below `train/` and `test/`. `ink` turns each image
//! into 28x28 pixels.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::pixels::Originals;
use super::{
    DataError, DatasetFiles, Loaded, MAX_IMAGES, PARTS, Recognized, as_data_error, boxed, damaged,
    divided, entries, file_name, is_hidden, malformed, too_large,
};
use crate::data::dataset::{ClassLabels, assign};
use crate::data::{Dataset, Split};
use crate::ink::{Framing, is_named_like_an_image, read_image_file};
use crate::progress::{PartialProgress, Progress};
use crate::run_config::{CLASS_COUNTS, Classes};
use crate::text::visible;

/// Images read between two reports of progress.
const CHUNK: usize = 32;
/// Entries of a folder that are looked at: a home folder is not searched through.
const LOOKED_AT: usize = 10_000;

/// Images, each with its label or the number of it.
type Files = Vec<(PathBuf, u8)>;

/// Reads this many images, on all cores; `file` returns the path and the label of each.
pub fn read(
    count: usize,
    framing: Framing,
    originals: &mut Originals,
    file: impl Fn(usize) -> (PathBuf, u8) + Sync,
    progress: &mut dyn Progress,
) -> Result<Split, DataError> {
    let mut split = Split::default();
    let indices: Vec<usize> = (0..count).collect();
    for chunk in indices.chunks(CHUNK) {
        progress.report(chunk[0] as f32 / count as f32)?;
        let read = |&index: &usize| {
            let (path, label) = file(index);
            read_image_file(&path, framing).map(|image| (image, label))
        };
        let images: Vec<_> = chunk.par_iter().map(read).collect();
        let before = split.images.len();
        for read in images {
            let ((image, original), label) = read.map_err(as_data_error)?;
            originals.add(original);
            split.images.extend_from_slice(image.pixels());
            split.labels.push(label);
        }
        progress.images(&split.images[before..]);
    }
    Ok(split)
}

fn read_both(
    [train, test]: [&Files; 2],
    classes: Classes,
    progress: &mut dyn Progress,
) -> Result<Dataset, DataError> {
    let share = train.len() as f32 / (train.len() + test.len()) as f32;
    let framing = Framing::of(&classes);
    let mut originals = Originals::default();
    let mut read = |files: &Files, start: f32, end: f32, progress: &mut dyn Progress| {
        let file = |index: usize| files[index].clone();
        read(
            files.len(),
            framing,
            &mut originals,
            file,
            &mut PartialProgress::of(progress, start, end),
        )
    };
    Ok(Dataset {
        train: read(train, 0.0, share, progress)?,
        test: read(test, share, 1.0, progress)?,
        classes,
        notes: originals.note(framing).into_iter().collect(),
    })
}

/// The images in a folder that are not hidden, such as those that macOS leaves beside images
/// (`._1.png`), in any order.
fn images_in(folder: &Path) -> Result<Vec<PathBuf>, DataError> {
    let mut images = Vec::new();
    for path in entries(folder)? {
        let path = path?;
        if is_image(&path) {
            images.push(path);
        }
        if images.len() > MAX_IMAGES {
            return Err(too_large(
                folder,
                format!("it has more than {MAX_IMAGES} images"),
            ));
        }
    }
    Ok(images)
}

fn is_image(path: &Path) -> bool {
    !is_hidden(path) && is_named_like_an_image(path)
}

/// Folders of images that are called as digits are.
pub fn digit_folders(folder: &Path) -> Recognized {
    let set = ClassFolders::open(folder)?;
    let has_digits = |set: &ClassFolders| set.train.iter().any(|folder| is_digit(folder));
    Ok(set.filter(has_digits).map(boxed))
}

/// Folders of images, each called as its class.
pub fn class_folders(folder: &Path) -> Recognized {
    Ok(ClassFolders::open(folder)?.map(boxed))
}

/// The folders in this one that are called as those for training, validation and test are.
fn parts_of(folder: &Path) -> Result<[Option<PathBuf>; 3], DataError> {
    let mut parts = [const { None }; 3];
    for path in entries(folder)?.take(LOOKED_AT) {
        let path = path?;
        let name = file_name(&path).to_lowercase();
        let part = PARTS
            .iter()
            .position(|names| names.contains(&name.as_str()));
        if let Some(part) = part
            && path.is_dir()
        {
            parts[part] = Some(path);
        }
    }
    Ok(parts)
}

struct ClassFolders {
    train: Vec<PathBuf>,
    test: Vec<PathBuf>,
    folder: PathBuf,
    note: Option<String>,
}

impl ClassFolders {
    /// Those in this folder, or in `train`, `val` and `test` in it; `None` if there are fewer
    /// than two to learn from, unless they are called as digits are.
    fn open(folder: &Path) -> Result<Option<Self>, DataError> {
        let set = |train, test, note| Self {
            train,
            test,
            folder: folder.to_owned(),
            note,
        };
        // Folders that divide a set are not classes.
        let mut here = folders_with_images(folder)?;
        here.retain(|class| {
            let name = class_name(class).to_lowercase();
            !PARTS.iter().any(|names| names.contains(&name.as_str()))
        });
        if are_classes(&here) {
            return Ok(Some(set(here, Vec::new(), None)));
        }
        let [train, validation, test] = parts_of(folder)?
            .map(|part| part.map_or(Ok(Vec::new()), |part| folders_with_images(&part)));
        let (mut train, mut test) = (train?, test?);
        if !are_classes(&train) {
            return Ok(None);
        }
        let note = divided(&mut train, validation?, &mut test);
        Ok(Some(set(train, test, note)))
    }

    fn files(&self, folders: &[PathBuf], labels: &mut ClassLabels) -> Result<Files, DataError> {
        let mut files = Files::new();
        for folder in folders {
            let number = labels
                .number(&class_name(folder))
                .map_err(damaged(&self.folder))?;
            files.extend(images_in(folder)?.into_iter().map(|path| (path, number)));
            if files.len() > MAX_IMAGES {
                return Err(too_large(
                    &self.folder,
                    format!("it has more than {MAX_IMAGES} images"),
                ));
            }
        }
        // A file system lists files in any order; the same folder should give the same set.
        files.sort_unstable();
        Ok(files)
    }
}

impl DatasetFiles for ClassFolders {
    fn read(&mut self, progress: &mut dyn Progress) -> Result<Loaded, DataError> {
        let mut labels = ClassLabels::default();
        let train = self.files(&self.train, &mut labels)?;
        let test = self.files(&self.test, &mut labels)?;
        if train.is_empty() {
            return Err(malformed(
                &self.folder,
                "its class folders contain no images",
            ));
        }
        let (classes, numbers) = labels.classes().map_err(damaged(&self.folder))?;
        let mut set = read_both([&train, &test], classes, progress)?;
        set.notes.extend(self.note.take());
        assign(&mut set.train, &numbers);
        assign(&mut set.test, &numbers);
        Ok(set.into())
    }

    fn counts(&self) -> Result<Option<[usize; 2]>, DataError> {
        let count = |folders: &[PathBuf]| {
            let images = folders
                .iter()
                .map(|folder| Ok::<_, DataError>(images_in(folder)?.len()));
            images.sum::<Result<usize, _>>()
        };
        Ok(Some([count(&self.train)?, count(&self.test)?]))
    }
}

fn class_name(folder: &Path) -> String {
    visible::one_line(&file_name(folder))
}

/// Whether these are the folders of classes: two with any names, or one that is called as a digit
/// is.
fn are_classes(folders: &[PathBuf]) -> bool {
    folders.len() >= *CLASS_COUNTS.start() || folders.iter().any(|folder| is_digit(folder))
}

fn is_digit(folder: &Path) -> bool {
    matches!(class_name(folder).as_bytes(), [b'0'..=b'9'])
}

/// The folders in a folder that have images and are not hidden, in the order of their names. Nobody
/// has more classes than are looked at.
fn folders_with_images(folder: &Path) -> Result<Vec<PathBuf>, DataError> {
    let has_images = |folder: &Path| {
        let mut entries = folder.read_dir().into_iter().flatten().flatten();
        entries.any(|entry| is_image(&entry.path()))
    };
    let mut folders = Vec::new();
    for path in entries(folder)?.take(LOOKED_AT) {
        let path = path?;
        if !is_hidden(&path) && path.is_dir() && has_images(&path) {
            folders.push(path);
        }
        if folders.len() > *CLASS_COUNTS.end() {
            break;
        }
    }
    folders.sort_unstable();
    Ok(folders)
}

/// The images in this folder whose names contain their labels, or in `train` and `test` in it;
/// an error if their names do not.
///
/// A name is divided at `_`, `-` and spaces, after its ending and the ` (2)` of a copy are taken
/// off. The label is the first part or the last, of all files of the folder the same, and that part
/// is a single digit.
pub fn named(folder: &Path) -> Recognized {
    let here = labeled(folder, images_in(folder)?)?;
    if !here.is_empty() {
        return Ok(Some(boxed(NamedImages {
            train: here,
            test: Files::new(),
            note: None,
        })));
    }
    let [train, validation, test] = parts_of(folder)?
        .map(|part| part.map_or(Ok(Files::new()), |part| labeled(&part, images_in(&part)?)));
    let (mut train, mut test) = (train?, test?);
    if train.is_empty() {
        return Ok(None);
    }
    let note = divided(&mut train, validation?, &mut test);
    Ok(Some(boxed(NamedImages { train, test, note })))
}

struct NamedImages {
    train: Files,
    test: Files,
    note: Option<String>,
}

impl DatasetFiles for NamedImages {
    fn read(&mut self, progress: &mut dyn Progress) -> Result<Loaded, DataError> {
        let mut set = read_both([&self.train, &self.test], Classes::Digits, progress)?;
        set.notes.extend(self.note.take());
        Ok(set.into())
    }

    fn counts(&self) -> Result<Option<[usize; 2]>, DataError> {
        Ok(Some([self.train.len(), self.test.len()]))
    }
}

/// The images, sorted, each with its label.
fn labeled(folder: &Path, mut images: Vec<PathBuf>) -> Result<Files, DataError> {
    // A file system lists files in any order; the same folder should give the same set.
    images.sort_unstable();
    let ends: Vec<[Option<u8>; 2]> = images.iter().map(|image| ends(image)).collect();
    // The first image that has no label at this place.
    let lacking = |place: usize| ends.iter().position(|ends| ends[place].is_none());
    let name = |index: usize| file_name(&images[index]);
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
