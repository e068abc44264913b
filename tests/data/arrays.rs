//! Archives of arrays, as `NumPy` and Keras write them.

use std::fs;
use std::io::{Cursor, Write};

use inkling::data::{DataError, Dataset};
use inkling::ink::PIXELS;
use tempfile::TempDir;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::read_path;
use crate::meter::peak_of;

fn npy(kind: &str, shape: &str, numbers: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}\n");
    [
        b"\x93NUMPY\x01\0",
        &(header.len() as u16).to_le_bytes()[..],
        header.as_bytes(),
        numbers,
    ]
    .concat()
}

fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, array) in arrays {
        zip.start_file(
            format!("{name}.npy"),
            SimpleFileOptions::default().compression_method(CompressionMethod::Deflated),
        )
        .unwrap();
        zip.write_all(array).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// So many images, the first of which is all 0, the next all 1…
fn images(count: usize) -> Vec<u8> {
    (0..count).flat_map(|index| [index as u8; PIXELS]).collect()
}

fn labels(count: usize) -> Vec<u8> {
    (0..count).map(|index| (index % 10) as u8).collect()
}

fn keras() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("x_test", npy("|u1", "10, 28, 28", &images(10))),
        ("x_train", npy("|u1", "20, 28, 28", &images(20))),
        ("y_train", npy("|u1", "20,", &labels(20))),
        ("y_test", npy("|u1", "10,", &labels(10))),
    ]
}

fn read_npz(arrays: &[(&str, Vec<u8>)]) -> Result<Dataset, DataError> {
    let root = TempDir::new().unwrap();
    let path = root.path().join("mnist.npz");
    fs::write(&path, npz(arrays)).unwrap();
    read_path(&path)
}

#[test]
fn keras_arrays_are_training_and_test_images() {
    let set = read_npz(&keras()).unwrap();
    assert_eq!(
        (set.train.images, set.train.labels),
        (images(20), labels(20))
    );
    assert_eq!((set.test.images, set.test.labels), (images(10), labels(10)));
}

#[test]
fn other_names_shapes_and_types_are_read() {
    let wide = |bytes: usize, big: bool| -> Vec<u8> {
        labels(21)
            .iter()
            .flat_map(|label| {
                let mut number = vec![0; bytes];
                number[if big { bytes - 1 } else { 0 }] = *label;
                number
            })
            .collect()
    };
    for (kind, numbers) in [
        ("<i8", wide(8, false)),
        (">u4", wide(4, true)),
        ("<i2", wide(2, false)),
        ("|i1", labels(21)),
    ] {
        let pixels = npy("|u1", "21, 784", &images(21));
        let set =
            read_npz(&[("images", pixels), ("labels", npy(kind, "21, 1", &numbers))]).unwrap();
        assert_eq!((set.train.len(), set.test.len()), (18, 3), "{kind}");
        assert!(
            set.train
                .labels
                .iter()
                .zip(&set.train.images)
                .all(|(_, pixel)| *pixel < 21)
        );
    }
}

