//! Parquet files: images as Hugging Face's data sets have them (`image.bytes` with PNG or JPEG
//! files, and `label`), or a label and 784 pixels as columns; one file alone, or a folder with any
//! number of them for training and test.

use std::fs::File;
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use parquet::basic::Type;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::schema::types::SchemaDescriptor;
use rayon::prelude::*;

use super::{
    DataError, Loaded, MAX_IMAGES, Recognized, SetFiles, as_data_error, boxed, damaged, file_name,
    malformed, open_plain, too_large,
};
use crate::data::{DataSet, Split};
use crate::ink::{Image, InkError, PIXELS, read_set_image};
use crate::progress::Progress;
use crate::run_config::MAX_LABEL;
use crate::system::input_file::budget;

/// What the column of images is called, in lower case; those of Hugging Face have their files in
/// `bytes` below it.
const IMAGE: [&str; 3] = ["image", "img", "bytes"];
/// What the column of labels is called.
const LABEL: [&str; 4] = ["label", "labels", "class", "digit"];
/// How the names of files for test begin.
const TEST: [&str; 3] = ["test", "validation", "valid"];
/// Folders that the files may be in, besides the chosen one: Hugging Face's repositories have them.
const FOLDERS: [&str; 2] = ["data", "mnist"];
/// Rows that are read at a time.
const CHUNK: usize = 1024;

/// Parquet files with labeled images.
struct ParquetSet {
    train: Vec<PathBuf>,
    test: Vec<PathBuf>,
}

/// The files in this folder, or in one of those that may have them.
#[expect(
    clippy::unnecessary_wraps,
    reason = "the readers of all formats are listed together"
)]
pub fn in_folder(folder: &Path) -> Recognized {
    let folders = std::iter::once(folder.to_owned()).chain(FOLDERS.map(|name| folder.join(name)));
    let files = folders
        .map(|folder| files_in(&folder))
        .find(|files| !files.is_empty());
    let set = files.map(|files| {
        let is_test = |path: &PathBuf| {
            let name = file_name(path).to_lowercase();
            TEST.iter().any(|test| name.starts_with(test))
        };
        let (test, train): (Vec<_>, Vec<_>) = files.into_iter().partition(is_test);
        let [train, test] = if train.is_empty() {
            [test, train]
        } else {
            [train, test]
        };
        boxed(ParquetSet { train, test })
    });
    Ok(set)
}

/// One file alone.
#[expect(
    clippy::unnecessary_wraps,
    reason = "the readers of all formats are listed together"
)]
pub fn of_file(path: &Path, start: &[u8]) -> Recognized {
    Ok((start == b"PAR1").then(|| {
        boxed(ParquetSet {
            train: vec![path.to_owned()],
            test: Vec::new(),
        })
    }))
}

impl SetFiles for ParquetSet {
    fn read(&mut self, progress: &mut dyn Progress) -> Result<Loaded, DataError> {
        let files = (self.train.len() + self.test.len()) as f32;
        let (mut train, mut test) = (Split::default(), Split::default());
        for (number, path) in self.train.iter().chain(&self.test).enumerate() {
            let split = if number < self.train.len() {
                &mut train
            } else {
                &mut test
            };
            let mut progress = |done: f32| progress.report((number as f32 + done) / files);
            // What is wrong with a file is an error, but whether the library always sees it is not
            // ours to say.
            let read = catch_unwind(AssertUnwindSafe(|| read(path, split, &mut progress)));
            read.unwrap_or_else(|_| Err(malformed(path, "it is damaged")))?;
        }
        let path = self.train.first().map_or(Path::new(""), PathBuf::as_path);
        let set = DataSet::of_numbers(train, test).map_err(damaged(path))?;
        Ok(set.into())
    }
}

/// The Parquet files in a folder, in the order of their names.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let is_parquet = |path: &PathBuf| {
        path.extension()
            .is_some_and(|end| end.eq_ignore_ascii_case("parquet"))
    };
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(is_parquet)
        .collect();
    files.sort_unstable();
    files
}

