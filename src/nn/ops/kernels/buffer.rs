//! Owns buffers that start at a cache line, kept per thread, so that vectors never straddle two lines and the temporaries of
//! a step do not go back to the system in between. Must not know what they hold.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};

/// A cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([f32; Line::LEN]);

impl Line {
    const LEN: usize = 16;
    const ZERO: Self = Self([0.0; Self::LEN]);
}

/// Numbers that start at a cache line.
#[derive(Default)]
pub struct Buffer {
    lines: Vec<Line>,
    len: usize,
}

impl Buffer {
    /// `len` zeros.
    pub fn zeros(len: usize) -> Self {
        Self { lines: vec![Line::ZERO; len.div_ceil(Line::LEN)], len }
    }

    /// The same memory for `len` numbers with arbitrary content.
    fn reuse(&mut self, len: usize) {
        let lines = len.div_ceil(Line::LEN);
        if self.lines.len() < lines {
            self.lines.resize(lines, Line::ZERO);
        }
        self.len = len;
    }
}

impl Deref for Buffer {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        // SAFETY: a line is 16 numbers without padding, and `lines` holds at least `len` numbers.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}

thread_local! {
    static KEPT: Cell<Vec<Buffer>> = const { Cell::new(Vec::new()) };
}

/// Lends `use_buffer` this thread's next free buffer, with `len` numbers of arbitrary content.
pub fn with_buffer<T>(len: usize, use_buffer: impl FnOnce(&mut [f32]) -> T) -> T {
    let mut buffer = KEPT.with(|kept| {
        let mut buffers = kept.take();
        let buffer = buffers.pop().unwrap_or_default();
        kept.set(buffers);
        buffer
    });
    buffer.reuse(len);
    let result = use_buffer(&mut buffer);
    KEPT.with(|kept| {
        let mut buffers = kept.take();
        buffers.push(buffer);
        kept.set(buffers);
    });
    result
}
