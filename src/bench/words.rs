//! The text and tables of a benchmark report: the same in the window, in the terminal and in its file.

use crate::records::benchmark::{Extent, Machine, Report, Row, Subject};
use crate::run_config::{Augmentation, ModelKind, OptimizerKind, Precision};
use crate::text::format::{duration, grouped, local_time, significant};
use crate::text::table::{self, Line, Section};

/// What is being measured, in words.
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
    let Machine { system, processor, simd, threads } = &report.machine;
    let extent = match report.extent {
        Extent::Full => "full",
        Extent::Quick => "quick",
    };
    let simd = if simd.is_empty() { "no SIMD".to_owned() } else { simd.join(", ") };
    [
        format!(
            "Measured on {} with Inkling {} ({extent} benchmark, {}).",
            local_time(&report.measured_at),
            report.program,
            duration(report.seconds)
        ),
        format!("{processor}, {}; {simd}; {system}.", threads_in_words(*threads)),
    ]
}

/// The tables of these figures; also of some of them, while the others are still being measured.
pub fn sections(rows: &[Row]) -> Vec<Section> {
    let all = [machine_rates(rows), training(rows), plain_candle(rows), recognition(rows), pipeline(rows), updates(rows)];
    all.into_iter().filter(|section| !section.lines.is_empty()).collect()
}

/// The whole report as text, its columns lined up.
pub fn text(report: &Report) -> String {
    let mut text = heading(report).join("\n");
    text.push('\n');
    text.push_str(&table::text(&sections(&report.rows)));
    text
}

fn threads_in_words(threads: u32) -> String {
    if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") }
}

/// Every count of threads in the figures that `count` finds, in order.
fn thread_counts(rows: &[Row], count: impl Fn(&Row) -> Option<u32>) -> Vec<u32> {
    let mut counts: Vec<u32> = rows.iter().filter_map(count).collect();
    counts.sort_unstable();
    counts.dedup();
    counts
}

fn machine_rates(rows: &[Row]) -> Section {
    let counts = thread_counts(rows, |row| match row {
        Row::Product { threads, .. } | Row::Memory { threads, .. } => Some(*threads),
        _ => None,
    });
    let mut lines = Vec::new();
    for &precision in Precision::ALL {
        let product = |wanted: u32| {
            rows.iter().find_map(|row| match row {
                Row::Product { precision: this, threads, gflops, size } if *this == precision && *threads == wanted => {
                    Some((*gflops, *size))
                }
                _ => None,
            })
        };
        let found: Vec<_> = counts.iter().map(|&count| product(count)).collect();
        if let Some((_, size)) = found.iter().flatten().last() {
            let figures = found.iter().map(|rate| rate.map_or_else(String::new, |(rate, _)| format!("{} GFLOP/s", significant(rate))));
            let name = format!("Matrix products, {}", precision.name());
            let detail = format!(
                "Fastest large square product ({size} × {size}): billions of multiplications and additions of {} numbers per second.",
                precision.name()
            );
            lines.push(Line { cells: std::iter::once(name).chain(figures).collect(), detail });
        }
    }
    let copied = |wanted: u32| {
        rows.iter().find_map(|row| match row {
            Row::Memory { threads, gigabytes_per_second } if *threads == wanted => Some(*gigabytes_per_second),
            _ => None,
        })
    };
    let found: Vec<_> = counts.iter().map(|&count| copied(count)).collect();
    if found.iter().any(Option::is_some) {
        let figures = found.iter().map(|rate| rate.map_or_else(String::new, |rate| format!("{} GB/s", significant(rate))));
        let detail = "Copies of 64 MB; bytes read and bytes written both count.".to_owned();
        lines.push(Line { cells: std::iter::once("Memory copies".to_owned()).chain(figures).collect(), detail });
    }
    Section {
        title: "Peak rates of this machine",
        about: "large square matrix products (GEMM), the fastest of several sizes, and copies of 64 MB blocks".to_owned(),
        columns: std::iter::once(String::new()).chain(counts.into_iter().map(threads_in_words)).collect(),
        lines,
    }
}

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

fn training(rows: &[Row]) -> Section {
    let counts = thread_counts(rows, |row| match row {
        Row::Step { threads, .. } => Some(*threads),
        _ => None,
    });
    let all = counts.last().copied().unwrap_or(1);
    let mut lines = Vec::new();
    for &model in ModelKind::ALL {
        for &precision in Precision::ALL {
            let steps: Vec<Steps> = rows.iter().filter_map(|row| steps_of(row, model, precision)).collect();
            let one = steps.iter().find(|steps| steps.threads == 1);
            let most = steps.iter().find(|steps| steps.threads == all).or(one);
            if let Some(most) = most {
                lines.push(training_line(model, precision, one, most));
            }
        }
    }
    let images = |threads: u32| format!("images/s, {}", threads_in_words(threads));
    let mut columns = vec!["Network".to_owned(), "batch".to_owned(), "ms per step".to_owned(), images(all)];
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
    }
}

fn steps_of(row: &Row, wanted: ModelKind, format: Precision) -> Option<Steps> {
    match *row {
        Row::Step { model, precision, batch_size, threads, milliseconds, images_per_second, gflops, .. }
            if model == wanted && precision == format =>
        {
            Some(Steps { threads, batch_size, milliseconds, images_per_second, gflops, share: row.share_of_product().unwrap_or_default() })
        }
        _ => None,
    }
}

