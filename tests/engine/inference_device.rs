//! Where the engine's model reads: compared with the processor, used where it reads as well, left
//! where it does not.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use inkling::engine::Devices;
use inkling::infer::{COMPARED_IMAGES, DeviceComparison, DeviceRejection, TOLERANCE};
use inkling::protocol::{Command, Event, JobEvent};
use inkling::records::{JobId, ModelRef, Prediction};
use inkling::run_config::{DeviceChoice, InferenceChoice, RunConfig};

use super::work::{Bench, bench_with};
use super::{drawing_read, read_stroke};
use crate::fake_device::{FakeDevices, Script};
use crate::jobs::{failure, finished};

/// An engine on these devices.
fn engine(devices: FakeDevices) -> Bench {
    bench_with(8, 2, Arc::new(devices) as Arc<dyn Devices>)
}

fn ask(bench: &Bench, choice: InferenceChoice) {
    bench.handle.send(Command::ChooseInferenceDevice {
        choice,
        usable: vec![DeviceChoice::Cuda],
    });
}

fn reported(bench: &Bench) -> DeviceComparison {
    bench.until(|event| {
        if let Event::InferenceDevice(report) = event {
            Some(report)
        } else {
            None
        }
    })
}

fn read(bench: &Bench, wanted: u64) -> Prediction {
    bench.handle.send(read_stroke(wanted));
    bench.until(|event| match event {
        Event::Job {
            event: JobEvent::Failed(problem),
            ..
        } => panic!("{problem}"),
        event => drawing_read(event)
            .filter(|(request, _)| *request == wanted)
            .map(|(_, prediction)| prediction),
    })
}

/// What an engine finds whose device follows this script.
fn found(script: Script, choice: InferenceChoice) -> (Bench, DeviceComparison) {
    let bench = engine(FakeDevices::new(script));
    ask(&bench, choice);
    let report = reported(&bench);
    (bench, report)
}

#[test]
fn with_nothing_but_a_processor_its_speed_is_measured() {
    let bench = engine(FakeDevices::new(Script::Absent));
    bench.handle.send(Command::ChooseInferenceDevice {
        choice: InferenceChoice::Automatic,
        usable: Vec::new(),
    });
    let report = reported(&bench);
    assert_eq!(&report.model, &ModelRef::Starter);
    assert_eq!(report.device, DeviceChoice::Cpu);
    assert_eq!(report.trials.len(), 1);
    let figures = report.trials[0].outcome.as_ref().unwrap();
    assert!(
        figures.median_microseconds > 0.0
            && figures.p99_microseconds >= figures.median_microseconds,
        "{figures:?}"
    );
    assert_eq!(read(&bench, 1).device, DeviceChoice::Cpu);
}

#[test]
fn a_device_that_reads_as_the_processor_does_is_used() {
    let (bench, report) = found(Script::Sound, InferenceChoice::Automatic);
    assert_eq!(report.device, DeviceChoice::Cuda);
    assert_eq!(report.trials.len(), 2);
    let agreement = report.trials[1].outcome.as_ref().unwrap().agreement;
    assert_eq!(agreement.images as usize, COMPARED_IMAGES);
    assert_eq!(agreement.matching as usize, COMPARED_IMAGES);
    assert!(agreement.max_difference <= TOLERANCE);
    let there = read(&bench, 1);
    assert_eq!(there.device, DeviceChoice::Cuda);
    // The processor is never tried against itself, and takes over at once.
    ask(&bench, InferenceChoice::Cpu);
    assert_eq!(reported(&bench).trials.len(), 1);
    let here = read(&bench, 2);
    assert_eq!(here.device, DeviceChoice::Cpu);
    for (a, b) in here.probabilities.iter().zip(there.probabilities) {
        assert!((a - b).abs() <= TOLERANCE);
    }
}

#[test]
fn the_fastest_is_the_one_that_was_measured_to_be() {
    let (bench, report) = found(
        Script::Slow(Duration::from_millis(3)),
        InferenceChoice::Fastest,
    );
    assert!(
        report.trials.iter().all(|trial| trial.outcome.is_ok()),
        "{report:?}"
    );
    assert_eq!(report.device, DeviceChoice::Cpu);
    assert_eq!(read(&bench, 1).device, DeviceChoice::Cpu);
    // Whoever names it gets it.
    ask(&bench, InferenceChoice::Cuda);
    assert_eq!(reported(&bench).device, DeviceChoice::Cuda);
    assert_eq!(read(&bench, 2).device, DeviceChoice::Cuda);
}

#[test]
fn a_device_that_reads_otherwise_or_not_at_all_is_not_used() {
    let flaw = |script| {
        let (bench, report) = found(script, InferenceChoice::Cuda);
        assert_eq!(report.device, DeviceChoice::Cpu);
        assert_eq!(read(&bench, 1).device, DeviceChoice::Cpu);
        assert!(report.trials[0].outcome.is_ok());
        report.trials[1].outcome.clone().unwrap_err()
    };
    let wrong = flaw(Script::Wrong);
    assert!(
        matches!(wrong, DeviceRejection::Disagrees(agreement) if agreement.max_difference > TOLERANCE),
        "{wrong:?}"
    );
    let absent = flaw(Script::Absent);
    assert!(
        matches!(
            &absent,
            DeviceRejection::Failed(problem) if problem.name == "ConfigError::DeviceUnavailable"
        ),
        "{absent:?}"
    );
    for script in [Script::Fails(20), Script::Panics(20)] {
        let failing = flaw(script);
        assert!(
            matches!(
                &failing,
                DeviceRejection::Failed(problem) if problem.name == "ComputeError::Failed"
            ),
            "{failing:?}"
        );
    }
}

