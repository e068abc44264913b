//! The benchmark: what it measures, its words, and where it is kept.

use std::ops::ControlFlow;

use inkling::bench::{
    BATCH_SIZES, Extent, Listener, Progress, Row, compare_batch_sizes, heading, latest, measure, save, sections, sweet_spot, text,
};
use inkling::run_config::{ModelKind, Precision, RunConfig};

use crate::fake_engine::report;

/// Listens until so many figures were found.
#[derive(Default)]
struct Until {
    figures: usize,
    found: Vec<Row>,
    fractions: Vec<f32>,
}

impl Listener for Until {
    fn attend(&mut self, progress: Progress) -> ControlFlow<()> {
        self.fractions.push(progress.fraction);
        assert!(progress.remaining_seconds >= 0.0);
        if self.found.len() >= self.figures { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn found(&mut self, row: &Row) {
        self.found.push(*row);
    }
}

#[test]
fn products_and_memory_come_first_and_breaking_off_leaves_nothing() {
    let mut until = Until { figures: 1, ..Until::default() };
    assert_eq!(measure(Extent::Quick, &mut until).unwrap(), None);
    assert!(
        matches!(until.found[0], Row::Product { precision: Precision::F32, threads: 1, gflops, .. } if gflops > 0.1),
        "{:?}",
        until.found
    );
    assert!(until.fractions.is_sorted(), "progress never goes back");
    assert!(until.fractions.iter().all(|fraction| (0.0..=1.0).contains(fraction)));
}

#[test]
fn a_report_is_kept_whole_and_the_newest_is_found_again() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(latest(folder.path()), None);
    assert_eq!(latest(&folder.path().join("not there")), None);
    let mut newer = report();
    let first = save(folder.path(), &newer).unwrap();
    let again = save(folder.path(), &newer).unwrap();
    assert_ne!(first, again, "a report never replaces another");
    newer.measured_at = "2027-01-02T03:04:05Z".to_owned();
    let saved = save(folder.path(), &newer).unwrap();
    std::fs::write(folder.path().join("zzz.json"), "{}").unwrap();
    assert_eq!(latest(folder.path()), Some((newer.clone(), saved.clone())));
    assert_eq!(std::fs::read_to_string(saved.text).unwrap(), text(&newer));
    newer.version += 1;
    newer.measured_at = "2028-01-02T03:04:05Z".to_owned();
    save(folder.path(), &newer).unwrap();
    assert_eq!(latest(folder.path()).unwrap().1.json, saved.json, "a report of a newer version is left alone");
}

#[test]
fn a_report_that_cannot_be_written_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a file");
    std::fs::write(&file, "").unwrap();
    let problem = save(&file, &report()).unwrap_err();
    assert!(problem.to_string().contains("a file"), "{problem}");
}

#[test]
fn the_table_has_units_and_every_line_as_many_cells_as_columns() {
    let report = report();
    for section in sections(&report.rows) {
        assert!(!section.about.is_empty());
        for line in &section.lines {
            assert_eq!(line.cells.len(), section.columns.len(), "{section:?}");
            assert!(line.detail.ends_with('.'), "{line:?}");
        }
    }
    let text = text(&report);
    for part in
        ["A processor", "2 threads", "AVX2", "100 GFLOP/s", "200 GFLOP/s", "5,000", "2.00x", "ConvNet, bf16", "120 µs", "250 µs", "70 %"]
    {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    assert!(heading(&report)[0].contains("2026"));
}

#[test]
fn a_machine_of_one_core_has_no_column_for_two() {
    let mut report = report();
    report.rows.retain(|row| !matches!(row, Row::Product { threads: 2, .. } | Row::Step { threads: 2, .. }));
    let training = sections(&report.rows).into_iter().find(|section| section.title == "Training").unwrap();
    assert_eq!(training.columns.iter().filter(|column| column.contains("images/s")).count(), 1);
    assert!(training.lines.iter().all(|line| line.cells.len() == training.columns.len()));
}

#[test]
fn the_cost_of_a_number_format_is_that_of_its_steps() {
    let mut report = report();
    assert_eq!(report.step_cost(Precision::F32), Some(1.0));
    assert!((report.step_cost(Precision::Bf16).unwrap() - 2.0).abs() < 1e-9);
    assert_eq!(report.step_cost(Precision::F16), None);
    report.rows.retain(|row| !matches!(row, Row::Step { precision: Precision::F32, threads: 2, .. }));
    assert_eq!(report.step_cost(Precision::Bf16), None, "nothing to compare with");
    let share = report.rows.iter().find_map(Row::share_of_product).unwrap();
    assert!((share - 2500.0 * 0.0279 / 100.0).abs() < 1e-9);
    assert!(sections(&report.rows).iter().any(|section| section.lines.iter().any(|line| line.cells[0] == ModelKind::ConvNet.label())));
}

fn step(batch_size: u32, images_per_second: f64) -> Row {
    let (model, precision, threads) = (ModelKind::Mlp, Precision::F32, 1);
    Row::Step { model, precision, batch_size, threads, milliseconds: 1.0, images_per_second, gflops: 1.0, product_gflops: 1.0 }
}

#[test]
fn the_smallest_batch_that_is_as_fast_as_any_is_enough() {
    assert_eq!(sweet_spot(&[]), None);
    assert_eq!(sweet_spot(&[step(32, 100.0), step(64, 180.0), step(128, 196.0), step(256, 200.0)]), Some(128));
    assert_eq!(sweet_spot(&[step(256, 200.0), step(32, 199.0)]), Some(32));
}

#[test]
fn batch_sizes_are_compared_and_the_comparison_can_be_broken_off() {
    let config = RunConfig { model: ModelKind::Mlp, threads: Some(1), ..RunConfig::default() };
    let mut all = Until { figures: BATCH_SIZES.len() + 1, ..Until::default() };
    let rows = compare_batch_sizes(&config, &mut all).unwrap().unwrap();
    assert_eq!(rows, all.found);
    let sizes: Vec<u32> = rows
        .iter()
        .map(|row| match *row {
            Row::Step { model: ModelKind::Mlp, batch_size, images_per_second, .. } if images_per_second > 10.0 => batch_size,
            row => panic!("{row:?}"),
        })
        .collect();
    assert_eq!(sizes, BATCH_SIZES);
    assert!(all.fractions.is_sorted());
    assert_eq!(compare_batch_sizes(&config, &mut Until::default()).unwrap(), None);
}
