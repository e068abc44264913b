//! The folder of NVIDIA's libraries: chosen, remembered, passed on, taken back; what was found
//! before is overtaken.

use std::path::PathBuf;

use inkling::device::FOLDER_VARIABLE;
use inkling::hardware::Hardware;
use inkling::run_config::{DeviceChoice, InferenceChoice};
use inkling::window::{Action, Settings};

use super::wait_for;
use crate::fake_engine::{Answers, app, app_with, checked};

fn finding(hardware: Option<&Hardware>) -> Option<String> {
    hardware.and_then(|hardware| hardware.cuda_finding.clone())
}

#[test]
fn a_folder_that_is_chosen_is_looked_in_and_remembered_and_there_is_a_way_back() {
    let folder = tempfile::tempdir().unwrap();
    let answers = Answers {
        folder: Some(folder.path().to_owned()),
        ..Answers::default()
    };
    // An engine that is to recognise drawings on the GPU moves as soon as the GPU has passed its
    // self-test, which may be at any time.
    let on_cpu = Settings {
        wizard_done: true,
        inference_device: InferenceChoice::Cpu,
        ..Settings::default()
    };
    let (mut app, engine) = app_with(on_cpu, answers);
    app.start_discovery();
    wait_for(&mut app, |app| app.ctx.hardware.is_some());
    assert_eq!(finding(app.ctx.hardware.as_ref()), None);
    app.apply(Action::ChooseCudaFolder);
    wait_for(&mut app, |app| finding(app.ctx.hardware.as_ref()).is_some());
    assert!(!app.machine.looking_for_cuda);
    assert_eq!(
        app.settings_to_save().cuda_folder.as_deref(),
        Some(folder.path())
    );
    // What was missing is put there, and it is chosen once more.
    std::fs::write(folder.path().join("all of them"), "").unwrap();
    app.apply(Action::ChooseCudaFolder);
    wait_for(&mut app, |app| finding(app.ctx.hardware.as_ref()).is_none());
    assert_eq!(app.ctx.hardware.as_ref().unwrap().gpus.len(), 1);
    app.apply(Action::UseCudaFolder(None));
    assert!(app.machine.looking_for_cuda);
    wait_for(&mut app, |app| {
        app.ctx.hardware.as_ref().unwrap().gpus.is_empty()
    });
    assert_eq!(app.settings_to_save().cuda_folder, None);
    assert_eq!(engine.engines(), 1, "an engine without a driver goes on");
}

#[test]
fn the_next_engine_is_told() {
    let settings = Settings {
        wizard_done: true,
        cuda_folder: Some(PathBuf::from("some/where")),
        ..Settings::default()
    };
    let (mut app, mut engine) = app_with(settings, Answers::default());
    app.apply(Action::UseCudaFolder(Some(PathBuf::from("else/where"))));
    engine.send(inkling::protocol::Event::Pong);
    app.poll();
    engine.die();
    app.poll();
    let told: Vec<_> = engine
        .settings_of
        .borrow()
        .iter()
        .map(|settings| settings.cuda_folder.clone())
        .collect();
    assert_eq!(
        told,
        [
            Some(PathBuf::from("some/where")),
            Some(PathBuf::from("else/where"))
        ]
    );
}

#[test]
fn what_was_found_out_about_the_gpu_before_counts_no_more() {
    let (mut app, _engine) = app();
    for device in [DeviceChoice::Cpu, DeviceChoice::Cuda] {
        app.machine.checks.insert(
            device,
            inkling::window::Checked::Done(Box::new(Ok(checked(device)))),
        );
    }
    app.apply(Action::UseCudaFolder(Some(PathBuf::from("else/where"))));
    assert!(
        app.machine.checks.contains_key(&DeviceChoice::Cpu)
            && !app.machine.checks.contains_key(&DeviceChoice::Cuda)
    );
    // A check that began before comes to its end now: it is of the libraries there were.
    let (mut app, _engine) = crate::fake_engine::app();
    app.apply(Action::CheckDevice(DeviceChoice::Cuda));
    app.apply(Action::UseCudaFolder(Some(PathBuf::from("else/where"))));
    wait_for(&mut app, |app| !app.machine.looking_for_cuda);
    for _ in 0..50 {
        app.poll();
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert!(!app.machine.checks.contains_key(&DeviceChoice::Cuda));
}

#[test]
fn a_process_is_told_by_its_environment() {
    let told = |folder: Option<&std::path::Path>| {
        let program =
            inkling::device::look_for_cuda_in(folder, std::process::Command::new("inkling"));
        program
            .get_envs()
            .find(|(name, _)| *name == FOLDER_VARIABLE)
            .and_then(|(_, value)| value.map(PathBuf::from))
    };
    assert_eq!(
        told(Some("some/where".as_ref())),
        Some(PathBuf::from("some/where"))
    );
    assert_eq!(
        told(None),
        None,
        "what the person has set in the environment stays"
    );
}
