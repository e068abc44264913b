//! Parquet files: images as Hugging Face's data sets have them (`image.bytes` with PNG or JPEG
//! files, and `label`, whose names are in the schema), or a label and pixels as columns; one file
//! alone, or a folder with any number of them for training, validation and test.

use std::fs::File;
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use parquet::basic::{Compression, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};
use rayon::prelude::*;

use super::foreign::refused;
use super::idx_set::of_classes;
use super::pixel_table::LABEL;
use super::pixels::{Originals, Pixels, Shape};
use super::{
    DataError, DatasetFiles, Loaded, MAX_IMAGES, PARTS, as_data_error, boxed, damaged, divided,
    file_name, malformed, open_plain, too_large,
};
use crate::data::{Dataset, Split};
use crate::ink::{Framing, PIXELS, read_set_image};
use crate::progress::{PartialProgress, Progress};
use crate::run_config::{Classes, MAX_LABEL};
use crate::system::input_file::budget;

/// Names of the column of images, in lower case; Hugging Face's columns have their files in
/// `bytes` below it.
const IMAGE: [&str; 3] = ["image", "img", "bytes"];
/// How the column begins in which pandas keeps the numbers of rows.
const PANDAS_INDEX: &str = "__index_level_";
/// Where the schema has what Hugging Face's `datasets` knows of the columns.
const FEATURES: &str = "huggingface";
/// Folders that the files may be in, besides the chosen one: Hugging Face's repositories have them.
const FOLDERS: [&str; 2] = ["data", "mnist"];
/// Rows that are read at a time.
const CHUNK: usize = 1024;

/// Parquet files with labeled images.
struct ParquetSet {
    train: Vec<PathBuf>,
    test: Vec<PathBuf>,
    note: Option<String>,
}

/// The files in this folder, or in one of those that may have them.
pub fn in_folder(folder: &Path) -> Option<Box<dyn DatasetFiles>> {
    let folders = std::iter::once(folder.to_owned()).chain(FOLDERS.map(|name| folder.join(name)));
    let files = folders
        .map(|folder| files_in(&folder))
        .find(|files| !files.is_empty());
    files.map(|files| {
        let [mut train, mut validation, mut test] = [const { Vec::new() }; 3];
        for path in files {
            let name = file_name(&path).to_lowercase();
            let is_for = |part: &[&str]| {
                let mut words = name.split(|letter: char| !letter.is_ascii_alphabetic());
                words.any(|word| part.contains(&word))
            };
            match PARTS.map(is_for) {
                [_, true, _] => validation.push(path),
                [_, _, true] => test.push(path),
                _ => train.push(path),
            }
        }
        // Any part alone is the whole.
        if train.is_empty() {
            let other = if validation.is_empty() {
                &mut test
            } else {
                &mut validation
            };
            std::mem::swap(&mut train, other);
        }
        let note = divided(&mut train, validation, &mut test);
        boxed(ParquetSet { train, test, note })
    })
}

/// One file alone.
pub fn of_file(path: &Path, start: &[u8]) -> Option<Box<dyn DatasetFiles>> {
    start.starts_with(b"PAR1").then(|| {
        boxed(ParquetSet {
            train: vec![path.to_owned()],
            test: Vec::new(),
            note: None,
        })
    })
}

