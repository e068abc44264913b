//! The wire format of protocol buffers, read without copying: a message is the list of its fields.
//! Whatever a file claims, nothing is allocated for it here.

use prost::encoding::{WireType, decode_key, decode_varint, encode_key, encode_varint};

/// The description of a constant whose numbers are in a file beside it.
pub const EXTERNAL_DATA: &str =
    "one of its constants is in another file; save the model as a single one";

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    Varint(u64),
    /// Text, bytes, a message, or packed numbers.
    Bytes(&'a [u8]),
    Fixed,
}

/// The fields of a message, with their tags, in their order. Ends with an error if it is
/// damaged.
#[derive(Clone, Debug)]
pub struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    /// The fields of this message.
    pub const fn of(message: &'a [u8]) -> Self {
        Self(message)
    }

    fn field(&mut self) -> Option<(u32, Value<'a>)> {
        let (tag, wire) = decode_key(&mut self.0).ok()?;
        let value = match wire {
            WireType::Varint => Value::Varint(decode_varint(&mut self.0).ok()?),
            WireType::LengthDelimited => {
                let length = usize::try_from(decode_varint(&mut self.0).ok()?).ok()?;
                let (bytes, rest) = self.0.split_at_checked(length)?;
                self.0 = rest;
                Value::Bytes(bytes)
            }
            WireType::SixtyFourBit => self.skip(8)?,
            WireType::ThirtyTwoBit => self.skip(4)?,
            WireType::StartGroup | WireType::EndGroup => return None,
        };
        Some((tag, value))
    }

    /// The same, each with all of its bytes.
    pub fn with_bytes(self) -> impl Iterator<Item = Result<(u32, Value<'a>, &'a [u8]), String>> {
        let mut fields = self;
        std::iter::from_fn(move || {
            let before = fields.0;
            let field = fields.next()?;
            let length = before.len() - fields.0.len();
            Some(field.map(|(tag, value)| (tag, value, &before[..length])))
        })
    }

    fn skip(&mut self, length: usize) -> Option<Value<'a>> {
        self.0 = self.0.split_at_checked(length)?.1;
        Some(Value::Fixed)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Value<'a>), String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self
            .field()
            .ok_or_else(|| "it is a damaged ONNX file".to_owned());
        if field.is_err() {
            // Nothing after that can be trusted.
            self.0 = &[];
        }
        Some(field)
    }
}

/// Adds a field with these bytes to a message.
pub fn put(message: &mut Vec<u8>, tag: u32, content: &[u8]) {
    encode_key(tag, WireType::LengthDelimited, message);
    encode_varint(content.len() as u64, message);
    message.extend_from_slice(content);
}

pub fn text(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|_| "a name in this ONNX file is not text".to_owned())
}

/// The numbers of a repeated field: one by itself, or several of them packed. Ends with an error
/// if they are damaged.
pub fn varints(value: Value<'_>) -> impl Iterator<Item = Result<u64, String>> {
    let (mut single, mut packed): (_, &[u8]) = match value {
        Value::Varint(number) => (Some(number), &[]),
        Value::Bytes(packed) => (None, packed),
        Value::Fixed => (None, &[]),
    };
    std::iter::from_fn(move || {
        if let Some(number) = single.take() {
            return Some(Ok(number));
        }
        if packed.is_empty() {
            return None;
        }
        let number = decode_varint(&mut packed).map_err(|error| error.to_string());
        if number.is_err() {
            packed = &[];
        }
        Some(number)
    })
}
