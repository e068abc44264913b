//! Whether files can be written without losing others: to be asked before the work whose result
//! they hold.

use std::path::{Path, PathBuf};

use super::files::check_target;
use super::{TargetError, WriteError};

/// Whether the file `target` can be written: nothing is there, or a regular file, if `replace` is
/// true, that is none of `sources`.
pub fn check_file(target: &Path, replace: bool, sources: &[&Path]) -> Result<(), TargetError> {
    check_files(&[(target.to_owned(), replace)], sources)
}

/// Whether these files can be written as a group; each has its own word on whether it may replace
/// what is there. No two may have names that a file system could take for the same, and none may be
/// one of `sources`, by whichever path.
pub fn check_files(targets: &[(PathBuf, bool)], sources: &[&Path]) -> Result<(), TargetError> {
    for (index, (path, _)) in targets.iter().enumerate() {
        if let Some((other, _)) = targets
            .iter()
            .take(index)
            .find(|(other, _)| same_name(path, other))
        {
            return Err(TargetError::Clash {
                path: other.clone(),
            });
        }
    }
    for (path, _) in targets {
        check_target(path).map_err(|error| WriteError::new(path, &error))?;
        if sources.iter().any(|source| is_same_file(path, source)) {
            return Err(TargetError::Source { path: path.clone() });
        }
    }
    let in_the_way = targets
        .iter()
        .filter(|(path, replace)| !replace && path.symlink_metadata().is_ok());
    let paths: Vec<PathBuf> = in_the_way.map(|(path, _)| path.clone()).collect();
    if paths.is_empty() {
        Ok(())
    } else {
        Err(TargetError::Exist { paths })
    }
}

/// Whether the folder `target` can be written: nothing is there, or a folder whose files may be
/// replaced, of which none is a source.
pub fn check_folder(target: &Path, replace: bool, sources: &[&Path]) -> Result<(), TargetError> {
    let Ok(metadata) = target.symlink_metadata() else {
        return Ok(());
    };
    if !metadata.is_dir() {
        // What is not a folder is refused as what it is, and an existing file as one.
        check_target(target).map_err(|error| WriteError::new(target, &error))?;
        return Err(TargetError::Exist {
            paths: vec![target.to_owned()],
        });
    }
    let unreadable = |error: &std::io::Error| WriteError::new(target, error);
    let entries = target.read_dir().map_err(|error| unreadable(&error))?;
    let mut paths = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<Vec<_>>>()
        .map_err(|error| unreadable(&error))?;
    paths.sort();
    if let Some(path) = paths
        .iter()
        .find(|path| sources.iter().any(|source| is_same_file(path, source)))
    {
        return Err(TargetError::Source { path: path.clone() });
    }
    if replace || paths.is_empty() {
        Ok(())
    } else {
        Err(TargetError::Exist { paths })
    }
}

/// Names that differ in case alone, or in dots and spaces at the end, are one file on many file
/// systems.
fn same_name(one: &Path, other: &Path) -> bool {
    let folded = |path: &Path| {
        path.to_string_lossy()
            .trim_end_matches(['.', ' '])
            .to_lowercase()
    };
    folded(one) == folded(other)
}

/// True if both are the same file, by links too.
fn is_same_file(one: &Path, other: &Path) -> bool {
    if let (Ok(one), Ok(other)) = (one.canonicalize(), other.canonicalize())
        && one == other
    {
        return true;
    }
    is_same_inode(one, other)
}

#[cfg(unix)]
fn is_same_inode(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let inode = |path: &Path| {
        path.metadata()
            .map(|metadata| (metadata.dev(), metadata.ino()))
            .ok()
    };
    inode(one).is_some_and(|found| inode(other) == Some(found))
}

/// Without inodes only paths tell. Replacing another hard link does no harm to the source, which
/// keeps its own name.
#[cfg(not(unix))]
const fn is_same_inode(_: &Path, _: &Path) -> bool {
    false
}
