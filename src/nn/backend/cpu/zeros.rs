use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

/// Room for the result of an op. Each task sets its chunk to zero as it takes it: if one thread
/// set all of it to zero first, the others would wait, and it would leave the caches again.
pub struct Zeros {
    /// Empty, with room for `len` numbers.
    values: Vec<f32>,
    len: usize,
    /// Numbers that have been set to zero.
    set: AtomicUsize,
}

impl Zeros {
    pub fn new(len: usize) -> Self {
        Self {
            values: Vec::with_capacity(len),
            len,
            set: AtomicUsize::new(0),
        }
    }

    pub const fn len(&self) -> usize {
        self.len
    }

    /// Chunks of zeros; all of them have to be taken.
    pub fn par_chunks_mut(
        &mut self,
        chunk: usize,
    ) -> impl IndexedParallelIterator<Item = &mut [f32]> {
        let Self { values, len, set } = self;
        *set.get_mut() = 0;
        let set = &*set;
        let room = &mut values.spare_capacity_mut()[..*len];
        room.par_chunks_mut(chunk).map(|chunk| {
            set.fetch_add(chunk.len(), Ordering::Relaxed);
            zeroed(chunk)
        })
    }

    /// The whole of it, as zeros.
    pub fn as_mut_slice(&mut self) -> &mut [f32] {
        *self.set.get_mut() = self.len;
        zeroed(&mut self.values.spare_capacity_mut()[..self.len])
    }

    /// What became of the zeros.
    pub fn into_vec(mut self) -> Vec<f32> {
        assert_eq!(*self.set.get_mut(), self.len, "all chunks were taken");
        // SAFETY: there is room for `len` numbers, and as many were set: chunks do not overlap.
        unsafe { self.values.set_len(self.len) };
        self.values
    }
}

fn zeroed(room: &mut [MaybeUninit<f32>]) -> &mut [f32] {
    for number in &mut *room {
        number.write(0.0);
    }
    // SAFETY: all of them have just been written.
    unsafe { &mut *(std::ptr::from_mut(room) as *mut [f32]) }
}
