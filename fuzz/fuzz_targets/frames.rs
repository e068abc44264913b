//! What the two ends of an engine's pipe read: a handshake, then commands or events.
#![no_main]

use inkling::engine::{read, recv_handshake};
use inkling::protocol::{Command, Event};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut pipe = bytes;
    let _ = recv_handshake(&mut pipe);
    let mut pipe = bytes;
    while let Ok(Some(_)) = read::<Command>(&mut pipe) {}
    let mut pipe = bytes;
    while let Ok(Some(_)) = read::<Event>(&mut pipe) {}
});
