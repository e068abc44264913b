//! The other machines that My digits may be sent to, because the person has agreed: a file beside
//! the settings, which windows and terminals share.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::system::WriteError;
use crate::system::files::{
    create_folder, folder_of, open_lock, read_limited, write_through_links,
};

/// Larger files are not read: a name has at most a few hundred bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipients {
    file: PathBuf,
}

impl Recipients {
    /// Those in this file. Nothing is read yet.
    pub fn in_file(file: &Path) -> Self {
        Self {
            file: file.to_owned(),
        }
    }

    /// Their names, in the order in which they were added. A file that cannot be read means that
    /// nobody has agreed to anything.
    pub fn list(&self) -> Vec<String> {
        let read = read_limited(&self.file, MAX_BYTES)
            .and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
        read.unwrap_or_else(|error| {
            if error.kind() != io::ErrorKind::NotFound {
                tracing::warn!(%error, "the list of machines that may receive drawings cannot be read");
            }
            Vec::new()
        })
    }

    /// Whether this machine is among them.
    pub fn contains(&self, machine: &str) -> bool {
        self.list().iter().any(|name| name == machine)
    }

    /// Notes that the person agrees.
    pub fn add(&self, machine: &str) -> Result<(), WriteError> {
        self.change(|names| {
            names.retain(|name| name != machine);
            names.push(machine.to_owned());
        })
    }

    /// Notes that the person does not agree any more.
    pub fn remove(&self, machine: &str) -> Result<(), WriteError> {
        self.change(|names| names.retain(|name| name != machine))
    }

    fn change(&self, change: impl FnOnce(&mut Vec<String>)) -> Result<(), WriteError> {
        let failed = |error: &io::Error| WriteError::new(&self.file, error);
        let _lock = self.lock().map_err(|error| failed(&error))?;
        let mut names = self.list();
        change(&mut names);
        let text = serde_json::to_vec_pretty(&names).map_err(|error| failed(&error.into()))?;
        write_through_links(&self.file, &text)
    }

    /// Waits until no other process changes the file.
    fn lock(&self) -> io::Result<File> {
        create_folder(folder_of(&self.file))?;
        let lock = open_lock(&self.file.with_extension("lock"))?;
        if let Err(error) = lock.lock() {
            tracing::info!(%error, "the list of machines is changed without a lock");
        }
        Ok(lock)
    }
}
