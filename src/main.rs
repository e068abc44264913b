//! Owns the entry: arguments in, window or command line out. Must not know anything else.

use std::process::ExitCode;

/// Training makes and drops large buffers at every step; the system's allocator returns each to the kernel and pays for it anew.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    inkling::cli::main()
}
