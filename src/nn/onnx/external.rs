//! ONNX files whose weights are in a file beside them, as `PyTorch` writes them unless it is told
//! otherwise (ONNX calls that external data), and weights that are stored as 32-bit integers, as
//! onnxruntime quantizes them: made into one file with all numbers in it as bytes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use prost::Message;

use super::proto::{StringStringEntryProto, data_type};
use super::wire::{Fields, Value, put, varints};
use crate::nn::MAX_FILE_BYTES;
use crate::system::files::{folder_of, is_plain_name, read_limited};
use crate::text::visible;

/// The fields of a `ModelProto` and a `GraphProto` that lead to tensors.
const GRAPH: u32 = 7;
const INITIALIZER: u32 = 5;
/// The fields of a `TensorProto` with its numbers.
const INT32_DATA: u32 = 5;
const RAW_DATA: u32 = 9;
const EXTERNAL_DATA: u32 = 13;
const DATA_LOCATION: u32 = 14;

/// The ONNX file with these bytes, read from this path, with all of its weights in it. Errors say
/// which file is missing, or why it is not read: nothing outside the folder is.
pub fn self_contained<'a>(bytes: &'a [u8], path: &Path) -> Result<Cow<'a, [u8]>, String> {
    let mut files = Beside {
        path,
        files: HashMap::new(),
        left: MAX_FILE_BYTES,
        room: MAX_FILE_BYTES,
    };
    let mut changed = false;
    let whole = rewritten(bytes, GRAPH, &mut |graph| {
        rewritten(graph, INITIALIZER, &mut |tensor| {
            let with_bytes = files.tensor(tensor)?;
            changed |= with_bytes.is_some();
            Ok(with_bytes.unwrap_or_else(|| tensor.to_owned()))
        })
    })?;
    Ok(if changed {
        Cow::Owned(whole)
    } else {
        Cow::Borrowed(bytes)
    })
}

type Change<'c> = &'c mut dyn FnMut(&[u8]) -> Result<Vec<u8>, String>;

/// The message with each of its submessages of this tag changed.
fn rewritten(message: &[u8], changed: u32, change: Change<'_>) -> Result<Vec<u8>, String> {
    let mut whole = Vec::with_capacity(message.len());
    for field in Fields::of(message).with_bytes() {
        match field? {
            (tag, Value::Bytes(content), _) if tag == changed => {
                put(&mut whole, tag, &change(content)?);
            }
            (_, _, bytes) => whole.extend_from_slice(bytes),
        }
    }
    Ok(whole)
}

/// The files beside an ONNX file that its tensors are in.
struct Beside<'p> {
    path: &'p Path,
    files: HashMap<String, Vec<u8>>,
    /// The bytes that may still be read.
    left: u64,
    /// The bytes that tensors may still have: any number of them may be in the same place.
    room: u64,
}

impl Beside<'_> {
    /// This `TensorProto` with its numbers as bytes; `None` if they are so already.
    fn tensor(&mut self, message: &[u8]) -> Result<Option<Vec<u8>>, String> {
        let (mut rest, mut integers, mut place) = (Vec::new(), Vec::new(), HashMap::new());
        let (mut is_external, mut element) = (false, 0);
        for field in Fields::of(message).with_bytes() {
            match field? {
                (INT32_DATA, value, _) => {
                    for integer in varints(value) {
                        integers.push(integer?);
                    }
                }
                (EXTERNAL_DATA, Value::Bytes(entry), _) => {
                    let StringStringEntryProto { key, value } =
                        StringStringEntryProto::decode(entry).map_err(|error| error.to_string())?;
                    place.insert(key, value);
                }
                (DATA_LOCATION, value, _) => is_external = value == Value::Varint(1),
                (tag, value, bytes) => {
                    if let (2, Value::Varint(data_type)) = (tag, value) {
                        element = data_type;
                    }
                    rest.extend_from_slice(bytes);
                }
            }
        }
        let is_byte = [data_type::INT8, data_type::UINT8].map(|it| it as u64);
        if is_external {
            let bytes = self.external(&place)?;
            put(&mut rest, RAW_DATA, bytes);
        } else if !integers.is_empty() && is_byte.contains(&element) {
            let bytes: Vec<u8> = integers.into_iter().map(|integer| integer as u8).collect();
            put(&mut rest, RAW_DATA, &bytes);
        } else {
            return Ok(None);
        }
        Ok(Some(rest))
    }

    /// The bytes at a place in a file of the same folder.
    fn external(&mut self, place: &HashMap<String, String>) -> Result<&[u8], String> {
        let name = place.get("location").ok_or("its weights are nowhere")?;
        let number = |key: &str| place.get(key).map(|text| text.parse::<usize>());
        if !self.files.contains_key(name) {
            let bytes = self.read(name)?;
            self.left -= bytes.len() as u64;
            self.files.insert(name.clone(), bytes);
        }
        let file = self.files.get(name).map_or(&[][..], Vec::as_slice);
        let start = number("offset").unwrap_or(Ok(0)).ok();
        let length = number("length").transpose().ok();
        let bytes = start.zip(length).and_then(|(start, length)| match length {
            Some(length) => file.get(start..start.checked_add(length)?),
            None => file.get(start..),
        });
        let bytes = bytes.ok_or_else(|| {
            format!(
                "the file \"{}\" beside it is too short",
                visible::label(name)
            )
        })?;
        let room = self.room.checked_sub(bytes.len() as u64);
        self.room = room.ok_or("it is larger than any model that Inkling reads")?;
        Ok(bytes)
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let shown = visible::label(name);
        if !is_plain_name(name) {
            return Err(format!(
                "its weights are in \"{shown}\", and only files in its own folder are read"
            ));
        }
        let folder = folder_of(self.path);
        let path = folder.join(name);
        // A link may lead anywhere.
        let is_inside = match (path.canonicalize(), folder.canonicalize()) {
            (Ok(path), Ok(folder)) => path.parent() == Some(&folder),
            _ => true,
        };
        if !is_inside {
            return Err(format!(
                "its weights are in \"{shown}\", a link to a file outside its folder"
            ));
        }
        read_limited(&path, self.left).map_err(|error| {
            if error.kind() == std::io::ErrorKind::NotFound {
                format!(
                    "its weights are in the file \"{shown}\", which is not beside it; put both into one folder"
                )
            } else {
                format!("its weights are in the file \"{shown}\" beside it, which cannot be read ({error})")
            }
        })
    }
}
