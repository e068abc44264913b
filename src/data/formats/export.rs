//! Writes data sets in the formats that are read: class folders of PNG images, IDX files, tables,
//! and drawings as ink.

use std::io::{self, Write};
use std::path::Path;

use rayon::prelude::*;

use super::idx::Kind;
use super::idx_set::CLASSES_FILE;
use crate::data::my_digits::KeptDrawing;
use crate::data::{Dataset, Split};
use crate::ink::{Image, SIDE};
use crate::problem::Problem;
use crate::progress::{Cancelled, Progress};
use crate::run_config::{Classes, DatasetFormat};
use crate::system::files::{TemporaryFolder, folder_of, write_whole, write_whole_with};
use crate::system::targets::{check_file, check_folder};
use crate::system::{TargetError, WriteError};

/// Images written between two reports of progress.
const CHUNK: usize = 256;

/// Writes drawings to an ink file, one per line. What is there is replaced only if `replace` is
/// true, and never one of `sources`.
pub fn export_drawings(
    drawings: &[KeptDrawing],
    to: &Path,
    replace: bool,
    sources: &[&Path],
) -> Result<(), Problem> {
    check_file(to, replace, sources)?;
    let lines = |file: &mut dyn Write| {
        drawings.iter().try_for_each(|drawing| {
            [drawing.line(), b"\n"]
                .iter()
                .try_for_each(|part| file.write_all(part))
        })
    };
    Ok(write_whole_with(to, lines).map_err(TargetError::from)?)
}

/// Writes a data set to the folder `to`, whole or not at all, in a format of images, not of
/// drawings ([`DatasetFormat::Ink`]). Without a test split, class folders are not below `train`.
/// `progress` gets the fraction done.
pub fn export_set(
    set: &Dataset,
    format: DatasetFormat,
    to: &Path,
    replace: bool,
    sources: &[&Path],
    progress: &mut dyn Progress,
) -> Result<(), Problem> {
    check_folder(to, replace, sources)?;
    let failed = |error: io::Error| TargetError::from(WriteError::new(to, &error));
    let mut folder = TemporaryFolder::new_in(folder_of(to)).map_err(failed)?;
    let total = (set.train.len() + set.test.len()).max(1) as f32;
    let splits = [
        (&set.train, ["train", "train"], 0),
        (&set.test, ["test", "t10k"], set.train.len()),
    ];
    for (split, [name, idx_name], before) in
        splits.into_iter().filter(|(split, ..)| !split.is_empty())
    {
        let mut done = |images: usize| progress.report((before + images) as f32 / total);
        match format {
            DatasetFormat::Png if set.test.is_empty() => {
                write_classes(split, &set.classes, folder.path(), &mut done)?;
            }
            DatasetFormat::Png => {
                write_classes(split, &set.classes, &folder.path().join(name), &mut done)?;
            }
            DatasetFormat::Csv => write_table(split, &folder.path().join(format!("{name}.csv")))?,
            DatasetFormat::Idx | DatasetFormat::Ink => write_idx(split, folder.path(), idx_name)?,
        }
        done(split.len())?;
    }
    if format == DatasetFormat::Idx {
        write_names(&set.classes, folder.path())?;
    }
    let placed = if replace {
        folder.replace(to)
    } else {
        put(&mut folder, to)
    };
    Ok(placed.map_err(failed)?)
}

/// If there is an empty folder, it is replaced.
fn put(folder: &mut TemporaryFolder, to: &Path) -> io::Result<()> {
    if to.is_dir() {
        folder.replace(to)
    } else {
        folder.move_to(to)
    }
}

/// The names of classes that are not numbers, where [`super::idx_set::IdxSet`] looks for them.
fn write_names(classes: &Classes, folder: &Path) -> Result<(), TargetError> {
    let lines: String = classes.names().map(|name| format!("{name}\n")).collect();
    if classes.are_numbers() {
        Ok(())
    } else {
        Ok(write_whole(&folder.join(CLASSES_FILE), lines.as_bytes())?)
    }
}

/// The name of a class's folder: the class's own, if every system can have a folder of this
/// name and names are in their order; else its number.
fn folder_name(classes: &Classes, class: u8) -> String {
    let can_be_a_folder = |name: &str| {
        let devices = ["con", "prn", "aux", "nul"];
        let is_plain = |c: char| !matches!(c, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|');
        name.chars().all(is_plain)
            && !name.starts_with('.')
            && !name.ends_with('.')
            && !devices.contains(&name.to_lowercase().as_str())
    };
    if classes.names().is_sorted() && classes.names().all(can_be_a_folder) {
        classes.name(class).to_owned()
    } else {
        class.to_string()
    }
}

/// `3/00017.png`: the image at place 17 shows a 3; white on black, as it is in MNIST.
fn write_classes(
    split: &Split,
    classes: &Classes,
    folder: &Path,
    done: &mut dyn FnMut(usize) -> Result<(), Cancelled>,
) -> Result<(), Problem> {
    let indices: Vec<usize> = (0..split.len()).collect();
    for chunk in indices.chunks(CHUNK) {
        done(chunk[0])?;
        chunk.par_iter().try_for_each(|&index| {
            let path = folder
                .join(folder_name(classes, split.labels[index]))
                .join(format!("{index:05}.png"));
            let image = Image::try_from(split.image(index))
                .map_err(|error| WriteError::new(&path, &io::Error::other(error)))?;
            write_whole(&path, &image.to_png()).map_err(TargetError::from)
        })?;
    }
    Ok(())
}

/// Kaggle's form: `label,pixel0,…,pixel783`.
fn write_table(split: &Split, path: &Path) -> Result<(), TargetError> {
    let table = |file: &mut dyn Write| {
        write!(file, "label")?;
        (0..SIDE * SIDE).try_for_each(|pixel| write!(file, ",pixel{pixel}"))?;
        writeln!(file)?;
        (0..split.len()).try_for_each(|index| {
            write!(file, "{}", split.labels[index])?;
            split
                .image(index)
                .iter()
                .try_for_each(|pixel| write!(file, ",{pixel}"))?;
            writeln!(file)
        })
    };
    Ok(write_whole_with(path, table)?)
}

/// The two files of a split (`LeCun` et al. 1998).
fn write_idx(split: &Split, folder: &Path, name: &str) -> Result<(), TargetError> {
    let side = SIDE as u32;
    let count = split.len() as u32;
    let files = [
        (
            format!("{name}-images-idx3-ubyte"),
            vec![Kind::Images.magic(), count, side, side],
            &split.images,
        ),
        (
            format!("{name}-labels-idx1-ubyte"),
            vec![Kind::Labels.magic(), count],
            &split.labels,
        ),
    ];
    for (name, header, bytes) in files {
        write_whole_with(&folder.join(name), |file| {
            header
                .iter()
                .try_for_each(|number| file.write_all(&u32::to_be_bytes(*number)))?;
            file.write_all(bytes)
        })?;
    }
    Ok(())
}