impl DatasetFiles for ParquetSet {
    fn read(&mut self, progress: &mut dyn Progress) -> Result<Loaded, DataError> {
        let paths: Vec<&Path> = self
            .train
            .iter()
            .chain(&self.test)
            .map(PathBuf::as_path)
            .collect();
        // What the labels stand for decides what of an image counts, so they are read first.
        let (mut names, mut labels) = (None, Vec::new());
        for path in &paths {
            let file = caught(path, || LabeledFile::open(path))?;
            labels.push(caught(path, || file.labels(progress))?);
            names = names.or(file.names);
        }
        let [train, test] =
            [&labels[..self.train.len()], &labels[self.train.len()..]].map(|labels| Split {
                images: Vec::new(),
                labels: labels.concat(),
            });
        let path = paths.first().copied().unwrap_or(Path::new(""));
        let mut set = match names {
            Some(names) => {
                let classes = Classes::of_names(&names).map_err(damaged(path))?;
                of_classes(classes, 0, path, train, test)?
            }
            None => Dataset::of_numbers(train, test).map_err(damaged(path))?,
        };
        let framing = Framing::of(&set.classes);
        let (mut originals, mut parts) = (Originals::default(), Vec::new());
        for (number, (path, labels)) in paths.iter().zip(&labels).enumerate() {
            let [start, end] =
                [number, number + 1].map(|number| number as f32 / paths.len() as f32);
            let mut progress = PartialProgress::of(progress, start, end);
            let file = caught(path, || LabeledFile::open(path))?;
            parts.push(caught(path, || {
                file.images(labels.len(), framing, &mut originals, &mut progress)
            })?);
        }
        let framed = Pixels::framed(parts, framing, &mut set.notes, progress)?;
        for (number, images) in framed.into_iter().enumerate() {
            let split = if number < self.train.len() {
                &mut set.train
            } else {
                &mut set.test
            };
            split.images.extend(images);
        }
        set.notes.extend(originals.note(framing));
        set.notes.extend(self.note.clone());
        Ok(set.into())
    }
}

/// What is wrong with a file is an error, but whether the library always sees it is not ours to
/// say.
fn caught<T>(path: &Path, read: impl FnOnce() -> Result<T, DataError>) -> Result<T, DataError> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(malformed(path, "it is damaged")))
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

enum Images {
    /// One with image files.
    Files(usize),
    /// One for each pixel.
    Pixels(Vec<usize>, Shape),
}

