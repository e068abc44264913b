//! The file with a run's name, note, tags and star. Only a run that was given one of them has it.

use std::io::ErrorKind;
use std::path::Path;

use super::RunError;
use super::folder::unwritable;
use crate::records::Annotation;
use crate::system::files::{read_limited, write_whole};

pub const ANNOTATION: &str = "annotation.json";

/// Larger files are not read; the longest has about 2 kB.
const MAX_BYTES: u64 = 16 << 10;

/// What is said about the run in `folder`; nothing where that cannot be read.
pub fn read(folder: &Path) -> Annotation {
    let reason = match read_limited(&folder.join(ANNOTATION), MAX_BYTES) {
        Ok(bytes) => match Annotation::from_json(&bytes) {
            Ok(annotation) => return annotation,
            Err(error) => error.to_string(),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => return Annotation::default(),
        Err(error) => error.to_string(),
    };
    tracing::info!(reason, folder = %folder.display(), "a run's name and note are ignored");
    Annotation::default()
}

/// Replaces what is said about the run in `folder`.
pub fn write(folder: &Path, annotation: &Annotation) -> Result<(), RunError> {
    let path = folder.join(ANNOTATION);
    let json = serde_json::to_vec(annotation).map_err(|error| unwritable(&path, &error.into()))?;
    Ok(write_whole(&path, &json)?)
}
