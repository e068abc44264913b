//! Training steps of each network, and of plain candle.

use super::{most, rate, thread_counts, threads_in_words};
use crate::records::benchmark::{Measurement, Workload};
use crate::run_config::{ModelKind, Precision};
use crate::text::format::{duration, significant};
use crate::text::table::{Cell, Line, Section};

pub(super) fn section(rows: &[Measurement], disturbed: &[Workload]) -> Section {
    let counts = thread_counts(rows, |row| matches!(row, Measurement::Step { .. }));
    let all = counts.last().copied().unwrap_or(1);
    let mut lines = Vec::new();
    for &model in ModelKind::ALL {
        let fastest = most(
            rows,
            |row| matches!(row, Measurement::Step { model: this, .. } if *this == model),
        );
        for &precision in Precision::ALL {
            let on = |count: u32| {
                rows.iter().find(|row| {
                    matches!(
                        row,
                        Measurement::Step { model: this, precision: format, threads, .. }
                            if (*this, *format, *threads) == (model, precision, count)
                    )
                })
            };
            let best = on(all).or_else(|| on(1));
            lines.extend(best.and_then(|best| {
                Some(Line {
                    unreliable: disturbed.contains(&Workload::Steps(model)),
                    ..training_line(best, on(1), fastest)?
                })
            }));
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

/// The line of `best`, on as many threads as there are, beside the same steps on one thread.
fn training_line(best: &Measurement, one: Option<&Measurement>, fastest: f64) -> Option<Line> {
    let Measurement::Step {
        model,
        precision,
        batch_size,
        threads,
        milliseconds,
        images_per_second,
        gflops,
        ..
    } = *best
    else {
        return None;
    };
    let name = if precision == Precision::F32 {
        model.label().to_owned()
    } else {
        format!("{}, {precision}", model.label())
    };
    let bar = |row: &Measurement| Cell::with_bar(rate(row.figure()), row.figure(), fastest);
    let speed_up = one
        .filter(|one| one.threads() != Some(threads))
        .map_or_else(String::new, |one| {
            format!("{:.2}×", images_per_second / one.figure())
        });
    let share = best.share_of_product().unwrap_or_default();
    Some(Line {
        cells: vec![
            name.into(),
            batch_size.to_string().into(),
            significant(milliseconds).into(),
            bar(best),
            one.map_or_else(Cell::default, bar),
            speed_up.into(),
            Cell::with_bar(format!("{:.0} %", share * 100.0), share, 1.0),
        ],
        detail: format!(
            "{} GFLOP/s (nominal) in {precision}; an epoch of 60,000 images takes {}.",
            significant(gflops),
            duration(60_000.0 / images_per_second)
        ),
        unreliable: false,
    })
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
