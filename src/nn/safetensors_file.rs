//! A safetensors file: its header, read within a budget, its tensors, and the digest by which
//! damage is noticed.

use std::collections::BTreeMap;

use half::{bf16, f16};
use safetensors::tensor::{Metadata, TensorInfo};
use safetensors::{Dtype, SafeTensors};
use sha2::{Digest, Sha256};

use crate::system::sha256::hex;

/// Longer headers are refused unread: the library takes up to 36 bytes of memory for each of
/// theirs. The longest of ours, with a run of 1,000 epochs, has less than half a megabyte, and one
/// with 10,000 tensors about as much as this.
pub const MAX_HEADER_BYTES: u64 = 2 << 20;
/// The key of the digest in the metadata.
pub const DIGEST_KEY: &str = "inkling_sha256";

/// The bytes before the header, which are its length.
const PREFIX: usize = 8;

/// An open file. Nothing but its header is copied from its bytes.
#[derive(Debug)]
pub struct SafetensorsFile<'a> {
    metadata: Metadata,
    index: BTreeMap<String, TensorInfo>,
    data: &'a [u8],
}

impl<'a> SafetensorsFile<'a> {
    /// Reads the header and checks that it describes exactly these bytes. If there is a digest, it
    /// must be theirs. The error says what is wrong.
    pub fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let length = bytes
            .first_chunk()
            .map(|length| u64::from_le_bytes(*length));
        if let Some(length) =
            length.filter(|&length| length > MAX_HEADER_BYTES && length < bytes.len() as u64)
        {
            return Err(format!(
                "the header of this safetensors file has {} kB, which is more than any model needs",
                length >> 10
            ));
        }
        let (length, metadata) = SafeTensors::read_metadata(bytes)
            .map_err(|error| format!("it is not a safetensors file ({error})"))?;
        let index = metadata
            .tensors()
            .into_iter()
            .map(|(name, info)| (name, info.clone()))
            .collect();
        let file = Self {
            metadata,
            index,
            data: bytes.get(PREFIX + length..).unwrap_or_default(),
        };
        match file.text(DIGEST_KEY) {
            Some(digest) if digest != file.digest() => {
                Err("its checksum does not match its content: the file was damaged, or changed by another program".to_owned())
            }
            _ => Ok(file),
        }
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        self.metadata
            .metadata()
            .as_ref()?
            .get(key)
            .map(String::as_str)
    }

    /// The name, dtype and shape of each tensor, sorted by name.
    pub fn tensors(&self) -> impl ExactSizeIterator<Item = (&str, Dtype, &[usize])> {
        self.index
            .iter()
            .map(|(name, info)| (name.as_str(), info.dtype, info.shape.as_slice()))
    }

    /// A tensor's dtype, shape and bytes: little-endian numbers in row-major order.
    pub fn tensor(&self, name: &str) -> Option<(Dtype, &[usize], &'a [u8])> {
        let info = self.index.get(name)?;
        let (start, end) = info.data_offsets;
        Some((info.dtype, &info.shape, self.data.get(start..end)?))
    }

    /// SHA-256 over the metadata but the digest itself, sorted by key, and all tensors, sorted by
    /// name, in hexadecimal: of an entry, its key and its text; of a tensor, its name, number
    /// format, shape and bytes. Before each of these stands its length, as a 64-bit little-endian
    /// number; `docs/file-formats.md` describes it for other programs.
    pub fn digest(&self) -> String {
        let mut hasher = Sha256::new();
        let mut add = |bytes: &[u8]| {
            hasher.update((bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        let entries: BTreeMap<&String, &String> =
            self.metadata.metadata().iter().flatten().collect();
        for (key, text) in entries.into_iter().filter(|(key, _)| *key != DIGEST_KEY) {
            add(key.as_bytes());
            add(text.as_bytes());
        }
        for (name, dtype, shape) in self.tensors() {
            add(name.as_bytes());
            add(format!("{dtype:?}").as_bytes());
            add(&shape
                .iter()
                .flat_map(|&length| (length as u64).to_le_bytes())
                .collect::<Vec<_>>());
            add(self.tensor(name).map_or(&[][..], |(_, _, bytes)| bytes));
        }
        hex(&hasher.finalize())
    }
}

/// The numbers of a tensor in this format; `None` if they are not floats.
pub fn floats(dtype: Dtype, bytes: &[u8]) -> Option<Vec<f32>> {
    fn each<const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> f32) -> Vec<f32> {
        bytes.as_chunks().0.iter().map(|it| number(*it)).collect()
    }
    Some(match dtype {
        Dtype::F16 => each(bytes, |bytes| f16::from_le_bytes(bytes).to_f32()),
        Dtype::BF16 => each(bytes, |bytes| bf16::from_le_bytes(bytes).to_f32()),
        Dtype::F32 => each(bytes, f32::from_le_bytes),
        Dtype::F64 => each(bytes, |bytes| f64::from_le_bytes(bytes) as f32),
        _ => return None,
    })
}
