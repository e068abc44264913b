//! Archives of arrays, as `NumPy` and Keras write them.

use std::fs;
use std::io::{Cursor, Write};

use inkling::data::{DataError, DataSet};
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

fn read_npz(arrays: &[(&str, Vec<u8>)]) -> Result<DataSet, DataError> {
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
fn what_is_wrong_with_an_array_is_told() {
    let float = npy("<f4", "20, 28, 28", &vec![0; 20 * PIXELS * 4]);
    let mut fortran = npy("|u1", "20, 28, 28", &images(20));
    let at = fortran
        .windows(5)
        .position(|word| word == b"False")
        .unwrap();
    fortran[at..at + 5].copy_from_slice(b"True ");
    for (name, array, word) in [
        ("x_train", float, "type <f4"),
        ("x_train", fortran, "Fortran"),
        (
            "x_train",
            npy("|u1", "20, 32, 32", &vec![0; 20 * 32 * 32]),
            "its shape is [20, 32, 32]",
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
            "label 100 of image 1 is larger than 99",
        ),
        ("y_train", npy("|i1", "20,", &[255; 20]), "from 0 to 255"),
        ("y_train", npy("<i8", "20,", &[255; 160]), "from 0 to 255"),
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
        let DataError::Malformed { reason, .. } = read_npz(&arrays).unwrap_err() else {
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
        matches!(read_path(&path), Err(DataError::NoData { reason, .. }) if reason.contains("unpack it"))
    );
    let whole = npz(&keras());
    fs::write(&broken, &whole[..whole.len() / 2]).unwrap();
    assert!(
        matches!(read_path(&broken), Err(DataError::Malformed { reason, .. }) if reason.contains("zip archive"))
    );
}