#[test]
fn four_arrays_without_names_are_told_apart_by_their_shapes() {
    let [train, test] = [20, 10].map(|count| {
        [
            npy("|u1", &format!("{count}, 28, 28"), &images(count)),
            npy("|u1", &format!("{count},"), &labels(count)),
        ]
    });
    let one_hot: Vec<u8> = labels(10)
        .iter()
        .flat_map(|label| (0..10).map(move |class| u8::from(class == *label)))
        .collect();
    let flat = npy("|u1", "10, 784", &images(10));
    let one_hot = npy("|u1", "10, 10", &one_hot);
    let [x_train, y_train] = &train;
    let [x_test, y_test] = &test;
    let read = |arrays: &[&Vec<u8>]| {
        let names = ["arr_0", "arr_1", "arr_2", "arr_3", "arr_4", "arr_5"];
        let named: Vec<_> = names
            .into_iter()
            .zip(arrays.iter().copied().cloned())
            .collect();
        read_npz(&named)
    };
    for (arrays, parts) in [
        (
            [x_train, y_train, x_test, y_test],
            ["0 and arr_1", "2 and arr_3"],
        ),
        (
            [x_train, y_train, &flat, &one_hot],
            ["0 and arr_1", "2 and arr_3"],
        ),
        (
            [x_train, x_test, y_train, y_test],
            ["0 and arr_2", "1 and arr_3"],
        ),
        (
            [x_train, x_test, y_test, y_train],
            ["0 and arr_3", "1 and arr_2"],
        ),
        (
            [y_train, x_train, y_test, x_test],
            ["1 and arr_0", "3 and arr_2"],
        ),
    ] {
        let set = read(&arrays).unwrap();
        assert_eq!(
            (set.train.images, set.train.labels),
            (images(20), labels(20))
        );
        assert_eq!((set.test.images, set.test.labels), (images(10), labels(10)));
        let [note] = set.notes.as_slice() else {
            panic!("{:?}", set.notes)
        };
        assert!(
            parts
                .iter()
                .all(|part| note.contains(&format!("arr_{part}"))),
            "{note}"
        );
    }
    let even = read(&[x_test, y_test, &flat, &one_hot]).unwrap();
    assert_eq!(even.train, even.test, "in their order");
    for arrays in [
        &[x_train, y_train, x_test][..],
        &[x_test, y_test, x_train, y_train],
        &[x_train, y_train, x_test, y_train],
        &[x_train, x_test, x_train, x_test],
        &[y_train, y_test, y_train, y_test],
        &[x_train, y_train, x_test, y_test, x_test, y_test],
    ] {
        let DataError::Refused { reason, remedy, .. } = read(arrays).unwrap_err() else {
            panic!("another error")
        };
        assert!(
            reason.contains("have no names") && remedy.contains("x_train=images"),
            "{reason} {remedy}"
        );
    }
}

#[test]
fn what_is_wrong_with_an_array_is_told() {
    let normalized = npy(
        "<f4",
        "20, 28, 28",
        &(-0.42_f32).to_le_bytes().repeat(20 * PIXELS),
    );
    let mut fortran = npy("|u1", "20, 28, 28", &images(20));
    let at = fortran
        .windows(5)
        .position(|word| word == b"False")
        .unwrap();
    fortran[at..at + 5].copy_from_slice(b"True ");
    for (name, array, word) in [
        ("x_train", normalized, "image 1 has a pixel of -0.42"),
        ("x_train", fortran, "Fortran"),
        (
            "x_train",
            npy("|u1", "20, 32, 5", &vec![0; 20 * 32 * 5]),
            "its shape is [20, 32, 5]",
        ),
        (
            "x_train",
            npy("|u1", "19, 28, 28", &images(19)),
            "there are 19 images",
        ),
        (
            "x_train",
            npy("|u1", "20, 28, 28", &images(19)),
            "truncated",
        ),
        (
            "x_train",
            npy("|u1", "20, 28, 28", &images(21)),
            "extra data",
        ),
        ("x_train", npy("|u1", "0, 28, 28", b""), "images"),
        (
            "y_train",
            npy("|u1", "20,", &[100; 20]),
            "label 1 is 100, not a whole number from 0 to 99",
        ),
        ("y_train", npy("|i1", "20,", &[255; 20]), "label 1 is -1,"),
        ("y_train", npy("<i8", "20,", &[255; 160]), "label 1 is -1,"),
        (
            "y_train",
            npy("|u1", "20, 3", &[1; 60]),
            "neither a number nor a row with a single 1",
        ),
        ("y_train", npy("|O", "20,", &[0; 160]), "type |O"),
        ("y_train", b"PK".to_vec(), "truncated"),
        (
            "y_train",
            b"no array of any kind".to_vec(),
            "not a NumPy array",
        ),
        (
            "y_train",
            npy("|u1", "20, 1, 1, 1, 1", &[0; 20]),
            "dimensions",
        ),
        ("y_test", npy("|u1", "x,", &[0; 20]), "header"),
    ] {
        let mut arrays = keras();
        arrays
            .iter_mut()
            .filter(|(other, _)| *other == name)
            .for_each(|(_, old)| old.clone_from(&array));
        let (DataError::Malformed { reason, .. } | DataError::Refused { reason, .. }) =
            read_npz(&arrays).unwrap_err()
        else {
            panic!("{word}")
        };
        assert!(reason.contains(word), "{reason}");
    }
}

