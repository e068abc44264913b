//! IDX files with names of their own.

use std::fs;

use inkling::data::{DataError, Dataset};
use inkling::ink::PIXELS;
use tempfile::TempDir;

use super::{pack, read_path};
use crate::support::write_idx_set;

/// A folder with the files of MNIST under other names: what replaces `train-`, `t10k-`.
fn renamed(train: [&str; 2], test: Option<[&str; 2]>) -> (TempDir, Dataset) {
    let root = TempDir::new().unwrap();
    write_idx_set(root.path(), 21, 10);
    let set = read_path(root.path()).unwrap();
    for (old, new) in [("train", Some(train)), ("t10k", test)] {
        for (index, what) in ["images-idx3-ubyte", "labels-idx1-ubyte"]
            .into_iter()
            .enumerate()
        {
            let path = root.path().join(format!("{old}-{what}"));
            match new {
                Some(new) => fs::rename(path, root.path().join(new[index])).unwrap(),
                None => fs::remove_file(path).unwrap(),
            }
        }
    }
    (root, set)
}

#[test]
fn a_file_of_images_is_read_with_the_labels_beside_it() {
    for names in [
        ["a-images-idx3-ubyte", "a-labels-idx1-ubyte"],
        ["Images.idx", "Labels.idx"],
        ["MY_IMAGES.IDX3", "MY_LABELS.IDX1"],
    ] {
        let (root, set) = renamed(names, None);
        for path in [root.path().join(names[0]), root.path().to_owned()] {
            let read = read_path(&path).unwrap();
            // Nothing is for test: one in seven is set apart.
            assert_eq!((read.train.len(), read.test.len()), (18, 3), "{names:?}");
            assert!(
                set.train
                    .images
                    .chunks(PIXELS)
                    .any(|image| image == read.test.image(0))
            );
        }
    }
}

#[test]
fn either_file_may_be_gzipped() {
    let names = ["digits.images.idx3", "digits.labels.idx1"];
    for packed in names {
        let (root, _) = renamed(names, None);
        let whole = read_path(root.path()).unwrap();
        pack(&root.path().join(packed));
        let images = if packed == names[0] {
            "digits.images.idx3.gz"
        } else {
            names[0]
        };
        for path in [root.path().to_owned(), root.path().join(images)] {
            assert_eq!(read_path(&path).unwrap(), whole);
        }
    }
}

#[test]
fn two_pairs_are_told_apart_by_their_names() {
    let (root, set) = renamed(
        ["a-train-images", "a-train-labels"],
        Some(["a-test-images", "a-test-labels"]),
    );
    assert_eq!(read_path(root.path()).unwrap(), set);
    let (root, _) = renamed(["a-images", "a-labels"], Some(["b-images", "b-labels"]));
    let DataError::NotASet { path, reason } = read_path(root.path()).unwrap_err() else {
        panic!()
    };
    assert_eq!(path, root.path());
    assert!(
        reason.contains("2 pairs") && reason.contains("a-images"),
        "{reason}"
    );
}

#[test]
fn labels_that_are_missing_are_named() {
    let (root, _) = renamed(["a-images-idx3", "a-labels-idx1"], None);
    let labels = root.path().join("a-labels-idx1");
    fs::remove_file(&labels).unwrap();
    for path in [root.path().to_owned(), root.path().join("a-images-idx3")] {
        assert_eq!(
            read_path(&path).unwrap_err(),
            DataError::Missing {
                path: labels.clone()
            }
        );
    }
}

#[test]
fn all_sets_of_emnist_are_set_upright() {
    let (root, set) = renamed(
        [
            "emnist-mnist-train-images-idx3-ubyte",
            "emnist-mnist-train-labels-idx1-ubyte",
        ],
        None,
    );
    let upright = read_path(&root.path().join("emnist-mnist-train-images-idx3-ubyte")).unwrap();
    let first: Vec<u8> = (0..PIXELS)
        .map(|place| upright.train.images[place % 28 * 28 + place / 28])
        .collect();
    assert!(set.train.images.chunks(PIXELS).any(|image| image == first));
}
