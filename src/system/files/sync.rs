//! Making folders and names durable: a file that was synced is lost in a power cut if the entry for
//! it in its folder was not.

use std::io;
use std::path::Path;

/// The folder that a path lies in; `.` for a mere name.
pub fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or_else(|| Path::new("."))
}

/// Creates a folder with all those above it, each entered durably in the one above it. Nothing
/// where it exists.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let missing: Vec<&Path> = folder
        .ancestors()
        .take_while(|above| !above.as_os_str().is_empty() && !above.is_dir())
        .collect();
    std::fs::create_dir_all(folder)?;
    for made in missing {
        sync_folder(folder_of(made));
    }
    Ok(())
}

/// Makes new, renamed and removed entries of a folder durable. A failure is logged and no more:
/// what was written is whole and in place, and some file systems cannot do this at all.
#[cfg(unix)]
pub fn sync_folder(folder: &Path) {
    if let Err(error) = std::fs::File::open(folder).and_then(|opened| opened.sync_all()) {
        tracing::debug!(%error, folder = %folder.display(), "a folder could not be synced");
    }
}

#[cfg(not(unix))]
pub fn sync_folder(_: &Path) {}
