//! The folder that reports are saved in, each as JSON and as text.

use std::path::Path;

use super::words::text;
use crate::problem::Problem;
use crate::records::benchmark::{Report, Saved, VERSION};
use crate::system::WriteError;
use crate::system::files::{read_limited, write_group};
use crate::text::format::name_time;

/// Larger files are not reports of ours.
const MAX_BYTES: u64 = 1 << 20;

/// Writes a report to new files in `folder`, named after its time.
pub fn save(folder: &Path, report: &Report) -> Result<Saved, Problem> {
    let measured = report
        .measured_at
        .parse::<jiff::Timestamp>()
        .unwrap_or_else(|_| jiff::Timestamp::now());
    let name = name_time(measured);
    let named = |count: u32, extension: &str| match count {
        1 => folder.join(format!("{name}.{extension}")),
        _ => folder.join(format!("{name}_{count}.{extension}")),
    };
    let count = (1..=u32::MAX)
        .find(|&count| {
            ["json", "txt"]
                .iter()
                .all(|extension| !named(count, extension).exists())
        })
        .unwrap_or(1);
    let saved = Saved {
        json: named(count, "json"),
        text: named(count, "txt"),
    };
    let json = serde_json::to_vec_pretty(report)
        .map_err(|error| WriteError::new(&saved.json, &error.into()))?;
    write_group(&[
        (saved.json.clone(), json),
        (saved.text.clone(), text(report).into_bytes()),
    ])?;
    Ok(saved)
}

/// The newest report in `folder` that can be read.
pub fn latest(folder: &Path) -> Option<(Report, Saved)> {
    let paths = std::fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()));
    let reports = paths
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .filter_map(|path| {
            let report = read(&path)?;
            let measured = report.measured_at.parse::<jiff::Timestamp>().ok()?;
            Some((
                measured,
                report,
                Saved {
                    text: path.with_extension("txt"),
                    json: path,
                },
            ))
        });
    reports
        .max_by(|(a, ..), (b, ..)| a.cmp(b))
        .map(|(_, report, saved)| (report, saved))
}

/// `None` for files that are not reports, damaged, or from a newer version: they are left alone.
fn read(path: &Path) -> Option<Report> {
    let bytes = read_limited(path, MAX_BYTES).ok()?;
    serde_json::from_slice::<Report>(&bytes)
        .ok()
        .filter(|report| report.version <= VERSION)
}
