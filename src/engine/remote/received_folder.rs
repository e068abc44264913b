//! The folder of bundles that other machines have sent here, for its owner alone: a folder for
//! each, with the bundle's name, and beside it a file with a description, whose time is the time of
//! its last use.
//!
//! Whoever uses a bundle holds a shared lock on that file, and whoever deletes it an exclusive one.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;

use crate::records::{BundleId, DeletedBundle, KEPT_DAYS, ReceivedBundle};
use crate::system::files::{TemporaryFolder, create_folder, open_lock, read_limited, write_whole};
use crate::system::paths::Paths;
use crate::text::visible;

/// The suffix of the description's name.
const DESCRIPTION: &str = ".txt";
/// Longer descriptions are cut off by whoever shows them.
const MAX_DESCRIPTION_BYTES: u64 = 1 << 12;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedFolder {
    folder: PathBuf,
}

#[derive(Debug)]
pub struct BundleInUse {
    pub folder: PathBuf,
    _description: File,
}

impl ReceivedFolder {
    /// That of this installation. Nothing is created yet.
    pub fn of(paths: &Paths) -> Self {
        Self {
            folder: paths.local.join("received"),
        }
    }

    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Creates it if it is missing; on Unix nobody else may enter it.
    pub fn create(&self) -> io::Result<()> {
        create_folder(&self.folder)?;
        #[cfg(unix)]
        std::fs::set_permissions(
            &self.folder,
            std::os::unix::fs::PermissionsExt::from_mode(0o700),
        )?;
        Ok(())
    }

    /// The bundle with this name, if it is here, which counts as used from now on.
    pub fn find(&self, bundle: &BundleId) -> Option<BundleInUse> {
        let folder = self.folder_of(bundle).filter(|folder| folder.is_dir())?;
        let description = open_lock(&self.description_of(bundle)).ok()?;
        // Whoever lists or deletes it is done soon. Without locks, what is in use may be deleted.
        if let Err(error) = description.lock_shared() {
            tracing::info!(%error, "a bundle is used without a lock");
        }
        if !folder.is_dir() {
            return None;
        }
        if let Err(error) = description.set_modified(SystemTime::now()) {
            tracing::info!(%error, "the use of a bundle cannot be noted");
        }
        Some(BundleInUse {
            folder,
            _description: description,
        })
    }

    /// Keeps a new folder under the name of this bundle, unless another caller has sent the same
    /// meanwhile.
    pub fn keep(
        &self,
        bundle: &BundleId,
        mut new: TemporaryFolder,
        what: &str,
    ) -> io::Result<BundleInUse> {
        let folder = self.folder_of(bundle).ok_or(io::ErrorKind::InvalidInput)?;
        if !folder.is_dir() {
            write_whole(&self.description_of(bundle), what.as_bytes())
                .map_err(|error| io::Error::other(error.reason))?;
            match new.move_to(&folder) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                moved => moved?,
            }
        }
        self.find(bundle)
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// All bundles, the one that was used last first.
    pub fn list(&self) -> io::Result<Vec<ReceivedBundle>> {
        let entries = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut bundles: Vec<_> = names
            .filter(|name| is_digest(name))
            .map(|name| self.describe(BundleId(name)))
            .collect();
        bundles.sort_by_key(|(used, bundle)| (std::cmp::Reverse(*used), bundle.id.clone()));
        Ok(bundles.into_iter().map(|(_, bundle)| bundle).collect())
    }

    fn describe(&self, id: BundleId) -> (SystemTime, ReceivedBundle) {
        let (folder, description) = (self.folder.join(&id.0), self.description_of(&id));
        let sizes = std::fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.metadata().ok()?.len()));
        let used = std::fs::metadata(&description)
            .or_else(|_| std::fs::metadata(&folder))
            .and_then(|metadata| metadata.modified());
        let used = used.unwrap_or(SystemTime::UNIX_EPOCH);
        let opened = File::options().read(true).write(true).open(&description);
        let in_use =
            opened.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)));
        let what = read_limited(&description, MAX_DESCRIPTION_BYTES).unwrap_or_default();
        let last_used = Timestamp::try_from(used).unwrap_or_default().to_string();
        (
            used,
            ReceivedBundle {
                what: visible::label(&String::from_utf8_lossy(&what)),
                bytes: sizes.sum(),
                last_used,
                in_use,
                id,
            },
        )
    }

    pub fn delete(&self, bundles: &[BundleId]) -> Vec<DeletedBundle> {
        let delete = |id: &BundleId| {
            let what = if is_digest(&id.0) {
                self.describe(id.clone()).1.what
            } else {
                String::new()
            };
            DeletedBundle {
                what,
                problem: self.delete_one(id).err().map(|error| error.to_string()),
                id: id.clone(),
            }
        };
        bundles.iter().map(delete).collect()
    }

    fn delete_one(&self, bundle: &BundleId) -> io::Result<()> {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "it is not there");
        let folder = self
            .folder_of(bundle)
            .filter(|folder| folder.is_dir())
            .ok_or_else(missing)?;
        let description = open_lock(&self.description_of(bundle))?;
        if matches!(description.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, "a run uses it"));
        }
        // Renamed first: what is half deleted must not be taken for the bundle.
        let deleted = TemporaryFolder::new_in(&self.folder)?;
        std::fs::rename(&folder, deleted.path().join("deleted"))?;
        std::fs::remove_dir_all(deleted.path().join("deleted"))?;
        std::fs::remove_file(self.description_of(bundle))
    }

    /// Deletes bundles that were not used for [`KEPT_DAYS`]: they are sent again when they are
    /// needed.
    pub fn delete_unused(&self) {
        let kept_for = Duration::from_hours(24 * KEPT_DAYS);
        let is_unused = |bundle: &ReceivedBundle| {
            let used: Result<Timestamp, _> = bundle.last_used.parse();
            used.is_ok_and(|used| {
                SystemTime::from(used)
                    .elapsed()
                    .is_ok_and(|since| since > kept_for)
            })
        };
        let unused: Vec<BundleId> = self
            .list()
            .unwrap_or_default()
            .into_iter()
            .filter(is_unused)
            .map(|bundle| bundle.id)
            .collect();
        for DeletedBundle { problem, .. } in self.delete(&unused) {
            // The next start tries again.
            problem
                .iter()
                .for_each(|problem| tracing::info!(problem, "an unused bundle remains"));
        }
    }

    fn folder_of(&self, bundle: &BundleId) -> Option<PathBuf> {
        is_digest(&bundle.0).then(|| self.folder.join(&bundle.0))
    }

    fn description_of(&self, bundle: &BundleId) -> PathBuf {
        self.folder.join(format!("{}{DESCRIPTION}", bundle.0))
    }
}

fn is_digest(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}