#[test]
fn an_archive_that_claims_more_than_it_may_take_is_refused() {
    for (count, shape) in [
        (2_000_000, "1999999, 28, 28"),
        (1, "18446744073709551615, 28, 28"),
        (1, "99999999999999999999, 28, 28"),
    ] {
        let claims = [
            ("x", npy("|u1", shape, &[0; PIXELS])),
            (
                "y",
                npy("|u1", shape.split_once(' ').unwrap().0, &vec![0; count]),
            ),
        ];
        let (result, peak) = peak_of(|| read_npz(&claims).map(|set| set.train.len()));
        assert!(
            matches!(
                result,
                Err(DataError::TooLarge { .. } | DataError::Malformed { .. })
            ),
            "{result:?}"
        );
        // The test itself holds the labels, twice.
        assert!(peak < 16 << 20, "{peak}");
    }
}

#[test]
fn an_archive_of_something_else_is_to_be_unpacked() {
    let root = TempDir::new().unwrap();
    let (path, broken) = (
        root.path().join("digits.zip"),
        root.path().join("broken.npz"),
    );
    fs::write(
        &path,
        npz(&[("arr_0", npy("|u1", "20, 28, 28", &images(20)))]),
    )
    .unwrap();
    assert!(
        matches!(read_path(&path), Err(DataError::Refused { remedy, .. }) if remedy.starts_with("Unpack it"))
    );
    let whole = npz(&keras());
    fs::write(&broken, &whole[..whole.len() / 2]).unwrap();
    assert!(
        matches!(read_path(&broken), Err(DataError::Malformed { reason, .. }) if reason.contains("zip archive"))
    );
}

/// The same numbers as 32-bit floats.
fn floats(numbers: &[u8], of_white: f32) -> Vec<u8> {
    let float = |number: &u8| (f32::from(*number) / 255.0 * of_white).to_le_bytes();
    numbers.iter().flat_map(float).collect()
}

#[test]
fn floats_in_either_range_and_one_hot_labels_are_the_same_images() {
    let bytes: Vec<u8> = (0..20)
        .flat_map(|image| (0..PIXELS).map(move |pixel| ((image * 13 + pixel) % 256) as u8))
        .collect();
    let one_hot: Vec<u8> = labels(20)
        .iter()
        .flat_map(|label| (0..10).map(move |class| u8::from(class == *label)))
        .collect();
    let exact = read_npz(&[
        ("x", npy("|u1", "20, 28, 28", &bytes)),
        ("y", npy("|u1", "20,", &labels(20))),
    ])
    .unwrap();
    assert_eq!(exact.notes, Vec::<String>::new());
    for (of_white, noted) in [(1.0, 1), (255.0, 0)] {
        let set = read_npz(&[
            ("X", npy("<f4", "20, 28, 28, 1", &floats(&bytes, of_white))),
            ("Y", npy("|u1", "20, 10", &one_hot)),
        ])
        .unwrap();
        assert_eq!(
            (&set.train, &set.test),
            (&exact.train, &exact.test),
            "{of_white}"
        );
        assert_eq!(set.notes.len(), noted);
    }
    // Half precision, and truth values.
    let half = |number: &u8| half::f16::from_f32(f32::from(*number)).to_le_bytes();
    let set = read_npz(&[
        (
            "data",
            npy(
                "<f2",
                "20, 784",
                &bytes.iter().flat_map(half).collect::<Vec<_>>(),
            ),
        ),
        (
            "target",
            npy("<f4", "20,", &{
                let label = |label: u8| f32::from(label).to_le_bytes();
                labels(20).into_iter().flat_map(label).collect::<Vec<_>>()
            }),
        ),
    ])
    .unwrap();
    assert_eq!((set.train, set.test), (exact.train, exact.test));
    let truth: Vec<u8> = bytes.iter().map(|byte| byte % 2).collect();
    let set = read_npz(&[
        ("images", npy("|b1", "20, 28, 28", &truth)),
        ("labels", npy("|u1", "20,", &labels(20))),
    ])
    .unwrap();
    assert!(
        set.train
            .images
            .iter()
            .all(|pixel| [0, 255].contains(pixel))
    );
}

