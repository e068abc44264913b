//! Child processes: this program once more, for work that a driver may crash or hang. Each is
//! watched in the same way: the last lines of its standard error are kept, it can be killed from
//! any thread, and nothing waits for it longer than a limit.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread::Builder;
use std::time::Duration;

use super::threads::lock;

/// How often a process that is waited for is polled.
const POLL: Duration = Duration::from_millis(20);
/// Lines of standard error that are kept.
const STDERR_LINES: usize = 8;
/// Bytes that are kept of each of them; a process may write without ever ending a line.
const MAX_LINE_BYTES: usize = 4 << 10;
/// The most that a program which is run to its end may print: a self-test or a long Slurm queue
/// takes a few hundred kilobytes.
const MAX_OUTPUT_BYTES: usize = 8_000_000;
/// How long the last output of a process that has ended is waited for: a process that it started
/// may hold the pipe open for good.
const LAST_OUTPUT: Duration = Duration::from_secs(1);

pub fn this_program(arguments: &[&str]) -> Command {
    // On Linux the running program is there even when its file was replaced by an update.
    let path = if cfg!(target_os = "linux") {
        Ok("/proc/self/exe".into())
    } else {
        std::env::current_exe()
    };
    // Without a path the start fails with an error.
    let mut program = Command::new(path.unwrap_or_default());
    program.args(arguments);
    program
}

/// A program that starts with Ctrl-C (SIGINT) ignored: a terminal sends it to the child processes
/// as well, and this process decides what becomes of them.
pub fn ignoring_ctrl_c(program: Command) -> Command {
    #[cfg(unix)]
    return ignoring(program, &[libc::SIGINT]);
    // On Windows a child process has a separate console, which Ctrl-C does not reach.
    #[cfg(windows)]
    program
}

/// A program that starts with SIGHUP and SIGTERM ignored, for a connection that must outlast the
/// interruption of the work at its other end. The program ends when its standard input is closed.
pub fn ignoring_hangup_and_termination(program: Command) -> Command {
    #[cfg(unix)]
    return ignoring(program, &[libc::SIGHUP, libc::SIGTERM]);
    #[cfg(windows)]
    program
}

#[cfg(unix)]
fn ignoring(mut program: Command, signals: &'static [i32]) -> Command {
    let ignore = || {
        // SAFETY: no handler is installed, and the call is allowed between fork and exec.
        let ignored =
            |&signal: &i32| unsafe { libc::signal(signal, libc::SIG_IGN) } != libc::SIG_ERR;
        if signals.iter().all(ignored) {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    };
    // SAFETY: the closure does nothing that is not allowed between fork and exec.
    unsafe { std::os::unix::process::CommandExt::pre_exec(&mut program, ignore) };
    program
}

/// A word for a POSIX shell, which takes it as it stands.
pub fn quoted_for_sh(word: &str) -> String {
    let is_plain = !word.is_empty()
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"/._-+=@:,".contains(&byte));
    if is_plain {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[derive(Clone, Debug)]
pub struct ChildProcess {
    child: Arc<Mutex<Child>>,
    stderr: Arc<Mutex<Option<Output<Tail>>>>,
}

#[derive(Clone, Debug)]
pub struct Exit {
    /// "exit status: 1", "signal: 9 (SIGKILL)".
    pub status: String,
    /// The last lines of its standard error; may be empty.
    pub stderr_tail: String,
    /// True if its exit status is 0.
    pub is_success: bool,
    /// True if it did not end by itself in time and was killed.
    pub timed_out: bool,
}

/// Both, if there are both: "exit status: 1: out of memory".
impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.stderr_tail.is_empty() {
            f.write_str(&self.status)
        } else {
            write!(f, "{}: {}", self.status, self.stderr_tail)
        }
    }
}

impl ChildProcess {
    /// Starts `program` with this standard input, whose pipe comes back if it is one; what it
    /// writes is the caller's to read.
    pub fn spawn(
        mut program: Command,
        stdin: Stdio,
    ) -> io::Result<(Self, Option<ChildStdin>, ChildStdout)> {
        #[cfg(windows)]
        {
            /// A console without a window: Windows' `CREATE_NO_WINDOW`.
            const NO_WINDOW: u32 = 0x0800_0000;
            std::os::windows::process::CommandExt::creation_flags(&mut program, NO_WINDOW);
        }
        let mut child = program
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let process = Self {
            child: Arc::new(Mutex::new(child)),
            stderr: Arc::default(),
        };
        let tail = stderr.map(|stderr| Output::read(stderr, "inkling-stderr", Tail::default()));
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

    pub fn id(&self) -> u32 {
        lock(&self.child).id()
    }

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
        let stderr = lock(&self.stderr).take();
        Exit {
            is_success: status.is_some_and(|status| status.success()),
            status: status.map_or_else(
                || "no status".to_owned(),
                |status: ExitStatus| status.to_string(),
            ),
            stderr_tail: stderr
                .map(Output::finish)
                .map(Tail::text)
                .unwrap_or_default(),
            timed_out,
        }
    }
}

