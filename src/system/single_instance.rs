//! One window at a time: the first instance listens, a later one passes its files to it and exits.
//!
//! What decides is a lock on a file, which the system releases when its holder ends, however it
//! ends: nothing is ever left behind that could keep Inkling from starting. If the holder does not
//! answer, there are two windows rather than none.

use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::Duration;

use interprocess::local_socket::{Listener, ListenerOptions, Name, Stream, prelude::*};

use super::files::{create_folder, open_lock};
use super::threads;

/// How long a window may take to confirm that it has taken the files.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);
/// The most that is read from a later start, in bytes: thousands of long paths.
const MAX_MESSAGE_BYTES: u64 = 1 << 20;
/// The window's answer when it has taken the files.
const TAKEN: &str = "taken";

/// The role of this start.
#[derive(Debug)]
pub enum Instance {
    /// Open the window, and get messages from later starts.
    Window(LaterStarts),
    /// Nothing: the window that is open has the files now.
    HandedOver,
}

/// Where later starts knock. The lock is held as long as this is, or until the process ends.
#[derive(Debug)]
pub struct LaterStarts {
    /// Without one, this is a separate window: the lock could not be had, or messages cannot be
    /// received here.
    held: Option<(File, Listener)>,
}

/// Finds out whether a window is open that keeps its things in `folder`, and hands it `files` if
/// so.
pub fn claim_window(folder: &Path, files: &[PathBuf]) -> Instance {
    let alone = |why: &dyn std::fmt::Display| {
        tracing::info!(%why, "a window on its own");
        Instance::Window(LaterStarts { held: None })
    };
    let lock = create_folder(folder).and_then(|()| open_lock(&folder.join("window.lock")));
    let lock = match lock {
        Ok(lock) => lock,
        Err(error) => return alone(&error),
    };
    match lock.try_lock() {
        Ok(()) => match listen(folder) {
            Ok(listener) => Instance::Window(LaterStarts {
                held: Some((lock, listener)),
            }),
            Err(error) => alone(&error),
        },
        Err(TryLockError::WouldBlock) if hand_over(folder, files) => Instance::HandedOver,
        Err(TryLockError::WouldBlock) => alone(&"the window that is open does not answer"),
        Err(TryLockError::Error(error)) => alone(&error),
    }
}

impl LaterStarts {
    /// Calls `take` with the files of each later start, from another thread, for as long as this
    /// process lives.
    pub fn serve(self, take: impl Fn(Vec<PathBuf>) -> bool + Send + 'static) {
        let Some((lock, listener)) = self.held else {
            return;
        };
        let serve = move || {
            // Held for as long as this process lives.
            let _lock = lock;
            for stream in listener.incoming() {
                let Ok(stream) = stream else { continue };
                if let Err(error) = answer(stream, &take) {
                    tracing::info!(%error, "a later start said nothing of use");
                }
            }
        };
        if let Err(error) = threads::spawn("inkling-starts", serve) {
            tracing::warn!(%error, "later starts cannot be heard");
        }
    }
}

/// Files in, one line of JSON, and one word out.
fn answer(stream: Stream, take: &impl Fn(Vec<PathBuf>) -> bool) -> io::Result<()> {
    // If a time limit cannot be set (Windows), whoever says nothing keeps later ones waiting;
    // they have their own patience.
    let _ = stream.set_recv_timeout(Some(ANSWER_TIMEOUT));
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    (&mut stream).take(MAX_MESSAGE_BYTES).read_line(&mut line)?;
    let files: Vec<PathBuf> = serde_json::from_str(&line)?;
    let said = if take(files) { TAKEN } else { "gone" };
    writeln!(stream.get_mut(), "{said}")
}

/// True once the window that is open has taken the files.
fn hand_over(folder: &Path, files: &[PathBuf]) -> bool {
    let (folder, files) = (folder.to_owned(), files.to_owned());
    let (say, said) = channel();
    let ask = move || {
        let asked = || -> io::Result<String> {
            let mut stream = Stream::connect(name(&folder)?)?;
            writeln!(stream, "{}", serde_json::to_string(&files)?)?;
            let mut answer = String::new();
            BufReader::new(stream)
                .take(MAX_MESSAGE_BYTES)
                .read_line(&mut answer)?;
            Ok(answer)
        };
        // Nobody waits any more when it took too long.
        let _ = say.send(asked());
    };
    let asked = threads::spawn("inkling-later", ask).is_ok();
    asked && matches!(said.recv_timeout(ANSWER_TIMEOUT), Ok(Ok(answer)) if answer.trim() == TAKEN)
}

fn listen(folder: &Path) -> io::Result<Listener> {
    // The lock is ours: whoever left this has ended.
    #[cfg(unix)]
    let _ = std::fs::remove_file(socket(folder));
    ListenerOptions::new().name(name(folder)?).create_sync()
}

/// A socket in the folder, where only its owner gets.
#[cfg(unix)]
fn name(folder: &Path) -> io::Result<Name<'static>> {
    use interprocess::local_socket::GenericFilePath;
    socket(folder).to_fs_name::<GenericFilePath>()
}

#[cfg(unix)]
fn socket(folder: &Path) -> PathBuf {
    folder.join("window.socket")
}

/// A named pipe called after the folder, which is its owner's as well.
#[cfg(windows)]
fn name(folder: &Path) -> io::Result<Name<'static>> {
    use interprocess::local_socket::GenericNamespaced;
    use sha2::{Digest, Sha256};
    let folder = std::fs::canonicalize(folder)?;
    let digest = Sha256::digest(folder.to_string_lossy().as_bytes());
    format!("inkling-{}", super::sha256::hex(&digest[..12])).to_ns_name::<GenericNamespaced>()
}
