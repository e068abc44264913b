//! The format of a checkpoint file. The card, which describes the run, comes first, so that checkpoints can be listed without being loaded.
//!
//! Eight bytes of magic, the format's version and the length of the card as little-endian u32, the card, then the whole checkpoint; both
//! are `MessagePack`, which keeps every float as it is. Only Inkling reads it, and only to resume a run.

use std::io::{self, Read, Write};

use serde::Serialize;

use crate::train::{Checkpoint, CheckpointCard};

const MAGIC: [u8; 8] = *b"INKCKPT\n";
const VERSION: u32 = 1;
/// Longer cards are refused unread; one of 1,000 epochs has less than 1 MB.
const MAX_CARD_BYTES: u32 = 16 << 20;
/// Larger checkpoints are refused unread: those of our largest model have 40 MB.
const MAX_BYTES: u64 = 512 << 20;

/// Writes a checkpoint, piece by piece: as a whole in memory it would take as much as the run.
pub fn write(to: &mut dyn Write, checkpoint: &Checkpoint) -> io::Result<()> {
    let card = rmp_serde::to_vec_named(&checkpoint.card).map_err(io::Error::other)?;
    to.write_all(&MAGIC)?;
    to.write_all(&VERSION.to_le_bytes())?;
    to.write_all(&(card.len() as u32).to_le_bytes())?;
    to.write_all(&card)?;
    checkpoint.serialize(&mut rmp_serde::Serializer::new(to).with_struct_map()).map_err(io::Error::other)
}

/// The card; leaves `bytes` where the checkpoint begins. Errors say what the system says, or what is wrong.
pub fn read_card(bytes: &mut impl Read) -> Result<CheckpointCard, String> {
    let mut field = |name: &str| -> Result<[u8; 8], String> {
        let mut field = [0; 8];
        bytes.read_exact(&mut field).map_err(|error| in_words(&error, name))?;
        Ok(field)
    };
    if field("its first bytes")? != MAGIC {
        return Err("it is not a checkpoint".to_owned());
    }
    let [v0, v1, v2, v3, l0, l1, l2, l3] = field("its version")?;
    let (version, len) = (u32::from_le_bytes([v0, v1, v2, v3]), u32::from_le_bytes([l0, l1, l2, l3]));
    if version != VERSION {
        return Err(format!("it has format version {version}, but this Inkling uses {VERSION}"));
    }
    if len > MAX_CARD_BYTES {
        return Err("its description is too long".to_owned());
    }
    let mut card = vec![0; len as usize];
    bytes.read_exact(&mut card).map_err(|error| in_words(&error, "its description"))?;
    rmp_serde::from_slice(&card).map_err(|error| format!("its description is invalid ({error})"))
}

/// The whole checkpoint.
pub fn read(bytes: &mut impl Read) -> Result<Checkpoint, String> {
    read_card(bytes)?;
    rmp_serde::from_read(bytes.take(MAX_BYTES)).map_err(|error| format!("it is damaged ({error})"))
}

fn in_words(error: &io::Error, part: &str) -> String {
    if error.kind() == io::ErrorKind::UnexpectedEof { format!("it ends in the middle of {part}") } else { error.to_string() }
}
