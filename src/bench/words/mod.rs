//! The text and tables of benchmarks and profiles: the same in the window, in the terminal and in
//! their files.

mod profile;
mod scaling;

pub use profile::profile_sections;

use crate::records::benchmark::{
    BenchmarkReport, BenchmarkedMachine, Effort, Measurement, Workload,
};
use crate::run_config::{Augmentation, ModelKind, Precision};
use crate::text::format::{count, duration, grouped, local_time, percent, significant};
use crate::text::table::{self, Cell, Line, Section};

pub fn workload(workload: Workload) -> String {
    match workload {
        Workload::Products => "Matrix multiplication".to_owned(),
        Workload::Memory => "Memory copies".to_owned(),
        Workload::Steps(model) => format!("Training {}", model.label()),
        Workload::Pipeline => "Data pipeline".to_owned(),
        Workload::Updates => "Optimizer updates".to_owned(),
        Workload::Inference => "Recognition".to_owned(),
        Workload::PlainCandle => "Plain candle".to_owned(),
    }
}

/// When, on what and with what a report was made.
pub fn heading(report: &BenchmarkReport) -> [String; 2] {
    let BenchmarkedMachine {
        system,
        processor,
        simd,
        threads,
    } = &report.machine;
    let effort = match report.effort {
        Effort::Full => "full",
        Effort::Quick => "quick",
    };
    let simd = if simd.is_empty() {
        "no SIMD".to_owned()
    } else {
        simd.join(", ")
    };
    [
        format!(
            "Measured on {} with Inkling {} ({effort} benchmark, {}).",
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

/// The effect of other programs on the figures, and what to do; `None` if there is none.
pub fn disturbance(report: &BenchmarkReport) -> Option<String> {
    (!report.disturbed.is_empty()).then(|| {
        let sign = table::UNRELIABLE.trim();
        format!(
            "{} Figures marked {sign} are not reliable. Close other programs and measure again.",
            busy(report.background_load)
        )
    })
}

/// That other programs use this fraction of the CPU: "Other programs used 43% of the CPU."
pub fn busy(background_load: f32) -> String {
    let share = percent(background_load.max(0.01).into(), 0);
    format!("Other programs used {share} of the CPU.")
}

/// The tables of these figures; also of some of them, while the others are still being measured.
/// The ones in `disturbed` are marked.
pub fn sections(rows: &[Measurement], disturbed: &[Workload]) -> Vec<Section> {
    let all = [
        peak_rates(rows, disturbed),
        training(rows, disturbed),
        scaling::scaling(rows, disturbed),
        beside_plain_candle(rows, disturbed),
        recognition(rows, disturbed),
        pipeline(rows, disturbed),
        updates(rows, disturbed),
    ];
    all.into_iter()
        .filter(|section| !section.lines.is_empty())
        .collect()
}

/// The whole report as text, its columns lined up.
pub fn text(report: &BenchmarkReport) -> String {
    let mut text = heading(report).join("\n");
    text.push('\n');
    text.extend(disturbance(report).map(|sentence| format!("{sentence}\n")));
    text.push_str(&table::text(&sections(&report.rows, &report.disturbed)));
    text
}

/// The machine's peak rates: matrix multiplications and memory copies.
fn peak_rates(rows: &[Measurement], disturbed: &[Workload]) -> Section {
    let counts = thread_counts(rows, |row| {
        matches!(
            row,
            Measurement::Product { .. } | Measurement::Memory { .. }
        )
    });
    // The cells of a line, each on another number of threads.
    let cells = |name: String, of: &dyn Fn(&Measurement) -> bool, unit: &str, most: f64| {
        let figures = counts.iter().map(|&count| {
            rows.iter()
                .find(|row| of(row) && row.threads() == Some(count))
                .map_or_else(Cell::default, |row| {
                    let rate = row.figure();
                    Cell::with_bar(format!("{} {unit}", significant(rate)), rate, most)
                })
        });
        std::iter::once(name.into()).chain(figures).collect()
    };
    let most_copied = most(rows, |row| matches!(row, Measurement::Memory { .. }));
    let fastest = most(rows, |row| matches!(row, Measurement::Product { .. }));
    let mut lines = Vec::new();
    for &wanted in Precision::ALL {
        let is_wanted = |row: &Measurement| matches!(row, Measurement::Product { precision, .. } if *precision == wanted);
        let size = counts.iter().rev().find_map(|&count| {
            rows.iter().find_map(|row| match *row {
                Measurement::Product { threads, size, .. }
                    if is_wanted(row) && threads == count =>
                {
                    Some(size)
                }
                _ => None,
            })
        });
        if let Some(size) = size {
            lines.push(Line {
                cells: cells(format!("Matrix multiplication, {wanted}"), &is_wanted, "GFLOP/s", fastest),
                detail: format!(
                    "Fastest large square matrix multiplication ({size} × {size}) in {wanted}: billions of multiplications and additions per second."
                ),
                unreliable: disturbed.contains(&Workload::Products),
            });
        }
    }
    let is_copy = |row: &Measurement| matches!(row, Measurement::Memory { .. });
    if rows.iter().any(is_copy) {
        lines.push(Line {
            cells: cells("Memory copies".to_owned(), &is_copy, "GB/s", most_copied),
            detail: "Copies of 64 MiB; bytes read and bytes written both count.".to_owned(),
            unreliable: disturbed.contains(&Workload::Memory),
        });
    }
    Section {
        title: "Peak rates of this machine",
        about: "large square matrix multiplications (GEMM), the fastest of several sizes, and copies of 64 MiB blocks".to_owned(),
        columns: std::iter::once(String::new()).chain(counts.iter().copied().map(threads_in_words)).collect(),
        lines,
        bars: "Bars: relative to the fastest multiplication and the fastest copy",
    }
}

fn pipeline(rows: &[Measurement], disturbed: &[Workload]) -> Section {
    let fastest = most(rows, |row| matches!(row, Measurement::Pipeline { .. }));
    let line = |row: &Measurement| match *row {
        Measurement::Pipeline {
            augmentation,
            threads,
            images_per_second,
        } => Some(Line {
            cells: vec![
                augmentation.label().into(),
                Cell::with_bar(rate(images_per_second), images_per_second, fastest),
            ],
            detail: format!(
                "{}, on {}.",
                work_detail(augmentation),
                threads_in_words(threads)
            ),
            unreliable: disturbed.contains(&Workload::Pipeline),
        }),
        _ => None,
    };
    Section {
        title: "Data pipeline",
        about: "augmenting training images and copying them into batches, which runs alongside training".to_owned(),
        columns: ["Augmentation", "images/s"].map(str::to_owned).to_vec(),
        lines: rows.iter().filter_map(line).collect(),
        bars: "Bars: relative to the fastest",
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

fn updates(rows: &[Measurement], disturbed: &[Workload]) -> Section {
    let slowest = most(rows, |row| matches!(row, Measurement::Update { .. }));
    let mut counted = 0;
    let line = |row: &Measurement| match *row {
        Measurement::Update {
            optimizer,
            parameters,
            threads,
            microseconds,
        } => {
            counted = parameters;
            let per_second = parameters as f64 / microseconds / 1e3;
            Some(Line {
                cells: vec![
                    optimizer.label().into(),
                    Cell::with_bar(micros(microseconds), microseconds, slowest),
                ],
                detail: format!(
                    "{} million parameters per millisecond on {}.",
                    significant(per_second / 1e3),
                    threads_in_words(threads)
                ),
                unreliable: disturbed.contains(&Workload::Updates),
            })
        }
        _ => None,
    };
    let lines = rows.iter().filter_map(line).collect();
    Section {
        title: "Optimizer updates",
        about: format!(
            "one update of {} parameters, on all threads",
            grouped(counted)
        ),
        columns: ["Optimizer", "time per update"].map(str::to_owned).to_vec(),
        lines,
        bars: "Bars: relative to the longest time",
    }
}

fn recognition(rows: &[Measurement], disturbed: &[Workload]) -> Section {
    let fastest = most(rows, |row| matches!(row, Measurement::ClassifyMany { .. }));
    let line = |&wanted: &ModelKind| {
        let (median, p99) = rows.iter().find_map(|row| match *row {
            Measurement::ClassifyOne {
                model,
                median_microseconds,
                p99_microseconds,
            } if model == wanted => Some((median_microseconds, p99_microseconds)),
            _ => None,
        })?;
        let many = rows
            .iter()
            .find(|row| matches!(row, Measurement::ClassifyMany { model, .. } if *model == wanted));
        let many = many.map_or_else(Cell::default, |many| {
            Cell::with_bar(rate(many.figure()), many.figure(), fastest)
        });
        Some(Line {
            cells: vec![
                wanted.label().into(),
                micros(median).into(),
                micros(p99).into(),
                many,
            ],
            detail: "From pixels to probabilities: one drawing at a time as on the canvas, and many images as in an evaluation."
                .to_owned(),
            unreliable: disturbed.contains(&Workload::Inference),
        })
    };
    Section {
        title: "Recognition",
        about: "one digit as on the canvas, without the time to draw it; many as in an evaluation, on all threads".to_owned(),
        columns: ["Network", "one digit, median", "99th percentile", "many, images/s"].map(str::to_owned).to_vec(),
        lines: ModelKind::ALL.iter().filter_map(line).collect(),
        bars: "Bars: relative to the fastest network",
    }
}

fn threads_in_words(threads: u32) -> String {
    count(threads.into(), "thread")
}

/// Every count of threads in these figures, in order.
fn thread_counts(rows: &[Measurement], of: impl Fn(&Measurement) -> bool) -> Vec<u32> {
    let of_kind = rows.iter().filter(|row| of(row));
    let mut counts: Vec<u32> = of_kind.filter_map(Measurement::threads).collect();
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// The greatest of these figures.
fn most(rows: &[Measurement], of: impl Fn(&Measurement) -> bool) -> f64 {
    let of_kind = rows.iter().filter(|row| of(row));
    of_kind.map(Measurement::figure).fold(0.0, f64::max)
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

fn training(rows: &[Measurement], disturbed: &[Workload]) -> Section {
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
        "Batch".to_owned(),
        "ms per step".to_owned(),
        images(1),
    ];
    if all > 1 {
        columns.extend([images(all), "Speedup".to_owned()]);
    } else {
        for line in &mut lines {
            line.cells.drain(4..6);
        }
    }
    columns.push("Of peak".to_owned());
    Section {
        title: "Training",
        about: "a step is forward pass, backward pass and AdamW update in the real training loop; peak is the throughput of a large f32 matrix multiplication (GEMM) on the same number of threads, measured alternately with the steps"
            .to_owned(),
        columns,
        lines,
        bars: "Bars: relative to the same network's fastest; in the last column, to 100%. A network can exceed it: gradients that max pooling makes zero are skipped",
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
            one.map_or_else(Cell::default, bar),
            bar(best),
            speed_up.into(),
            Cell::with_bar(percent(share, 0), share, 1.0),
        ],
        detail: format!(
            "{} GFLOP/s (nominal) in {precision}; an epoch of 60,000 images takes {}.",
            significant(gflops),
            duration(60_000.0 / images_per_second)
        ),
        unreliable: false,
    })
}

fn beside_plain_candle(rows: &[Measurement], disturbed: &[Workload]) -> Section {
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
                and AdamW; speed only, as max pooling in candle 0.11.1 passes on a quarter of its gradient"
            .to_owned(),
        columns: ["Network", "Batch", "candle, ms per step", "candle, images/s", "Inkling, images/s", "Speedup"].map(str::to_owned).to_vec(),
        lines: rows.iter().filter_map(line).collect(),
        bars: "Bars: relative to the faster of the two",
    }
}
