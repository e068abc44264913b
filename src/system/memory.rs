//! How much memory a process with a window keeps that it does not use: some while there is work,
//! which asks for it again, and none at rest.

use mimalloc as _;

unsafe extern "C" {
    /// Of mimalloc, where Inkling's memory comes from. It returns what was freed to the kernel only
    /// when there is further work; with `force`, this does so immediately, for all threads.
    fn mi_collect(force: bool);
}

/// Has the C library, where graphics drivers take their memory from, keep up to 64 MiB of what was
/// freed: otherwise Mesa's software renderer returns some to the kernel hundreds of times a frame
/// and asks for it again, a third of the window's CPU time. And has the kernel use no huge pages,
/// which stay whole as long as a part of them is in use: they take 25 MiB more at rest, and make
/// training no faster.
pub fn set_up() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const MB: libc::c_int = 1 << 20;
        // SAFETY: all of them only change when memory is taken from the kernel and returned to it.
        let done = unsafe {
            libc::mallopt(libc::M_TRIM_THRESHOLD, 64 * MB) == 1
                && libc::mallopt(libc::M_MMAP_THRESHOLD, 32 * MB) == 1
                && libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0
        };
        if !done {
            tracing::debug!("memory cannot be set up");
        }
    }
}

pub fn return_freed() {
    // SAFETY: both can be called at any time, on any thread.
    unsafe {
        mi_collect(true);
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        libc::malloc_trim(0);
    }
}
