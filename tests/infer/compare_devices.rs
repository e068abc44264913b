//! Choosing the device a model classifies on: what is compared, what is rejected, what is chosen.

use std::cell::RefCell;
use std::time::Duration;

use inkling::data::DataError;
use inkling::engine::Devices;
use inkling::infer::{
    Agreement, COMPARED_IMAGES, DeviceRejection, DeviceTiming, DeviceTrial, TOLERANCE,
    choose_device, compare_devices,
};
use inkling::problem::Problem;
use inkling::run_config::{DeviceChoice, InferenceChoice};

use crate::fake_device::{FakeDevices, Script};
use crate::support::starter;

const NO_LIMIT: Duration = Duration::from_mins(10);

#[test]
fn agreement_counts_matching_digits_and_takes_nan_for_the_largest_difference() {
    let mut one = vec![0.0; 10];
    one[3] = 1.0;
    let mut close = one.clone();
    (close[3], close[4]) = (1.0 - TOLERANCE / 2.0, TOLERANCE / 2.0);
    let mut other = vec![0.0; 10];
    other[4] = 1.0;
    assert!(Agreement::between(std::slice::from_ref(&one), std::slice::from_ref(&one)).is_close());
    let agreement = Agreement::between(&[one.clone(), one.clone()], &[one.clone(), close.clone()]);
    assert!(agreement.is_close() && agreement.max_difference > 0.0 && agreement.matching == 2);
    let agreement = Agreement::between(
        &vec![one.clone(); 4],
        &[one.clone(), close, other, one.clone()],
    );
    assert_eq!(
        (
            agreement.images,
            agreement.matching,
            agreement.max_difference
        ),
        (4, 3, 1.0)
    );
    assert!(!agreement.is_close(), "one is enough");
    let nan = vec![f32::NAN; 10];
    for (a, b) in [(&nan, &one), (&one, &nan)] {
        assert_eq!(
            Agreement::between(
                &[&one, a, &one].map(Clone::clone),
                &[&one, b, &one].map(Clone::clone)
            )
            .max_difference,
            f32::INFINITY
        );
    }
}

#[test]
fn a_device_that_takes_too_long_is_rejected_and_the_others_are_not() {
    let model = starter();
    let load = |device| {
        let script = if device == DeviceChoice::Cuda {
            Script::Slow(Duration::from_millis(300))
        } else {
            Script::Sound
        };
        FakeDevices::new(script).load(&model, device)
    };
    let usable = [DeviceChoice::Cuda, DeviceChoice::Metal];
    // Long enough that even on a busy machine only the script makes a device too slow.
    let limit = Duration::from_secs(3);
    let (comparison, _) =
        compare_devices(&model, InferenceChoice::Fastest, &usable, &load, limit).unwrap();
    let [cpu, slow, sound] = &comparison.trials[..] else {
        panic!("three were tried")
    };
    assert_eq!(
        (cpu.device, slow.device, sound.device),
        (DeviceChoice::Cpu, DeviceChoice::Cuda, DeviceChoice::Metal)
    );
    let rejected = slow.outcome.clone().unwrap_err();
    let DeviceRejection::Slow { images, seconds } = rejected else {
        panic!("{rejected:?}")
    };
    assert!(
        (images as usize) < COMPARED_IMAGES && seconds > 2.9,
        "{images} in {seconds} s"
    );
    for trial in [cpu, sound] {
        let timing = trial.outcome.as_ref().unwrap();
        assert_eq!(
            (
                timing.agreement.images as usize,
                timing.agreement.matching as usize
            ),
            (COMPARED_IMAGES, COMPARED_IMAGES)
        );
        assert!(
            timing.median_microseconds > 0.0
                && timing.p99_microseconds >= timing.median_microseconds
        );
    }
    assert_ne!(comparison.device, DeviceChoice::Cuda);
}

#[test]
fn the_choice_decides_what_is_tried() {
    use DeviceChoice::{Cpu, Cuda, Metal};
    let model = starter();
    let both = [Cuda, Metal];
    let cases = [
        (InferenceChoice::Automatic, &both[..], &[Cuda][..], Cuda),
        (InferenceChoice::Metal, &both, &[Metal], Metal),
        (InferenceChoice::Cpu, &both, &[], Cpu),
        (InferenceChoice::Metal, &both[..1], &[], Cpu),
        (InferenceChoice::Automatic, &[], &[], Cpu),
    ];
    for (choice, usable, tried, chosen) in cases {
        let loaded = RefCell::new(Vec::new());
        let load = |device| {
            loaded.borrow_mut().push(device);
            FakeDevices::default().load(&model, device)
        };
        let (comparison, on_device) =
            compare_devices(&model, choice, usable, &load, NO_LIMIT).unwrap();
        assert_eq!(
            (loaded.into_inner().as_slice(), comparison.device),
            (tried, chosen),
            "{choice:?}"
        );
        assert_eq!(
            comparison
                .trials
                .iter()
                .map(|trial| trial.device)
                .collect::<Vec<_>>(),
            [&[Cpu], tried].concat()
        );
        assert_eq!(on_device.is_some(), chosen != Cpu);
    }
}

#[test]
fn the_fastest_or_the_first_that_was_not_rejected_is_chosen() {
    use DeviceChoice::{Cpu, Cuda};
    let timing = |median_microseconds| DeviceTiming {
        median_microseconds,
        p99_microseconds: 0.0,
        agreement: Agreement::default(),
    };
    let trial = |device, median| DeviceTrial {
        device,
        outcome: Ok(timing(median)),
    };
    let slower = [trial(Cpu, 1.0), trial(Cuda, 2.0)];
    assert_eq!(choose_device(InferenceChoice::Automatic, &slower), Cuda);
    assert_eq!(choose_device(InferenceChoice::Fastest, &slower), Cpu);
    assert_eq!(
        choose_device(
            InferenceChoice::Fastest,
            &[trial(Cpu, 2.0), trial(Cuda, 1.0)]
        ),
        Cuda
    );
    let rejected = DeviceTrial {
        device: Cuda,
        outcome: Err(DeviceRejection::Failed(Problem::from(DataError::Unknown))),
    };
    for choice in [
        InferenceChoice::Automatic,
        InferenceChoice::Fastest,
        InferenceChoice::Cuda,
    ] {
        assert_eq!(
            choose_device(choice, &[trial(Cpu, 1.0), rejected.clone()]),
            Cpu
        );
        assert_eq!(choose_device(choice, &[]), Cpu);
    }
}
