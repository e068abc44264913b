//! Attaching to the terminal on Windows, where a program that opens windows has no console of its
//! own.

use std::fs::OpenOptions;
use std::os::windows::io::IntoRawHandle;

use windows_sys::Win32::Foundation::INVALID_HANDLE_VALUE;
use windows_sys::Win32::System::Console::{
    ATTACH_PARENT_PROCESS, AttachConsole, GetStdHandle, STD_ERROR_HANDLE, STD_HANDLE,
    STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, SetStdHandle,
};

/// Attaches to the terminal that the program was started from, if any; redirected streams stay
/// redirected.
pub fn attach() {
    // SAFETY: it takes a number and changes nothing in this process's memory; without such a
    // terminal it fails.
    if unsafe { AttachConsole(ATTACH_PARENT_PROCESS) } == 0 {
        return;
    }
    for (standard, device) in [
        (STD_INPUT_HANDLE, "CONIN$"),
        (STD_OUTPUT_HANDLE, "CONOUT$"),
        (STD_ERROR_HANDLE, "CONOUT$"),
    ] {
        if !is_set(standard)
            && let Ok(terminal) = OpenOptions::new().read(true).write(true).open(device)
        {
            // SAFETY: the handle is open and is given away: it stays open as long as the process
            // lives.
            unsafe { SetStdHandle(standard, terminal.into_raw_handle()) };
        }
    }
}

fn is_set(standard: STD_HANDLE) -> bool {
    // SAFETY: it takes a number and returns a handle, which is not used.
    let handle = unsafe { GetStdHandle(standard) };
    !handle.is_null() && handle != INVALID_HANDLE_VALUE
}
