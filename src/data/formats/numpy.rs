//! Archives of arrays as `NumPy` writes them (`.npz`), in the form of Keras: `x_train`, `y_train`,
//! `x_test`, `y_test`. An array (`.npy`) is a header in Python's notation, then the numbers; only
//! whole numbers from 0 to 255 are read.
//!
//! Headers are not trusted: shapes are compared with what the file may take, before memory is
//! allocated for them.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use zip::ZipArchive;
use zip::read::ZipFile;

use super::{
    DataError, Loaded, MAX_IMAGES, Recognized, SetFiles, boxed, damaged, malformed, no_data,
    open_plain, too_large, too_large_label,
};
use crate::data::{DataSet, Split};
use crate::ink::{PIXELS, SIDE};
use crate::progress::Progress;
use crate::system::input_file::budget;

/// The names of the arrays: images and labels for training, then for test.
const NAMES: [[&str; 4]; 4] = [
    ["x_train", "y_train", "x_test", "y_test"],
    ["train_images", "train_labels", "test_images", "test_labels"],
    ["images", "labels", "", ""],
    ["x", "y", "", ""],
];

/// The longest header that is read, in bytes.
const MAX_HEADER_BYTES: usize = 4096;
/// The most dimensions an array may have.
const MAX_DIMENSIONS: usize = 4;
/// Numbers read between two reports of progress.
const CHUNK: u64 = 1 << 16;

/// A zip archive with such arrays.
pub fn of_file(path: &Path, start: &[u8]) -> Recognized {
    if start != b"PK\x03\x04" {
        return Ok(None);
    }
    match NpzSet::open(path) {
        Ok(Some(set)) => Ok(Some(boxed(set))),
        Err(error)
            if path
                .extension()
                .is_some_and(|extension| extension.eq_ignore_ascii_case("npz")) =>
        {
            Err(error)
        }
        Ok(None) | Err(_) => Err(no_data(
            path,
            "it is a zip archive without the arrays x_train and y_train of NumPy; unpack it and choose the folder",
        )),
    }
}

