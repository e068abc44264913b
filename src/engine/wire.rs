//! Commands and events over a pipe: a handshake from each side, then frames of a little-endian u32
//! length and as many bytes of `MessagePack`.

use std::io::{self, ErrorKind, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::system::messagepack;

/// Raised whenever commands, events or settings change.
const PROTOCOL: u32 = 1;
const MAGIC: [u8; 8] = *b"INKLING\n";
/// Longer frames are refused: the longest, 10,000 drawings that are recognized together, has a few
/// megabytes.
const MAX_FRAME: usize = 64 << 20;

/// The version at an end of the pipe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handshake {
    pub protocol: u32,
    pub program: String,
}

impl Handshake {
    pub fn ours() -> Self {
        Self {
            protocol: PROTOCOL,
            program: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

pub fn send_handshake(to: &mut impl Write) -> io::Result<()> {
    to.write_all(&MAGIC)?;
    write(to, &Handshake::ours())
}

/// Receives the other side's handshake; `None` if it ended without one.
pub fn recv_handshake(from: &mut impl Read) -> io::Result<Option<Handshake>> {
    let mut magic = [0; MAGIC.len()];
    match from.read_exact(&mut magic) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    if magic != MAGIC {
        return Err(garbled(
            "it does not start with the expected header".to_owned(),
        ));
    }
    read(from)
}

pub fn write(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut frame = vec![0; 4];
    messagepack::write(&mut frame, message).map_err(|error| garbled(error.to_string()))?;
    let len = frame.len() - 4;
    if len > MAX_FRAME {
        return Err(garbled(format!("a message of {len} bytes")));
    }
    frame[..4].copy_from_slice(&(len as u32).to_le_bytes());
    to.write_all(&frame)?;
    to.flush()
}

/// Reads one frame; `None` if the other side has ended between two of them.
pub fn read<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<T>> {
    let mut len = [0; 4];
    // Of the length, the first byte may be missing, but not the rest.
    match from.read(&mut len[..1]) {
        Ok(0) => return Ok(None),
        Ok(_) => from.read_exact(&mut len[1..])?,
        Err(error) if error.kind() == ErrorKind::Interrupted => return read(from),
        Err(error) => return Err(error),
    }
    let len = u32::from_le_bytes(len) as usize;
    if len > MAX_FRAME {
        return Err(garbled(format!("a message of {len} bytes")));
    }
    // Memory grows with what comes, not with what was announced.
    let mut frame = Vec::new();
    if from.take(len as u64).read_to_end(&mut frame)? < len {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    messagepack::read(&mut &*frame).map(Some).map_err(garbled)
}

fn garbled(reason: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, reason)
}
