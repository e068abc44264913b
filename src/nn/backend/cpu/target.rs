//! Parallel writes to disjoint parts of one slice.

/// The start of a output that several tasks write disjoint parts of.
#[derive(Clone, Copy)]
pub struct Target(*mut f32);

// SAFETY: only written through by tasks that each have columns of their own.
unsafe impl Send for Target {}
// SAFETY: as above.
unsafe impl Sync for Target {}

impl Target {
    /// The start of `output`.
    pub const fn new(output: &mut [f32]) -> Self {
        Self(output.as_mut_ptr())
    }

    /// # Safety
    ///
    /// `index` must lie in the output, and no other task may use what is written through it.
    pub const unsafe fn at(self, index: usize) -> *mut f32 {
        // SAFETY: the caller's promise.
        unsafe { self.0.add(index) }
    }
}
