//! The person's settings of the program, remembered between starts. An unreadable file never
//! prevents the launch: it is renamed and the defaults are used.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::problem::Problem;
use crate::records::benchmark::StepConfig;
use crate::run_config::{InferenceChoice, Preset, RunConfig};
use crate::system::{WriteError, files};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Theme {
    #[default]
    System,
    Light,
    Dark,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WindowGeometry {
    pub position: Option<[f32; 2]>,
    pub size: [f32; 2],
    pub maximized: bool,
}

impl WindowGeometry {
    /// True for a window that could be seen on some screen.
    fn is_sane(&self) -> bool {
        let [width, height] = self.size;
        let seen = |[x, y]: [f32; 2]| x.abs() < 32_000.0 && y.abs() < 32_000.0;
        (200.0..32_000.0).contains(&width)
            && (150.0..32_000.0).contains(&height)
            && self.position.is_none_or(seen)
    }
}

/// How fast a machine trains with a preset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PresetRate {
    pub preset: Preset,
    #[serde(rename = "side")]
    pub step_config: StepConfig,
    pub images_per_second: f64,
}

/// Larger files are refused: settings have a few kilobytes.
const MAX_BYTES: u64 = 1 << 20;

/// Pen diameters offered, in canvas units.
pub const PEN: std::ops::RangeInclusive<f32> = 8.0..=40.0;
pub const ZOOM: std::ops::RangeInclusive<f32> = 0.5..=3.0;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate choice")]
pub struct Settings {
    /// True once the wizard was finished or skipped.
    pub wizard_done: bool,
    pub theme: Theme,
    /// Size of everything, 1 is the system's.
    pub zoom: f32,
    pub window: Option<WindowGeometry>,
    pub config: RunConfig,
    /// How fast this machine trains with the presets, from a quick measurement.
    pub preset_rates: Vec<PresetRate>,
    /// The learning rate before fine-tuning lowered it, for a run that starts afresh after all.
    pub former_learning_rate: Option<f64>,
    /// The file of the model that was used last; `None` for the starter model.
    pub last_model: Option<PathBuf>,
    pub data_folders: Vec<PathBuf>,
    /// The folder the person chose for NVIDIA's libraries; `None` for the usual places.
    pub cuda_folder: Option<PathBuf>,
    /// SSH hosts that were trained on, the last one first.
    pub hosts: Vec<String>,
    pub inference_device: InferenceChoice,
    /// The pen's diameter, in canvas units.
    pub pen: f32,
    /// Draw shows the canvas for several digits.
    pub several_digits: bool,
    /// Draw shows the steps from the drawing to the model's input.
    pub steps_shown: bool,
    /// Smoothing of the curves, 0 to 1.
    pub smoothing: f64,
    pub log_loss: bool,
    /// Throughput and memory are plotted below loss and accuracy.
    pub speed_and_memory: bool,
    pub monitor: bool,
    /// The canvas and the validation images are shown beside the plots, if the window is wide
    /// enough.
    pub side_panel: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            wizard_done: false,
            theme: Theme::System,
            zoom: 1.0,
            window: None,
            config: RunConfig::default(),
            preset_rates: Vec::new(),
            former_learning_rate: None,
            last_model: None,
            data_folders: Vec::new(),
            cuda_folder: None,
            hosts: Vec::new(),
            inference_device: InferenceChoice::default(),
            pen: 20.0,
            several_digits: false,
            steps_shown: false,
            smoothing: 0.9,
            log_loss: false,
            speed_and_memory: false,
            monitor: false,
            side_panel: true,
        }
    }
}

impl Settings {
    /// The remembered settings, or the defaults if there are none that can be read. A file that
    /// cannot be read, or is too large, is set aside, and where to is given: whoever edited it by
    /// hand can mend it.
    pub fn load(path: &Path) -> (Self, Option<PathBuf>) {
        let read =
            files::read_limited(path, MAX_BYTES).and_then(|bytes| Ok(Self::from_json(&bytes)?));
        match read {
            Ok(settings) => (settings, None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (Self::default(), None),
            Err(error) => {
                let aside = path.with_extension("json.unreadable");
                tracing::warn!(%error, path = %path.display(), "settings unreadable, using defaults");
                let kept = std::fs::rename(path, &aside).is_ok();
                (Self::default(), kept.then_some(aside))
            }
        }
    }

    /// The remembered settings, or the defaults; unlike [`Settings::load`], this leaves a file that
    /// cannot be read where it is.
    pub fn read(path: &Path) -> Self {
        files::read_limited(path, MAX_BYTES)
            .ok()
            .and_then(|bytes| Self::from_json(&bytes).ok())
            .unwrap_or_default()
    }

    /// The settings in a file's content, with values nobody can work with brought into range.
    pub fn from_json(bytes: &[u8]) -> serde_json::Result<Self> {
        Ok(serde_json::from_slice::<Self>(bytes)?.mended())
    }

    pub fn save(&self, path: &Path) -> Result<(), Problem> {
        let text = serde_json::to_vec_pretty(self)
            .map_err(|error| WriteError::new(path, &error.into()))?;
        Ok(files::write_through_links(path, &text)?)
    }

    /// With values nobody can work with brought into range: a window of no size, letters too small
    /// to read.
    fn mended(mut self) -> Self {
        let usual = Self::default();
        self.zoom = if self.zoom.is_finite() {
            self.zoom.clamp(*ZOOM.start(), *ZOOM.end())
        } else {
            usual.zoom
        };
        self.pen = if self.pen.is_finite() {
            self.pen.clamp(*PEN.start(), *PEN.end())
        } else {
            usual.pen
        };
        self.smoothing = if self.smoothing.is_finite() {
            self.smoothing.clamp(0.0, 0.999)
        } else {
            usual.smoothing
        };
        self.window = self.window.filter(WindowGeometry::is_sane);
        self
    }
}