#[test]
fn a_device_that_fails_later_costs_no_drawing() {
    // It survives the comparison, which reads a few pictures more to warm up.
    for script in [
        Script::Fails(COMPARED_IMAGES as u32 + 20),
        Script::Panics(COMPARED_IMAGES as u32 + 20),
    ] {
        let (bench, report) = found(script, InferenceChoice::Automatic);
        assert_eq!(report.device, DeviceChoice::Cuda);
        let (mut there, mut request) = (0, 0);
        let (said, prediction) = loop {
            request += 1;
            bench.handle.send(read_stroke(request));
            let event = bench.handle.recv().unwrap();
            if let Event::InferenceDevice(report) = event {
                let (answered, prediction) = drawing_read(bench.handle.recv().unwrap()).unwrap();
                assert_eq!(answered, request);
                break (report, prediction);
            }
            let (_, prediction) = drawing_read(event).unwrap();
            assert_eq!(prediction.device, DeviceChoice::Cuda);
            there += 1;
        };
        assert!(there > 0 && there < 20, "{there}");
        assert_eq!(said.device, DeviceChoice::Cpu);
        assert_eq!(prediction.device, DeviceChoice::Cpu);
        assert!(
            matches!(said.trials[1].outcome, Err(DeviceRejection::Failed(_))),
            "{said:?}"
        );
        assert_eq!(read(&bench, 1000).device, DeviceChoice::Cpu);
    }
}

#[test]
fn drawings_are_read_while_a_device_is_being_opened() {
    let (open, gate) = channel();
    let bench = engine(FakeDevices {
        gate: Some(Arc::new(Mutex::new(gate))),
        ..FakeDevices::default()
    });
    ask(&bench, InferenceChoice::Automatic);
    for request in 1..=50 {
        assert_eq!(
            read(&bench, request).device,
            DeviceChoice::Cpu,
            "the device is not there yet"
        );
    }
    open.send(()).unwrap();
    assert_eq!(reported(&bench).device, DeviceChoice::Cuda);
    assert_eq!(read(&bench, 51).device, DeviceChoice::Cuda);
}

#[test]
fn a_run_breaks_the_comparison_off_and_what_it_leaves_is_compared() {
    let (open, gate) = channel();
    let bench = engine(FakeDevices {
        gate: Some(Arc::new(Mutex::new(gate))),
        ..FakeDevices::default()
    });
    ask(&bench, InferenceChoice::Automatic);
    assert_eq!(read(&bench, 1).device, DeviceChoice::Cpu);
    let run = bench.start(1);
    let mut told = Vec::new();
    let summary = bench.until(|event| match event {
        event @ Event::Job { .. } => finished(event),
        Event::InferenceDevice(report) => {
            told.push(report);
            None
        }
        Event::Epoch { .. } => {
            bench.handle.send(read_stroke(2));
            None
        }
        event => {
            if let Some((_, prediction)) = drawing_read(event) {
                assert_eq!(&prediction.model.reference, &ModelRef::Training(run));
                assert_eq!(prediction.device, DeviceChoice::Cpu);
            }
            None
        }
    });
    assert!(told.is_empty(), "{told:?}");
    // One for the comparison that was broken off, one for that of the run's model.
    open.send(()).unwrap();
    open.send(()).unwrap();
    let report = reported(&bench);
    assert_eq!(report.model, ModelRef::File(summary.model_path.clone()));
    assert_eq!(report.device, DeviceChoice::Cuda);
    assert_eq!(read(&bench, 3).device, DeviceChoice::Cuda);
    // And at every load.
    open.send(()).unwrap();
    bench.handle.send(Command::UseModel(ModelRef::Starter));
    assert_eq!(reported(&bench).model, ModelRef::Starter);
}

#[test]
fn a_run_on_a_device_leaves_a_model_that_reads_there() {
    let mut bench = engine(FakeDevices::new(Script::Sound));
    bench.config = RunConfig {
        device: DeviceChoice::Cuda,
        ..bench.config
    };
    ask(&bench, InferenceChoice::Automatic);
    bench.start(1);
    let mut following = None;
    let summary = bench.until(|event| match event {
        event @ Event::Job { .. } => finished(event),
        Event::Epoch { .. } => {
            bench.handle.send(read_stroke(7));
            None
        }
        event => {
            if let Some((_, prediction)) = drawing_read(event)
                && prediction.model.reference == ModelRef::Training(JobId(1))
            {
                following = Some(prediction.device);
            }
            None
        }
    });
    assert_eq!(summary.plan.device, DeviceChoice::Cuda);
    assert_eq!(
        following,
        Some(DeviceChoice::Cuda),
        "the newest weights are where they learn"
    );
    let report = bench.until(|event| match event {
        Event::InferenceDevice(report) if report.model != ModelRef::Starter => Some(report),
        _ => None,
    });
    assert_eq!(report.model, ModelRef::File(summary.model_path));
    assert_eq!(report.device, DeviceChoice::Cuda);
}

#[test]
fn a_run_on_a_device_that_cannot_be_opened_is_refused() {
    let mut bench = engine(FakeDevices::new(Script::Absent));
    bench.config = RunConfig {
        device: DeviceChoice::Cuda,
        ..bench.config
    };
    bench.start(1);
    let problem = bench.until(|event| failure(event, 1));
    assert!(
        problem.name == "ConfigError::DeviceUnavailable",
        "{problem:?}"
    );
}
