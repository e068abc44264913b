//! Writing files whole or not at all: temporary file next to the target, flush, sync, rename; and temporary folders for several files that
//! are renamed together.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::WriteError;

/// Writes `bytes` to `path`, creating its folder; on any failure the old file, if there was one, is untouched.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    write_whole_with(path, |file| file.write_all(bytes))
}

/// The same with whatever `write` writes, piece by piece.
pub fn write_whole_with(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), WriteError> {
    let write_all = || -> io::Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
        std::fs::create_dir_all(folder)?;
        let mut file = BufWriter::new(temporary(0o666).tempfile_in(folder)?);
        write(&mut file)?;
        let file = file.into_inner()?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|failed| failed.error)?;
        Ok(())
    };
    write_all().map_err(|error| WriteError::new(path, &error))
}

/// A new, hidden folder in `parent`, which is created if need be; gone when dropped unless it is kept.
pub fn folder_beside(parent: &Path) -> io::Result<tempfile::TempDir> {
    std::fs::create_dir_all(parent)?;
    temporary(0o777).tempdir_in(parent)
}

/// Temporary files and folders with the rights (less the umask) any new one gets, rather than private ones.
fn temporary(rights: u32) -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".inkling-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(rights));
    #[cfg(not(unix))]
    let _ = rights;
    builder
}
