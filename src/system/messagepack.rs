//! `MessagePack` with named fields: it carries every float as it is, the infinite ones too, and
//! every kind of enum.
//!
//! What is read and written is behind trait objects: compiled for each of hundreds of types,
//! `rmp_serde` was a fifth of Inkling's code.

use std::io::{Read, Write};

use erased_serde::Serialize;
use rmp_serde::encode::Error;
use rmp_serde::{Deserializer, Serializer};
use serde::de::DeserializeOwned;

/// The deepest nesting that is read: a hostile sender must not use up the stack.
const MAX_DEPTH: usize = 100;

/// Writes a value piece by piece, without having it in memory as a whole.
pub fn write(mut to: &mut dyn Write, value: &dyn Serialize) -> Result<(), Error> {
    erased_serde::serialize(value, &mut Serializer::new(&mut to).with_struct_map())
}

/// Reads a value; the error is for people.
pub fn read<T: DeserializeOwned>(mut from: &mut dyn Read) -> Result<T, String> {
    let mut deserializer = Deserializer::new(&mut from);
    deserializer.set_max_depth(MAX_DEPTH);
    erased_serde::deserialize(&mut <dyn erased_serde::Deserializer>::erase(
        &mut deserializer,
    ))
    .map_err(|error| error.to_string())
}