/// An archive with such arrays.
pub struct NpzSet<R> {
    archive: ZipArchive<R>,
    path: PathBuf,
    /// The most bytes that its images may take.
    budget: u64,
    train: [&'static str; 2],
    test: Option<[&'static str; 2]>,
}

impl NpzSet<BufReader<File>> {
    /// The arrays in the zip archive at this path; `None` where it has none of these names.
    fn open(path: &Path) -> Result<Option<Self>, DataError> {
        let (file, size) = open_plain(path)?;
        Self::of(BufReader::new(file), size, path)
    }
}

impl<R: Read + Seek> NpzSet<R> {
    /// The same for an archive of `size` bytes that is open already; errors name `path`.
    pub fn of(file: R, size: u64, path: &Path) -> Result<Option<Self>, DataError> {
        let archive = ZipArchive::new(file)
            .map_err(|error| malformed(path, format!("it is a damaged zip archive ({error})")))?;
        let has = |name: &&str| archive.index_for_name(&file_name(name)).is_some();
        let Some([images, labels, test_images, test_labels]) = NAMES
            .into_iter()
            .find(|[images, labels, ..]| [images, labels].into_iter().all(has))
        else {
            return Ok(None);
        };
        let test = [test_images, test_labels];
        let test = test.iter().all(has).then_some(test);
        Ok(Some(Self {
            archive,
            path: path.to_owned(),
            budget: budget(size),
            train: [images, labels],
            test,
        }))
    }

    /// Reads the set; the test split is empty where it has no arrays.
    pub fn read(&mut self, progress: &mut dyn Progress) -> Result<DataSet, DataError> {
        let train_images = self.count(self.train)?;
        let test_images = self.test.map_or(Ok(0), |test| self.count(test))?;
        let bytes = (train_images + test_images) * PIXELS as u64;
        if bytes > self.budget {
            return Err(too_large(
                &self.path,
                format!("its images take {bytes} bytes, too much for its size"),
            ));
        }
        let share = train_images as f32 / (train_images + test_images).max(1) as f32;
        let train = self.split(self.train, &mut |done: f32| progress.report(done * share))?;
        let test = match self.test {
            Some(test) => self.split(test, &mut |done: f32| {
                progress.report(share + done * (1.0 - share))
            })?,
            None => Split::default(),
        };
        DataSet::of_numbers(train, test).map_err(damaged(&self.path))
    }

    /// How many images these arrays claim to hold, which is as many as there are labels.
    fn count(&mut self, [images, labels]: [&str; 2]) -> Result<u64, DataError> {
        let (images_shape, labels_shape) = (self.shape(images)?, self.shape(labels)?);
        let side = SIDE as u64;
        let count = match *images_shape.as_slice() {
            [count, rows, columns] | [count, rows, columns, 1]
                if rows == side && columns == side =>
            {
                count
            }
            [count, pixels] if pixels == PIXELS as u64 => count,
            _ => {
                return Err(wrong(
                    &self.path,
                    images,
                    format!("its shape is {images_shape:?}; it should be images, {SIDE}, {SIDE}"),
                ));
            }
        };
        match *labels_shape.as_slice() {
            [labels] | [labels, 1] if labels == count => {}
            _ => {
                return Err(wrong(
                    &self.path,
                    labels,
                    format!("its shape is {labels_shape:?}, but there are {count} images"),
                ));
            }
        }
        if count == 0 {
            return Err(wrong(&self.path, images, "it contains no images"));
        }
        if count > MAX_IMAGES as u64 {
            return Err(too_large(
                &self.path,
                format!("{images} should hold {count} images, but the limit is {MAX_IMAGES}"),
            ));
        }
        Ok(count)
    }

    fn split(
        &mut self,
        [images, labels]: [&str; 2],
        progress: &mut dyn Progress,
    ) -> Result<Split, DataError> {
        let digits = self.numbers(labels, &mut |_: f32| progress.report(0.0))?;
        if let Some(reason) = too_large_label(&digits) {
            return Err(wrong(&self.path, labels, reason));
        }
        let pixels = self.numbers(images, progress)?;
        // They were counted, but two files of an archive may have the same name.
        if pixels.len() != digits.len() * PIXELS {
            return Err(malformed(
                &self.path,
                "it has several arrays of the same name",
            ));
        }
        Ok(Split {
            images: pixels,
            labels: digits,
        })
    }

    fn numbers(&mut self, name: &str, progress: &mut dyn Progress) -> Result<Vec<u8>, DataError> {
        let (mut file, wrong) = self.file(name)?;
        NpyHeader::read(&mut file, &wrong)?.numbers(&mut file, &wrong, progress)
    }

    fn shape(&mut self, name: &str) -> Result<Vec<u64>, DataError> {
        let (mut file, wrong) = self.file(name)?;
        Ok(NpyHeader::read(&mut file, &wrong)?.shape)
    }

    /// The array's file in the archive, and what makes an error of a reason.
    fn file(
        &mut self,
        name: &str,
    ) -> Result<(ZipFile<'_, R>, impl Fn(&str) -> DataError), DataError> {
        let wrong = |reason: &str| wrong(&self.path, name, reason);
        let file = self.archive.by_name(&file_name(name));
        Ok((file.map_err(|error| wrong(&error.to_string()))?, wrong))
    }
}

impl<R: Read + Seek> SetFiles for NpzSet<R> {
    fn read(&mut self, progress: &mut dyn Progress) -> Result<Loaded, DataError> {
        Ok(Self::read(self, progress)?.into())
    }
}

fn wrong(path: &Path, name: &str, reason: impl std::fmt::Display) -> DataError {
    malformed(path, format!("{name}: {reason}"))
}

fn file_name(array: &str) -> String {
    format!("{array}.npy")
}

/// What an array holds, as its header says.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NpyHeader {
    /// Its lengths, at most four.
    shape: Vec<u64>,
    number: Number,
}

/// How a number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Number {
    bytes: usize,
    signed: bool,
    big_endian: bool,
}

impl NpyHeader {
    /// Reads the header; the numbers follow it.
    fn read(file: &mut impl Read, wrong: &impl Fn(&str) -> DataError) -> Result<Self, DataError> {
        let mut start = [0; 8];
        fill(file, &mut start, wrong)?;
        let length = match start {
            [0x93, b'N', b'U', b'M', b'P', b'Y', 1, _] => {
                let mut length = [0; 2];
                fill(file, &mut length, wrong)?;
                u16::from_le_bytes(length).into()
            }
            [0x93, b'N', b'U', b'M', b'P', b'Y', 2 | 3, _] => {
                let mut length = [0; 4];
                fill(file, &mut length, wrong)?;
                u32::from_le_bytes(length) as usize
            }
            _ => return Err(wrong("it is not a NumPy array")),
        };
        if length > MAX_HEADER_BYTES {
            return Err(wrong("its header is too long"));
        }
        let mut header = vec![0; length];
        fill(file, &mut header, wrong)?;
        Self::parse(&String::from_utf8_lossy(&header)).map_err(|reason| wrong(&reason))
    }

