//! Versions and hardware as text, for the About dialog and for bug reports.

use crate::device::HAS_CUDA;
use crate::hardware::{Hardware, lines};

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
pub fn text(hardware: Option<&Hardware>) -> String {
    let facts = facts(hardware).into_iter();
    facts
        .map(|(name, value)| format!("{name}: {value}\n"))
        .collect()
}
