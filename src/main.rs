//! The entry point: from the arguments to the window or the command line.

// On Windows no terminal opens beside the window; if one is there already, `cli::console` joins
// it.
#![cfg_attr(windows, windows_subsystem = "windows")]

use std::process::ExitCode;

/// Training makes and drops large buffers at every step; the system's allocator returns each to the
/// kernel and pays for it anew.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    inkling::cli::main()
}
