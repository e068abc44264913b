//! The inputs of `inkling predict`: which files of a folder count.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::ink::{IMAGE_FORMATS, InkError, is_named_like_an_image};
use crate::system::disk::is_of_the_kernel;

const INK: [&str; 7] = [
    ".ink",
    ".json",
    ".jsonl",
    ".ndjson",
    ".json.gz",
    ".jsonl.gz",
    ".ndjson.gz",
];

/// The file itself, or the images and ink files in a folder and the folders in it, sorted by path.
/// Hidden files and folders are skipped. Symbolic links are followed, to other disks too, but into
/// no folder a second time, so that none leads in circles, and not to `/proc` and the like. A
/// folder within that cannot be read is given to `unreadable`.
pub fn files_of(
    input: &Path,
    unreadable: &mut impl FnMut(InkError),
) -> Result<Vec<PathBuf>, InkError> {
    if !input.is_dir() {
        return Ok(vec![input.to_owned()]);
    }
    let mut files = Vec::new();
    let mut entered = BTreeSet::new();
    let mut folders = vec![input.to_owned()];
    while let Some(folder) = folders.pop() {
        let listed = folder.canonicalize().and_then(|place| {
            if entered.insert(place) {
                entries(&folder)
            } else {
                Ok(Vec::new())
            }
        });
        let error = |error: std::io::Error| InkError::Unreadable {
            path: folder.clone(),
            reason: error.to_string(),
        };
        match listed.map_err(error) {
            Err(error) if folder == input => return Err(error),
            Err(error) => unreadable(error),
            Ok(paths) => {
                for path in paths {
                    if path.is_dir() {
                        if !is_of_the_kernel(&path) {
                            folders.push(path);
                        }
                    } else if path.is_file()
                        && (is_named_like_an_image(&path) || is_named_like_ink(&path))
                    {
                        files.push(path);
                    }
                }
            }
        }
    }
    if files.is_empty() {
        let reason = format!(
            "neither the folder nor any folder in it contains images ({IMAGE_FORMATS}) or ink files (JSON, JSON Lines)"
        );
        return Err(InkError::Malformed {
            path: input.to_owned(),
            reason,
        });
    }
    files.sort();
    Ok(files)
}

/// What is in a folder and not hidden, sorted.
fn entries(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in folder.read_dir()? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with('.') {
            paths.push(entry.path());
        }
    }
    // The first link to a folder is the one that is followed, whatever order the file system lists
    // them in.
    paths.sort_by(|a, b| b.cmp(a));
    Ok(paths)
}

/// Whether a file is an ink file, by its name.
pub fn is_named_like_ink(path: &Path) -> bool {
    let name = path.to_string_lossy().to_ascii_lowercase();
    INK.iter().any(|ending| name.ends_with(ending))
}
