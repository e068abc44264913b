//! Comparing devices: what is counted, what is given up, which is chosen.

use std::ops::ControlFlow;
use std::time::Duration;

use inkling::engine::Devices;
use inkling::infer::InferError;
use inkling::infer::{APART, Agreement, Classifier, DeviceReading, PICTURES, ReadingFigures, ReadingFlaw, candidates, choose, compare};
use inkling::run_config::{DeviceChoice, ReadingChoice};

use crate::fake_device::{FakeDevices, Script};

#[test]
fn differences_are_counted_and_what_is_no_number_differs_most() {
    let mut agreement = Agreement::default();
    let mut one = [0.0; 10];
    one[3] = 1.0;
    agreement.add(&one, &one);
    assert!(agreement.is_close());
    let mut other = one;
    (other[3], other[4]) = (1.0 - APART / 2.0, APART / 2.0);
    agreement.add(&one, &other);
    assert!(agreement.is_close() && agreement.largest_difference > 0.0 && agreement.alike == 2);
    other = [0.0; 10];
    other[4] = 1.0;
    agreement.add(&one, &other);
    assert_eq!((agreement.pictures, agreement.alike, agreement.largest_difference), (3, 2, 1.0));
    assert!(!agreement.is_close());
    agreement.add(&one, &[f32::NAN; 10]);
    assert_eq!(agreement.largest_difference, f32::INFINITY);
    agreement.add(&one, &one);
    assert!(!agreement.is_close(), "one is enough");
}

#[test]
fn a_device_that_takes_too_long_is_given_up_and_the_others_are_not() {
    let processor = Classifier::starter().unwrap();
    let load = |script| FakeDevices::new(script).load(&processor, DeviceChoice::Cuda);
    let sides = vec![(DeviceChoice::Cuda, load(Script::Slow(Duration::from_millis(300)))), (DeviceChoice::Metal, load(Script::Sound))];
    // So long that nothing but the script makes a device slow, on a busy machine either.
    let found = compare(&processor, sides, Duration::from_secs(3), &mut || ControlFlow::Continue(())).unwrap().unwrap();
    let [(cpu, none), (slow, given_up), (sound, reader)] = &found[..] else { panic!("three were tried") };
    assert!(none.is_none() && given_up.is_none() && reader.is_some());
    assert_eq!((cpu.device, slow.device, sound.device), (DeviceChoice::Cpu, DeviceChoice::Cuda, DeviceChoice::Metal));
    let flaw = slow.outcome.clone().unwrap_err();
    assert!(matches!(flaw, ReadingFlaw::Slow { drawings, .. } if (drawings as usize) < PICTURES), "{flaw:?}");
    assert_eq!(sound.outcome.as_ref().unwrap().agreement.pictures as usize, PICTURES);
}

#[test]
fn it_can_be_broken_off() {
    let mut left = 3;
    let compared = compare(&Classifier::starter().unwrap(), Vec::new(), Duration::from_secs(1), &mut || {
        left -= 1;
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(compared.unwrap().is_none() && left == 0);
}

#[test]
fn the_choice_decides_what_is_tried_and_what_reads() {
    use DeviceChoice::{Cpu, Cuda, Metal};
    let both = [Cuda, Metal];
    assert_eq!(candidates(ReadingChoice::Automatic, &both), [Cuda]);
    assert_eq!(candidates(ReadingChoice::Fastest, &both), both);
    assert_eq!(candidates(ReadingChoice::Metal, &both), [Metal]);
    for (choice, usable) in [(ReadingChoice::Cpu, &both[..]), (ReadingChoice::Metal, &both[..1]), (ReadingChoice::Automatic, &[])] {
        assert_eq!(candidates(choice, usable), []);
    }
    let figures = |median_microseconds| ReadingFigures { median_microseconds, p99_microseconds: 0.0, agreement: Agreement::default() };
    let tried = |device, median| DeviceReading { device, outcome: Ok(figures(median)) };
    let slower = [tried(Cpu, 1.0), tried(Cuda, 2.0)];
    assert_eq!(choose(ReadingChoice::Automatic, &slower), Cuda);
    assert_eq!(choose(ReadingChoice::Fastest, &slower), Cpu);
    assert_eq!(choose(ReadingChoice::Fastest, &[tried(Cpu, 2.0), tried(Cuda, 1.0)]), Cuda);
    let failed = DeviceReading { device: Cuda, outcome: Err(ReadingFlaw::Failed(InferError::Data(inkling::data::DataError::Unknown))) };
    for choice in [ReadingChoice::Automatic, ReadingChoice::Fastest, ReadingChoice::Cuda] {
        assert_eq!(choose(choice, &[tried(Cpu, 1.0), failed.clone()]), Cpu);
        assert_eq!(choose(choice, &[]), Cpu);
    }
}
