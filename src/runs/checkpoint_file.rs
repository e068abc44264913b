//! The format of a checkpoint file. The card, which describes the run, comes first, so that
//! checkpoints can be listed without being loaded.
//!
//! Eight bytes of magic, the format's version and the length of the card as little-endian u32, the
//! card, a checksum, the whole checkpoint, and another checksum; card and checkpoint are
//! `MessagePack`, which keeps every float as it is. A checksum is the SHA-256 of everything before
//! it. Only Inkling reads such files, and only to resume a run.

use std::io::{self, Read, Write};

use sha2::{Digest, Sha256};

use crate::run_config::MAX_PARAMETERS;
use crate::system::messagepack;
use crate::train::{Checkpoint, CheckpointCard, HISTORY_BYTES};

const MAGIC: [u8; 8] = *b"INKCKPT\n";
/// Version 1 had no checksums, and checkpoints only between epochs.
const VERSION: u32 = 1;
/// Longer cards are refused unread; one of 1,000 epochs has less than 1 MB.
const MAX_CARD_BYTES: u32 = 16 << 20;
/// Larger checkpoints are refused unread. For each parameter they have at most 21 numbers: the
/// weights, three of the optimizer and the average, as they are and for a rollback, the best
/// weights, and ten samples from the posterior. Snapshots come on top.
const MAX_BYTES: u64 = 24 * 4 * MAX_PARAMETERS + HISTORY_BYTES;

const DAMAGED: &str = "it is damaged: its checksum is wrong";

/// Writes a checkpoint, piece by piece: as a whole in memory it would take as much as the run.
pub fn write(to: &mut dyn Write, checkpoint: &Checkpoint) -> io::Result<()> {
    let mut to = Hashed::new(to);
    let mut card = Vec::new();
    messagepack::write(&mut card, &checkpoint.card).map_err(io::Error::other)?;
    to.write_all(&MAGIC)?;
    to.write_all(&VERSION.to_le_bytes())?;
    to.write_all(&(card.len() as u32).to_le_bytes())?;
    to.write_all(&card)?;
    let digest = to.digest();
    to.write_all(&digest)?;
    messagepack::write(&mut to, checkpoint).map_err(in_systems_words)?;
    let digest = to.digest();
    to.write_all(&digest)
}

/// The card; leaves `bytes` where the checkpoint begins. Errors have the system's message, or what
/// is wrong.
pub fn read_card(bytes: &mut impl Read) -> Result<CheckpointCard, String> {
    read_hashed_card(&mut Hashed::new(bytes))
}

pub fn read(bytes: &mut impl Read) -> Result<Checkpoint, String> {
    let mut bytes = Hashed::new(bytes.take(MAX_BYTES));
    read_hashed_card(&mut bytes)?;
    let checkpoint =
        messagepack::read(&mut bytes).map_err(|error| format!("it is damaged ({error})"))?;
    bytes.check_digest()?;
    match bytes.inner.read(&mut [0]) {
        Ok(0) => Ok(checkpoint),
        Ok(_) => Err("it is damaged: something follows its end".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// The system's message, if that is why the checkpoint was not written.
fn in_systems_words(error: rmp_serde::encode::Error) -> io::Error {
    match error {
        rmp_serde::encode::Error::InvalidValueWrite(error) => error.into(),
        error => io::Error::other(error),
    }
}

fn read_hashed_card(bytes: &mut Hashed<impl Read>) -> Result<CheckpointCard, String> {
    if bytes.field("its first bytes")? != MAGIC {
        return Err("it is not a checkpoint".to_owned());
    }
    let [version, len] =
        ["its version", "its length"].map(|name| bytes.field(name).map(u32::from_le_bytes));
    match version? {
        VERSION => {}
        other => {
            return Err(format!(
                "it has format version {other}, but this Inkling uses {VERSION}"
            ));
        }
    }
    let len = len?;
    if len > MAX_CARD_BYTES {
        return Err("its description is too long".to_owned());
    }
    let mut card = Vec::new();
    Read::by_ref(bytes)
        .take(len.into())
        .read_to_end(&mut card)
        .map_err(|error| error.to_string())?;
    if card.len() < len as usize {
        return Err("it ends in the middle of its description".to_owned());
    }
    bytes.check_digest()?;
    messagepack::read(&mut &*card).map_err(|error| format!("its description is invalid ({error})"))
}

/// A file, and the SHA-256 of what was read from it or written to it.
struct Hashed<T> {
    inner: T,
    hasher: Sha256,
}

impl<T> Hashed<T> {
    fn new(inner: T) -> Self {
        Self {
            inner,
            hasher: Sha256::new(),
        }
    }

    fn digest(&self) -> [u8; 32] {
        self.hasher.clone().finalize().into()
    }
}

impl<T: Read> Hashed<T> {
    fn field<const LEN: usize>(&mut self, name: &str) -> Result<[u8; LEN], String> {
        let mut field = [0; LEN];
        self.read_exact(&mut field)
            .map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => format!("it ends in the middle of {name}"),
                _ => error.to_string(),
            })?;
        Ok(field)
    }

    /// Reads a checksum of everything before it.
    fn check_digest(&mut self) -> Result<(), String> {
        let digest = self.digest();
        if self.field("a checksum")? == digest {
            Ok(())
        } else {
            Err(DAMAGED.to_owned())
        }
    }
}

impl<T: Read> Read for Hashed<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        Ok(count)
    }
}

impl<T: Write> Write for Hashed<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
