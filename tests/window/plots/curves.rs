//! The curves of a run: smoothed, thinned for display, read by the crosshair, and written as CSV.

use inkling::math::random::Random;
use inkling::records::{EpochRecord, JobId, StepPoint, Telemetry};
use inkling::run_config::RunConfig;
use inkling::window::plots::curves::{Curves, Pyramid, averaged};
use inkling::window::plots::readout::Readout;
use inkling::window::{History, RunView, RunningMean};

fn step(step: u64, loss: f32) -> StepPoint {
    StepPoint {
        step,
        loss,
        accuracy: 0.5,
        learning_rate: 0.001,
    }
}

fn run(id: u64, losses: &[f32]) -> RunView {
    let mut run = RunView::new(JobId(id), RunConfig::default());
    run.history.steps = losses
        .iter()
        .enumerate()
        .map(|(index, &loss)| step(index as u64 + 1, loss))
        .collect();
    run
}

#[test]
fn what_the_history_gains_is_appended() {
    let mut run = run(1, &[2.0, 1.0]);
    let mut curves = Curves::default();
    curves.sync(&run, 0.0);
    run.history.steps.push(step(3, 0.5));
    curves.sync(&run, 0.0);
    curves.sync(&run, 0.0);
    assert_eq!(
        curves.loss.raw.points(),
        [[1.0, 2.0], [2.0, 1.0], [3.0, 0.5]]
    );
    assert_eq!(
        curves.loss.smooth.points(),
        curves.loss.raw.points(),
        "without smoothing the two agree"
    );
    assert_eq!(curves.last_step(), 3.0);
}

#[test]
fn a_resumed_run_goes_on_in_means_of_as_many_steps_as_it_begins_with() {
    let mut run = run(1, &[]);
    run.history.steps = [(2, 3.0), (4, 2.0), (5, 1.5), (6, 0.5), (7, 0.25)]
        .map(|(number, loss)| step(number, loss))
        .to_vec();
    let mut curves = Curves::default();
    curves.sync(&run, 0.0);
    assert_eq!(
        curves.loss.raw.points(),
        [[2.0, 3.0], [4.0, 2.0], [6.0, 1.0]]
    );
    run.history.steps.push(step(8, 0.75));
    curves.sync(&run, 0.0);
    assert_eq!(curves.loss.raw.points().last(), Some(&[8.0, 0.5]));
}

#[test]
fn smoothing_is_a_bias_corrected_running_mean_and_follows_its_slider() {
    let run = run(1, &[4.0, 2.0]);
    let mut curves = Curves::default();
    curves.sync(&run, 0.5);
    // By hand: means 2 and 2, weights 1/2 and 3/4.
    assert_eq!(curves.loss.smooth.points(), [[1.0, 4.0], [2.0, 2.0 / 0.75]]);
    curves.sync(&run, 0.0);
    assert_eq!(curves.loss.smooth.points(), [[1.0, 4.0], [2.0, 2.0]]);
}

#[test]
fn another_run_starts_afresh() {
    let mut curves = Curves::default();
    curves.sync(&run(1, &[2.0, 1.0, 0.5]), 0.0);
    curves.sync(&run(2, &[3.0]), 0.0);
    assert_eq!(curves.loss.raw.points(), [[1.0, 3.0]]);
}

#[test]
fn the_crosshair_reads_every_curve_with_units() {
    let mut run = run(1, &[2.0, 1.0, 0.5, 0.4]);
    run.history.epochs.push(EpochRecord {
        epoch: 1,
        step: 2,
        train_loss: 1.5,
        train_accuracy: 0.4,
        validation_loss: 0.9,
        validation_accuracy: 0.75,
        seconds: 1.0,
    });
    run.history.telemetry.push(Telemetry {
        step: 3,
        images_per_second: 1234.0,
        memory_bytes: 100 << 20,
        ..Telemetry::default()
    });
    let mut curves = Curves::default();
    curves.sync(&run, 0.0);
    let early = Readout::at(&curves, 1.2, 2.0).unwrap();
    assert_eq!(early.place, "Step 1, epoch 0.50");
    assert!(
        !early.sentence().contains("validation"),
        "before the first epoch there is no validation figure: {}",
        early.sentence()
    );
    let late = Readout::at(&curves, 3.0, 2.0).unwrap().sentence();
    for figure in [
        "training loss, smoothed 0.5 nats",
        "validation loss 0.9 nats",
        "validation accuracy 75.00%",
        "throughput 1234 images/s",
        "memory 100 MiB",
    ] {
        assert!(late.contains(figure), "{figure} is not in: {late}");
    }
    assert_eq!(Readout::at(&Curves::default(), 1.0, 1.0), None);
}

/// A noisy curve with one spike.
fn noisy_curve(points: usize, spike: usize) -> (Pyramid, Vec<[f64; 2]>) {
    let mut random = Random::new(7);
    let mut pyramid = Pyramid::default();
    let mut all = Vec::new();
    for index in 0..points {
        let value = if index == spike {
            50.0
        } else {
            f64::from(random.uniform())
        };
        pyramid.push(index as f64, value);
        all.push([index as f64, value]);
    }
    (pyramid, all)
}

