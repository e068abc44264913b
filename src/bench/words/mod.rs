//! The text and tables of a benchmark report: the same in the window, in the terminal and in its
//! file.

mod peak_rates;
mod pipeline;
mod profile;
mod recognition;
mod training;

pub use profile::profile_sections;

use crate::records::benchmark::{Extent, Machine, Report, Row, Subject};
use crate::text::format::{duration, grouped, local_time, significant};
use crate::text::table::{self, Section};

pub fn subject(subject: Subject) -> String {
    match subject {
        Subject::Products => "Matrix products".to_owned(),
        Subject::Memory => "Memory copies".to_owned(),
        Subject::Steps(model) => format!("Training {}", model.label()),
        Subject::Pipeline => "Data pipeline".to_owned(),
        Subject::Updates => "Optimiser updates".to_owned(),
        Subject::Inference => "Recognition".to_owned(),
        Subject::PlainCandle => "Plain candle".to_owned(),
    }
}

/// When, on what and with what a report was made.
pub fn heading(report: &Report) -> [String; 2] {
    let Machine {
        system,
        processor,
        simd,
        threads,
    } = &report.machine;
    let extent = match report.extent {
        Extent::Full => "full",
        Extent::Quick => "quick",
    };
    let simd = if simd.is_empty() {
        "no SIMD".to_owned()
    } else {
        simd.join(", ")
    };
    [
        format!(
            "Measured on {} with Inkling {} ({extent} benchmark, {}).",
            local_time(&report.measured_at),
            report.program,
            duration(report.seconds)
        ),
        format!(
            "{processor}, {}; {simd}; {system}.",
            threads_in_words(*threads)
        ),
    ]
}

/// What other programs did to the figures, and what to do; `None` where they did nothing.
pub fn disturbance(report: &Report) -> Option<String> {
    (!report.disturbed.is_empty()).then(|| {
        let sign = table::UNRELIABLE.trim();
        format!(
            "{} Figures marked {sign} are not reliable. Close other programs and measure again.",
            busy(report.background_load)
        )
    })
}

/// That other programs use this share of the CPU: "Other programs used 43 % of the CPU."
pub fn busy(background_load: f32) -> String {
    format!(
        "Other programs used {:.0} % of the CPU.",
        (background_load * 100.0).max(1.0)
    )
}

/// The tables of these figures; also of some of them, while the others are still being measured.
/// Those of `disturbed` are marked.
pub fn sections(rows: &[Row], disturbed: &[Subject]) -> Vec<Section> {
    let all = [
        peak_rates::section(rows, disturbed),
        training::section(rows, disturbed),
        training::beside_plain_candle(rows, disturbed),
        recognition::section(rows, disturbed),
        pipeline::section(rows, disturbed),
        pipeline::updates(rows, disturbed),
    ];
    all.into_iter()
        .filter(|section| !section.lines.is_empty())
        .collect()
}

/// The whole report as text, its columns lined up.
pub fn text(report: &Report) -> String {
    let mut text = heading(report).join("\n");
    text.push('\n');
    text.extend(disturbance(report).map(|sentence| format!("{sentence}\n")));
    text.push_str(&table::text(&sections(&report.rows, &report.disturbed)));
    text
}

fn threads_in_words(threads: u32) -> String {
    if threads == 1 {
        "1 thread".to_owned()
    } else {
        format!("{threads} threads")
    }
}

/// Every count of threads in the figures that `count` finds, in order.
fn thread_counts(rows: &[Row], count: impl Fn(&Row) -> Option<u32>) -> Vec<u32> {
    let mut counts: Vec<u32> = rows.iter().filter_map(count).collect();
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// The greatest of the figures that `of` finds.
fn most(rows: &[Row], of: impl Fn(&Row) -> Option<f64>) -> f64 {
    rows.iter().filter_map(of).fold(0.0, f64::max)
}

fn rate(images_per_second: f64) -> String {
    grouped(images_per_second.max(0.0).round() as u64)
}

fn micros(microseconds: f64) -> String {
    if microseconds < 1000.0 {
        format!("{} µs", significant(microseconds))
    } else {
        format!("{} ms", significant(microseconds / 1e3))
    }
}
