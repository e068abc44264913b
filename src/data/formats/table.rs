//! Tables as data sets, one alone or two for training and test in a folder: of pixels, CSV files in
//! Kaggle's form, `label,pixel0,…,pixel783`, with or without that header, gzipped or not; or of
//! image files and their labels, `file,label`, which lie beside the images or above them. And rows
//! of pixels that are to be recognized, with or without a label.

use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use csv::{ByteRecord, ReaderBuilder};

use super::{
    DataError, Loaded, MAX_IMAGES, Recognized, SetFiles, boxed, damaged, images, malformed, open,
    too_large, unreadable,
};
use crate::data::dataset::{ClassLabels, assign};
use crate::data::{DataSet, Split};
use crate::ink::{Image, PIXELS};
use crate::progress::Progress;
use crate::run_config::{Classes, MAX_LABEL};
use crate::system::files::folder_of;
use crate::system::input_file::InputFile;
use crate::text::format::joined;
use crate::text::visible;

/// A row of 785 numbers is at most 3,925 bytes long; quotes and spaces may triple that.
const MAX_ROW_BYTES: usize = 16 << 10;
/// Rows between two reports of progress.
const CHUNK: usize = 500;

/// The labeled images of a table that is open already; errors name `path`.
pub fn read_table(
    file: InputFile,
    path: &Path,
    progress: &mut dyn Progress,
) -> Result<Split, DataError> {
    // The size of a compressed file's content is not known; as most pixels are 0, it is about ten
    // times the file's.
    let size = file
        .size()
        .saturating_mul(if file.is_gzipped() { 10 } else { 1 });
    let mut rows = Rows::new(file, path, b',');
    let mut split = Split::default();
    while let Some((line, record)) = rows.next_row()? {
        if line == 1 && is_header(record) {
            continue;
        }
        take_row(path, line, record, &mut split)?;
        if split.len() > MAX_IMAGES {
            return Err(too_large(
                path,
                format!("it has more than {MAX_IMAGES} rows"),
            ));
        }
        if split.len() % CHUNK == 0 {
            let done = record.position().map_or(0, csv::Position::byte) as f32 / size.max(1) as f32;
            progress.report(done.min(1.0))?;
        }
    }
    if split.is_empty() {
        return Err(malformed(path, "it contains no rows"));
    }
    Ok(split)
}

/// True for pixels without labels, as in the test file of Kaggle's competition.
fn has_pixels_alone(path: &Path) -> Result<bool, DataError> {
    Ok(first_row(path, b',')?.len() == PIXELS)
}

/// The rows of a table, none of which is too long.
struct Rows {
    path: PathBuf,
    reader: csv::Reader<RowLimit>,
    record: ByteRecord,
}

impl Rows {
    /// The rows of a table that is open already; errors name `path`.
    pub fn new(file: InputFile, path: &Path, delimiter: u8) -> Self {
        let reader = ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .flexible(true)
            .from_reader(RowLimit {
                inner: file,
                since_newline: 0,
            });
        Self {
            path: path.to_owned(),
            reader,
            record: ByteRecord::new(),
        }
    }

    /// The next row, with its line; none at the end.
    pub fn next_row(&mut self) -> Result<Option<(u64, &ByteRecord)>, DataError> {
        let more = self.reader.read_byte_record(&mut self.record);
        match more.map_err(csv::Error::into_kind) {
            Ok(true) => {
                let line = self.record.position().map_or(0, csv::Position::line);
                Ok(Some((line, &self.record)))
            }
            Ok(false) => Ok(None),
            Err(csv::ErrorKind::Io(error)) => Err(unreadable(&self.path)(error)),
            Err(other) => Err(malformed(&self.path, format!("{other:?}"))),
        }
    }
}

/// The first row of a table; empty if it has none.
fn first_row(path: &Path, delimiter: u8) -> Result<ByteRecord, DataError> {
    let mut rows = Rows::new(open(path)?, path, delimiter);
    rows.next_row()?;
    Ok(rows.record)
}

fn is_header(record: &ByteRecord) -> bool {
    record
        .get(0)
        .unwrap_or_default()
        .trim_ascii()
        .eq_ignore_ascii_case(b"label")
}

