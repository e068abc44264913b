//! Buffers that start at a cache line, so that vectors never straddle two lines, and that are kept
//! per thread, so that the temporaries of a step are not returned to the system in between.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use pulp::bytemuck::{Pod, cast_slice, cast_slice_mut};

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
    pub fn zeros(len: usize) -> Self {
        Self {
            lines: vec![Line::ZERO; len.div_ceil(Line::LEN)],
            len,
        }
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

/// Items of arbitrary content that start at a cache line, in memory that goes from one user to the
/// next on the same thread.
pub struct Scratch<T = f32> {
    buffer: Buffer,
    len: usize,
    items: PhantomData<T>,
}

impl<T: Pod> Scratch<T> {
    pub fn new(len: usize) -> Self {
        let mut buffer = KEPT.with(|kept| {
            let mut buffers = kept.take();
            let buffer = buffers.pop().unwrap_or_default();
            kept.set(buffers);
            buffer
        });
        buffer.reuse((len * size_of::<T>()).div_ceil(size_of::<f32>()));
        Self {
            buffer,
            len,
            items: PhantomData,
        }
    }

    pub fn zeros(len: usize) -> Self {
        let mut scratch = Self::new(len);
        scratch.buffer.fill(0.0);
        scratch
    }
}

impl<T> Drop for Scratch<T> {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        // A thread that is ending keeps nothing any more.
        let _ = KEPT.try_with(|kept| {
            let mut buffers = kept.take();
            buffers.push(buffer);
            kept.set(buffers);
        });
    }
}

impl<T: Pod> Deref for Scratch<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &cast_slice(&self.buffer)[..self.len]
    }
}

impl<T: Pod> DerefMut for Scratch<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut cast_slice_mut(&mut self.buffer)[..self.len]
    }
}
