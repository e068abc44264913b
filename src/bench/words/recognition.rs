//! Recognition of one digit and of many.

use super::{micros, most, rate};
use crate::records::benchmark::{Row, Subject};
use crate::run_config::ModelKind;
use crate::text::table::{Cell, Line, Section};

pub(super) fn section(rows: &[Row], disturbed: &[Subject]) -> Section {
    let mut lines = Vec::new();
    let fastest = most(rows, |row| match row {
        Row::ClassifyMany {
            images_per_second, ..
        } => Some(*images_per_second),
        _ => None,
    });
    for &model in ModelKind::ALL {
        let one = rows.iter().find_map(|row| match *row {
            Row::ClassifyOne {
                model: this,
                median_microseconds,
                p99_microseconds,
            } if this == model => Some((median_microseconds, p99_microseconds)),
            _ => None,
        });
        let many = rows.iter().find_map(|row| match *row {
            Row::ClassifyMany {
                model: this,
                images_per_second,
                ..
            } if this == model => Some(images_per_second),
            _ => None,
        });
        if let Some((median, p99)) = one {
            let many = many.map_or_else(Cell::default, |many| {
                Cell::with_bar(rate(many), many, fastest)
            });
            let cells = vec![
                model.label().into(),
                micros(median).into(),
                micros(p99).into(),
                many,
            ];
            lines.push(Line {
                cells,
                detail: "From pixels to probabilities: one drawing at a time as on the canvas, and many images as in an evaluation."
                    .to_owned(),
                unreliable: disturbed.contains(&Subject::Inference),
            });
        }
    }
    Section {
        title: "Recognition",
        about: "one digit as on the canvas, without the time to draw it; many as in an evaluation, on all threads".to_owned(),
        columns: ["Network", "one digit, median", "99th percentile", "many, images/s"].map(str::to_owned).to_vec(),
        lines,
        bars: "Bars: share of the fastest network's images/s",
    }
}
