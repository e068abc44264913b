//! The model that comes with Inkling.

use std::collections::BTreeSet;

use inkling::data::{builtin, load};
use inkling::infer::{STARTER_ACCURACIES, StarterCheck};
use inkling::ink::{PIXELS, SIDE};
use inkling::math::random::Random;
use inkling::progress::Unwatched;
use inkling::records::Accuracy;
use inkling::run_config::DataSpec;

use crate::support::starter;

#[test]
fn it_is_small_and_learned_from_mnist_and_the_built_in_digits() {
    let size = std::fs::metadata(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/assets/starter.safetensors"
    ))
    .unwrap()
    .len();
    assert!(size <= 200_000, "{size} bytes");
    assert_eq!(
        starter().info().data,
        "mnist+builtin".parse::<DataSpec>().unwrap()
    );
}

/// The accuracy that it is known by.
fn stated() -> Accuracy {
    starter().info().accuracy.clone().unwrap()
}

#[test]
fn it_is_known_by_its_accuracy_on_mnist() {
    assert_eq!(
        stated().to_string(),
        "Test accuracy on MNIST, 10,000 images: 99.30%"
    );
}

#[test]
fn it_reads_digits_of_real_people() {
    let Some(folder) = crate::support::mnist_folder() else {
        return;
    };
    let set = load(&"mnist".parse().unwrap(), &[folder], &mut Unwatched).unwrap();
    let measured = starter()
        .measure(&set.test, &mut Unwatched)
        .unwrap()
        .evaluation;
    assert!(measured.accuracy >= 0.985, "{}", measured.accuracy);
    let known = stated().value;
    assert!(
        (measured.accuracy - known).abs() < 5e-4,
        "{known} is stated, and {} measured",
        measured.accuracy
    );
}

/// Two images with different labels exchange theirs until this many labels are wrong. Returns which.
fn swapped(labels: &mut [u8], count: usize) -> BTreeSet<u64> {
    let mut random = Random::new(1);
    let mut wrong = BTreeSet::new();
    while wrong.len() < count {
        let pair = [0; 2].map(|_| random.below(labels.len()));
        let is_new = pair.iter().all(|&index| !wrong.contains(&(index as u64)));
        if is_new && labels[pair[0]] != labels[pair[1]] {
            labels.swap(pair[0], pair[1]);
            wrong.extend(pair.map(|index| index as u64));
        }
    }
    wrong
}

#[test]
fn of_100_swapped_labels_90_are_among_the_first_120_suspects() {
    let Some(folder) = crate::support::mnist_folder() else {
        return;
    };
    let set = load(&"mnist".parse().unwrap(), &[folder], &mut Unwatched).unwrap();
    let mut test = set.test;
    let wrong = swapped(&mut test.labels, 100);
    let measured = starter().measure(&test, &mut Unwatched).unwrap().evaluation;
    let suspects = measured.suspects();
    assert_eq!(suspects.len() as u64, measured.suspected);
    let first = suspects.iter().take(120);
    let found = first.filter(|(sample, _)| wrong.contains(&sample.index));
    let found = found.count();
    assert!(found >= 90, "{found} of {} suspects", suspects.len());
}

#[test]
fn its_accuracies_are_those_that_are_shown_beside_others() {
    let accuracy = |test| {
        starter()
            .measure(&test, &mut Unwatched)
            .unwrap()
            .evaluation
            .accuracy
    };
    let builtin = builtin::generate(1, 0, builtin::TEST_IMAGES, &mut Unwatched).unwrap();
    assert!((accuracy(builtin.test) - STARTER_ACCURACIES[0]).abs() < 5e-4);
    let Some(folder) = crate::support::mnist_folder() else {
        return;
    };
    let mnist = load(&"mnist".parse().unwrap(), &[folder], &mut Unwatched).unwrap();
    assert!((accuracy(mnist.test) - STARTER_ACCURACIES[1]).abs() < 5e-4);
}

#[test]
fn it_finds_digits_that_lie_on_their_sides_or_are_inverted() {
    let upright = builtin::generate(3, 60, 0, &mut Unwatched).unwrap();
    let check = |turn: fn(&[u8], usize) -> u8| {
        let mut set = upright.clone();
        let image = |image: &[u8]| (0..PIXELS).map(|at| turn(image, at)).collect::<Vec<_>>();
        set.train.images = upright
            .train
            .images
            .chunks(PIXELS)
            .flat_map(image)
            .collect();
        let check = StarterCheck::of(&set, &mut Unwatched).unwrap().unwrap();
        (check.images, check.sentence().unwrap_or_default())
    };
    assert_eq!(check(|image, at| image[at]), (60, String::new()));
    let (_, lying) = check(|image, at| image[at % SIDE * SIDE + at / SIDE]);
    assert!(lying.contains("with rows and columns exchanged"), "{lying}");
    let (_, inverted) = check(|image, at| 255 - image[at]);
    assert!(
        inverted.contains("with light and dark exchanged"),
        "{inverted}"
    );
    let (_, nothing) = check(|_, at| (at * 37 % 256) as u8);
    assert!(nothing.contains("inkling data show"), "{nothing}");
}
