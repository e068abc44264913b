//! Whether this machine computes rightly: checked when asked, and what was found wrong is not
//! offered.

use inkling::hardware::Gpu;
use inkling::problem::Problem;
use inkling::run_config::{DeviceChoice, Precision, RunConfig};
use inkling::self_test::Report;
use inkling::window::{Action, Checked, WizardStep, automatic};

use super::wait_for;
use crate::fake_engine::{app, checked, gpu};

#[test]
fn the_wizard_checks_the_processor_by_itself_and_only_once() {
    let (mut app, _engine) = app();
    assert!(app.machine.checks.is_empty());
    app.apply(Action::Wizard(WizardStep::Hardware));
    assert_eq!(app.machine.checks[&DeviceChoice::Cpu], Checked::Running);
    let done = Checked::Done(Box::new(Ok(checked(DeviceChoice::Cpu))));
    wait_for(&mut app, |app| {
        app.machine.checks[&DeviceChoice::Cpu] == done
    });
    app.apply(Action::Wizard(WizardStep::Data));
    app.apply(Action::Wizard(WizardStep::Hardware));
    assert_eq!(app.machine.checks[&DeviceChoice::Cpu], done);
    app.apply(Action::CheckDevice(DeviceChoice::Cpu));
    assert_eq!(
        app.machine.checks[&DeviceChoice::Cpu],
        Checked::Running,
        "asked for again, it is made again"
    );
}

#[test]
fn a_precision_that_failed_is_not_offered() {
    let (mut app, _engine) = app();
    app.apply(Action::Configure(Box::new(RunConfig {
        precision: Precision::Bf16,
        ..RunConfig::default()
    })));
    assert!(app.validation_errors().is_empty());
    let mut report: Report = checked(DeviceChoice::Cpu);
    for check in report
        .checks
        .iter_mut()
        .filter(|check| check.precision == Precision::Bf16)
    {
        check.found = Some(0.9);
    }
    app.machine
        .checks
        .insert(DeviceChoice::Cpu, Checked::Done(Box::new(Ok(report))));
    let validation_errors = app.validation_errors();
    assert!(
        validation_errors[0].message.what.contains("bf16")
            && validation_errors[0].message.what.contains("Short training"),
        "{validation_errors:?}"
    );
    assert!(app.why_not_precision(Precision::F32).is_none());
    app.apply(Action::Configure(Box::new(RunConfig {
        precision: Precision::F32,
        ..RunConfig::default()
    })));
    assert!(app.validation_errors().is_empty());
    // A check that came to no result takes nothing away.
    app.machine.checks.insert(
        DeviceChoice::Cpu,
        Checked::Done(Box::new(Err(Problem::SelfTest {
            reason: "it took longer than 180 s".to_owned(),
        }))),
    );
    assert!(
        Precision::ALL
            .iter()
            .all(|&precision| app.why_not_precision(precision).is_none())
    );
}

#[test]
fn the_memory_a_run_will_take_is_said_and_too_much_is_pointed_out() {
    let (mut app, _engine) = app();
    assert_eq!(
        app.expected_memory(),
        None,
        "not before the machine was looked at"
    );
    app.start_discovery();
    wait_for(&mut app, |app| app.ctx.hardware.is_some());
    let (text, fits) = app.expected_memory().unwrap();
    assert!(
        fits && text.starts_with("Needs about 1")
            && text.contains("MiB of memory")
            && text.ends_with("free."),
        "{text}"
    );
    app.ctx.hardware.as_mut().unwrap().memory_available = 64 << 20;
    let (text, fits) = app.expected_memory().unwrap();
    assert!(
        !fits && text.contains("64 MiB free: close other programs"),
        "{text}"
    );
}

#[test]
fn on_a_gpu_it_is_the_gpus_memory_that_counts() {
    let (mut app, _engine) = app();
    app.start_discovery();
    wait_for(&mut app, |app| app.ctx.hardware.is_some());
    let hardware = app.ctx.hardware.as_mut().unwrap();
    (hardware.gpus, hardware.cuda_finding) = (
        vec![Gpu {
            memory_total: 8 << 30,
            memory_free: 7 << 30,
            ..gpu()
        }],
        None,
    );
    app.machine.checks.insert(
        DeviceChoice::Cuda,
        Checked::Done(Box::new(Ok(checked(DeviceChoice::Cuda)))),
    );
    let (text, fits) = app.expected_memory().unwrap();
    assert!(
        fits && text.contains("of GPU memory; 7.0 GiB of 8.0 GiB free."),
        "{text}"
    );
    app.ctx.hardware.as_mut().unwrap().gpus[0].memory_free = 64 << 20;
    let (text, fits) = app.expected_memory().unwrap();
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
        let unknown = found(Err(Problem::SelfTest {
            reason: "it crashed".to_owned(),
        }));
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
