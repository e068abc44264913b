//! The inputs of `inkling predict`: which files of a folder count, and which of them are ink files.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::ink::InkError;
use crate::system::files::open_regular;

const IMAGES: [&str; 3] = [".png", ".jpg", ".jpeg"];
const INK: [&str; 6] = [".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz", ".ndjson.gz"];

/// The file itself, or the images and ink files directly in a folder, sorted by name.
pub fn files_of(input: &Path) -> Result<Vec<PathBuf>, InkError> {
    if !input.is_dir() {
        return Ok(vec![input.to_owned()]);
    }
    let unreadable = |error: std::io::Error| InkError::Unreadable { path: input.to_owned(), reason: error.to_string() };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(input).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_file() && (is_named(&path, &IMAGES) || is_named(&path, &INK)) {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(InkError::Malformed { path: input.to_owned(), reason: "the folder contains no images or ink files".to_owned() });
    }
    files.sort();
    Ok(files)
}

/// Whether a file is an ink file, by its name or its first bytes; anything else is taken for an image.
pub fn is_ink(file: &Path) -> bool {
    is_named(file, &INK) || (!is_named(file, &IMAGES) && starts_like_ink(file))
}

fn is_named(path: &Path, endings: &[&str]) -> bool {
    let name = path.to_string_lossy().to_ascii_lowercase();
    endings.iter().any(|ending| name.ends_with(ending))
}

/// Whether a file starts like JSON or gzip, as no image does. A file that cannot be opened is reported later, when it is read.
fn starts_like_ink(file: &Path) -> bool {
    let mut start = Vec::new();
    let _ = open_regular(file).and_then(|opened| opened.take(64).read_to_end(&mut start));
    start.starts_with(&[0x1F, 0x8B]) || start.trim_ascii_start().starts_with(b"{")
}
