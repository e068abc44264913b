//! Where Inkling saves settings, runs and data sets: the platform's own folders. Nothing is created
//! or read here.

use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// Where everything is kept that is this machine's own.
    pub local: PathBuf,
    pub settings: PathBuf,
    /// The list of other machines that My digits may be sent to.
    pub recipients: PathBuf,
    /// One folder per finished run.
    pub runs: PathBuf,
    /// One folder per run that is under way or was interrupted.
    pub checkpoints: PathBuf,
    /// One folder per sweep.
    pub sweeps: PathBuf,
    pub benchmarks: PathBuf,
    /// One file per record card.
    pub records: PathBuf,
    /// Where NVIDIA's run-time libraries are looked for, besides the usual places.
    pub cuda: PathBuf,
    /// Folders searched for data sets by name, best first.
    pub data: Vec<PathBuf>,
}

impl Paths {
    /// The platform's folders; everything sits under `INKLING_HOME` if that is set. Data sets
    /// are also looked for in `INKLING_DATA_DIR`. A folder `portable` beside the program takes the
    /// place of the platform's.
    pub fn find() -> Self {
        let home = std::env::var_os("INKLING_HOME")
            .map(PathBuf::from)
            .or_else(portable);
        let project = directories::ProjectDirs::from("", "", "Inkling");
        let config = home
            .clone()
            .or_else(|| project.as_ref().map(|dirs| dirs.config_dir().to_owned()));
        let local = home.or_else(|| {
            project
                .as_ref()
                .map(|dirs| dirs.data_local_dir().to_owned())
        });
        // Without a home folder (a stripped-down container) the working folder is the only place
        // left.
        let config = config.unwrap_or_else(|| PathBuf::from("."));
        let local = local.unwrap_or_else(|| PathBuf::from("."));
        let given = std::env::var_os("INKLING_DATA_DIR")
            .filter(|folder| !folder.is_empty())
            .map(PathBuf::from);
        Self {
            settings: config.join("settings.json"),
            recipients: config.join("my-digits-recipients.json"),
            local: local.clone(),
            runs: local.join("runs"),
            checkpoints: local.join("checkpoints"),
            sweeps: local.join("sweeps"),
            cuda: local.join("cuda"),
            benchmarks: local.join("bench"),
            records: local.join("records"),
            data: given.into_iter().chain([local.join("data")]).collect(),
        }
    }
}

/// A path that is not UTF-8: settings, sweeps and checkpoints store paths as text.
#[derive(Debug, thiserror::Error)]
#[error("the path {} is not valid UTF-8", .0.display())]
pub struct NotUtf8(pub PathBuf);

pub fn check_utf8(path: &Path) -> Result<(), NotUtf8> {
    path.to_str()
        .map(drop)
        .ok_or_else(|| NotUtf8(path.to_owned()))
}

/// The folder beside the program that it is carried about with, on a stick for instance.
fn portable() -> Option<PathBuf> {
    let folder = std::env::current_exe().ok()?.parent()?.join("portable");
    folder.is_dir().then_some(folder)
}
