//! Tables of pixels: an image in each row, with or without its label, a column for each number. The
//! first rows show where the label is, whether there is a header, and what the size of the images
//! is.

use std::path::Path;

use csv::ByteRecord;

use super::foreign::refused;
use super::pixels::{Pixels, Shape};
use super::rows::Rows;
use super::{DataError, MAX_IMAGES, damaged, malformed, too_large};
use crate::data::dataset::ClassLabels;
use crate::ink::{Framing, Image};
use crate::progress::{Progress, Unwatched};
use crate::run_config::MAX_LABEL;
use crate::system::input_file::InputFile;
use crate::text::visible;

/// Names of the column of labels, in lower case.
pub const LABEL: [&str; 7] = [
    "label", "labels", "class", "digit", "target", "targets", "y",
];
/// Names of a column that counts the rows, in lower case: pandas writes it without a name.
const INDEX: [&str; 4] = ["", "unnamed: 0", "index", "id"];
/// Rows between two reports of progress.
const CHUNK: usize = 500;

/// Where the numbers of a table are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    has_header: bool,
    columns: usize,
    /// The column that counts the rows is passed over.
    has_index: bool,
    pub label: Option<usize>,
    /// Nobody named the column of labels, and it may be one of pixels.
    is_doubtful: bool,
    shape: Shape,
    /// Notes for people.
    notes: Vec<String>,
}

impl Layout {
    /// That of the table with these rows.
    pub fn of(rows: &Rows) -> Result<Self, DataError> {
        let path = rows.path();
        let (Some(first), second) = (rows.first.first(), rows.first.get(1)) else {
            return Err(malformed(path, "it contains no rows"));
        };
        let has_header = is_header(first, second);
        let columns = first.len();
        let body = &rows.first[usize::from(has_header)..];
        let name = |column: usize| {
            let name = String::from_utf8_lossy(first.get(column).unwrap_or_default());
            name.trim().trim_start_matches('\u{feff}').to_lowercase()
        };
        let has_index =
            has_header && INDEX.contains(&name(0).as_str()) && counts_rows(body) && columns > 1;
        let mut notes = Vec::new();
        if has_index {
            notes.push("The column of row numbers was ignored.".to_owned());
        }
        let rest = usize::from(has_index)..columns;
        let named = rest
            .clone()
            .find(|&column| has_header && LABEL.contains(&name(column).as_str()));
        let shape = Shape::of_row(rest.len()).filter(|_| named.is_none());
        let (label, shape) = if shape.is_some() {
            (None, shape)
        } else {
            let label = named.unwrap_or_else(|| {
                let last = columns.saturating_sub(1);
                if is_background(body, rest.start) && has_labels(body, last) {
                    notes.push("The last column was read as the labels.".to_owned());
                    last
                } else {
                    rest.start
                }
            });
            (Some(label), Shape::of_row(rest.len().saturating_sub(1)))
        };
        let Some(shape) = shape else {
            return Err(refused(
                path,
                format!(
                    "line 1 has {columns} values; a label and the pixels of an image make 785, if it has 28x28"
                ),
                "Keep one column for the label and one for each pixel of square images, row by row: 784 of 28x28, 64 of 8x8 (in color red, green and blue of each pixel in turn).",
            ));
        };
        if shape.is_in_color() {
            notes.push(
                "The numbers of a row were read as red, green and blue of each pixel in turn."
                    .to_owned(),
            );
        }
        Ok(Self {
            has_header,
            columns,
            has_index,
            is_doubtful: named.is_none()
                && label == Some(rest.start)
                && is_background(body, rest.start),
            label,
            shape,
            notes,
        })
    }

    /// Adds the image in a row. `numbers` is only room for them.
    fn take(
        &self,
        path: &Path,
        line: u64,
        record: &ByteRecord,
        numbers: &mut Vec<f32>,
        images: &mut Pixels,
    ) -> Result<(), DataError> {
        if record.len() != self.columns {
            return Err(malformed(
                path,
                format!(
                    "line {line} has {} values, but line 1 has {}",
                    record.len(),
                    self.columns
                ),
            ));
        }
        numbers.clear();
        let pixels = (usize::from(self.has_index)..self.columns)
            .filter(|column| Some(*column) != self.label);
        numbers.extend(pixels.map(|column| number(record, column).unwrap_or(f32::NAN)));
        images.push(numbers).map_err(|pixel| {
            malformed(
                path,
                format!("line {line}: pixel {pixel} is not a number from 0 to 255"),
            )
        })
    }
}

