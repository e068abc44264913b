//! The curves of a run and what the crosshair reads from them.

use inkling::records::{EpochRecord, JobId, StepPoint, Telemetry};
use inkling::run_config::RunConfig;
use inkling::window::RunView;
use inkling::window::plots::curves::Curves;
use inkling::window::plots::readout::Readout;

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
        "validation accuracy 75.00 %",
        "throughput 1234 images/s",
        "memory 100 MiB",
    ] {
        assert!(late.contains(figure), "{figure} is not in: {late}");
    }
    assert_eq!(Readout::at(&Curves::default(), 1.0, 1.0), None);
}