fn training_line(model: ModelKind, precision: Precision, one: Option<&Steps>, most: &Steps) -> Line {
    let name = if precision == Precision::F32 { model.label().to_owned() } else { format!("{}, {}", model.label(), precision.name()) };
    let one_rate = one.map_or_else(String::new, |one| rate(one.images_per_second));
    let speed_up = one
        .filter(|one| one.threads != most.threads)
        .map_or_else(String::new, |one| format!("{:.2}×", most.images_per_second / one.images_per_second));
    let detail = format!(
        "{} (nominal) in {}; an epoch of 60,000 images takes {}.",
        flop_rate(most.gflops),
        precision.name(),
        duration(60_000.0 / most.images_per_second)
    );
    let cells = vec![
        name,
        most.batch_size.to_string(),
        significant(most.milliseconds),
        rate(most.images_per_second),
        one_rate,
        speed_up,
        format!("{:.0} %", most.share * 100.0),
    ];
    Line { cells, detail }
}

fn plain_candle(rows: &[Row]) -> Section {
    let line = |row: &Row| match *row {
        Row::PlainCandle { model, batch_size, threads, milliseconds, images_per_second, inkling_images_per_second, speedup } => {
            let cells = vec![
                model.label().to_owned(),
                batch_size.to_string(),
                significant(milliseconds),
                rate(images_per_second),
                rate(inkling_images_per_second),
                format!("{speedup:.1}×"),
            ];
            let detail =
                format!("Steps of both in turn, in f32 on {}; batches of the same size from the same data.", threads_in_words(threads));
            Some(Line { cells, detail })
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
    }
}

fn recognition(rows: &[Row]) -> Section {
    let mut lines = Vec::new();
    for &model in ModelKind::ALL {
        let one = rows.iter().find_map(|row| match *row {
            Row::ClassifyOne { model: this, median_microseconds, p99_microseconds } if this == model => {
                Some((median_microseconds, p99_microseconds))
            }
            _ => None,
        });
        let many = rows.iter().find_map(|row| match *row {
            Row::ClassifyMany { model: this, images_per_second, .. } if this == model => Some(images_per_second),
            _ => None,
        });
        if let Some((median, p99)) = one {
            let cells = vec![model.label().to_owned(), micros(median), micros(p99), many.map_or_else(String::new, rate)];
            lines.push(Line {
                cells,
                detail: "From pixels to probabilities: one drawing at a time as on the canvas, and many images as in an evaluation."
                    .to_owned(),
            });
        }
    }
    Section {
        title: "Recognition",
        about: "one digit as on the canvas, without the time to draw it; many as in an evaluation, on all threads".to_owned(),
        columns: ["Network", "one digit, median", "99th percentile", "many, images/s"].map(str::to_owned).to_vec(),
        lines,
    }
}

fn pipeline(rows: &[Row]) -> Section {
    let lines = rows.iter().filter_map(|row| match *row {
        Row::Pipeline { augmentation, threads, images_per_second } => {
            let detail = format!("{}, on {}.", work_detail(augmentation), threads_in_words(threads));
            Some(Line { cells: vec![augmentation.label().to_owned(), rate(images_per_second)], detail })
        }
        _ => None,
    });
    Section {
        title: "Data pipeline",
        about: "augmentation of training images and their copying into batches, which runs alongside training".to_owned(),
        columns: ["Augmentation", "images/s"].map(str::to_owned).to_vec(),
        lines: lines.collect(),
    }
}

const fn work_detail(augmentation: Augmentation) -> &'static str {
    match augmentation {
        Augmentation::Off => "Images are copied into batches in shuffled order",
        Augmentation::Gentle => "Images are copied into batches and slightly rotated, scaled, sheared, shifted and distorted",
        Augmentation::Medium => "Images are copied into batches, slightly rotated and distorted, and their strokes made thicker or thinner",
        Augmentation::Strong => "Images are copied into batches, strongly rotated and distorted, and their strokes made thicker or thinner",
    }
}

fn updates(rows: &[Row]) -> Section {
    let mut counted = 0;
    let lines: Vec<Line> = rows
        .iter()
        .filter_map(|row| match *row {
            Row::Update { optimizer, parameters, threads, microseconds } => {
                counted = parameters;
                Some(update_line(optimizer, parameters, threads, microseconds))
            }
            _ => None,
        })
        .collect();
    Section {
        title: "Optimiser updates",
        about: format!("one update of {} parameters, on all threads", grouped(counted)),
        columns: ["Optimiser", "time per update"].map(str::to_owned).to_vec(),
        lines,
    }
}

fn update_line(optimizer: OptimizerKind, parameters: u64, threads: u32, microseconds: f64) -> Line {
    let per_second = parameters as f64 / microseconds / 1e3;
    let detail = format!("{} million parameters per millisecond on {}.", significant(per_second / 1e3), threads_in_words(threads));
    Line { cells: vec![optimizer.label().to_owned(), micros(microseconds)], detail }
}

fn rate(images_per_second: f64) -> String {
    grouped(images_per_second.max(0.0).round() as u64)
}

fn flop_rate(gflops: f64) -> String {
    format!("{} GFLOP/s", significant(gflops))
}

fn micros(microseconds: f64) -> String {
    if microseconds < 1000.0 { format!("{} µs", significant(microseconds)) } else { format!("{} ms", significant(microseconds / 1e3)) }
}
