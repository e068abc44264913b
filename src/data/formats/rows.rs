//! The rows of a table, none of which is too long, with whatever stands between its columns.

use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use csv::{ByteRecord, ReaderBuilder};

use super::{DataError, malformed, too_large, unreadable};
use crate::system::input_file::InputFile;

/// A row of 256x256 pixels is at most this long; so is one of 28x28 in color whose numbers have all
/// their digits.
const MAX_ROW_BYTES: usize = 256 << 10;
/// Separators of columns: Excel writes semicolons in many countries, and `NumPy`
/// spaces.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b' '];

pub struct Rows {
    path: PathBuf,
    reader: csv::Reader<RowLimit>,
    record: ByteRecord,
    /// The first rows, which were read to find out what is in the table.
    pub first: Vec<ByteRecord>,
}

impl Rows {
    /// The rows of a table that is open already; errors name `path`.
    pub fn new(mut file: InputFile, path: &Path) -> Result<Self, DataError> {
        let mut start = Vec::new();
        file.by_ref()
            .take(MAX_ROW_BYTES as u64 + 1)
            .read_to_end(&mut start)
            .map_err(unreadable(path))?;
        let is_whole = start.len() <= MAX_ROW_BYTES;
        // The last row may go on.
        let end = start.iter().rposition(|byte| matches!(byte, b'\n' | b'\r'));
        let rows = match end {
            _ if is_whole => &start[..],
            Some(end) => &start[..end],
            None => return Err(too_large(path, too_long())),
        };
        let delimiter = delimiter_of(rows);
        let mut first = Vec::new();
        for record in builder(delimiter).from_reader(rows).into_byte_records() {
            first.push(record.map_err(|error| malformed(path, error.to_string()))?);
        }
        let inner = Cursor::new(start).chain(file);
        Ok(Self {
            path: path.to_owned(),
            reader: builder(delimiter).from_reader(RowLimit {
                inner: Box::new(inner),
                since_newline: 0,
            }),
            record: ByteRecord::new(),
            first,
        })
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

    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn builder(delimiter: u8) -> ReaderBuilder {
    let mut builder = ReaderBuilder::new();
    builder
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true);
    builder
}

/// The separator that the first line has most of, outside quotes; spaces only if there is nothing
/// else.
fn delimiter_of(rows: &[u8]) -> u8 {
    let mut counts = [0_usize; DELIMITERS.len()];
    let mut is_quoted = false;
    let line = rows.trim_ascii_start();
    for byte in line
        .iter()
        .take_while(|byte| !matches!(byte, b'\n' | b'\r'))
    {
        is_quoted ^= *byte == b'"';
        if let Some(known) = DELIMITERS.iter().position(|delimiter| delimiter == byte)
            && !is_quoted
        {
            counts[known] += 1;
        }
    }
    let [.., spaces] = &mut counts;
    *spaces = (*spaces).min(1);
    let most = (0..DELIMITERS.len())
        .rev()
        .max_by_key(|&index| counts[index]);
    most.map_or(b',', |index| DELIMITERS[index])
}

fn too_long() -> String {
    format!("a row is longer than {MAX_ROW_BYTES} bytes")
}

/// Fails when a row is too long, so that a file without line breaks cannot fill the memory.
struct RowLimit {
    inner: Box<dyn Read + Send>,
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
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, too_long()));
            }
        }
        Ok(count)
    }
}
