//! Child processes: this program once more, for work that a driver may crash or hang. Each is watched in the same way: the last lines of its
//! standard error are kept, it can be killed from any thread, and nothing waits for it longer than a limit.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// How often a process that is waited for is polled.
const POLL: Duration = Duration::from_millis(20);
/// Lines of standard error that are kept.
const STDERR_LINES: usize = 8;

/// This program, with these arguments.
pub fn this_program(arguments: &[&str]) -> Command {
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

/// A word for a POSIX shell, which takes it as it stands.
pub fn quoted_for_sh(word: &str) -> String {
    let is_plain = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-+=@:,".contains(&byte));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// A child process that is watched.
#[derive(Clone, Debug)]
pub struct ChildProcess {
    child: Arc<Mutex<Child>>,
    stderr: Arc<Mutex<Option<JoinHandle<String>>>>,
}

/// How a process ended.
#[derive(Clone, Debug)]
pub struct Exit {
    /// "exit status: 1", "signal: 9 (SIGKILL)".
    pub status: String,
    /// The last lines of its standard error; may be empty.
    pub stderr_tail: String,
    /// True if its exit status is 0.
    pub is_success: bool,
    /// True where it did not end by itself in time and was killed.
    pub timed_out: bool,
}

/// Both, where there are both: "exit status: 1: out of memory".
impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.stderr_tail.is_empty() { f.write_str(&self.status) } else { write!(f, "{}: {}", self.status, self.stderr_tail) }
    }
}

impl ChildProcess {
    /// Starts `program` with this standard input, whose pipe comes back where it is one; what it writes is the caller's to read.
    pub fn spawn(mut program: Command, stdin: Stdio) -> io::Result<(Self, Option<ChildStdin>, ChildStdout)> {
        let mut child = program.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let process = Self { child: Arc::new(Mutex::new(child)), stderr: Arc::default() };
        let tail = stderr.map(|stderr| Builder::new().name("inkling-stderr".to_owned()).spawn(move || tail(stderr)));
        match (tail.transpose(), stdout.ok_or(io::ErrorKind::BrokenPipe)) {
            (Ok(tail), Ok(stdout)) => {
                *lock(&process.stderr) = tail;
                Ok((process, stdin, stdout))
            }
            (Err(error), _) => Err(process.given_up(error)),
            (_, Err(kind)) => Err(process.given_up(kind.into())),
        }
    }

    fn given_up(&self, error: io::Error) -> io::Error {
        self.kill();
        error
    }

    /// The system's number for it.
    pub fn id(&self) -> u32 {
        lock(&self.child).id()
    }

    /// Ends it at once.
    pub fn kill(&self) {
        // One that is gone already cannot be killed, and need not be.
        let _ = lock(&self.child).kill();
    }

    /// Waits until it has ended, for at most `limit`; then it is killed.
    pub fn wait(&self, limit: Duration) -> Exit {
        let mut left = limit;
        let mut timed_out = false;
        let status = loop {
            let polled = lock(&self.child).try_wait();
            match polled {
                Ok(Some(status)) => break Some(status),
                Ok(None) if !left.is_zero() => std::thread::sleep(POLL),
                _ => {
                    timed_out = true;
                    self.kill();
                    break lock(&self.child).wait().ok();
                }
            }
            left = left.saturating_sub(POLL);
        };
        let tail = lock(&self.stderr).take();
        Exit {
            is_success: status.is_some_and(|status| status.success()),
            status: status.map_or_else(|| "no status".to_owned(), |status: ExitStatus| status.to_string()),
            // What a process that was killed has started itself may hold the pipe open for good.
            stderr_tail: tail.filter(|_| !timed_out).and_then(|thread| thread.join().ok()).unwrap_or_default(),
            timed_out,
        }
    }
}

/// Runs `program` to its end, for at most `limit`: its standard output, and how it ended. An error, in words, where it could not be started
/// or had to be killed.
pub fn run_within(program: Command, limit: Duration) -> Result<(String, Exit), String> {
    let (process, _, stdout) = ChildProcess::spawn(program, Stdio::null()).map_err(|error| error.to_string())?;
    // Read while the process runs, so that it never waits for a full pipe.
    let output = Builder::new().name("inkling-stdout".to_owned()).spawn(move || whole(stdout));
    let exit = process.wait(limit);
    if exit.timed_out {
        return Err(format!("it took longer than {} s", limit.as_secs()));
    }
    Ok((output.ok().and_then(|output| output.join().ok()).unwrap_or_default(), exit))
}

fn whole(mut pipe: impl Read) -> String {
    let mut bytes = Vec::new();
    // What came until the pipe broke is all there is.
    let _ = pipe.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The last lines of what is written to the pipe.
fn tail(stderr: impl Read) -> String {
    let mut lines = VecDeque::new();
    for line in BufReader::new(stderr).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line).into_owned();
        tracing::info!(target: "inkling::child", line, "standard error");
        if lines.len() == STDERR_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }
    Vec::from(lines).join("\n").trim().to_owned()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
