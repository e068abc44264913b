//! Owns per-thread buffers, so that the large temporaries of every step do not go back to the system in between.
//! Must not know what they hold.

use std::cell::Cell;

thread_local! {
    static BUFFERS: Cell<Vec<Vec<f32>>> = const { Cell::new(Vec::new()) };
}

/// Lends `use_buffer` a buffer of `len` numbers with arbitrary content.
pub fn with_scratch<T>(len: usize, use_buffer: impl FnOnce(&mut [f32]) -> T) -> T {
    let mut buffer = BUFFERS.with(|buffers| {
        let mut kept = buffers.take();
        let buffer = kept.pop().unwrap_or_default();
        buffers.set(kept);
        buffer
    });
    if buffer.len() < len {
        buffer.resize(len, 0.0);
    }
    let result = use_buffer(&mut buffer[..len]);
    BUFFERS.with(|buffers| {
        let mut kept = buffers.take();
        kept.push(buffer);
        buffers.set(kept);
    });
    result
}
