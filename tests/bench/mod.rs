//! The benchmark: what it measures, its words, and where it is saved.

mod plain_candle;
mod profile;

use inkling::bench::{
    Listener, batch_sizes, compare, devices, disturbance, fastest, heading, latest, measure, rates,
    save, sections, sweet_spot, text,
};
use inkling::nn::DeviceContext;
use inkling::problem::Problem;
use inkling::progress::Cancelled;
use inkling::records::benchmark::{
    BATCH_SIZES, BenchmarkReport, Effort, JobProgress, Measurement, Workload,
};
use inkling::run_config::{ConfigError, DeviceChoice, ModelKind, Precision, RunConfig};

use crate::fake_device::candle;
use crate::fake_engine::report;

/// Listens until this many figures have been found.
#[derive(Default)]
struct Until {
    figures: usize,
    found: Vec<Measurement>,
    fractions: Vec<f32>,
}

impl Listener for Until {
    fn report(&mut self, progress: JobProgress) -> Result<(), Cancelled> {
        self.fractions.push(progress.fraction);
        assert!(progress.remaining_seconds.unwrap() >= 0.0);
        if self.found.len() >= self.figures {
            Err(Cancelled)
        } else {
            Ok(())
        }
    }

    fn found(&mut self, row: &Measurement) {
        self.found.push(*row);
    }
}

#[test]
fn products_and_memory_come_first_and_cancelling_leaves_nothing() {
    let mut until = Until {
        figures: 1,
        ..Until::default()
    };
    assert_eq!(
        measure(Effort::Quick, &mut until),
        Err(Problem::from(Cancelled))
    );
    assert!(
        matches!(until.found[0], Measurement::Product { precision: Precision::F32, threads: 1, gflops, .. } if gflops > 0.1),
        "{:?}",
        until.found
    );
    assert!(until.fractions.is_sorted(), "progress never goes back");
    assert!(
        until
            .fractions
            .iter()
            .all(|fraction| (0.0..=1.0).contains(fraction))
    );
}

