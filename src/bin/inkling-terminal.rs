//! `inkling` as typed in a Windows terminal, if it is installed as `inkling.com` beside
//! `inkling.exe`: terminals find it first and, unlike with a GUI program, wait for it and get its
//! exit status. It only starts `inkling.exe` and waits.

use std::path::Path;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    // Ctrl-C reaches inkling.exe as well; its response is waited for.
    let _ = ctrlc::set_handler(|| {});
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    // A window is not waited for.
    let opens_window = arguments
        .first()
        .is_none_or(|first| Path::new(first).is_file());
    let started = std::env::current_exe().and_then(|this| {
        Command::new(this.with_file_name("inkling.exe"))
            .args(&arguments)
            .spawn()
    });
    let ended = started.and_then(|mut program| {
        if opens_window {
            Ok(Some(0))
        } else {
            program.wait().map(|status| status.code())
        }
    });
    match ended {
        Ok(code) => ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            eprintln!("inkling.exe could not be started: {error}.");
            ExitCode::FAILURE
        }
    }
}
