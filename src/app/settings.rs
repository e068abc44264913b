//! Owns what is remembered between launches, and its file.
//! Must not fail the launch: an unreadable file is set aside and the defaults are used.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files;
use crate::problem::Problem;
use crate::run_config::RunConfig;

/// Light or dark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Theme {
    /// What the system says.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// Where the window was, in points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct WindowPlace {
    pub position: Option<[f32; 2]>,
    pub size: [f32; 2],
    pub maximized: bool,
}

/// What is remembered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// True once the wizard was finished or skipped.
    pub wizard_done: bool,
    /// Light or dark.
    pub theme: Theme,
    /// Size of everything, 1 is the system's.
    pub zoom: f32,
    /// Where the window was.
    pub window: Option<WindowPlace>,
    /// The configuration of the last run.
    pub config: RunConfig,
    /// Folders the person chose for data.
    pub data_folders: Vec<PathBuf>,
    /// The pen's diameter, in canvas units.
    pub pen: f32,
    /// Smoothing of the curves, 0 to 1.
    pub smoothing: f64,
    /// Loss on a logarithmic scale.
    pub log_loss: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            wizard_done: false,
            theme: Theme::System,
            zoom: 1.0,
            window: None,
            config: RunConfig::default(),
            data_folders: Vec::new(),
            pen: 20.0,
            smoothing: 0.9,
            log_loss: false,
        }
    }
}

impl Settings {
    /// The remembered settings, or the defaults where there are none that can be read.
    pub fn load(path: &Path) -> Self {
        match std::fs::read(path) {
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_else(|error| {
                tracing::warn!(%error, path = %path.display(), "settings unreadable, using defaults");
                // Kept aside: whoever edited the file by hand can mend it.
                let _ = std::fs::rename(path, path.with_extension("json.unreadable"));
                Self::default()
            }),
            Err(_) => Self::default(),
        }
    }

    /// Writes them.
    pub fn save(&self, path: &Path) -> Result<(), Problem> {
        let text = serde_json::to_vec_pretty(self).map_err(|error| Problem::Write { path: path.to_owned(), reason: error.to_string() })?;
        files::write_whole(path, &text)
    }
}