fn take_row(
    path: &Path,
    line: u64,
    record: &ByteRecord,
    split: &mut Split,
) -> Result<(), DataError> {
    if record.len() != PIXELS + 1 {
        return Err(malformed(
            path,
            format!(
                "line {line} has {} values; a label and {PIXELS} pixels make {}",
                record.len(),
                PIXELS + 1
            ),
        ));
    }
    let Some(label @ 0..=MAX_LABEL) = number(record, 0) else {
        let found = String::from_utf8_lossy(record.get(0).unwrap_or_default()).into_owned();
        return Err(malformed(
            path,
            format!("line {line}: the label \"{found}\" is not a number from 0 to {MAX_LABEL}"),
        ));
    };
    split.labels.push(label);
    for pixel in pixels_of(path, line, record, 1) {
        split.images.push(pixel?);
    }
    Ok(())
}

/// The pixels of a row, from the column `first` on.
fn pixels_of(
    path: &Path,
    line: u64,
    record: &ByteRecord,
    first: usize,
) -> impl Iterator<Item = Result<u8, DataError>> {
    let wrong = move |pixel: usize| {
        malformed(
            path,
            format!("line {line}: pixel {pixel} is not a number from 0 to 255"),
        )
    };
    (0..PIXELS).map(move |pixel| number(record, first + pixel).ok_or_else(|| wrong(pixel)))
}

fn number(record: &ByteRecord, index: usize) -> Option<u8> {
    std::str::from_utf8(record.get(index)?)
        .ok()?
        .trim()
        .parse()
        .ok()
}

/// Fails when a row is too long, so that a file without line breaks cannot fill the memory.
struct RowLimit {
    inner: InputFile,
    since_newline: usize,
}

impl Read for RowLimit {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        for &byte in &buffer[..count] {
            self.since_newline = if byte == b'\n' || byte == b'\r' {
                0
            } else {
                self.since_newline + 1
            };
            if self.since_newline > MAX_ROW_BYTES {
                return Err(io::Error::new(
                    io::ErrorKind::FileTooLarge,
                    format!("a row is longer than {MAX_ROW_BYTES} bytes"),
                ));
            }
        }
        Ok(count)
    }
}

/// The images of a table, each with its line.
pub struct PixelRows {
    rows: Rows,
    /// Nothing after an error can be trusted.
    ended: bool,
}

impl PixelRows {
    /// Those of a table that is open already; errors name `path`.
    pub fn new(file: InputFile, path: &Path) -> Self {
        Self {
            rows: Rows::new(file, path, b','),
            ended: false,
        }
    }

    fn next_image(&mut self) -> Result<Option<(u64, Image)>, DataError> {
        let path = self.rows.path.clone();
        while let Some((line, record)) = self.rows.next_row()? {
            // Words instead of numbers are a header.
            let is_header = line == 1
                && record
                    .iter()
                    .any(|field| field.iter().any(u8::is_ascii_alphabetic));
            if is_header {
                continue;
            }
            let first = match record.len() {
                PIXELS => 0,
                count if count == PIXELS + 1 => 1,
                count => {
                    let reason = format!(
                        "line {line} has {count} values; an image has {PIXELS}, and perhaps a label before them"
                    );
                    return Err(malformed(&path, reason));
                }
            };
            let mut pixels = [0; PIXELS];
            let values = pixels_of(&path, line, record, first);
            for (pixel, value) in pixels.iter_mut().zip(values) {
                *pixel = value?;
            }
            return Ok(Some((line, Image::new(pixels))));
        }
        Ok(None)
    }
}

impl Iterator for PixelRows {
    type Item = Result<(u64, Image), DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.next_image().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

/// What the column of files is called, in lower case.
const FILE: [&str; 5] = ["file", "filename", "file_name", "path", "image"];
/// What the column of labels is called.
const LABEL: [&str; 3] = ["label", "class", "digit"];
/// What may stand between two columns: Excel writes semicolons in many countries.
const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];
/// Missing files that are named.
const NAMED: usize = 3;

/// How a table for training is called, and one for test.
const NAMES: [[&str; 2]; 3] = [
    ["train", "test"],
    ["mnist_train", "mnist_test"],
    ["labels", "test_labels"],
];

/// One table, or one for training and one for test.
struct Tables(Vec<PathBuf>);