/// The labeled images of a table.
#[derive(Debug)]
pub struct PixelTable {
    /// They may have any size.
    pub images: Pixels,
    /// The numbers of their labels.
    pub labels: Vec<u8>,
    /// Where something of the table was not as usual.
    pub notes: Vec<String>,
}

impl PixelTable {
    /// The images of a table that is open already; errors name `path`. Its labels become numbers of
    /// `labels`.
    pub fn read(
        file: InputFile,
        path: &Path,
        labels: &mut ClassLabels,
        progress: &mut dyn Progress,
    ) -> Result<Self, DataError> {
        // The size of a compressed file's content is not known; as most pixels are 0, it is about
        // ten times the file's.
        let size = file
            .size()
            .saturating_mul(if file.is_gzipped() { 10 } else { 1 });
        let budget = file.budget();
        let mut rows = Rows::new(file, path)?;
        let layout = Layout::of(&rows)?;
        let Some(column) = layout.label else {
            return Err(refused(
                path,
                "it has pixels but no labels",
                "Add a column with the name label. `inkling predict` reads such a table as it is.",
            ));
        };
        let mut table = Self {
            images: Pixels::new(layout.shape),
            labels: Vec::new(),
            notes: layout.notes.clone(),
        };
        let mut numbers = Vec::new();
        if layout.has_header {
            rows.next_row()?;
        }
        while let Some((line, record)) = rows.next_row()? {
            let label = label(path, line, record, column)?;
            let is_word = |label: &str| label.parse::<u8>().is_err();
            if labels
                .first()
                .is_some_and(|first| is_word(first) != is_word(&label))
            {
                return Err(not_a_label(path, line, &label));
            }
            table
                .labels
                .push(labels.number(&label).map_err(damaged(path))?);
            layout.take(path, line, record, &mut numbers, &mut table.images)?;
            let count = table.labels.len();
            if count > MAX_IMAGES {
                return Err(too_large(
                    path,
                    format!("it has more than {MAX_IMAGES} rows"),
                ));
            }
            if (count * layout.shape.bytes()) as u64 > budget {
                return Err(too_large(
                    path,
                    format!("its images take more than {budget} bytes, too much for its size"),
                ));
            }
            if count.is_multiple_of(CHUNK) {
                let done =
                    record.position().map_or(0, csv::Position::byte) as f32 / size.max(1) as f32;
                progress.report(done.min(1.0))?;
            }
        }
        if table.labels.is_empty() {
            return Err(malformed(path, "it contains no rows"));
        }
        if layout.is_doubtful && table.labels.windows(2).all(|pair| pair[0] == pair[1]) {
            return Err(refused(
                path,
                "all numbers in its first column are the same, and no column is called label",
                "Give each column a name in a first line, and the column of labels the name label.",
            ));
        }
        Ok(table)
    }
}

/// The images of a table, each with its line; labels are passed over.
pub struct PixelRows {
    rows: Rows,
    layout: Layout,
    framing: Framing,
    /// The last image, and what is white in the table.
    image: Pixels,
    numbers: Vec<f32>,
    /// Nothing after an error can be trusted.
    ended: bool,
}

impl PixelRows {
    /// The images of a table that is open already; errors name `path`.
    pub fn new(file: InputFile, path: &Path, framing: Framing) -> Result<Self, DataError> {
        let rows = Rows::new(file, path)?;
        let layout = Layout::of(&rows)?;
        let mut rows = Self {
            image: Pixels::new(layout.shape),
            rows,
            layout,
            framing,
            numbers: Vec::new(),
            ended: false,
        };
        if rows.layout.has_header {
            rows.rows.next_row()?;
        }
        // The first rows show what is white.
        let first = std::mem::take(&mut rows.rows.first);
        for record in &first[usize::from(rows.layout.has_header)..] {
            // Problems of a row are reported when it is read.
            let _ = rows
                .layout
                .take(path, 0, record, &mut rows.numbers, &mut rows.image);
        }
        Ok(rows)
    }

