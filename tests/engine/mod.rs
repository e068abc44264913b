//! The engine through its line: what is asked, what comes back.

mod child;
mod inference_device;
mod interruption;
#[cfg(target_os = "linux")]
mod remote;
#[cfg(target_os = "linux")]
mod sending;
mod supervision;
mod wire;
mod work;

use std::path::Path;
use std::sync::Arc;

use inkling::engine::{Devices, EngineHandle, EngineSettings, RunsTarget};
use inkling::ink::{Ink, Steps};
use inkling::protocol::{Answer, Command, Event, Question};
use inkling::records::{Prediction, PredictionDetails};

/// Settings of an installation in this folder.
fn settings(folder: &Path, devices: Arc<dyn Devices>) -> EngineSettings {
    EngineSettings {
        data_folders: vec![folder.join("data")],
        data_dir: None,
        runs: RunsTarget::Store(folder.join("runs")),
        checkpoints: folder.join("checkpoints"),
        benchmarks: folder.join("bench"),
        weights: None,
        cuda_folder: None,
        background_priority: false,
        reports_learning: true,
        recipients: folder.join("my-digits-recipients.json"),
        devices,
    }
}

/// The first event that `pick` takes; everything before it is dropped.
fn until<T>(engine: &EngineHandle, mut pick: impl FnMut(Event) -> Option<T>) -> T {
    loop {
        let event = engine.recv().expect("the engine is gone");
        assert!(!matches!(event, Event::Restarted), "the engine panicked");
        if let Some(picked) = pick(event) {
            return picked;
        }
    }
}

/// Waits for such an event.
fn wait(engine: &EngineHandle, mut is_it: impl FnMut(&Event) -> bool) {
    until(engine, |event| is_it(&event).then_some(()));
}

/// Asks for a drawing to be read.
fn read_stroke(request: u64) -> Command {
    let ink = Ink {
        strokes: vec![vec![[10.0, 0.0], [10.0, 30.0]]],
        pen: None,
    };
    Command::Read {
        request,
        what: Question::Drawing {
            ink,
            steps: Steps::ALL,
            details: PredictionDetails::default(),
        },
    }
}

/// What was read of a drawing, and for which request.
fn drawing_read(event: Event) -> Option<(u64, Prediction)> {
    let Event::Read { request, answer } = event else {
        return None;
    };
    let Answer::Drawing(recognition) = answer.unwrap() else {
        panic!("something else was asked");
    };
    Some((request, recognition.prediction))
}