/// The tables in this folder, if there is one for training.
#[expect(
    clippy::unnecessary_wraps,
    reason = "the readers of all formats are listed together"
)]
pub fn in_folder(folder: &Path) -> Recognized {
    let table = |name: &str| {
        [format!("{name}.csv"), format!("{name}.csv.gz")]
            .map(|name| folder.join(name))
            .into_iter()
            .find(|path| path.is_file())
    };
    let Some(train) = NAMES.iter().find_map(|[train, _]| table(train)) else {
        return Ok(None);
    };
    let test = NAMES.iter().find_map(|[_, test]| table(test));
    Ok(Some(boxed(Tables(
        [Some(train), test].into_iter().flatten().collect(),
    ))))
}

/// A table alone.
#[expect(
    clippy::unnecessary_wraps,
    reason = "the readers of all formats are listed together"
)]
pub fn of_file(path: &Path, _: &[u8]) -> Recognized {
    Ok(is_named_like_a_table(path).then(|| boxed(Tables(vec![path.to_owned()]))))
}

impl SetFiles for Tables {
    /// Kaggle's own test.csv has no labels: then part of the training images is the test split.
    fn read(&mut self, progress: &mut dyn Progress) -> Result<Loaded, DataError> {
        if let [_, test] = self.0.as_slice()
            && is_unlabelled(test)?
        {
            self.0.truncate(1);
        }
        Ok(read(&self.0, progress)?.into())
    }
}

/// How many images a table of files names; `None` for other tables.
pub fn count_named_images(path: &Path) -> Result<Option<usize>, DataError> {
    let count = |table: PathTable| Ok(table.files(path, &mut ClassLabels::default())?.len());
    PathTable::open(path)?.map(count).transpose()
}

/// Whether a file is a table, by its name.
pub fn is_named_like_a_table(path: &Path) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    [".csv", ".csv.gz", ".tsv"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// What a table holds.
enum Content {
    Images(Split),
    Files(Vec<NamedFile>),
}

/// Reads tables with labels: one for training, and perhaps one for test.
fn read(tables: &[PathBuf], progress: &mut dyn Progress) -> Result<DataSet, DataError> {
    let mut labels = ClassLabels::default();
    let mut parts = Vec::new();
    for (number, path) in tables.iter().enumerate() {
        let mut progress = |done: f32| progress.report(within(tables, number, done));
        let table = PathTable::open(path)?;
        parts.push(match table {
            Some(table) => Content::Files(table.files(path, &mut labels)?),
            None => Content::Images(pixels(path, &mut labels, &mut progress)?),
        });
    }
    let first = tables.first().map_or(Path::new(""), PathBuf::as_path);
    let (classes, numbers) = labels.classes().map_err(damaged(first))?;
    let mut splits = Vec::new();
    for (number, (path, rows)) in tables.iter().zip(parts).enumerate() {
        let mut split = match rows {
            Content::Images(images) => images,
            Content::Files(files) => PathTable::read(&files, path, &classes, &mut |done: f32| {
                progress.report(within(tables, number, done))
            })?,
        };
        assign(&mut split, &numbers);
        splits.push(split);
    }
    let mut splits = splits.into_iter();
    let [train, test] = [(); 2].map(|()| splits.next().unwrap_or_default());
    Ok(DataSet {
        train,
        test,
        classes,
    })
}

/// A table of pixels, whose labels become numbers of `labels`.
fn pixels(
    path: &Path,
    labels: &mut ClassLabels,
    progress: &mut dyn Progress,
) -> Result<Split, DataError> {
    let mut images = read_table(open(path)?, path, progress)?;
    for label in &mut images.labels {
        *label = labels.number(&label.to_string()).map_err(damaged(path))?;
    }
    Ok(images)
}

/// How much of all tables is done with this share of one. Right for MNIST, whose test split is a
/// seventh of the whole.
fn within(tables: &[PathBuf], number: usize, done: f32) -> f32 {
    let share = if tables.len() > 1 { 6.0 / 7.0 } else { 1.0 };
    if number == 0 {
        done * share
    } else {
        share + done * (1.0 - share)
    }
}

fn is_unlabelled(path: &Path) -> Result<bool, DataError> {
    Ok(PathTable::is_unlabelled(path)? || has_pixels_alone(path)?)
}

/// A file, seen from the table's folder, and its label.
type NamedFile = (Box<str>, u8);

/// A table of this kind: where its columns are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PathTable {
    delimiter: u8,
    file: usize,
    label: usize,
}