impl Columns {
    fn of(schema: &SchemaDescriptor, path: &Path) -> Result<Self, DataError> {
        let all = || (0..schema.num_columns()).map(|index| (index, schema.column(index)));
        let columns = || all().filter(|(_, column)| column.max_rep_level() == 0);
        let is_named =
            |name: &str, names: &[&str]| names.iter().any(|known| name.eq_ignore_ascii_case(known));
        let is_number =
            |kind: Type| matches!(kind, Type::INT32 | Type::INT64 | Type::FLOAT | Type::DOUBLE);
        let label = columns().find(|(_, column)| {
            is_number(column.physical_type()) && is_named(column.name(), &LABEL)
        });
        let Some((label, _)) = label else {
            return Err(refused(
                path,
                "it has no column of numbers named \"label\"",
                "Give the column of labels that name, and each class a whole number from 0.",
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
        let is_pixel = |index: usize, column: &ColumnDescriptor| {
            index != label
                && is_number(column.physical_type())
                && !column.name().starts_with(PANDAS_INDEX)
        };
        let pixels: Vec<usize> = columns()
            .filter(|(index, column)| is_pixel(*index, column))
            .map(|(index, _)| index)
            .collect();
        if let Some(shape) = Shape::of_row(pixels.len()) {
            return Ok(Self {
                label,
                images: Images::Pixels(pixels, shape),
            });
        }
        let list = all().find(|(_, column)| column.max_rep_level() > 0);
        let reason = match list {
            Some((_, column)) => format!(
                "its images are lists of numbers, in the column \"{}\"",
                column.path().parts().first().map_or("", String::as_str)
            ),
            None => format!(
                "it has neither a column \"image\" with image files nor columns for the pixels of square images (784 of 28x28) beside the label, but {} columns of numbers",
                pixels.len()
            ),
        };
        Err(refused(
            path,
            reason,
            "Write a column \"image\" with PNG files, in datasets by cast_column(\"image\", Image()), or a column for each pixel.",
        ))
    }
}

/// A file with images and labels.
struct LabeledFile<'p> {
    path: &'p Path,
    reader: SerializedFileReader<File>,
    columns: Columns,
    rows: u64,
    /// The names of the labels, if Hugging Face's `datasets` has stored them.
    names: Option<Vec<String>>,
}

impl<'p> LabeledFile<'p> {
    fn open(path: &'p Path) -> Result<Self, DataError> {
        let (file, size) = open_plain(path)?;
        let reader = SerializedFileReader::<File>::new(file).map_err(damaged(path))?;
        let metadata = reader.metadata().file_metadata();
        let rows = u64::try_from(metadata.num_rows()).unwrap_or_default();
        if rows == 0 {
            return Err(malformed(path, "it contains no rows"));
        }
        let columns = Columns::of(metadata.schema_descr(), path)?;
        let bytes = match &columns.images {
            Images::Files(_) => PIXELS,
            Images::Pixels(_, shape) => shape.bytes(),
        };
        if rows > MAX_IMAGES as u64 || rows * bytes as u64 > budget(size) {
            return Err(too_large(
                path,
                format!("it should have {rows} rows, too many for its size"),
            ));
        }
        let groups = reader.metadata().row_groups().iter();
        let packed = groups
            .flat_map(RowGroupMetaData::columns)
            .find_map(|column| match column.compression() {
                Compression::ZSTD(_) => Some("zstd"),
                Compression::BROTLI(_) => Some("brotli"),
                Compression::LZO => Some("LZO"),
                _ => None,
            });
        if let Some(packed) = packed {
            return Err(refused(
                path,
                format!("its columns are compressed with {packed}"),
                "Write it with compression=\"snappy\".",
            ));
        }
        let label = metadata.schema_descr().column(columns.label);
        let features = metadata.key_value_metadata().into_iter().flatten();
        let features = features
            .filter(|pair| pair.key == FEATURES)
            .find_map(|pair| pair.value.as_deref());
        let names = features.and_then(|features| names_of(features, label.name()));
        Ok(Self {
            path,
            reader,
            columns,
            rows,
            names,
        })
    }

    fn labels(&self, progress: &mut dyn Progress) -> Result<Vec<u8>, DataError> {
        let mut labels = Vec::new();
        for group in self.groups() {
            let mut column = self.column(&*group?, self.columns.label)?;
            loop {
                progress.report(0.0)?;
                let numbers = numbers(&mut column, self.path)?;
                if numbers.is_empty() {
                    break;
                }
                for number in numbers {
                    let is_label =
                        number.fract() == 0.0 && (0.0..=f64::from(MAX_LABEL)).contains(&number);
                    if !is_label {
                        return Err(malformed(
                            self.path,
                            format!(
                                "row {}: the label {number} is not a number from 0 to {MAX_LABEL}",
                                labels.len() + 1
                            ),
                        ));
                    }
                    labels.push(number as u8);
                }
                // The header of the file may say less than its groups have.
                if labels.len() as u64 > self.rows {
                    let reason = format!("it has more than its {} rows", self.rows);
                    return Err(malformed(self.path, reason));
                }
            }
        }
        if labels.len() as u64 == self.rows {
            Ok(labels)
        } else {
            let reason = format!("it has fewer than its {} rows", self.rows);
            Err(malformed(self.path, reason))
        }
    }

    /// The images of all rows, of which there are as many as labels.
    fn images(
        &self,
        rows: usize,
        framing: Framing,
        originals: &mut Originals,
        progress: &mut dyn Progress,
    ) -> Result<Pixels, DataError> {
        let mut images = match &self.columns.images {
            Images::Files(_) => Pixels::of_bytes(Shape::FRAMED, Vec::new()),
            Images::Pixels(_, shape) => Pixels::new(*shape),
        };
        let uneven = || malformed(self.path, "its columns are not equally long");
        for group in self.groups() {
            let group = group?;
            let open = |column: &usize| self.column(&*group, *column);
            match &self.columns.images {
                Images::Files(column) => {
                    let ColumnReader::ByteArrayColumnReader(mut files) = open(column)? else {
                        return Err(uneven());
                    };
                    loop {
                        progress.report(images.len() as f32 / rows as f32)?;
                        let files = values(&mut files, self.path)?;
                        if files.is_empty() {
                            break;
                        }
                        if images.len() + files.len() > rows {
                            return Err(uneven());
                        }
                        self.decode(&files, framing, originals, &mut images)?;
                    }
                }
                Images::Pixels(columns, _) => {
                    let mut columns: Vec<_> = columns.iter().map(open).collect::<Result<_, _>>()?;
                    loop {
                        progress.report(images.len() as f32 / rows as f32)?;
                        let numbers = columns
                            .iter_mut()
                            .map(|column| numbers(column, self.path))
                            .collect::<Result<Vec<_>, _>>()?;
                        let count = numbers.first().map_or(0, Vec::len);
                        if numbers.iter().any(|column| column.len() != count) {
                            return Err(uneven());
                        }
                        if count == 0 {
                            break;
                        }
                        if images.len() + count > rows {
                            return Err(uneven());
                        }
                        for row in 0..count {
                            let image: Vec<f32> =
                                numbers.iter().map(|column| column[row] as f32).collect();
                            images.push(&image).map_err(|pixel| {
                                malformed(
                                    self.path,
                                    format!(
                                        "row {}: pixel {pixel} is {}, not a number from 0 to 255",
                                        images.len() + 1,
                                        image[pixel]
                                    ),
                                )
                            })?;
                        }
                    }
                }
            }
        }
        if images.len() == rows {
            Ok(images)
        } else {
            Err(uneven())
        }
    }

    /// Adds the images in these files.
    fn decode(
        &self,
        files: &[ByteArray],
        framing: Framing,
        originals: &mut Originals,
        images: &mut Pixels,
    ) -> Result<(), DataError> {
        let read: Vec<_> = files
            .par_iter()
            .map(|file| {
                read_set_image(
                    Cursor::new(file.data()),
                    file.len() as u64,
                    self.path,
                    framing,
                )
            })
            .collect();
        for read in read {
            let row = images.len() as u64 + 1;
            let (image, original) = read.map_err(|error| in_row(row, as_data_error(error)))?;
            originals.add(original);
            images.extend(image.pixels());
        }
        Ok(())
    }

    fn groups(&self) -> impl Iterator<Item = Result<Box<dyn RowGroupReader + '_>, DataError>> {
        (0..self.reader.num_row_groups())
            .map(|group| self.reader.get_row_group(group).map_err(damaged(self.path)))
    }

    fn column(&self, group: &dyn RowGroupReader, column: usize) -> Result<ColumnReader, DataError> {
        group.get_column_reader(column).map_err(damaged(self.path))
    }
}

/// The names of the classes in a column of labels: `{"info": {"features": {"label": {"names":
/// […]}}}}`.
fn names_of(features: &str, label: &str) -> Option<Vec<String>> {
    let features: serde_json::Value = serde_json::from_str(features).ok()?;
    let names = features
        .get("info")?
        .get("features")?
        .get(label)?
        .get("names")?;
    let name = |name: &serde_json::Value| name.as_str().map(str::to_owned);
    names.as_array()?.iter().map(name).collect()
}

/// The same error with the row where it was found.
fn in_row(row: u64, error: DataError) -> DataError {
    match error {
        DataError::Malformed { path, reason } => malformed(&path, format!("row {row}: {reason}")),
        DataError::TooLarge { path, reason } => too_large(&path, format!("row {row}: {reason}")),
        other => other,
    }
}

/// The next numbers of a column; none at its end.
fn numbers(reader: &mut ColumnReader, path: &Path) -> Result<Vec<f64>, DataError> {
    let numbers = match reader {
        ColumnReader::Int32ColumnReader(reader) => {
            values(reader, path)?.into_iter().map(f64::from).collect()
        }
        ColumnReader::Int64ColumnReader(reader) => values(reader, path)?
            .into_iter()
            .map(|number| number as f64)
            .collect(),
        ColumnReader::FloatColumnReader(reader) => {
            values(reader, path)?.into_iter().map(f64::from).collect()
        }
        ColumnReader::DoubleColumnReader(reader) => values(reader, path)?,
        _ => {
            return Err(malformed(path, "a column has an unexpected type"));
        }
    };
    Ok(numbers)
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
