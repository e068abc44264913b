//! Whether this machine computes rightly, the memory a run takes, and the folder of NVIDIA's
//! libraries: what was found wrong is not offered, and what was found before another folder was
//! chosen counts no more.

use inkling::settings::Settings;
use std::path::PathBuf;

use inkling::device::FOLDER_VARIABLE;
use inkling::hardware::{Gpu, Hardware};
use inkling::problem::Problem;
use inkling::run_config::{DeviceChoice, InferenceChoice, Precision, RunConfig};
use inkling::self_test::{NoResult, SelfTestReport};
use inkling::window::{Action, Checked, MachineAction, TrainAction, WizardStep, automatic};

use crate::fake_engine::{Answers, app, app_with, checked, gpu};
use crate::window::stage::Driven;

#[test]
fn the_wizard_checks_the_processor_by_itself_and_only_once() {
    let (mut app, _engine) = app();
    assert!(app.ctx.checks.is_empty());
    app.apply(Action::Wizard(WizardStep::Hardware));
    assert_eq!(app.ctx.checks[&DeviceChoice::Cpu], Checked::Running);
    let done = Checked::Done(Box::new(Ok(checked(DeviceChoice::Cpu))));
    app.until(|app| app.ctx.checks[&DeviceChoice::Cpu] == done);
    app.apply(Action::Wizard(WizardStep::Data));
    app.apply(Action::Wizard(WizardStep::Hardware));
    assert_eq!(app.ctx.checks[&DeviceChoice::Cpu], done);
    app.apply(MachineAction::CheckDevice(DeviceChoice::Cpu));
    assert_eq!(
        app.ctx.checks[&DeviceChoice::Cpu],
        Checked::Running,
        "asked for again, it is made again"
    );
}

#[test]
fn a_precision_that_failed_is_not_offered() {
    let (mut app, _engine) = app();
    app.apply(TrainAction::Configure(Box::new(RunConfig {
        precision: Precision::Bf16,
        ..RunConfig::default()
    })));
    assert!(app.validation_errors().is_empty());
    let mut report: SelfTestReport = checked(DeviceChoice::Cpu);
    for check in report
        .checks
        .iter_mut()
        .filter(|check| check.precision == Precision::Bf16)
    {
        check.found = Some(0.9);
    }
    app.ctx
        .checks
        .insert(DeviceChoice::Cpu, Checked::Done(Box::new(Ok(report))));
    let validation_errors = app.validation_errors();
    assert!(
        validation_errors[0].message.what.contains("bf16")
            && validation_errors[0].message.what.contains("Short training"),
        "{validation_errors:?}"
    );
    assert!(app.ctx.why_not_precision(Precision::F32).is_none());
    app.apply(TrainAction::Configure(Box::new(RunConfig {
        precision: Precision::F32,
        ..RunConfig::default()
    })));
    assert!(app.validation_errors().is_empty());
    // A check that came to no result takes nothing away.
    app.ctx.checks.insert(
        DeviceChoice::Cpu,
        Checked::Done(Box::new(Err(Problem::from(NoResult {
            reason: "it took longer than 180 s".to_owned(),
        })))),
    );
    assert!(
        Precision::ALL
            .iter()
            .all(|&precision| app.ctx.why_not_precision(precision).is_none())
    );
}

#[test]
fn the_memory_a_run_will_take_is_said_and_too_much_is_pointed_out() {
    let (mut app, _engine) = app();
    assert_eq!(
        app.train.expected_memory(&app.ctx),
        None,
        "not before the machine was looked at"
    );
    app.start_discovery();
    app.until(|app| app.ctx.hardware.is_some());
    let (text, fits) = app.train.expected_memory(&app.ctx).unwrap();
    assert!(
        fits && text.starts_with("Needs about 1")
            && text.contains("MiB of memory")
            && text.ends_with("free."),
        "{text}"
    );
    app.ctx.hardware.as_mut().unwrap().memory_available = 64 << 20;
    let (text, fits) = app.train.expected_memory(&app.ctx).unwrap();
    assert!(
        !fits && text.contains("64 MiB free: close other programs"),
        "{text}"
    );
}

