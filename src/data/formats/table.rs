//! Tables of pixels: CSV files in Kaggle's form, `label,pixel0,…,pixel783`, with or without that
//! header, gzipped or not; and rows of pixels that are to be recognized, with or without a label.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use csv::{ByteRecord, ReaderBuilder};

use super::{DataError, MAX_IMAGES, malformed, open, too_large, unreadable};
use crate::data::Split;
use crate::ink::{Image, PIXELS};
use crate::progress::Progress;
use crate::run_config::MAX_LABEL;
use crate::system::input_file::InputFile;

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
pub fn is_unlabelled(path: &Path) -> Result<bool, DataError> {
    Ok(first_row(path, b',')?.len() == PIXELS)
}

/// The rows of a table, none of which is too long.
pub struct Rows {
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
pub fn first_row(path: &Path, delimiter: u8) -> Result<ByteRecord, DataError> {
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
pub struct RowLimit {
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