#[test]
fn colors_and_other_sizes_become_small_and_gray_and_that_is_said() {
    // A light disk in red on black, in 64x64 pixels.
    let disk = |x: usize, y: usize| (x as f32 - 31.5).hypot(y as f32 - 31.5) < 16.0;
    let together: Vec<u8> = (0..64 * 64)
        .flat_map(|at| [if disk(at % 64, at / 64) { 200 } else { 0 }, 0, 0])
        .collect();
    let apart: Vec<u8> = (0..3)
        .flat_map(|part| together.iter().skip(part).step_by(3).copied())
        .collect();
    // Twelve classes are not digits: the whole image counts.
    let labels: Vec<u8> = (0..24).map(|index| index % 12).collect();
    let read = |shape: &str, image: &[u8]| {
        let set = read_npz(&[
            ("x", npy("|u1", shape, &image.repeat(24))),
            ("y", npy("|u1", "24,", &labels)),
        ]);
        set.unwrap()
    };
    let set = read("24, 64, 64, 3", &together);
    assert_eq!(set, read("24, 3, 64, 64", &apart));
    let image = set.train.image(0);
    // Red is a fifth of what makes white.
    assert_eq!((image[0], image[14 * 28 + 14]), (0, 43));
    let [note] = set.notes.as_slice() else {
        panic!("{:?}", set.notes)
    };
    assert!(
        note.starts_with("Images of 64x64 pixels in color were scaled to 28x28 grayscale"),
        "{note}"
    );
    let small = read("24, 28, 28, 3", &[90, 90, 90].repeat(PIXELS));
    assert!(small.train.images.iter().all(|pixel| *pixel == 90));
    assert!(
        small.notes[0].contains("28x28 pixels in color"),
        "{:?}",
        small.notes
    );
    // Eight by eight from 0 to 16, as scikit-learn has them.
    let digits: Vec<u8> = (0..64).map(|at| if at % 8 == 3 { 16 } else { 0 }).collect();
    let set = read("24, 64", &digits);
    assert_eq!(set.notes.len(), 2, "{:?}", set.notes);
    assert!(set.notes[0].contains("from 0 to 16"));
    assert_eq!(set.train.image(0).iter().max(), Some(&255));
}

#[test]
fn images_for_validation_are_for_test_or_else_for_training() {
    let part = |first: u8, count: usize| {
        let images: Vec<u8> = (0..count).flat_map(|_| [first; PIXELS]).collect();
        npy("|u1", &format!("{count}, 28, 28"), &images)
    };
    let labels = |count: usize| npy("|u1", &format!("{count}, 1"), &labels(count));
    let mut arrays = vec![
        ("train_images", part(100, 10)),
        ("train_labels", labels(10)),
        ("val_images", part(200, 4)),
        ("val_labels", labels(4)),
    ];
    let set = read_npz(&arrays).unwrap();
    assert_eq!(
        (set.train.len(), set.test.images),
        (10, vec![200; 4 * PIXELS])
    );
    assert!(set.notes[0].contains("validation images are used for testing"));
    arrays.extend([("test_images", part(250, 3)), ("test_labels", labels(3))]);
    let set = read_npz(&arrays).unwrap();
    assert_eq!((set.train.len(), set.test.len()), (14, 3));
    assert_eq!(set.train.image(13), [200; PIXELS]);
    assert!(set.notes[0].contains("are also training images"));
}

#[test]
fn arrays_in_a_folder_are_read_and_one_alone_says_what_to_do() {
    let root = TempDir::new().unwrap();
    for (name, array) in keras() {
        fs::write(root.path().join(format!("{name}.npy")), array).unwrap();
    }
    assert_eq!(read_path(root.path()), read_npz(&keras()));
    let DataError::Refused { reason, remedy, .. } =
        read_path(&root.path().join("x_train.npy")).unwrap_err()
    else {
        panic!()
    };
    assert!(
        reason.contains("a single NumPy array") && remedy.contains("np.savez"),
        "{reason} {remedy}"
    );
}