/// Runs `program` to its end, for at most `limit`: its standard output, and how it ended. An error,
/// in words, if it could not be started, printed too much, or had to be killed.
pub fn run_within(program: Command, limit: Duration) -> Result<(String, Exit), String> {
    let (process, _, stdout) =
        ChildProcess::spawn(program, Stdio::null()).map_err(|error| error.to_string())?;
    // Read while the process runs, so that it never waits for a full pipe.
    let output = Output::read(stdout, "inkling-stdout", Whole::default());
    let exit = process.wait(limit);
    let Whole {
        bytes,
        is_too_large,
    } = output.map(Output::finish).unwrap_or_default();
    if is_too_large {
        return Err(format!(
            "it printed more than {} MB",
            MAX_OUTPUT_BYTES / 1_000_000
        ));
    }
    if exit.timed_out {
        return Err(format!("it took longer than {} s", limit.as_secs()));
    }
    Ok((String::from_utf8_lossy(&bytes).into_owned(), exit))
}

/// The kept part of a pipe's output, within a limit.
trait Keep: Default + Send + 'static {
    /// Takes in what was read next; false if nothing further is wanted.
    fn take(&mut self, bytes: &[u8]) -> bool;
}

#[derive(Debug, Default)]
struct Whole {
    bytes: Vec<u8>,
    is_too_large: bool,
}

impl Keep for Whole {
    fn take(&mut self, bytes: &[u8]) -> bool {
        self.is_too_large = self.bytes.len() + bytes.len() > MAX_OUTPUT_BYTES;
        if !self.is_too_large {
            self.bytes.extend_from_slice(bytes);
        }
        !self.is_too_large
    }
}

/// The last lines, the newest of which may go on.
#[derive(Debug, Default)]
struct Tail(VecDeque<Line>);

#[derive(Debug, Default)]
struct Line {
    bytes: Vec<u8>,
    has_ended: bool,
}

impl Keep for Tail {
    fn take(&mut self, bytes: &[u8]) -> bool {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.0.back().is_none_or(|line| line.has_ended) {
                self.0.push_back(Line::default());
                if self.0.len() > STDERR_LINES {
                    self.0.pop_front();
                }
            }
            if let Some(line) = self.0.back_mut() {
                let room = MAX_LINE_BYTES.saturating_sub(line.bytes.len());
                line.bytes.extend_from_slice(&part[..part.len().min(room)]);
                line.has_ended = part.ends_with(b"\n");
                if line.has_ended {
                    tracing::info!(target: "inkling::child", line = String::from_utf8_lossy(&line.bytes).trim_end(), "standard error");
                }
            }
        }
        true
    }
}

impl Tail {
    fn text(self) -> String {
        let lines: Vec<String> = self
            .0
            .iter()
            .map(|line| {
                String::from_utf8_lossy(&line.bytes)
                    .trim_end_matches('\n')
                    .to_owned()
            })
            .collect();
        lines.join("\n").trim().to_owned()
    }
}

/// The output of a pipe, read by a thread.
#[derive(Debug)]
struct Output<K> {
    kept: Arc<Mutex<K>>,
    /// Disconnected when the pipe ends.
    end: Receiver<()>,
}

impl<K: Keep> Output<K> {
    /// Reads a pipe in a thread with this name. A pipe of which nothing further is wanted is
    /// closed.
    fn read(mut pipe: impl Read + Send + 'static, name: &str, keep: K) -> io::Result<Self> {
        let (at_end, end) = channel();
        let output = Self {
            kept: Arc::new(Mutex::new(keep)),
            end,
        };
        let kept = Arc::clone(&output.kept);
        let read = move || {
            let mut piece = vec![0; 1 << 12];
            loop {
                match pipe.read(&mut piece) {
                    Ok(count @ 1..) if lock(&kept).take(&piece[..count]) => {}
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    _ => break,
                }
            }
            drop(at_end);
        };
        Builder::new().name(name.to_owned()).spawn(read)?;
        Ok(output)
    }

    /// The output until the pipe ended, or until the process has ended for a moment.
    fn finish(self) -> K {
        let _: Result<(), _> = self.end.recv_timeout(LAST_OUTPUT);
        std::mem::take(&mut *lock(&self.kept))
    }
}
