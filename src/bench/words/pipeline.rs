//! What a training step needs besides the network: its batches and its optimiser.

use super::{micros, most, rate, threads_in_words};
use crate::records::benchmark::{Row, Subject};
use crate::run_config::{Augmentation, OptimizerKind};
use crate::text::format::{grouped, significant};
use crate::text::table::{Cell, Line, Section};

pub(super) fn section(rows: &[Row], disturbed: &[Subject]) -> Section {
    let fastest = most(rows, |row| match row {
        Row::Pipeline {
            images_per_second, ..
        } => Some(*images_per_second),
        _ => None,
    });
    let lines = rows.iter().filter_map(|row| match *row {
        Row::Pipeline {
            augmentation,
            threads,
            images_per_second,
        } => {
            let detail = format!(
                "{}, on {}.",
                work_detail(augmentation),
                threads_in_words(threads)
            );
            Some(Line {
                cells: vec![
                    augmentation.label().into(),
                    Cell::with_bar(rate(images_per_second), images_per_second, fastest),
                ],
                detail,
                unreliable: disturbed.contains(&Subject::Pipeline),
            })
        }
        _ => None,
    });
    Section {
        title: "Data pipeline",
        about: "augmentation of training images and their copying into batches, which runs alongside training".to_owned(),
        columns: ["Augmentation", "images/s"].map(str::to_owned).to_vec(),
        lines: lines.collect(),
        bars: "Bars: share of the fastest",
    }
}

const fn work_detail(augmentation: Augmentation) -> &'static str {
    match augmentation {
        Augmentation::Off => "Images are copied into batches in shuffled order",
        Augmentation::Gentle => {
            "Images are copied into batches and slightly rotated, scaled, sheared, shifted and distorted"
        }
        Augmentation::Medium => {
            "Images are copied into batches, slightly rotated and distorted, and their strokes made thicker or thinner"
        }
        Augmentation::Strong => {
            "Images are copied into batches, strongly rotated and distorted, and their strokes made thicker or thinner"
        }
    }
}

pub(super) fn updates(rows: &[Row], disturbed: &[Subject]) -> Section {
    let slowest = most(rows, |row| match row {
        Row::Update { microseconds, .. } => Some(*microseconds),
        _ => None,
    });
    let mut counted = 0;
    let lines: Vec<Line> = rows
        .iter()
        .filter_map(|row| match *row {
            Row::Update {
                optimizer,
                parameters,
                threads,
                microseconds,
            } => {
                counted = parameters;
                let unreliable = disturbed.contains(&Subject::Updates);
                Some(Line {
                    unreliable,
                    ..update_line(optimizer, parameters, threads, microseconds, slowest)
                })
            }
            _ => None,
        })
        .collect();
    Section {
        title: "Optimiser updates",
        about: format!(
            "one update of {} parameters, on all threads",
            grouped(counted)
        ),
        columns: ["Optimiser", "time per update"].map(str::to_owned).to_vec(),
        lines,
        bars: "Bars: share of the longest time",
    }
}

fn update_line(
    optimizer: OptimizerKind,
    parameters: u64,
    threads: u32,
    microseconds: f64,
    slowest: f64,
) -> Line {
    let per_second = parameters as f64 / microseconds / 1e3;
    let detail = format!(
        "{} million parameters per millisecond on {}.",
        significant(per_second / 1e3),
        threads_in_words(threads)
    );
    Line {
        cells: vec![
            optimizer.label().into(),
            Cell::with_bar(micros(microseconds), microseconds, slowest),
        ],
        detail,
        unreliable: false,
    }
}
