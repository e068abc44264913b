//! Images whose labels are in their names, or in a table beside them.

use std::fs;

use inkling::data::{DataError, check};
use tempfile::TempDir;

use super::{gzip, read_path, write_image};

fn folder_of(names: &[&str]) -> TempDir {
    let root = TempDir::new().unwrap();
    names
        .iter()
        .for_each(|name| write_image(&root.path().join(name)));
    root
}

/// All labels of these images, sorted.
fn labels(names: &[&str]) -> Result<Vec<u8>, DataError> {
    let set = read_path(folder_of(names).path())?;
    let mut labels = [set.train.labels, set.test.labels].concat();
    labels.sort_unstable();
    Ok(labels)
}

#[test]
fn names_that_begin_or_end_with_a_digit_tell_the_label() {
    assert_eq!(
        labels(&["7_0001.png", "3_0002.png", "3-x.png", "0 1_x.bmp"]),
        Ok(vec![0, 3, 3, 7])
    );
    assert_eq!(
        labels(&["digit-7.png", "img_0001_3.png", "scan 0002 9.bmp"]),
        Ok(vec![3, 7, 9])
    );
    assert_eq!(labels(&["7.png", "7 (2).png", "5.png"]), Ok(vec![5, 7, 7]));
    assert_eq!(
        labels(&["digit-7.png", "digit-7 (10).png", "digit-0.png"]),
        Ok(vec![0, 7, 7])
    );
    // Either end would do for the first, but only the first part is a digit in all.
    assert_eq!(labels(&["7_1.png", "3_10.png"]), Ok(vec![3, 7]));
}

#[test]
fn names_that_do_not_tell_the_label_are_refused_with_an_example() {
    for (names, words) in [
        (
            &["7_01.png", "digit.png"][..],
            ["\"digit.png\"", "has no label"],
        ),
        (&["IMG_2031.png"], ["\"IMG_2031.png\"", "7_0001.png"]),
        (
            &["7_01.png", "img_7.png"],
            ["\"7_01.png\"", "\"img_7.png\""],
        ),
        (&["7_1.png", "7_2.png"], ["\"7_1.png\"", "either could be"]),
        (
            &["17_01.png", "1\u{664}.png"],
            ["\"17_01.png\"", "has no label"],
        ),
    ] {
        let root = folder_of(names);
        for error in [
            read_path(root.path()).unwrap_err(),
            check(root.path()).unwrap_err(),
        ] {
            let DataError::Malformed { path, reason } = error else {
                panic!("{error}")
            };
            assert_eq!(path, root.path());
            assert!(words.iter().all(|word| reason.contains(word)), "{reason}");
        }
    }
}

#[test]
fn a_folder_for_test_is_the_test_split() {
    let root = folder_of(&["train/7_1.png", "train/3_10.png", "test/digit-4.png"]);
    let set = read_path(root.path()).unwrap();
    // In the order of their names.
    assert_eq!((set.train.labels, set.test.labels), (vec![3, 7], vec![4]));
}

#[test]
fn class_folders_and_tables_come_before_names() {
    let root = folder_of(&["3/7_01.png", "7_01.png"]);
    assert_eq!(read_path(root.path()).unwrap().train.labels, [3]);
    let root = folder_of(&["7_01.png", "7_02.png"]);
    fs::write(
        root.path().join("labels.csv"),
        "image,label\n7_01.png,4\n7_02.png,4\n",
    )
    .unwrap();
    assert_eq!(read_path(root.path()).unwrap().train.labels, [4, 4]);
}

#[test]
fn a_table_of_files_names_images_beside_it_and_below() {
    let root = folder_of(&["a.png", "more/b.bmp", "c.png"]);
    for text in [
        "file,label\na.png,1\nmore/b.bmp,2\nc.png,3\n",
        "\u{feff}Label;Writer;Filename\r\n1;x;a.png\r\n2;y;more\\b.bmp\r\n3;z;./c.png\r\n",
        "class\tpath\n1\ta.png\n 2 \tmore/b.bmp\n3\t\"c.png\"\n",
    ] {
        let table = root.path().join("digits.csv");
        fs::write(&table, text).unwrap();
        let mut labels = read_path(&table).unwrap().train.labels;
        labels.sort_unstable();
        assert_eq!(labels, [1, 2, 3], "{text}");
    }
}

#[test]
fn a_table_for_test_without_labels_is_left_out() {
    let root = folder_of(&["a.png", "b.png"]);
    fs::write(
        root.path().join("train.csv"),
        format!("file,label\n{}", "a.png,1\n".repeat(7)),
    )
    .unwrap();
    fs::write(root.path().join("test.csv"), "file\nb.png\n").unwrap();
    let set = read_path(root.path()).unwrap();
    assert_eq!((set.train.len(), set.test.len()), (6, 1));
}

#[test]
fn what_is_wrong_with_a_table_of_files_is_told() {
    let root = folder_of(&["a.png"]);
    let table = root.path().join("digits.csv");
    for (rows, word) in [
        (
            "a.png,1\nb.png,2\nc.png,3\nd.png,4\ne.png,5\n",
            "4 of its 5 images are missing: \"b.png\", \"c.png\", \"d.png\" and 1 more",
        ),
        (
            "a.png,1\nb.png,2\n",
            "1 of its 2 images is missing: \"b.png\"",
        ),
        ("../a.png,1\n", "line 2: \"../a.png\" is not the name"),
        ("/etc/passwd,1\n", "line 2: \"/etc/passwd\" is not the name"),
        (",1\n", "line 2: \"\" is not the name"),
        ("a.png\n", "line 2 has no label"),
        ("", "no rows"),
    ] {
        fs::write(&table, format!("file,label\n{rows}")).unwrap();
        let DataError::Malformed { path, reason } = read_path(&table).unwrap_err() else {
            panic!("{rows}")
        };
        assert_eq!(path, table);
        assert!(reason.contains(word), "{reason}");
    }
}

#[test]
fn a_packed_table_that_names_one_image_for_ever_is_refused() {
    let root = folder_of(&["a.png"]);
    let table = root.path().join("digits.csv.gz");
    let rows = "a.png,1\n".repeat(200_000);
    fs::write(&table, gzip(format!("file,label\n{rows}").as_bytes())).unwrap();
    assert!(matches!(read_path(&table), Err(DataError::TooLarge { path, .. }) if path == table));
}
