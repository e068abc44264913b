//! Tables of pixels as programs write them: what stands between columns, where the label is, which
//! range and size the images have.

use std::fs;
use std::path::Path;

use inkling::data::{DataError, Dataset};
use inkling::ink::PIXELS;
use inkling::problem::Explain as _;
use inkling::run_config::Classes;
use tempfile::TempDir;

use super::read_path;

const ROWS: usize = 21;

fn pixels(row: usize) -> Vec<u8> {
    (0..PIXELS)
        .map(|pixel| {
            if pixel % 28 < 4 {
                0
            } else {
                ((pixel + row * 7) % 256) as u8
            }
        })
        .collect()
}

/// A table with this header, of these rows.
fn table(header: &str, row: impl Fn(usize, &[u8]) -> String) -> String {
    let rows = (0..ROWS).map(|index| row(index, &pixels(index)) + "\n");
    std::iter::once(header.to_owned()).chain(rows).collect()
}

fn names() -> String {
    (0..PIXELS).map(|pixel| format!(",pixel{pixel}")).collect()
}

fn joined(pixels: &[u8], between: &str, text: impl Fn(u8) -> String) -> String {
    let texts: Vec<String> = pixels.iter().map(|pixel| text(*pixel)).collect();
    texts.join(between)
}

fn read(text: &str) -> Result<Dataset, DataError> {
    let root = TempDir::new().unwrap();
    let path = root.path().join("digits.csv");
    fs::write(&path, text).unwrap();
    read_path(&path)
}

#[test]
fn tables_are_the_same_whatever_stands_between_columns_and_wherever_the_label_is() {
    let plain = |pixel: u8| pixel.to_string();
    let kaggle = read(&table(&format!("label{}\n", names()), |index, pixels| {
        format!("{},{}", index % 10, joined(pixels, ",", plain))
    }))
    .unwrap();
    assert_eq!(kaggle.notes, Vec::<String>::new());
    let with = |between: &str| {
        table(
            &format!("label{}\n", names().replace(',', between)),
            |index, pixels| format!("{}{between}{}", index % 10, joined(pixels, between, plain)),
        )
    };
    let quoted = |pixel: u8| format!("\"{pixel}\"");
    for (text, notes) in [
        (with(";"), 0),
        (with("\t"), 0),
        (with(" "), 0),
        // pandas' to_csv with its index.
        (
            table(&format!(",label{}\n", names()), |index, pixels| {
                format!("{index},{},{}", index % 10, joined(pixels, ",", plain))
            }),
            1,
        ),
        // OpenML.
        (
            table(
                &format!("{},class\n", names().trim_start_matches(',')),
                |index, pixels| {
                    format!("{},'{}'", joined(pixels, ",", plain), index % 10).replace('\'', "\"")
                },
            ),
            0,
        ),
        (
            table("", |index, pixels| {
                format!("{},{}", joined(pixels, ",", plain), index % 10)
            }),
            1,
        ),
        (
            table(&format!("target{}\n", names()), |index, pixels| {
                format!(
                    "{}.0,{}",
                    index % 10,
                    joined(pixels, ",", |pixel| format!("{pixel}.0"))
                )
            }),
            0,
        ),
        (
            table(&format!("\"y\"{}\n", names()), |index, pixels| {
                format!("\"{}\",{}", index % 10, joined(pixels, ",", quoted))
            }),
            0,
        ),
        // Pixels from 0 to 1.
        (
            table(&format!("label{}\n", names()), |index, pixels| {
                let share = |pixel: u8| (f32::from(pixel) / 255.0).to_string();
                format!("{},{}", index % 10, joined(pixels, ",", share))
            }),
            1,
        ),
        // The numbers of the columns as their names.
        (
            table(
                &format!(
                    "{}\n",
                    (0..=PIXELS)
                        .map(|column| column.to_string())
                        .collect::<Vec<_>>()
                        .join(",")
                ),
                |index, pixels| format!("{},{}", index % 10, joined(pixels, ",", plain)),
            ),
            0,
        ),
    ] {
        let set = read(&text).unwrap_or_else(|error| panic!("{error}: {}", &text[..60]));
        assert_eq!(set.notes.len(), notes, "{:?} {}", set.notes, &text[..60]);
        assert_eq!(
            (set.train, set.test, set.classes),
            (kaggle.train.clone(), kaggle.test.clone(), Classes::Digits),
            "{}",
            &text[..60]
        );
    }
}

#[test]
fn labels_are_words_or_numbers_but_not_both() {
    let row = |label: &str| format!("{label}{}\n", ",70".repeat(PIXELS));
    let set = read(&[row("cat"), row("dog"), row("cat")].concat()).unwrap();
    assert_eq!(Vec::from(set.classes), ["cat", "dog"]);
    let error = read(&[row("3"), row("dog")].concat()).unwrap_err();
    assert!(
        error.to_string().contains("line 2: the label \"dog\""),
        "{error}"
    );
}