/// Where images and labels are.
struct Columns {
    label: usize,
    images: Images,
}

/// The columns of the images.
enum Images {
    /// One with image files.
    Files(usize),
    /// One for each pixel.
    Pixels(Vec<usize>),
}

impl Columns {
    fn of(schema: &SchemaDescriptor, path: &Path) -> Result<Self, DataError> {
        let columns = || (0..schema.num_columns()).map(|index| (index, schema.column(index)));
        let is_named =
            |name: &str, names: &[&str]| names.iter().any(|known| name.eq_ignore_ascii_case(known));
        let is_integer = |kind: Type| matches!(kind, Type::INT32 | Type::INT64);
        if let Some((_, column)) = columns().find(|(_, column)| column.max_rep_level() > 0) {
            return Err(malformed(
                path,
                format!(
                    "\"{}\" is a column of lists, which Inkling does not read",
                    column.path()
                ),
            ));
        }
        let label = columns().find(|(_, column)| {
            is_integer(column.physical_type()) && is_named(column.name(), &LABEL)
        });
        let Some((label, _)) = label else {
            return Err(malformed(
                path,
                "it has no column of integers named \"label\"",
            ));
        };
        let file = columns().find(|(_, column)| {
            column.physical_type() == Type::BYTE_ARRAY && is_named(column.name(), &IMAGE)
        });
        if let Some((file, _)) = file {
            return Ok(Self {
                label,
                images: Images::Files(file),
            });
        }
        let pixels: Vec<usize> = columns()
            .filter(|(index, column)| *index != label && is_integer(column.physical_type()))
            .map(|(index, _)| index)
            .collect();
        if pixels.len() == PIXELS {
            return Ok(Self {
                label,
                images: Images::Pixels(pixels),
            });
        }
        let reason = format!(
            "it has neither a column \"image\" with image files nor {PIXELS} columns of pixels beside the label"
        );
        Err(malformed(path, reason))
    }
}

fn read(path: &Path, split: &mut Split, progress: &mut dyn Progress) -> Result<(), DataError> {
    let (file, size) = open_plain(path)?;
    let reader = SerializedFileReader::<File>::new(file).map_err(damaged(path))?;
    let metadata = reader.metadata().file_metadata();
    let rows = u64::try_from(metadata.num_rows()).unwrap_or_default();
    if rows == 0 {
        return Err(malformed(path, "it contains no rows"));
    }
    if rows > MAX_IMAGES as u64 || rows * PIXELS as u64 > budget(size) {
        return Err(too_large(
            path,
            format!("it should have {rows} rows, too many for its size"),
        ));
    }
    let columns = Columns::of(metadata.schema_descr(), path)?;
    let before = split.len();
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(damaged(path))?;
        let mut group = Group::open(&*group, &columns, path)?;
        loop {
            let read = (split.len() - before) as u64;
            progress.report(read as f32 / rows as f32)?;
            if group.read_chunk(split, read)? == 0 {
                break;
            }
            // The header of the file may say less than its groups have.
            if (split.len() - before) as u64 > rows {
                return Err(malformed(path, format!("it has more than its {rows} rows")));
            }
        }
    }
    if (split.len() - before) as u64 == rows {
        Ok(())
    } else {
        Err(malformed(
            path,
            format!("it has fewer than its {rows} rows"),
        ))
    }
}

/// The readers of a group of rows.
struct Group<'a> {
    path: &'a Path,
    label: ColumnReader,
    images: Vec<ColumnReader>,
    has_files: bool,
}

