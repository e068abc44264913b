//! The images of a table that are to be recognised, one at a time: rows of 784 pixels, with or
//! without a label before them.

use std::path::{Path, PathBuf};

use csv::ByteRecord;

use super::DataError;
use super::csv_table::{RowLimit, pixels_of, reader, wrong_csv};
use super::data_file::malformed;
use crate::ink::{Image, PIXELS};
use crate::system::input_file::InputFile;

/// The rows of a table, each with its line.
pub struct PixelRows {
    path: PathBuf,
    rows: csv::Reader<RowLimit>,
    /// Nothing after an error can be trusted.
    ended: bool,
}

impl PixelRows {
    /// The rows of a table that is open already; errors name `path`.
    pub fn new(file: InputFile, path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            rows: reader(file, b','),
            ended: false,
        }
    }

    fn next_row(&mut self) -> Result<Option<(u64, Image)>, DataError> {
        let mut record = ByteRecord::new();
        loop {
            if !self
                .rows
                .read_byte_record(&mut record)
                .map_err(|error| wrong_csv(&self.path, error))?
            {
                return Ok(None);
            }
            let line = record.position().map_or(0, csv::Position::line);
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
                    return Err(malformed(&self.path, reason));
                }
            };
            let mut pixels = [0; PIXELS];
            for (pixel, value) in pixels
                .iter_mut()
                .zip(pixels_of(&self.path, line, &record, first))
            {
                *pixel = value?;
            }
            return Ok(Some((line, Image::new(pixels))));
        }
    }
}

impl Iterator for PixelRows {
    type Item = Result<(u64, Image), DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.next_row().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}