#[test]
fn small_images_with_their_labels_last_are_digits_of_scikit_learn() {
    // As `load_digits` has them: 8x8 from 0 to 16, the first pixel always 0.
    let rows: String = (0..30)
        .map(|row| {
            let pixels = (0..64).map(|pixel| if pixel % 8 == 4 { "16," } else { "0," });
            pixels.collect::<String>() + &format!("{}\n", row % 10)
        })
        .collect();
    let header: String = (0..64).map(|pixel| format!("p{pixel},")).collect();
    for text in [rows.clone(), format!("{header}target\n{rows}")] {
        let set = read(&text).unwrap();
        assert_eq!((set.train.len(), set.test.len()), (26, 4));
        assert_eq!(set.classes, Classes::Digits);
        assert!(set.train.labels.contains(&9));
        assert!(
            set.notes.iter().any(|note| note.contains("8x8 pixels")),
            "{:?}",
            set.notes
        );
    }
    // As its own text files, whatever their ending.
    let root = TempDir::new().unwrap();
    let path = root.path().join("optdigits.tra");
    fs::write(&path, rows).unwrap();
    assert_eq!(read_path(&path).unwrap().train.len(), 26);
}

#[test]
fn emnists_tables_are_set_upright_and_its_letters_are_letters() {
    let root = TempDir::new().unwrap();
    let write = |name: &str, first: usize| {
        let text = table("", |index, pixels| {
            format!(
                "{},{}",
                index % 10 + first,
                joined(pixels, ",", |pixel| pixel.to_string())
            )
        });
        fs::write(root.path().join(name), text).unwrap();
    };
    write("emnist-digits-train.csv", 0);
    write("emnist-digits-test.csv", 0);
    let set = read_path(root.path()).unwrap();
    assert_eq!((set.train.len(), set.test.len()), (ROWS, ROWS));
    let lying = pixels(0);
    assert!((0..PIXELS).all(|at| set.train.image(0)[at] == lying[at % 28 * 28 + at / 28]));
    assert!(set.notes[0].contains("upright"), "{:?}", set.notes);
    write("emnist-letters-train.csv", 1);
    let letters = read_path(&root.path().join("emnist-letters-train.csv")).unwrap();
    assert_eq!(
        (letters.classes, letters.train.labels.iter().min()),
        (Classes::Letters, Some(&0))
    );
    // Two sets in a folder: one has to be chosen.
    assert!(matches!(
        read_path(root.path()),
        Err(DataError::Refused { reason, .. }) if reason.contains("several")
    ));
}

#[test]
fn a_table_for_validation_is_for_test_or_else_for_training() {
    let root = TempDir::new().unwrap();
    let write = |name: &str, rows: usize| {
        let row = format!("1{}\n", ",70".repeat(PIXELS));
        fs::write(root.path().join(name), row.repeat(rows)).unwrap();
    };
    write("train.csv", 10);
    write("val.csv", 3);
    let set = read_path(root.path()).unwrap();
    assert_eq!((set.train.len(), set.test.len()), (10, 3));
    write("test.csv", 4);
    let set = read_path(root.path()).unwrap();
    assert_eq!(
        (set.train.len(), set.test.len(), set.notes.len()),
        (13, 4, 1)
    );
}

#[track_caller]
fn refusal(path: &Path) -> String {
    read_path(path).unwrap_err().message().to_string()
}

#[test]
fn what_is_no_table_of_images_says_what_one_is() {
    let root = TempDir::new().unwrap();
    let path = root.path().join("flowers.csv");
    fs::write(&path, "5.1,3.5,1.4,0.2,setosa\n4.9,3.0,1.4,0.2,setosa\n").unwrap();
    let message = refusal(&path);
    assert!(
        message.contains("line 1 has 5 values") && message.contains("784 of 28x28"),
        "{message}"
    );
    assert!(!message.contains("Download or create"), "{message}");
    fs::write(&path, format!("1{}\n", ",7".repeat(PIXELS - 1))).unwrap();
    assert!(refusal(&path).contains("pixels but no labels"));
}

#[test]
fn files_of_other_kinds_are_named_as_what_they_are() {
    let root = TempDir::new().unwrap();
    for (name, bytes, words) in [
        ("mnist.mat", &b"MATLAB 5.0 MAT-file"[..], "a MATLAB file"),
        ("mnist.h5", b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
        (
            "mnist.scale",
            b"5 153:3 154:18 155:18\n0 128:51\n",
            "LIBSVM",
        ),
        ("mnist.pkl", b"\x80\x04\x95", "a Python pickle"),
        ("digits.arrow", b"ARROW1\0\0", "an Arrow file"),
        ("one.png", b"\x89PNG\r\n\x1a\n", "a single image"),
        ("set.7z", b"7z\xBC\xAF\x27\x1C", "a 7z archive"),
        ("x.npy", b"\x93NUMPY\x01\0", "a single NumPy array"),
    ] {
        let path = root.path().join(name);
        fs::write(&path, bytes).unwrap();
        let message = refusal(&path);
        assert!(message.contains(words), "{message}");
        assert!(
            !message.contains("JSON") && !message.contains("Download or create"),
            "{message}"
        );
    }
    let saved = root.path().join("saved");
    fs::create_dir(&saved).unwrap();
    fs::write(saved.join("data-00000-of-00001.arrow"), "").unwrap();
    assert!(refusal(&saved).contains("to_parquet"));
}
