//! Owns writing files whole or not at all: temporary file beside the target, flush, sync, rename.
//! Must not know what the files hold.

use std::io::{self, Write};
use std::path::Path;

use crate::problem::Problem;

/// Writes `bytes` to `path`, creating its folder; on any failure the old file, if there was one, is untouched.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Problem> {
    let write = || -> io::Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
        std::fs::create_dir_all(folder)?;
        let mut file = temporary().tempfile_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|failed| failed.error)?;
        Ok(())
    };
    write().map_err(|error| Problem::Write { path: path.to_owned(), reason: error.to_string() })
}

/// A temporary file with the rights any new file gets, rather than readable by its owner alone.
fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".inkling-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}
