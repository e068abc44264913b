//! Training steps of each network, and of plain candle.

use super::{rate, thread_counts, threads_in_words};
use crate::records::benchmark::{Measurement, Workload};
use crate::run_config::{ModelKind, Precision};
use crate::text::format::{duration, significant};
use crate::text::table::{Cell, Line, Section};

/// A model's steps in one number format.
#[derive(Clone, Copy)]
struct Steps {
    threads: u32,
    batch_size: u32,
    milliseconds: f64,
    images_per_second: f64,
    gflops: f64,
    share: f64,
}

pub(super) fn section(rows: &[Measurement], disturbed: &[Workload]) -> Section {
    let counts = thread_counts(rows, |row| matches!(row, Measurement::Step { .. }));
    let all = counts.last().copied().unwrap_or(1);
    let mut lines = Vec::new();
    for &model in ModelKind::ALL {
        let fastest = super::most(
            rows,
            |row| matches!(row, Measurement::Step { model: this, .. } if *this == model),
        );
        for &precision in Precision::ALL {
            let steps: Vec<Steps> = rows
                .iter()
                .filter_map(|row| steps_of(row, model, precision))
                .collect();
            let one = steps.iter().find(|steps| steps.threads == 1);
            let most = steps.iter().find(|steps| steps.threads == all).or(one);
            if let Some(most) = most {
                let unreliable = disturbed.contains(&Workload::Steps(model));
                lines.push(Line {
                    unreliable,
                    ..training_line(model, precision, one, most, fastest)
                });
            }
        }
    }
    let images = |threads: u32| format!("images/s, {}", threads_in_words(threads));
    let mut columns = vec![
        "Network".to_owned(),
        "batch".to_owned(),
        "ms per step".to_owned(),
        images(all),
    ];
    if all > 1 {
        columns.extend([images(1), "speed-up".to_owned()]);
    } else {
        for line in &mut lines {
            line.cells.drain(4..6);
        }
    }
    columns.push("of peak".to_owned());
    Section {
        title: "Training",
        about: "a step is forward pass, backward pass and AdamW update in the real training loop; peak is the rate of a large f32 matrix product on \
                the same number of threads, measured alternately with the steps"
            .to_owned(),
        columns,
        lines,
        bars: "Bars: share of the same network's fastest; in the last column, of 100 %",
    }
}

fn steps_of(row: &Measurement, wanted: ModelKind, format: Precision) -> Option<Steps> {
    match *row {
        Measurement::Step {
            model,
            precision,
            batch_size,
            threads,
            milliseconds,
            images_per_second,
            gflops,
            ..
        } if model == wanted && precision == format => Some(Steps {
            threads,
            batch_size,
            milliseconds,
            images_per_second,
            gflops,
            share: row.share_of_product().unwrap_or_default(),
        }),
        _ => None,
    }
}

fn training_line(
    model: ModelKind,
    precision: Precision,
    one: Option<&Steps>,
    most: &Steps,
    fastest: f64,
) -> Line {
    let name = if precision == Precision::F32 {
        model.label().to_owned()
    } else {
        format!("{}, {}", model.label(), precision.name())
    };
    let one_rate = one.map_or_else(Cell::default, |one| {
        Cell::with_bar(rate(one.images_per_second), one.images_per_second, fastest)
    });
    let speed_up = one
        .filter(|one| one.threads != most.threads)
        .map_or_else(String::new, |one| {
            format!("{:.2}×", most.images_per_second / one.images_per_second)
        });
    let detail = format!(
        "{} GFLOP/s (nominal) in {}; an epoch of 60,000 images takes {}.",
        significant(most.gflops),
        precision.name(),
        duration(60_000.0 / most.images_per_second)
    );
    let cells = vec![
        name.into(),
        most.batch_size.to_string().into(),
        significant(most.milliseconds).into(),
        Cell::with_bar(
            rate(most.images_per_second),
            most.images_per_second,
            fastest,
        ),
        one_rate,
        speed_up.into(),
        Cell::with_bar(format!("{:.0} %", most.share * 100.0), most.share, 1.0),
    ];
    Line {
        cells,
        detail,
        unreliable: false,
    }
}

pub(super) fn beside_plain_candle(rows: &[Measurement], disturbed: &[Workload]) -> Section {
    let line = |row: &Measurement| match *row {
        Measurement::PlainCandle {
            model,
            batch_size,
            threads,
            milliseconds,
            images_per_second,
            inkling_images_per_second,
            speedup,
        } => {
            let fastest = images_per_second.max(inkling_images_per_second);
            let cells = vec![
                model.label().into(),
                batch_size.to_string().into(),
                significant(milliseconds).into(),
                Cell::with_bar(rate(images_per_second), images_per_second, fastest),
                Cell::with_bar(
                    rate(inkling_images_per_second),
                    inkling_images_per_second,
                    fastest,
                ),
                format!("{speedup:.1}×").into(),
            ];
            let detail = format!(
                "Steps of both in turn, in f32 on {}; batches of the same size from the same data.",
                threads_in_words(threads)
            );
            Some(Line {
                cells,
                detail,
                unreliable: disturbed.contains(&Workload::PlainCandle),
            })
        }
        _ => None,
    };
    Section {
        title: "Compared with plain candle",
        about: "training steps of the network of candle's MNIST example, built from candle-nn's layers and trained with candle's own backward pass \
                and AdamW; speed only, as the gradient of candle's max pooling is wrong"
            .to_owned(),
        columns: ["Network", "batch", "candle, ms per step", "candle, images/s", "Inkling, images/s", "Inkling is"].map(str::to_owned).to_vec(),
        lines: rows.iter().filter_map(line).collect(),
        bars: "Bars: share of the faster of both",
    }
}
