//! A profile as tables.

use crate::records::{Profile, ProfileRow, SpanKind};
use crate::text::format::{file_size, milliseconds, percent};
use crate::text::table::{Cell, Line, Section};

/// How many threads worked at the same time, on average.
const THREADS: &str = "Busy threads";

/// The passes of a step, and its layers.
pub fn profile_sections(profile: &Profile) -> Vec<Section> {
    [passes(profile), layers(profile)]
        .map(without_empty_columns)
        .into()
}

/// On a GPU nobody knows how many threads work, nor how fast its products could be.
fn without_empty_columns(mut section: Section) -> Section {
    let is_empty = |column: usize| {
        section
            .lines
            .iter()
            .all(|line| line.cells[column].text.is_empty())
    };
    for column in (0..section.columns.len())
        .rev()
        .filter(|&column| is_empty(column))
        .collect::<Vec<_>>()
    {
        section.columns.remove(column);
        for line in &mut section.lines {
            line.cells.remove(column);
        }
    }
    section
}

fn passes(profile: &Profile) -> Section {
    let of_kind = |&kind: &SpanKind| {
        (
            kind.label(),
            profile.seconds_of(kind),
            profile.threads_of(kind),
        )
    };
    let mut parts: Vec<(&str, f64, Option<f64>)> = SpanKind::OF_STEP.iter().map(of_kind).collect();
    parts.push(("Other", profile.other_seconds(), None));
    let longest = parts
        .iter()
        .map(|(_, seconds, _)| *seconds)
        .fold(0.0, f64::max);
    let line = |(label, seconds, working): &(&str, f64, Option<f64>)| Line {
        cells: vec![
            (*label).into(),
            Cell::with_bar(time(*seconds), *seconds, longest),
            percent(seconds / profile.step_seconds.max(f64::MIN_POSITIVE), 1).into(),
            threads(*working, profile).into(),
        ],
        ..Line::default()
    };
    let mut about = format!(
        "mean of {} steps of {} images",
        profile.steps, profile.step_config.batch_size
    );
    // A GPU prepares its batches itself.
    let loading = profile.seconds_of(SpanKind::Loading);
    if loading > 0.0 {
        about += &format!(
            "; meanwhile, another thread prepares batches, which takes {} each",
            time(loading)
        );
    }
    Section {
        title: "A training step",
        about,
        columns: ["Part", "Time", "Share", THREADS]
            .map(str::to_owned)
            .to_vec(),
        lines: parts.iter().map(line).collect(),
        bars: "Bars: relative to the longest time",
    }
}

fn layers(profile: &Profile) -> Section {
    let rows: Vec<&ProfileRow> = profile
        .rows
        .iter()
        .filter(|row| !row.name.is_empty() && row.kind != SpanKind::Loading)
        .collect();
    let longest = rows.iter().map(|row| row.seconds).fold(0.0, f64::max);
    let line = |row: &&ProfileRow| {
        let efficiency = profile
            .efficiency(row)
            .map_or_else(String::new, |share| percent(share, 0));
        let gigabytes = row.bytes as f64 / row.seconds.max(f64::MIN_POSITIVE) / 1e9;
        let moved = if row.bytes == 0 {
            String::new()
        } else {
            format!("{} ({gigabytes:.1} GB/s)", file_size(row.bytes))
        };
        let pass = if row.kind == SpanKind::Backward {
            "backward"
        } else {
            "forward"
        };
        Line {
            cells: vec![
                format!("{}, {pass}", row.name).into(),
                Cell::with_bar(time(row.seconds), row.seconds, longest),
                efficiency.into(),
                threads(row.threads, profile).into(),
                moved.into(),
            ],
            ..Line::default()
        }
    };
    let rate = profile.machine_rate.map_or_else(
        || "the peak throughput of this device was not measured".to_owned(),
        |rate| {
            format!(
                "peak is the throughput of large f32 matrix multiplications (GEMM), {:.0} GFLOP/s",
                rate / 1e9
            )
        },
    );
    Section {
        title: "Layers",
        about: format!(
            "{rate}; bytes moved is a lower bound, the size of inputs, outputs and weights"
        ),
        columns: ["Layer", "Time", "Of peak", THREADS, "Bytes moved"]
            .map(str::to_owned)
            .to_vec(),
        lines: rows.iter().map(line).collect(),
        bars: "Bars: relative to the longest time",
    }
}

/// "1.8 of 2"; nothing if the CPU only waits.
fn threads(working: Option<f64>, profile: &Profile) -> String {
    working.map_or_else(String::new, |working| {
        format!("{working:.1} of {}", profile.step_config.threads)
    })
}

fn time(seconds: f64) -> String {
    milliseconds((seconds * 1e6) as f32)
}
