//! The memory of C libraries, such as a graphics driver. Inkling's own comes from another
//! allocator.

/// Has the C library keep memory that was freed, up to 64 MiB. Without this, Mesa's software
/// renderer returns some to the kernel hundreds of times a frame and asks for it again: a third of
/// the window's CPU time.
pub fn keep_freed() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const MB: libc::c_int = 1 << 20;
        // SAFETY: both only change when memory is returned to the kernel.
        let kept = unsafe {
            libc::mallopt(libc::M_TRIM_THRESHOLD, 64 * MB) == 1
                && libc::mallopt(libc::M_MMAP_THRESHOLD, 32 * MB) == 1
        };
        if !kept {
            tracing::debug!("the C library does not keep freed memory");
        }
    }
}