impl<'a> Group<'a> {
    fn open(
        group: &dyn RowGroupReader,
        columns: &Columns,
        path: &'a Path,
    ) -> Result<Self, DataError> {
        let open = |column: usize| group.get_column_reader(column).map_err(damaged(path));
        let (images, has_files) = match &columns.images {
            Images::Files(column) => (vec![open(*column)?], true),
            Images::Pixels(columns) => (
                columns
                    .iter()
                    .map(|&column| open(column))
                    .collect::<Result<_, _>>()?,
                false,
            ),
        };
        Ok(Self {
            path,
            label: open(columns.label)?,
            images,
            has_files,
        })
    }

    /// Adds the next rows; gives how many. So many rows were read before.
    fn read_chunk(&mut self, split: &mut Split, before: u64) -> Result<usize, DataError> {
        let labels = integers(&mut self.label, self.path)?;
        for (row, label) in (before + 1..).zip(&labels) {
            match u8::try_from(*label) {
                Ok(label @ 0..=MAX_LABEL) => split.labels.push(label),
                _ => {
                    return Err(malformed(
                        self.path,
                        format!(
                            "row {row}: the label {label} is not a number from 0 to {MAX_LABEL}"
                        ),
                    ));
                }
            }
        }
        let path = self.path;
        let shorter = || malformed(path, "its columns are not equally long");
        if self.has_files {
            let Some(ColumnReader::ByteArrayColumnReader(reader)) = self.images.first_mut() else {
                return Err(shorter());
            };
            let files = values(reader, self.path)?;
            if files.len() != labels.len() {
                return Err(shorter());
            }
            let images: Vec<_> = files
                .par_iter()
                .map(|file| image(file, self.path))
                .collect();
            for (row, image) in (before + 1..).zip(images) {
                let image = image.map_err(|error| in_row(row, as_data_error(error)))?;
                split.images.extend_from_slice(image.pixels());
            }
        } else {
            let start = split.images.len();
            split.images.resize(start + labels.len() * PIXELS, 0);
            for (pixel, reader) in self.images.iter_mut().enumerate() {
                let values = integers(reader, self.path)?;
                if values.len() != labels.len() {
                    return Err(shorter());
                }
                for (row, value) in values.into_iter().enumerate() {
                    let Ok(value) = u8::try_from(value) else {
                        let row = before + 1 + row as u64;
                        return Err(malformed(
                            self.path,
                            format!(
                                "row {row}: pixel {pixel} is {value}, not a number from 0 to 255"
                            ),
                        ));
                    };
                    split.images[start + row * PIXELS + pixel] = value;
                }
            }
        }
        Ok(labels.len())
    }
}

fn image(file: &ByteArray, path: &Path) -> Result<Image, InkError> {
    read_set_image(Cursor::new(file.data()), file.len() as u64, path)
}

/// The same error with the row where it was found.
fn in_row(row: u64, error: DataError) -> DataError {
    match error {
        DataError::Malformed { path, reason } => malformed(&path, format!("row {row}: {reason}")),
        DataError::TooLarge { path, reason } => too_large(&path, format!("row {row}: {reason}")),
        other => other,
    }
}

/// The next integers of a column; none at its end.
fn integers(reader: &mut ColumnReader, path: &Path) -> Result<Vec<i64>, DataError> {
    match reader {
        ColumnReader::Int32ColumnReader(reader) => {
            Ok(values(reader, path)?.into_iter().map(i64::from).collect())
        }
        ColumnReader::Int64ColumnReader(reader) => values(reader, path),
        _ => Err(malformed(
            path,
            "a column has another type than its name says",
        )),
    }
}

/// The next values of a column, as many as there are rows.
fn values<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    path: &Path,
) -> Result<Vec<T::T>, DataError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let mut records = 0;
    while records < CHUNK {
        let (read, _, _) = reader
            .read_records(CHUNK - records, Some(&mut levels), None, &mut values)
            .map_err(damaged(path))?;
        if read == 0 {
            break;
        }
        records += read;
    }
    if values.len() == records {
        Ok(values)
    } else {
        Err(malformed(path, "a row has an empty cell"))
    }
}
