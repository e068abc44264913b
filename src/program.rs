//! Owns starting this very program once more, as another process. Must not know what for.

use std::process::Command;

/// This program, with these arguments.
pub fn this(arguments: &[&str]) -> Command {
    // On Linux the running program is there even when its file was replaced by an update.
    let path = if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() };
    // Without a path the start fails, and says so.
    let mut program = Command::new(path.unwrap_or_default());
    program.args(arguments);
    #[cfg(windows)]
    {
        /// Keeps a console window from opening: Windows' `CREATE_NO_WINDOW`.
        const NO_WINDOW: u32 = 0x0800_0000;
        std::os::windows::process::CommandExt::creation_flags(&mut program, NO_WINDOW);
    }
    program
}
