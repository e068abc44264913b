//! Arrays as `NumPy` writes them (`.npy`): a header in Python's notation, then the numbers. Only
//! whole numbers from 0 to 255 are read.
//!
//! Headers are not trusted: whoever reads an array compares its shape with what the file may take,
//! before memory is allocated for it.

use std::io::{self, Read};

/// The longest header that is read, in bytes.
const MAX_HEADER_BYTES: usize = 4096;
/// The most dimensions an array may have.
const MAX_DIMENSIONS: usize = 4;
/// Numbers read between two reports of progress.
const CHUNK: u64 = 1 << 16;

/// What an array holds, as its header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NpyHeader {
    /// Its lengths, at most four.
    pub shape: Vec<u64>,
    number: Number,
}

/// How a number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Number {
    bytes: usize,
    signed: bool,
    big_endian: bool,
}

/// Why an array could not be read.
#[derive(Debug)]
pub enum NpyError {
    /// Its file could not be read.
    Io(io::Error),
    /// It is not what is read here.
    Wrong(String),
}

impl NpyHeader {
    /// Reads the header; the numbers follow it.
    pub fn read(file: &mut impl Read) -> Result<Self, NpyError> {
        let mut start = [0; 8];
        fill(file, &mut start)?;
        let length = match start {
            [0x93, b'N', b'U', b'M', b'P', b'Y', 1, _] => {
                let mut length = [0; 2];
                fill(file, &mut length)?;
                u16::from_le_bytes(length).into()
            }
            [0x93, b'N', b'U', b'M', b'P', b'Y', 2 | 3, _] => {
                let mut length = [0; 4];
                fill(file, &mut length)?;
                u32::from_le_bytes(length) as usize
            }
            _ => return Err(wrong("it is not a NumPy array")),
        };
        if length > MAX_HEADER_BYTES {
            return Err(wrong("its header is too long"));
        }
        let mut header = vec![0; length];
        fill(file, &mut header)?;
        Self::parse(&String::from_utf8_lossy(&header))
    }

    fn parse(header: &str) -> Result<Self, NpyError> {
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
            return Err(wrong("its header is damaged, or it holds no plain numbers"));
        };
        let shape: Result<Vec<u64>, _> = shape
            .split(',')
            .map(str::trim)
            .filter(|length| !length.is_empty())
            .map(str::parse)
            .collect();
        let shape = shape.map_err(|_| wrong("its header is damaged"))?;
        if shape.len() > MAX_DIMENSIONS {
            return Err(wrong("it has too many dimensions"));
        }
        if !order.starts_with("False") && shape.len() > 1 {
            return Err(wrong("it is in Fortran order"));
        }
        let number = Number::of(kind).ok_or_else(|| {
            wrong(format!(
                "its numbers are of the type {kind}; whole numbers are read, such as |u1"
            ))
        })?;
        Ok(Self { shape, number })
    }

    /// How many numbers it holds.
    pub fn count(&self) -> u64 {
        self.shape
            .iter()
            .fold(1, |count, length| count.saturating_mul(*length))
    }

    /// Reads the numbers, exactly as many as the header says, which the caller has found to be few
    /// enough. `progress` is told the share done.
    pub fn numbers<E: From<NpyError>>(
        &self,
        file: &mut impl Read,
        progress: &mut dyn FnMut(f32) -> Result<(), E>,
    ) -> Result<Vec<u8>, E> {
        let count = self.count();
        let mut numbers: Vec<u8> = Vec::new();
        if usize::try_from(count).map_or(true, |count| numbers.try_reserve_exact(count).is_err()) {
            return Err(wrong("there is not enough memory for it").into());
        }
        let mut piece = vec![0; CHUNK.min(count) as usize * self.number.bytes];
        while (numbers.len() as u64) < count {
            progress(numbers.len() as f32 / count as f32)?;
            let left = CHUNK.min(count - numbers.len() as u64) as usize;
            let piece = &mut piece[..left * self.number.bytes];
            fill(file, piece)?;
            for bytes in piece.chunks_exact(self.number.bytes) {
                numbers.push(
                    self.number
                        .value(bytes)
                        .ok_or_else(|| wrong("it holds numbers that are not from 0 to 255"))?,
                );
            }
        }
        // The end of an archive's file is where its checksum is looked at.
        if file.read(&mut [0]).map_err(NpyError::Io)? > 0 {
            return Err(wrong("it has extra data after its numbers").into());
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

fn fill(file: &mut impl Read, bytes: &mut [u8]) -> Result<(), NpyError> {
    file.read_exact(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => wrong("it is truncated"),
        _ => NpyError::Io(error),
    })
}

fn wrong(reason: impl Into<String>) -> NpyError {
    NpyError::Wrong(reason.into())
}
