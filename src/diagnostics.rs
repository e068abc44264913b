//! What helps to find a fault, as text to share: versions, hardware, devices, settings and the last
//! lines of the log. Nothing in it is personal: names of files, folders, the user and the machine
//! are left out.

use crate::device::HAS_CUDA;
use crate::hardware::{Hardware, device_availability, inference_availability, lines};
use crate::run_config::{DataSource, DeviceChoice};
use crate::settings::Settings;
use crate::system::log::{Names, last_lines, shareable};
use crate::system::paths::Paths;

/// Lines of the log that are shared.
const LOG_LINES: usize = 200;
const HIDDEN: &str = "…";

/// Names and values: the versions, then the machine, once probed.
pub fn facts(hardware: Option<&Hardware>) -> Vec<(String, String)> {
    let cuda = if HAS_CUDA { ", with CUDA" } else { "" };
    let build = format!(
        "{} for {} on {}{cuda}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH
    );
    let machine = hardware.map(lines).unwrap_or_default();
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let first = [
        fact("Inkling", build),
        fact("Compiled by", env!("INKLING_RUSTC").to_owned()),
    ];
    first
        .into_iter()
        .chain(machine.into_iter().map(|line| (line.label, line.value)))
        .collect()
}

/// The same as text, to copy.
pub fn about(hardware: Option<&Hardware>) -> String {
    let facts = facts(hardware).into_iter();
    facts
        .map(|(name, value)| format!("{name}: {value}\n"))
        .collect()
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
        about(hardware),
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
