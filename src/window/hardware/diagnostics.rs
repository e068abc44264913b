//! What helps to find a fault, as text to share: versions, hardware, devices, settings and the last
//! lines of the log. Nothing in it is personal: names of files, folders, the user and the machine
//! are left out.

use super::about;
use crate::hardware::{Hardware, device_availability, inference_availability};
use crate::run_config::{DataSource, DeviceChoice};
use crate::system::log::{Names, last_lines, shareable};
use crate::system::paths::Paths;
use crate::window::Ctx;
use crate::window::draw::Draw;
use crate::window::settings::Settings;

/// Lines of the log that are shared.
const LOG_LINES: usize = 200;
const HIDDEN: &str = "…";

impl Draw {
    /// Copies them; the log is read on another thread, since the disk may keep it waiting.
    pub(in crate::window) fn copy_diagnostics(&self, ctx: &Ctx) {
        let (hardware, settings, paths) = (
            ctx.hardware.clone(),
            self.settings_to_save(ctx),
            ctx.deps.paths.clone(),
        );
        ctx.background.run(
            move || {
                text(
                    hardware.as_ref(),
                    &settings,
                    &paths,
                    &Names::of_this_machine(),
                )
            },
            |app, text| app.shell.copy(&mut app.ctx, text),
        );
    }
}

/// The text; reads the log, so it may wait for the disk.
pub fn text(
    hardware: Option<&Hardware>,
    settings: &Settings,
    paths: &Paths,
    names: &Names,
) -> String {
    let log: Vec<String> = last_lines(&paths.local, LOG_LINES)
        .iter()
        .filter_map(|line| shareable(line, names))
        .collect();
    let facts = format!(
        "{}{}\nSettings: {}\n",
        about::text(hardware),
        hardware.map(devices).unwrap_or_default(),
        without_paths(settings)
    );
    format!("{}\nLog:\n{}\n", names.replaced(&facts), log.join("\n"))
}

/// Which devices can be used, and why the others cannot.
fn devices(hardware: &Hardware) -> String {
    let said =
        |available: Result<(), String>| available.err().unwrap_or_else(|| "available".to_owned());
    let line = |device: DeviceChoice| {
        let [training, recognition] =
            [device_availability, inference_availability].map(|ask| said(ask(device, hardware)));
        format!(
            "{}: training: {training} Recognition: {recognition}\n",
            device.name()
        )
    };
    [DeviceChoice::Cuda, DeviceChoice::Metal]
        .into_iter()
        .map(line)
        .collect()
}

fn without_paths(settings: &Settings) -> String {
    let named = |source: &DataSource| {
        if let DataSource::Path(_) = source {
            HIDDEN.to_owned()
        } else {
            source.name()
        }
    };
    let data: Vec<String> = settings.config.data.sources().iter().map(named).collect();
    let Ok(mut json) = serde_json::to_value(settings) else {
        return String::new();
    };
    json["config"]["data"] = data.join("+").into();
    json["config"]["initial_weights"] = settings
        .config
        .initial_weights
        .as_ref()
        .map(|_| HIDDEN)
        .into();
    json["data_folders"] = settings.data_folders.len().into();
    json["hosts"] = settings.hosts.len().into();
    json["cuda_folder"] = settings.cuda_folder.as_ref().map(|_| HIDDEN).into();
    format!("{json:#}")
}