#[test]
fn few_points_come_back_as_they_went_in() {
    let (pyramid, all) = noisy_curve(300, 20);
    assert_eq!(pyramid.visible(f64::NEG_INFINITY, f64::INFINITY, 1000), all);
}

#[test]
fn many_points_are_thinned_in_order_with_extremes_and_the_newest_kept() {
    for (points, spike) in [
        (37_000, 12_345),
        (37_001, 36_999),
        (4_097, 0),
        (65_536, 65_535),
    ] {
        let (pyramid, all) = noisy_curve(points, spike);
        let thinned = pyramid.visible(f64::NEG_INFINITY, f64::INFINITY, 1000);
        assert!(thinned.len() <= 1000 + 40, "{} of {points}", thinned.len());
        assert!(thinned.len() > 200, "{} of {points}", thinned.len());
        assert!(thinned.windows(2).all(|pair| pair[0][0] < pair[1][0]));
        assert!(
            thinned.contains(&all[spike]),
            "the spike at {spike} of {points} is lost"
        );
        assert_eq!(thinned.last(), all.last());
        assert!(
            thinned.iter().all(|point| all[point[0] as usize] == *point),
            "points are measured ones, not means"
        );
    }
}

#[test]
fn zooming_in_brings_every_point_back() {
    let (pyramid, all) = noisy_curve(37_000, 5);
    assert_eq!(
        pyramid.visible(20_000.0, 20_100.0, 1000),
        all[19_999..=20_101]
    );
}

#[test]
fn a_view_beside_the_curve_shows_at_most_its_end() {
    let (pyramid, _) = noisy_curve(100, 5);
    assert!(pyramid.visible(500.0, 600.0, 1000).len() <= 1);
    assert!(Pyramid::default().visible(0.0, 1.0, 10).is_empty());
}

#[test]
fn the_nearest_point_is_found_and_what_is_no_number_left_out() {
    let mut pyramid = Pyramid::default();
    for (x, y) in [(1.0, 0.5), (2.0, f64::NAN), (10.0, 0.25)] {
        pyramid.push(x, y);
    }
    assert_eq!(pyramid.len(), 2);
    assert_eq!(pyramid.nearest(4.0), Some([1.0, 0.5]));
    assert_eq!(pyramid.nearest(99.0), Some([10.0, 0.25]));
    assert_eq!(Pyramid::default().nearest(0.0), None);
}

fn smoothed(values: impl Iterator<Item = f64>, smoothing: f64) -> Vec<f64> {
    let mut mean = RunningMean::default();
    values.map(|value| mean.take(value, smoothing)).collect()
}

#[test]
fn smoothing_keeps_a_constant_and_without_it_nothing_changes() {
    let constant = smoothed(std::iter::repeat_n(0.7, 50), 0.95);
    assert!(
        constant.iter().all(|value| (value - 0.7).abs() < 1e-12),
        "bias-corrected from the first value on"
    );
    let values = [3.0, 1.0, 2.0];
    assert_eq!(smoothed(values.into_iter(), 0.0), values);
}

#[test]
fn smoothing_is_the_weighted_mean_it_claims_to_be() {
    let smoothed = smoothed([1.0, 0.0, 4.0].into_iter(), 0.5);
    // Weights 1/2, 1/4, 1/8 from the newest back, divided by their sum.
    let third = (4.0 * 0.5 + 0.0 * 0.25 + 1.0 * 0.125) / 0.875;
    for (got, want) in smoothed.iter().zip([1.0, 0.25 / 0.75, third]) {
        assert!((got - want).abs() < 1e-12, "{smoothed:?}");
    }
}

#[test]
fn the_csv_holds_every_step_and_epoch_in_columns() {
    let mut history = History::default();
    for step in 1..=3 {
        history.steps.push(StepPoint {
            step,
            loss: 1.5,
            accuracy: 0.25,
            learning_rate: 0.01,
        });
    }
    history.epochs.push(EpochRecord {
        epoch: 1,
        step: 3,
        train_loss: 1.5,
        train_accuracy: 0.25,
        validation_loss: 1.25,
        validation_accuracy: 0.5,
        seconds: 2.0,
    });
    let text = history.csv();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let column = |name: &str| headers.iter().position(|header| header == name).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 4);
    assert_eq!(&rows[1][column("kind")], "step");
    assert_eq!(&rows[1][column("step")], "2");
    assert_eq!(&rows[1][column("train_loss")], "1.5");
    assert_eq!(&rows[3][column("kind")], "epoch");
    assert_eq!(&rows[3][column("validation_accuracy")], "0.5");
    assert_eq!(&rows[3][column("learning_rate")], "");
}

#[test]
fn a_line_of_many_points_is_drawn_through_their_means() {
    let line: Vec<[f64; 2]> = (0..1000).map(|x| [x.into(), (x % 2).into()]).collect();
    let drawn = averaged(&line, 100);
    assert_eq!(drawn.len(), 102);
    assert_eq!((drawn[0], drawn[101]), (line[0], line[999]));
    assert!(drawn[1..101].iter().all(|[_, y]| *y == 0.5), "{drawn:?}");
    assert_eq!(drawn[1][0], 4.5);
    assert_eq!(averaged(&line, 1000), line);
}
