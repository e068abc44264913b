//! Owns processes this program starts to have something done at a distance: itself once more, within a time limit.
//! Must not know what for.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// How often it is looked whether a process has ended.
const GLANCE: Duration = Duration::from_millis(20);

/// What a process said until it ended.
#[derive(Clone, Debug)]
pub struct Said {
    /// On its standard output.
    pub output: String,
    /// How it ended, and what it said on its standard error: "exit status: 1: out of memory".
    pub end: String,
}

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

/// Runs `program` to its end, for at most `limit`. An error, in words, where it could not be started or had to be ended.
pub fn run_within(mut program: Command, limit: Duration) -> Result<Said, String> {
    let piped = program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().map_err(|error| error.to_string())?;
    let (stdout, stderr) = (child.stdout.take().and_then(whole), child.stderr.take().and_then(whole));
    let status = wait(&mut child, limit).ok_or_else(|| format!("it took longer than {} s", limit.as_secs()))?;
    let [output, words] = [stdout, stderr].map(|said| said.and_then(|said| said.join().ok()).unwrap_or_default());
    let words = words.trim();
    let end = if words.is_empty() { status.to_string() } else { format!("{status}: {words}") };
    Ok(Said { output, end })
}

/// Reads all that is said while the process runs, so that it never waits for a full pipe.
fn whole(mut pipe: impl Read + Send + 'static) -> Option<JoinHandle<String>> {
    let read = move || {
        let mut said = Vec::new();
        // What was said until the pipe broke is all there is.
        let _ = pipe.read_to_end(&mut said);
        String::from_utf8_lossy(&said).into_owned()
    };
    Builder::new().name("inkling-program".to_owned()).spawn(read).ok()
}

/// Waits until it has ended, for at most `limit`, and gives how; `None` when it had to be ended.
pub fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let mut left = limit;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if !left.is_zero() => std::thread::sleep(GLANCE),
            _ => {
                // One that is gone already cannot be killed, and need not be.
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
        left = left.saturating_sub(GLANCE);
    }
}