    fn next_image(&mut self) -> Result<Option<(u64, Image)>, DataError> {
        let path = self.rows.path().to_owned();
        let Some((line, record)) = self.rows.next_row()? else {
            return Ok(None);
        };
        self.image.clear();
        self.layout
            .take(&path, line, record, &mut self.numbers, &mut self.image)?;
        let image = self.image.clone().bytes(self.framing, &mut Unwatched);
        let image = Image::try_from(&image?[..]).map_err(damaged(&path))?;
        Ok(Some((line, image)))
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

/// Words where the next row has numbers, or the numbers of the columns.
fn is_header(first: &ByteRecord, second: Option<&ByteRecord>) -> bool {
    let is_number = |record: &ByteRecord, column: usize| number(record, column).is_some();
    let columns = 0..first.len();
    let words = columns.clone().filter(|&column| !is_number(first, column));
    let below = |column: usize| second.is_some_and(|second| is_number(second, column));
    words.clone().count() * 2 > first.len()
        || words.clone().any(|column| {
            // A cell that is empty is a number that is missing, except the name of an index.
            below(column) && (column == 0 || first.get(column).is_some_and(|cell| !cell.is_empty()))
        })
        || first.len() > 2
            && columns
                .clone()
                .all(|column| number(first, column) == Some(column as f32))
}

/// Whether the first column of these rows is 0, 1, 2…, or so from another number on.
fn counts_rows(rows: &[ByteRecord]) -> bool {
    let mut numbers = rows.iter().map(|row| number(row, 0));
    let Some(Some(mut last)) = numbers.next() else {
        return false;
    };
    numbers.all(|number| {
        let follows = number == Some(last + 1.0);
        last += 1.0;
        follows
    })
}

/// Whether a column has nothing but black or nothing but white in these rows, as the corner of an
/// image has.
fn is_background(rows: &[ByteRecord], column: usize) -> bool {
    [0.0, 255.0].iter().any(|background| {
        rows.iter()
            .all(|row| number(row, column) == Some(*background))
    })
}

/// Whether a column has different values in these rows, all of which may be labels.
fn has_labels(rows: &[ByteRecord], column: usize) -> bool {
    let is_label = |row: &ByteRecord| {
        number(row, column).is_none_or(|label| {
            label.fract() == 0.0 && (0.0..=f32::from(MAX_LABEL)).contains(&label)
        })
    };
    rows.iter().all(is_label)
        && rows
            .windows(2)
            .any(|pair| pair[0].get(column) != pair[1].get(column))
}

/// A label as it is written, whole numbers without what follows the point.
fn label(path: &Path, line: u64, record: &ByteRecord, column: usize) -> Result<String, DataError> {
    let text = String::from_utf8_lossy(record.get(column).unwrap_or_default());
    let text = visible::one_line(text.trim());
    if text.is_empty() {
        return Err(malformed(path, format!("line {line} has no label")));
    }
    match text.parse::<f64>() {
        Err(_) => Ok(text),
        Ok(_) => whole_label(&text).ok_or_else(|| not_a_label(path, line, &text)),
    }
}

/// A label that is a number, without what follows the point.
pub fn whole_label(text: &str) -> Option<String> {
    let number: f64 = text.parse().ok()?;
    let is_label = number.fract() == 0.0 && (0.0..=f64::from(MAX_LABEL)).contains(&number);
    is_label.then(|| number.to_string())
}

fn not_a_label(path: &Path, line: u64, label: &str) -> DataError {
    malformed(
        path,
        format!("line {line}: the label \"{label}\" is not a number from 0 to {MAX_LABEL}"),
    )
}

fn number(record: &ByteRecord, column: usize) -> Option<f32> {
    let bytes = record.get(column)?.trim_ascii();
    // Nearly all are short.
    if let [b'0'..=b'9', ..] = bytes
        && bytes.len() <= 3
        && bytes.iter().all(u8::is_ascii_digit)
    {
        let digits = bytes.iter().map(|digit| u16::from(digit - b'0'));
        return Some(f32::from(
            digits.fold(0, |number, digit| number * 10 + digit),
        ));
    }
    std::str::from_utf8(bytes).ok()?.parse().ok()
}
