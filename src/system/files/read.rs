//! Opening files that may be anything. Pipes and devices are refused: reading one may wait for ever
//! or never end.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use crate::system::NotRegular;

/// Opens a regular file, or a symbolic link to one, for reading. Refuses anything else immediately.
pub fn open_regular(path: &Path) -> io::Result<File> {
    // Merely opening a device can change its state.
    require_regular(&std::fs::metadata(path)?)?;
    checked(options().read(true).open(path)?)
}

/// Everything in a regular file of at most `max_bytes`; a larger one is refused.
pub fn read_limited(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    // The length may be wrong: files grow, and the kernel's files report 0.
    if length <= max_bytes {
        bytes.reserve(usize::try_from(length).unwrap_or_default());
        file.take(max_bytes.saturating_add(1))
            .read_to_end(&mut bytes)?;
    }
    if length.max(bytes.len() as u64) > max_bytes {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it is larger than {}", size(max_bytes)),
        ));
    }
    Ok(bytes)
}

/// Opens a regular file for a lock, and creates it if there is none.
pub fn open_lock(path: &Path) -> io::Result<File> {
    checked(
        options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(path)?,
    )
}

/// Opens a regular file to add to its end, and creates it if there is none.
pub fn open_append(path: &Path) -> io::Result<File> {
    // Windows locks only what can be read.
    checked(options().create(true).append(true).read(true).open(path)?)
}

/// Like [`open_append`], but only the user can read a file that it creates.
pub fn open_append_private(path: &Path) -> io::Result<File> {
    let mut options = options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    checked(options.create(true).append(true).read(true).open(path)?)
}

fn checked(file: File) -> io::Result<File> {
    require_regular(&file.metadata()?)?;
    Ok(file)
}

/// An error unless this is a regular file; its inner error is [`NotRegular`].
pub fn require_regular(metadata: &Metadata) -> io::Result<()> {
    let kind = metadata.file_type();
    if kind.is_file() {
        return Ok(());
    }
    let other = if kind.is_dir() {
        "a folder"
    } else if kind.is_symlink() {
        "a symbolic link"
    } else {
        special(kind)
    };
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        NotRegular(other),
    ))
}

#[cfg(unix)]
fn special(kind: std::fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
const fn special(_: std::fs::FileType) -> &'static str {
    "a device"
}

/// Options that never make `open` wait for the other end of a pipe.
#[cfg(unix)]
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        libc::O_NONBLOCK | libc::O_NOCTTY,
    );
    options
}

#[cfg(not(unix))]
fn options() -> OpenOptions {
    OpenOptions::new()
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

/// True for the name of a file without folders, as a file may name one beside it.
pub fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\\', ':']) && name != "." && name != ".."
}
