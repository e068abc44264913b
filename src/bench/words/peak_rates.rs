//! What the machine can do at most: matrix products and memory copies.

use super::{most, thread_counts, threads_in_words};
use crate::records::benchmark::{Row, Subject};
use crate::run_config::Precision;
use crate::text::format::significant;
use crate::text::table::{Cell, Line, Section};

pub(super) fn section(rows: &[Row], disturbed: &[Subject]) -> Section {
    let counts = thread_counts(rows, |row| match row {
        Row::Product { threads, .. } | Row::Memory { threads, .. } => Some(*threads),
        _ => None,
    });
    let fastest = most(rows, |row| match row {
        Row::Product { gflops, .. } => Some(*gflops),
        _ => None,
    });
    let most_copied = most(rows, |row| match row {
        Row::Memory {
            gigabytes_per_second,
            ..
        } => Some(*gigabytes_per_second),
        _ => None,
    });
    let mut lines = Vec::new();
    for &precision in Precision::ALL {
        let product = |wanted: u32| {
            rows.iter().find_map(|row| match row {
                Row::Product {
                    precision: this,
                    threads,
                    gflops,
                    size,
                } if *this == precision && *threads == wanted => Some((*gflops, *size)),
                _ => None,
            })
        };
        let found: Vec<_> = counts.iter().map(|&count| product(count)).collect();
        if let Some((_, size)) = found.iter().flatten().last() {
            let figures = found.iter().map(|rate| {
                rate.map_or_else(Cell::default, |(rate, _)| {
                    Cell::with_bar(format!("{} GFLOP/s", significant(rate)), rate, fastest)
                })
            });
            let name = format!("Matrix products, {}", precision.name());
            let detail = format!(
                "Fastest large square product ({size} × {size}): billions of multiplications and additions of {} numbers per second.",
                precision.name()
            );
            lines.push(Line {
                cells: std::iter::once(name.into()).chain(figures).collect(),
                detail,
                unreliable: disturbed.contains(&Subject::Products),
            });
        }
    }
    let copied = |wanted: u32| {
        rows.iter().find_map(|row| match row {
            Row::Memory {
                threads,
                gigabytes_per_second,
            } if *threads == wanted => Some(*gigabytes_per_second),
            _ => None,
        })
    };
    let found: Vec<_> = counts.iter().map(|&count| copied(count)).collect();
    if found.iter().any(Option::is_some) {
        let figures = found.iter().map(|rate| {
            rate.map_or_else(Cell::default, |rate| {
                Cell::with_bar(format!("{} GB/s", significant(rate)), rate, most_copied)
            })
        });
        let detail = "Copies of 64 MiB; bytes read and bytes written both count.".to_owned();
        lines.push(Line {
            cells: std::iter::once("Memory copies".into())
                .chain(figures)
                .collect(),
            detail,
            unreliable: disturbed.contains(&Subject::Memory),
        });
    }
    Section {
        title: "Peak rates of this machine",
        about: "large square matrix products (GEMM), the fastest of several sizes, and copies of 64 MiB blocks".to_owned(),
        columns: std::iter::once(String::new()).chain(counts.into_iter().map(threads_in_words)).collect(),
        lines,
        bars: "Bars: share of the fastest products, and of the fastest copies",
    }
}