#[test]
fn a_report_is_saved_whole_and_the_newest_is_found_again() {
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
    assert_eq!(
        latest(folder.path()).unwrap().1.json,
        saved.json,
        "a report of a newer version is left alone"
    );
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
    for section in sections(&report.rows, &[]) {
        assert!(!section.about.is_empty());
        for line in &section.lines {
            assert_eq!(line.cells.len(), section.columns.len(), "{section:?}");
            assert!(line.detail.ends_with('.'), "{line:?}");
        }
    }
    let text = text(&report);
    for part in [
        "A processor",
        "2 threads",
        "AVX2",
        "100 GFLOP/s",
        "200 GFLOP/s",
        "5,000",
        "2.00×",
        "ConvNet, bf16",
        "120 µs",
        "250 µs",
        "70%",
        "plain candle",
        "4,800",
        "12.0×",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    assert!(heading(&report)[0].contains("2026"));
}

#[test]
fn bars_are_as_long_as_their_figures_and_every_table_with_bars_says_of_what() {
    let report = report();
    let sections = sections(&report.rows, &[]);
    let bars = |title: &str, name: &str| -> Vec<Option<f64>> {
        let section = sections
            .iter()
            .find(|section| section.title == title)
            .unwrap();
        section
            .lines
            .iter()
            .find(|line| line.cells[0].text == name)
            .unwrap()
            .cells
            .iter()
            .map(|cell| cell.bar)
            .collect()
    };
    assert_eq!(
        bars("Peak rates of this machine", "Matrix multiplication, f32"),
        [None, Some(0.5), Some(1.0)]
    );
    let [.., one, all, _, peak] = bars("Training", "ConvNet")[..] else {
        panic!("too few columns")
    };
    assert_eq!((all, one), (Some(1.0), Some(0.5)));
    assert!((peak.unwrap() - 0.7).abs() < 0.005, "{peak:?}");
    assert_eq!(bars("Compared with plain candle", "ConvNet")[4], Some(1.0));
    for section in &sections {
        let some = section
            .lines
            .iter()
            .flat_map(|line| &line.cells)
            .any(|cell| cell.bar.is_some());
        assert!(!some || section.bars.starts_with("Bars: "), "{section:?}");
    }
}

#[test]
fn figures_of_a_busy_machine_are_marked_and_why_is_said() {
    let calm = report();
    assert!(!text(&calm).contains('~') && disturbance(&calm).is_none());
    let busy = BenchmarkReport {
        background_load: 0.43,
        disturbed: vec![Workload::Steps(ModelKind::ConvNet), Workload::Memory],
        ..calm
    };
    let text = text(&busy);
    assert!(
        text.contains("Other programs used 43% of the CPU."),
        "{text}"
    );
    let marked: Vec<&str> = text
        .lines()
        .filter(|line| line.trim_start().starts_with('~'))
        .collect();
    assert!(
        marked
            .iter()
            .all(|line| line.contains("ConvNet") || line.contains("Memory copies")),
        "{marked:?}"
    );
    assert!(marked.len() >= 2, "{text}");
}

#[test]
fn a_machine_of_one_core_has_no_column_for_two() {
    let mut report = report();
    report.rows.retain(|row| {
        !matches!(
            row,
            Measurement::Product { threads: 2, .. } | Measurement::Step { threads: 2, .. }
        )
    });
    let training = sections(&report.rows, &[])
        .into_iter()
        .find(|section| section.title == "Training")
        .unwrap();
    assert_eq!(
        training
            .columns
            .iter()
            .filter(|column| column.contains("images/s"))
            .count(),
        1
    );
    assert!(
        training
            .lines
            .iter()
            .all(|line| line.cells.len() == training.columns.len())
    );
}

#[test]
fn the_cost_of_a_number_format_is_that_of_its_steps() {
    let mut report = report();
    assert_eq!(report.step_cost(Precision::F32), Some(1.0));
    assert!((report.step_cost(Precision::Bf16).unwrap() - 2.0).abs() < 1e-9);
    assert_eq!(report.step_cost(Precision::F16), None);
    report.rows.retain(|row| {
        !matches!(
            row,
            Measurement::Step {
                precision: Precision::F32,
                threads: 2,
                ..
            }
        )
    });
    assert_eq!(
        report.step_cost(Precision::Bf16),
        None,
        "nothing to compare with"
    );
    let share = report
        .rows
        .iter()
        .find_map(Measurement::share_of_product)
        .unwrap();
    assert!((share - 2500.0 * 0.0279 / 100.0).abs() < 1e-9);
    assert!(sections(&report.rows, &[]).iter().any(|section| {
        section
            .lines
            .iter()
            .any(|line| line.cells[0].text == ModelKind::ConvNet.label())
    }));
}

fn step(device: DeviceChoice, batch_size: u32, images_per_second: f64) -> Measurement {
    let (model, precision, threads) = (ModelKind::Mlp, Precision::F32, 1);
    Measurement::Step {
        model,
        device,
        precision,
        batch_size,
        threads,
        milliseconds: 1.0,
        images_per_second,
        gflops: 1.0,
        product_gflops: 1.0,
    }
}

#[test]
fn the_smallest_batch_that_is_as_fast_as_any_is_enough() {
    let step = |batch_size, rate| step(DeviceChoice::Cpu, batch_size, rate);
    assert_eq!(sweet_spot(&[]), None);
    assert_eq!(
        sweet_spot(&[
            step(32, 100.0),
            step(64, 180.0),
            step(128, 196.0),
            step(256, 200.0)
        ]),
        Some(128)
    );
    assert_eq!(sweet_spot(&[step(256, 200.0), step(32, 199.0)]), Some(32));
}

#[test]
fn the_first_side_that_is_as_fast_as_any_is_the_fastest() {
    let of = |device, rate| step(device, 64, rate);
    let fastest = |rows: &[Measurement]| fastest(rows).map(|step_config| step_config.device);
    assert_eq!(fastest(&[]), None);
    assert_eq!(
        fastest(&[of(DeviceChoice::Cpu, 100.0), of(DeviceChoice::Cuda, 900.0)]),
        Some(DeviceChoice::Cuda)
    );
    assert_eq!(
        fastest(&[of(DeviceChoice::Cpu, 99.0), of(DeviceChoice::Cuda, 100.0)]),
        Some(DeviceChoice::Cpu)
    );
}

/// Opens every device but Metal; all but the CPU itself are the reference backend on the CPU.
fn open(device: DeviceChoice) -> Result<DeviceContext, ConfigError> {
    match device {
        DeviceChoice::Cpu => Ok(DeviceContext::CPU),
        DeviceChoice::Cuda => Ok(candle()),
        device => Err(ConfigError::DeviceUnavailable {
            device,
            reason: "it fell out.".to_owned(),
        }),
    }
}

#[test]
fn batch_sizes_are_compared_and_the_comparison_can_be_cancelled() {
    let config = RunConfig {
        model: ModelKind::Mlp,
        threads: Some(1),
        ..RunConfig::default()
    };
    let step_configs = batch_sizes(&config);
    let mut all = Until {
        figures: BATCH_SIZES.len() + 1,
        ..Until::default()
    };
    let (failed, _) = compare(&config, &step_configs, &open, &mut all).unwrap();
    assert!(failed.is_empty(), "{failed:?}");
    assert!(
        rates(&all.found).all(|(_, rate)| rate > 10.0),
        "{:?}",
        all.found
    );
    assert_eq!(
        rates(&all.found)
            .map(|(step_config, _)| step_config)
            .collect::<Vec<_>>(),
        step_configs
    );
    assert_eq!(
        step_configs
            .iter()
            .map(|step_config| step_config.batch_size)
            .collect::<Vec<_>>(),
        BATCH_SIZES
    );
    assert!(all.fractions.is_sorted());
    assert_eq!(
        compare(&config, &step_configs, &open, &mut Until::default()),
        Err(Problem::from(Cancelled))
    );
}

#[test]
fn devices_are_compared_in_every_format_and_one_that_fails_leaves_the_others_alone() {
    let config = RunConfig {
        model: ModelKind::Mlp,
        threads: Some(2),
        ..RunConfig::default()
    };
    let formats: Vec<_> = Precision::on(DeviceChoice::Cpu).collect();
    let alone = devices(&config, &[(DeviceChoice::Cpu, formats.clone())]);
    assert_eq!(
        alone
            .iter()
            .map(|step_config| (step_config.precision, step_config.threads))
            .collect::<Vec<_>>(),
        {
            let mut all: Vec<_> = formats.iter().map(|&precision| (precision, 2)).collect();
            all.push((config.precision, 1));
            all
        }
    );
    let one_thread = RunConfig {
        threads: Some(1),
        ..config.clone()
    };
    assert_eq!(
        devices(&one_thread, &[(DeviceChoice::Cpu, formats.clone())]).len(),
        formats.len()
    );
    let f32_on = |device| (device, vec![Precision::F32]);
    let step_configs = devices(
        &config,
        &[DeviceChoice::Cpu, DeviceChoice::Cuda, DeviceChoice::Metal].map(f32_on),
    );
    assert_eq!(step_configs.len(), 3);
    let mut all = Until {
        figures: 9,
        ..Until::default()
    };
    let (failed, _) = compare(&config, &step_configs, &open, &mut all).unwrap();
    assert_eq!(
        rates(&all.found)
            .map(|(step_config, _)| step_config.device)
            .collect::<Vec<_>>(),
        [DeviceChoice::Cpu, DeviceChoice::Cuda]
    );
    assert!(
        rates(&all.found).all(|(_, rate)| rate > 10.0 && rate.is_finite()),
        "{:?}",
        all.found
    );
    assert!(all.found[0].share_of_product().is_some() && all.found[1].share_of_product().is_none());
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0].0.device, DeviceChoice::Metal);
}