    fn parse(header: &str) -> Result<Self, String> {
        let value = |key: &str| {
            let (_, after) = header.split_once(&format!("'{key}':"))?;
            Some(after.trim_start())
        };
        let kind = value("descr")
            .and_then(|value| value.strip_prefix('\'')?.split_once('\''))
            .map(|(kind, _)| kind);
        let shape = value("shape")
            .and_then(|value| value.strip_prefix('(')?.split_once(')'))
            .map(|(shape, _)| shape);
        let (Some(kind), Some(shape), Some(order)) = (kind, shape, value("fortran_order")) else {
            return Err("its header is damaged, or it holds no plain numbers".to_owned());
        };
        let shape: Result<Vec<u64>, _> = shape
            .split(',')
            .map(str::trim)
            .filter(|length| !length.is_empty())
            .map(str::parse)
            .collect();
        let shape = shape.map_err(|_| "its header is damaged")?;
        if shape.len() > MAX_DIMENSIONS {
            return Err("it has too many dimensions".to_owned());
        }
        if !order.starts_with("False") && shape.len() > 1 {
            return Err("it is in Fortran order".to_owned());
        }
        let number = Number::of(kind).ok_or_else(|| {
            format!("its numbers are of the type {kind}; whole numbers are read, such as |u1")
        })?;
        Ok(Self { shape, number })
    }

    /// How many numbers it holds.
    fn count(&self) -> u64 {
        self.shape
            .iter()
            .fold(1, |count, length| count.saturating_mul(*length))
    }

    /// Reads the numbers, exactly as many as the header says, which the caller has found to be few
    /// enough. `progress` is told the share done.
    fn numbers(
        &self,
        file: &mut impl Read,
        wrong: &impl Fn(&str) -> DataError,
        progress: &mut dyn Progress,
    ) -> Result<Vec<u8>, DataError> {
        let count = self.count();
        let mut numbers: Vec<u8> = Vec::new();
        if usize::try_from(count).map_or(true, |count| numbers.try_reserve_exact(count).is_err()) {
            return Err(wrong("there is not enough memory for it"));
        }
        let mut piece = vec![0; CHUNK.min(count) as usize * self.number.bytes];
        while (numbers.len() as u64) < count {
            progress.report(numbers.len() as f32 / count as f32)?;
            let left = CHUNK.min(count - numbers.len() as u64) as usize;
            let piece = &mut piece[..left * self.number.bytes];
            fill(file, piece, wrong)?;
            for bytes in piece.chunks_exact(self.number.bytes) {
                numbers.push(
                    self.number
                        .value(bytes)
                        .ok_or_else(|| wrong("it holds numbers that are not from 0 to 255"))?,
                );
            }
        }
        // The end of an archive's file is where its checksum is looked at.
        if file
            .read(&mut [0])
            .map_err(|error| wrong(&error.to_string()))?
            > 0
        {
            return Err(wrong("it has extra data after its numbers"));
        }
        Ok(numbers)
    }
}

impl Number {
    /// Of whole numbers, with or without a sign.
    fn of(kind: &str) -> Option<Self> {
        let mut letters = kind.chars();
        let order = letters.next().filter(|order| "<>|=".contains(*order))?;
        let sign = letters.next().filter(|kind| "iu".contains(*kind))?;
        let bytes = letters
            .as_str()
            .parse()
            .ok()
            .filter(|bytes| [1, 2, 4, 8].contains(bytes))?;
        Some(Self {
            bytes,
            signed: sign == 'i',
            big_endian: order == '>',
        })
    }

    /// The number, if it is from 0 to 255.
    fn value(self, bytes: &[u8]) -> Option<u8> {
        let (value, rest) = if self.big_endian {
            bytes.split_last()?
        } else {
            bytes.split_first()?
        };
        let is_negative = self.signed && rest.is_empty() && *value > 127;
        (!is_negative && rest.iter().all(|byte| *byte == 0)).then_some(*value)
    }
}

fn fill(
    file: &mut impl Read,
    bytes: &mut [u8],
    wrong: &impl Fn(&str) -> DataError,
) -> Result<(), DataError> {
    file.read_exact(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => wrong("it is truncated"),
        _ => wrong(&error.to_string()),
    })
}
