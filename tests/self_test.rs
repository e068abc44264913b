//! The self-test: this machine passes it, what is wrong fails it, and a process that breaks becomes
//! a sentence.

use std::process::Command;
use std::time::{Duration, Instant};

use candle_core::{Device, Tensor};

use inkling::nn::backend::COMPOSED;
use inkling::nn::{DeviceContext, ops};
use inkling::run_config::{Activation, DeviceChoice, Precision};
use inkling::self_test::{
    Case, Check, SelfTestReport, Subject, cases, check, run, run_in_subprocess, sections,
};

#[test]
fn this_machine_passes_in_every_precision() {
    let mut told = 0;
    let report = run(DeviceChoice::Cpu, &mut |_| told += 1).unwrap();
    assert_eq!(told, report.checks.len());
    for precision in Precision::on(DeviceChoice::Cpu) {
        assert_eq!(report.passed(precision), Ok(()));
        let of = |subject: &Subject| {
            report
                .checks
                .iter()
                .any(|check| check.precision == precision && check.subject == *subject)
        };
        assert!(of(&Subject::Training) && of(&Subject::Op("Linear layer".to_owned())));
    }
    assert!(
        report
            .checks
            .iter()
            .any(|check| check.subject == Subject::Inference)
    );
    assert!(report.verdict().starts_with("All"), "{}", report.verdict());
    let [table] = sections(&report).try_into().unwrap();
    assert!(
        table
            .lines
            .iter()
            .all(|line| line.cells.len() == 4 && line.cells[1].text.ends_with(" ok")),
        "{table:?}"
    );
}

/// The case of this name, with what its op gives changed by `change`.
fn broken(name: &str, change: impl Fn(Tensor) -> candle_core::Result<Tensor> + 'static) -> Case {
    let case = cases().into_iter().find(|case| case.name == name).unwrap();
    let op = case.op;
    Case {
        op: Box::new(move |x, p, context| change(op(x, p, context)?)),
        ..case
    }
}

#[test]
fn what_is_wrong_fails() {
    for case in cases() {
        assert!(
            check(&case, &DeviceContext::CPU, Precision::F32).passed(),
            "{}",
            case.name
        );
    }
    // The way a device takes that has no ops of ours: gradients are gathered there.
    for case in cases() {
        let check = check(
            &case,
            &DeviceContext::new(Device::Cpu, COMPOSED),
            Precision::F32,
        );
        assert!(check.passed(), "{check:?}");
    }
    let fails = |case: &Case, precision| {
        let check = check(case, &DeviceContext::CPU, precision);
        assert!(!check.passed(), "{check:?}");
        check
    };
    // Another function altogether, with a gradient to match.
    let context = ops::Context::TRAIN;
    for precision in [Precision::F32, Precision::Bf16, Precision::F16] {
        fails(
            &broken("Linear layer", move |y| {
                ops::activate(&y, Activation::Relu, context)
            }),
            precision,
        );
    }
    // A result that nothing leads back from: its gradients are missing.
    let check_of = fails(
        &broken("Convolution 5x5", |y| y.detach() * 1.0),
        Precision::F32,
    );
    assert!(
        check_of.found.is_none() || check_of.detail.contains("gradient"),
        "{check_of:?}"
    );
    // An error, and no number at all.
    let failed = fails(
        &broken("Flatten", |_| candle_core::bail!("out of memory")),
        Precision::F32,
    );
    assert_eq!(
        (failed.found, failed.detail.as_str()),
        (None, "out of memory")
    );
    let nan = Case {
        reference: Box::new(|x, _| x[0].affine(f64::NAN, 0.0)),
        ..broken("Flatten", Ok)
    };
    fails(&nan, Precision::F32);
}

fn report(found: impl Fn(Precision) -> Option<f32>) -> SelfTestReport {
    let check = |precision| Check {
        subject: Subject::Training,
        precision,
        found: found(precision),
        tolerance: 0.6,
        detail: "a loss".to_owned(),
    };
    SelfTestReport {
        device: DeviceChoice::Cpu,
        checks: Precision::on(DeviceChoice::Cpu).map(check).collect(),
        seconds: 1.0,
    }
}

#[test]
fn only_what_passed_is_vouched_for() {
    let one_wrong = report(|precision| {
        Some(if precision == Precision::F16 {
            0.9
        } else {
            0.1
        })
    });
    assert_eq!(one_wrong.failed(), 1);
    assert!(one_wrong.passed(Precision::F32).is_ok() && one_wrong.passed(Precision::Bf16).is_ok());
    let reason = one_wrong.passed(Precision::F16).unwrap_err();
    assert!(
        reason.contains("Short training run in f16") && reason.contains("a loss"),
        "{reason}"
    );
    assert!(
        one_wrong
            .verdict()
            .contains("only f32 and bf16 will be used"),
        "{}",
        one_wrong.verdict()
    );
    let none = report(|precision| (precision == Precision::F32).then_some(f32::NAN));
    assert_eq!(
        none.failed(),
        Precision::on(DeviceChoice::Cpu).count(),
        "no figure and no number both fail"
    );
    assert!(
        none.verdict().contains("will not be used"),
        "{}",
        none.verdict()
    );
}

#[test]
fn in_a_process_of_its_own_it_is_the_same_and_what_breaks_there_is_a_sentence() {
    let program = |arguments: &[&str]| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_inkling"));
        program.args(arguments);
        program
    };
    let limit = Duration::from_mins(2);
    let report = run_in_subprocess(program(&["hardware", "--self-test", "--json"]), limit).unwrap();
    assert_eq!((report.device, report.failed()), (DeviceChoice::Cpu, 0));

    let reason = |program: Command, limit| match run_in_subprocess(program, limit) {
        Err(problem) if problem.name.starts_with("NoResult::") => problem.message.what,
        other => panic!("{other:?}"),
    };
    let said = reason(
        program(&["hardware", "--self-test", "--json", "--device", "cuda"]),
        limit,
    );
    assert!(said.contains("cuda") || said.contains("CUDA"), "{said}");
    assert!(
        !reason(program(&["hardware", "--json"]), limit).contains("unknown error"),
        "no test was made"
    );
    assert!(!reason(Command::new("there is no such program"), limit).contains("unknown error"));
    // An engine that nobody talks to waits, as a hanging driver does.
    if cfg!(unix) {
        let mut sleeper = Command::new("sleep");
        sleeper.arg("60");
        let since = Instant::now();
        let said = reason(sleeper, Duration::from_secs(1));
        assert!(
            said.contains("longer than 1 s") && since.elapsed() < Duration::from_secs(30),
            "{said}"
        );
    }
}
