//! What may be wrong with a data set is found, and nothing is found where all is well.

use inkling::data::{Dataset, IssueKind, Overview, Part, Split, builtin};
use inkling::ink::PIXELS;
use inkling::progress::Unwatched;
use inkling::run_config::Classes;

/// An image of its own for each number: dark, with a light square at a place that depends on it.
fn image(number: usize) -> Vec<u8> {
    let mut pixels = vec![0; PIXELS];
    for place in 0..6 {
        pixels[28 * (4 + number / 20) + 4 + number % 20 + place] = 200;
    }
    pixels
}

fn split(images: &[(Vec<u8>, u8)]) -> Split {
    Split {
        images: images
            .iter()
            .flat_map(|(pixels, _)| pixels.clone())
            .collect(),
        labels: images.iter().map(|(_, label)| *label).collect(),
    }
}

/// Two images of each digit, all different, from this number on.
fn sound(from: usize) -> Vec<(Vec<u8>, u8)> {
    (0..20)
        .map(|index| (image(from + index), (index % 10) as u8))
        .collect()
}

fn kinds(overview: &Overview) -> Vec<(IssueKind, Part, u64)> {
    overview
        .issues
        .iter()
        .map(|issue| (issue.kind, issue.part, issue.images))
        .collect()
}

#[test]
fn sound_images_have_no_issues() {
    let overview = Overview::of(&Dataset {
        train: split(&sound(0)),
        test: split(&sound(20)),
        ..Dataset::default()
    });
    assert_eq!(kinds(&overview), []);
    assert_eq!((overview.train, overview.test), (vec![2; 10], vec![2; 10]));
    let set = builtin::generate(7, 500, 100, &mut Unwatched).unwrap();
    let overview = Overview::of(&set);
    assert_eq!((kinds(&overview), overview.imbalance()), (vec![], None));
    assert_eq!(
        overview.summary(Part::Training),
        "500 training images, 50 of each class"
    );
}

#[test]
fn each_issue_is_found_with_the_images_that_have_it() {
    let mut train = sound(0);
    // In the order of their places: 20 to 25.
    train.push((vec![3; PIXELS], 4));
    train.push((image(40).iter().map(|pixel| 255 - pixel).collect(), 5));
    train.push((image(7), 7));
    train.push((image(7), 1));
    train.push((vec![250; PIXELS], 4));
    train.push((image(7), 7));
    let mut test = sound(20);
    test.push((image(3), 3));
    test.push((image(21), 1));
    let overview = Overview::of(&Dataset {
        train: split(&train),
        test: split(&test),
        ..Dataset::default()
    });
    let expected = [
        (IssueKind::Blank, Part::Training, 2, vec![(20, 4), (24, 4)]),
        (IssueKind::LightBackground, Part::Training, 1, vec![(21, 5)]),
        (
            IssueKind::ConflictingLabel,
            Part::Training,
            1,
            vec![(23, 1)],
        ),
        (
            IssueKind::Duplicate,
            Part::Training,
            2,
            vec![(22, 7), (25, 7)],
        ),
        (IssueKind::Duplicate, Part::Test, 1, vec![(21, 1)]),
        (IssueKind::InTrainingToo, Part::Test, 1, vec![(20, 3)]),
    ];
    let found = overview.issues.iter().map(|issue| {
        (
            issue.kind,
            issue.part,
            issue.images,
            issue
                .examples
                .iter()
                .map(|example| (example.index, example.label))
                .collect(),
        )
    });
    assert_eq!(found.collect::<Vec<_>>(), expected);
    let sentences: Vec<_> = overview
        .issues
        .iter()
        .map(inkling::data::Issue::sentence)
        .collect();
    assert_eq!(
        sentences[0],
        "2 training images are blank. Blank images carry no information."
    );
    assert_eq!(
        sentences[2],
        "1 training image is a copy of an earlier one with a different label. One of the two labels is wrong."
    );
    assert_eq!(
        sentences[5],
        "1 test image is also in the training images. The test accuracy will be higher than on new images."
    );
    let blank = &overview.issues[0];
    assert_eq!(
        blank.place_of(&blank.examples[1]),
        "Training image 24 (from 0), labeled 4"
    );
}

#[test]
fn rare_digits_are_pointed_out() {
    let mut train: Vec<_> = (0..90)
        .map(|number| (image(number), (number % 9) as u8))
        .collect();
    train.push((image(100), 9));
    let overview = Overview::of(&Dataset {
        train: split(&train),
        test: Split::default(),
        ..Dataset::default()
    });
    assert_eq!(overview.imbalance(), Some([(9, 1), (0, 10)]));
    let sentence = overview.imbalance_sentence(&Classes::Digits).unwrap();
    assert_eq!(
        sentence,
        "Class imbalance: 1 training image of 9, but 10 of 0. Expect a low accuracy on rare classes."
    );
    assert_eq!(
        overview.summary(Part::Training),
        "91 training images, 1 to 10 of each class"
    );
    assert_eq!(overview.summary(Part::Test), "No test images");
}

#[test]
fn the_real_mnist_has_nothing_odd() {
    let Some(folder) = crate::support::mnist_folder() else {
        return;
    };
    let set = inkling::data::load(
        &folder.display().to_string().parse().unwrap(),
        &[],
        &mut Unwatched,
    )
    .unwrap();
    let overview = Overview::of(&set);
    assert_eq!(kinds(&overview), []);
    assert_eq!(
        overview.summary(Part::Training),
        "60,000 training images, 5,421 to 6,742 of each class"
    );
}