#[test]
fn more_threads_show_the_serial_fraction_and_what_more_cores_would_bring() {
    let step = |threads, images_per_second| Measurement::Step {
        model: ModelKind::Speedrun,
        device: DeviceChoice::Cpu,
        precision: Precision::F32,
        batch_size: 256,
        threads,
        milliseconds: 256e3 / images_per_second,
        images_per_second,
        gflops: 1.0,
        product_gflops: 2.0,
    };
    let scaling = |rows: &[Measurement]| {
        sections(rows, &[])
            .into_iter()
            .find(|section| section.title == "Scaling")
    };
    assert!(scaling(&[step(1, 1000.0)]).is_none(), "nothing to compare");
    // By Amdahl's law, with a tenth that is serial.
    let rows =
        [(1, 1.0), (2, 0.55), (4, 0.325)].map(|(threads, time)| step(threads, 1000.0 / time));
    let found = scaling(&rows).unwrap();
    let cells: Vec<&str> = found.lines[0]
        .cells
        .iter()
        .map(|cell| cell.text.as_str())
        .collect();
    assert_eq!(
        cells,
        [
            "Speedrun", "1,000", "1,818", "3,077", "10%", "4.7×", "6.4×", "7.8×"
        ]
    );
    assert_eq!(found.columns.len(), cells.len());
    assert_eq!(found.columns[5], "8 cores");
    let perfect = [(1, 1000.0), (16, 16_100.0)].map(|(threads, images)| step(threads, images));
    let cells = &scaling(&perfect).unwrap().lines[0].cells;
    assert_eq!((&*cells[3].text, &*cells[4].text), ("0%", "32.0×"));
}
