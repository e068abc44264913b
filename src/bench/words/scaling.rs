//! How training steps get faster with more threads, and how fast they would be with more than there
//! are.

use super::{most, rate, thread_counts, threads_in_words};
use crate::records::benchmark::{Measurement, Workload};
use crate::run_config::{ModelKind, Precision};
use crate::text::format::percent;
use crate::text::table::{Cell, Line, Section};

/// Numbers of cores for which the speedup is predicted if the machine has fewer.
const PREDICTED: [u32; 3] = [8, 16, 32];

/// The steps in f32 of each network that was measured on several numbers of threads.
pub(super) fn scaling(rows: &[Measurement], disturbed: &[Workload]) -> Section {
    let counts = thread_counts(rows, |row| matches!(row, Measurement::Step { .. }));
    let all = counts.last().copied().unwrap_or(1);
    let predicted: Vec<u32> = PREDICTED.into_iter().filter(|&cores| cores > all).collect();
    let line = |&wanted: &ModelKind| {
        let is_wanted = |row: &&Measurement| matches!(row, Measurement::Step { model, precision: Precision::F32, .. } if *model == wanted);
        let steps: Vec<&Measurement> = rows.iter().filter(is_wanted).collect();
        let rates: Vec<(u32, f64)> = steps
            .iter()
            .filter_map(|row| Some((row.threads()?, row.figure())))
            .collect();
        let serial = serial_fraction(&rates)?;
        let fastest = most(rows, |row| is_wanted(&row));
        let measured = counts.iter().map(|&count| {
            let found = rates.iter().find(|(threads, _)| *threads == count);
            found.map_or_else(Cell::default, |&(_, images)| {
                Cell::with_bar(rate(images), images, fastest)
            })
        });
        let predictions = predicted
            .iter()
            .map(|&cores| format!("{:.1}×", speedup(serial, cores)).into());
        Some(Line {
            cells: std::iter::once(wanted.label().into())
                .chain(measured)
                .chain([percent(serial, 0).into()])
                .chain(predictions)
                .collect(),
            detail: format!(
                "{} of the time on one thread does not get shorter with more threads. `inkling profile` shows which layers keep threads waiting.",
                percent(serial, 1)
            ),
            unreliable: disturbed.contains(&Workload::Steps(wanted)),
        })
    };
    let columns = counts
        .iter()
        .map(|&count| format!("images/s, {}", threads_in_words(count)));
    let of_predictions = predicted.iter().map(|cores| format!("{cores} cores"));
    Section {
        title: "Scaling",
        about: "training steps in f32 by threads; the serial fraction is what Amdahl's law leaves on one thread, including what waits for memory; speedups on more cores than there are follow from it"
            .to_owned(),
        columns: std::iter::once("Network".to_owned())
            .chain(columns)
            .chain(["Serial".to_owned()])
            .chain(of_predictions)
            .collect(),
        lines: ModelKind::ALL.iter().filter_map(line).collect(),
        bars: "Bars: relative to the same network's fastest",
    }
}

/// The serial fraction *s* for which Amdahl's law, *tₙ / t₁ = s + (1 − s) / n* (Amdahl 1967), is
/// closest to these rates by threads, by least squares; `None` without one thread and another
/// number.
fn serial_fraction(rates: &[(u32, f64)]) -> Option<f64> {
    let (_, one) = *rates.iter().find(|(threads, _)| *threads == 1)?;
    let (mut products, mut squares) = (0.0, 0.0);
    for &(threads, images) in rates {
        let ideal = 1.0 / f64::from(threads);
        products += (one / images - ideal) * (1.0 - ideal);
        squares += (1.0 - ideal).powi(2);
    }
    (squares > 0.0).then(|| (products / squares).clamp(0.0, 1.0))
}

/// How many times as fast as on one core it is on this many, by Amdahl's law.
fn speedup(serial: f64, cores: u32) -> f64 {
    1.0 / (serial + (1.0 - serial) / f64::from(cores))
}