#[test]
fn on_a_gpu_it_is_the_gpus_memory_that_counts() {
    let (mut app, _engine) = app();
    app.start_discovery();
    app.until(|app| app.ctx.hardware.is_some());
    let hardware = app.ctx.hardware.as_mut().unwrap();
    (hardware.gpus, hardware.cuda_finding) = (
        vec![Gpu {
            memory_total: 8 << 30,
            memory_free: 7 << 30,
            ..gpu()
        }],
        None,
    );
    app.ctx.checks.insert(
        DeviceChoice::Cuda,
        Checked::Done(Box::new(Ok(checked(DeviceChoice::Cuda)))),
    );
    let (text, fits) = app.train.expected_memory(&app.ctx).unwrap();
    assert!(
        fits && text.contains("of GPU memory; 7.0 GiB of 8.0 GiB free."),
        "{text}"
    );
    app.ctx.hardware.as_mut().unwrap().gpus[0].memory_free = 64 << 20;
    let (text, fits) = app.train.expected_memory(&app.ctx).unwrap();
    assert!(
        !fits && text.contains("64 MiB of 8.0 GiB free: choose a smaller model"),
        "{text}"
    );
}

#[test]
fn automatic_is_the_gpu_only_for_what_was_found_right_there() {
    let found = |result| Checked::Done(Box::new(result));
    let mut report = checked(DeviceChoice::Cuda);
    let sound = found(Ok(report.clone()));
    for &precision in Precision::ALL {
        assert_eq!(automatic(Some(&sound), precision), DeviceChoice::Cuda);
        let unknown = found(Err(Problem::from(NoResult {
            reason: "it crashed".to_owned(),
        })));
        for gpu in [None, Some(&Checked::Running), Some(&unknown)] {
            assert_eq!(automatic(gpu, precision), DeviceChoice::Cpu);
        }
    }
    report
        .checks
        .iter_mut()
        .filter(|check| check.precision == Precision::F16)
        .for_each(|check| check.found = None);
    let no_f16 = found(Ok(report));
    assert_eq!(automatic(Some(&no_f16), Precision::F16), DeviceChoice::Cpu);
    assert_eq!(automatic(Some(&no_f16), Precision::F32), DeviceChoice::Cuda);
}

fn finding(hardware: Option<&Hardware>) -> Option<String> {
    hardware.and_then(|hardware| hardware.cuda_finding.clone())
}

#[test]
fn a_folder_that_is_chosen_is_looked_in_and_remembered_and_there_is_a_way_back() {
    let folder = tempfile::tempdir().unwrap();
    let answers = Answers::folder(folder.path());
    // An engine that is to recognize drawings on the GPU moves as soon as the GPU has passed its
    // self-test, which may be at any time.
    let on_cpu = Settings {
        wizard_done: true,
        inference_device: InferenceChoice::Cpu,
        ..Settings::default()
    };
    let (mut app, engine) = app_with(on_cpu, answers);
    app.start_discovery();
    app.until(|app| app.ctx.hardware.is_some());
    assert_eq!(finding(app.ctx.hardware.as_ref()), None);
    app.apply(MachineAction::ChooseCudaFolder);
    app.until(|app| finding(app.ctx.hardware.as_ref()).is_some());
    assert!(!app.machine.looking_for_cuda);
    assert_eq!(
        app.draw.settings_to_save(&app.ctx).cuda_folder.as_deref(),
        Some(folder.path())
    );
    // What was missing is put there, and it is chosen once more.
    std::fs::write(folder.path().join("all of them"), "").unwrap();
    app.apply(MachineAction::ChooseCudaFolder);
    app.until(|app| finding(app.ctx.hardware.as_ref()).is_none());
    assert_eq!(app.ctx.hardware.as_ref().unwrap().gpus.len(), 1);
    app.apply(MachineAction::UseCudaFolder(None));
    assert!(app.machine.looking_for_cuda);
    app.until(|app| app.ctx.hardware.as_ref().unwrap().gpus.is_empty());
    assert_eq!(app.draw.settings_to_save(&app.ctx).cuda_folder, None);
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
    app.apply(MachineAction::UseCudaFolder(Some(PathBuf::from(
        "else/where",
    ))));
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
        app.ctx
            .checks
            .insert(device, Checked::Done(Box::new(Ok(checked(device)))));
    }
    app.apply(MachineAction::UseCudaFolder(Some(PathBuf::from(
        "else/where",
    ))));
    assert!(
        app.ctx.checks.contains_key(&DeviceChoice::Cpu)
            && !app.ctx.checks.contains_key(&DeviceChoice::Cuda)
    );
    // A check that began before comes to its end now: it is of the libraries there were.
    let (mut app, _engine) = crate::fake_engine::app();
    app.apply(MachineAction::CheckDevice(DeviceChoice::Cuda));
    app.apply(MachineAction::UseCudaFolder(Some(PathBuf::from(
        "else/where",
    ))));
    app.until(|app| !app.machine.looking_for_cuda);
    for _ in 0..50 {
        app.poll();
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert!(!app.ctx.checks.contains_key(&DeviceChoice::Cuda));
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
