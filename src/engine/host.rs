//! Owns where an engine lives, and starting one there. Must not know what it will be asked for.

use std::process::Command as Program;

use super::child::PATIENCE;
use super::handle::{EngineHandle, EngineSettings};

/// Where an engine lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Host {
    /// On a thread of this process.
    #[default]
    Thread,
    /// In a process of its own: whatever breaks it, a driver too, this process goes on.
    Process,
}

impl Host {
    /// Where this installation's engines live: on a thread, unless the environment says `INKLING_ENGINE=process`.
    pub fn usual() -> Self {
        let process = std::env::var_os("INKLING_ENGINE").is_some_and(|host| host.eq_ignore_ascii_case("process"));
        if process { Self::Process } else { Self::Thread }
    }
}

impl EngineHandle {
    /// Starts an engine there. `wake` is called after each event, from another thread.
    pub fn start(host: Host, settings: EngineSettings, wake: impl Fn() + Send + Sync + 'static) -> Self {
        match host {
            Host::Thread => Self::spawn(settings, wake),
            Host::Process => Self::child(engine_program(), settings, PATIENCE, wake),
        }
    }
}

/// This very program, as an engine.
fn engine_program() -> Program {
    // On Linux the running program is there even when its file was replaced by an update.
    let path = if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() };
    // Without a path the start fails, and says so.
    let mut program = Program::new(path.unwrap_or_default());
    program.arg("engine");
    #[cfg(windows)]
    {
        /// Keeps a console window from opening: Windows' `CREATE_NO_WINDOW`.
        const NO_WINDOW: u32 = 0x0800_0000;
        std::os::windows::process::CommandExt::creation_flags(&mut program, NO_WINDOW);
    }
    program
}
