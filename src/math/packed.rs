//! Rows of numbers in binary files: the bytes of each row in one piece, four for each number,
//! little-endian. Number by number they would take a quarter more space and many times as long.

use std::fmt::{Formatter, Result as FmtResult};

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub struct Rows<'a>(pub &'a [Vec<f32>]);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|row| Row(row)))
    }
}

/// For `#[serde(with = "packed")]`.
pub fn serialize<S: Serializer>(rows: &[Vec<f32>], serializer: S) -> Result<S::Ok, S::Error> {
    Rows(rows).serialize(serializer)
}

/// For `#[serde(with = "packed")]`.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Vec<f32>>, D::Error> {
    Ok(Vec::<OwnedRow>::deserialize(deserializer)?
        .into_iter()
        .map(|OwnedRow(numbers)| numbers)
        .collect())
}

struct Row<'a>(&'a [f32]);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = vec![0; size_of_val(self.0)];
        for (bytes, number) in bytes.as_chunks_mut().0.iter_mut().zip(self.0) {
            *bytes = number.to_le_bytes();
        }
        serializer.serialize_bytes(&bytes)
    }
}

struct OwnedRow(Vec<f32>);

impl<'de> Deserialize<'de> for OwnedRow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(RowVisitor)
    }
}

struct RowVisitor;

impl Visitor<'_> for RowVisitor {
    type Value = OwnedRow;

    fn expecting(&self, f: &mut Formatter<'_>) -> FmtResult {
        f.write_str("four bytes for each number")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<OwnedRow, E> {
        match bytes.as_chunks() {
            (numbers, []) => Ok(OwnedRow(
                numbers
                    .iter()
                    .map(|bytes| f32::from_le_bytes(*bytes))
                    .collect(),
            )),
            _ => Err(E::invalid_length(bytes.len(), &self)),
        }
    }
}