impl PathTable {
    /// The columns, where the first line of the file names one of files and one of labels.
    fn open(path: &Path) -> Result<Option<Self>, DataError> {
        let labelled = |(delimiter, file, label): (u8, usize, Option<usize>)| {
            Some(Self {
                delimiter,
                file,
                label: label?,
            })
        };
        Ok(columns(path)?.and_then(labelled))
    }

    /// True for a table of files without labels.
    fn is_unlabelled(path: &Path) -> Result<bool, DataError> {
        Ok(columns(path)?.is_some_and(|(.., label)| label.is_none()))
    }

    /// Reads these files, which the table at `path` names, as images of these classes.
    fn read(
        files: &[NamedFile],
        path: &Path,
        classes: &Classes,
        progress: &mut dyn Progress,
    ) -> Result<Split, DataError> {
        let folder = folder_of(path);
        let missing: Vec<&str> = files
            .iter()
            .map(|(file, _)| &**file)
            .filter(|file| !folder.join(file).exists())
            .collect();
        if !missing.is_empty() {
            let named = missing.iter().take(NAMED);
            let named = joined(named.map(|file| format!("\"{file}\"")), ", ");
            let are = if missing.len() == 1 { "is" } else { "are" };
            let more = if missing.len() > NAMED {
                format!(" and {} more", missing.len() - NAMED)
            } else {
                String::new()
            };
            return Err(malformed(
                path,
                format!(
                    "{} of its {} images {are} missing: {named}{more}",
                    missing.len(),
                    files.len()
                ),
            ));
        }
        images::read(
            files.len(),
            classes,
            |index| (folder.join(&*files[index].0), files[index].1),
            progress,
        )
    }

    /// The files that the table at `path` names. Their labels are numbers of `labels`.
    fn files(self, path: &Path, labels: &mut ClassLabels) -> Result<Vec<NamedFile>, DataError> {
        let file = open(path)?;
        let budget = file.budget();
        let mut rows = Rows::new(file, path, self.delimiter);
        let mut files = Vec::new();
        // The header.
        rows.next_row()?;
        while let Some((line, record)) = rows.next_row()? {
            files.push(self.row(path, line, record, labels)?);
            if files.len() > MAX_IMAGES {
                return Err(too_large(
                    path,
                    format!("it has more than {MAX_IMAGES} rows"),
                ));
            }
            // A packed table can name one image any number of times.
            if (files.len() * PIXELS) as u64 > budget {
                return Err(too_large(
                    path,
                    format!(
                        "the images that it names take more than {budget} bytes, too much for its size"
                    ),
                ));
            }
        }
        if files.is_empty() {
            Err(malformed(path, "it contains no rows"))
        } else {
            Ok(files)
        }
    }

    fn row(
        self,
        path: &Path,
        line: u64,
        record: &ByteRecord,
        labels: &mut ClassLabels,
    ) -> Result<NamedFile, DataError> {
        let field = |index: usize| {
            String::from_utf8_lossy(record.get(index).unwrap_or_default())
                .trim()
                .to_owned()
        };
        let label = field(self.label);
        if label.is_empty() {
            return Err(malformed(path, format!("line {line} has no label")));
        }
        let number = labels
            .number(&visible::one_line(&label))
            .map_err(|error| malformed(path, format!("line {line}: {error}")))?;
        // Tables are made on Windows, too.
        let file = field(self.file).replace('\\', "/");
        let is_below = Path::new(&file)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if file.is_empty() || !is_below {
            return Err(malformed(
                path,
                format!(
                    "line {line}: \"{file}\" is not the name of a file in the table's folder or below"
                ),
            ));
        }
        Ok((file.into(), number))
    }
}

/// What stands between columns, the column of files, and that of labels if there is one; `None`
/// where the first line names no column of files.
fn columns(path: &Path) -> Result<Option<(u8, usize, Option<usize>)>, DataError> {
    let mut found = None;
    for delimiter in DELIMITERS {
        let record = first_row(path, delimiter)?;
        let column = |names: &[&str]| {
            record
                .iter()
                .position(|field| names.iter().any(|name| is_name(field, name)))
        };
        if let Some(file) = column(&FILE) {
            let label = column(&LABEL);
            found = Some((delimiter, file, label));
            if label.is_some() {
                break;
            }
        }
    }
    Ok(found)
}

fn is_name(field: &[u8], name: &str) -> bool {
    field.trim_ascii().eq_ignore_ascii_case(name.as_bytes())
}
