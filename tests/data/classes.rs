//! What the classes of a data set are: what its name says, its folders, its labels in words, or
//! numbers.

use std::fs;
use std::path::Path;

use image::GrayImage;
use inkling::data::{DataError, Dataset, export_set};
use inkling::ink::{PIXELS, SIDE};
use inkling::progress::Unwatched;
use inkling::run_config::{Classes, DatasetFormat};
use tempfile::TempDir;

use super::{read, read_path};
use crate::support::write_idx_set;

fn reason(read: Result<Dataset, DataError>) -> String {
    read.unwrap_err().to_string()
}

/// An image whose left upper corner is this bright.
fn picture(path: &Path, gray: u8) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    GrayImage::from_fn(28, 28, |x, y| {
        [if x < 14 && y < 14 { gray } else { 0 }].into()
    })
    .save(path)
    .unwrap();
}

fn names(set: &Dataset) -> Vec<String> {
    set.classes.clone().into()
}

/// How often each class occurs in training and test images together.
fn counts(set: &Dataset) -> Vec<usize> {
    let labels = || set.train.labels.iter().chain(&set.test.labels);
    (0..set.classes.len())
        .map(|class| {
            labels()
                .filter(|label| usize::from(**label) == class)
                .count()
        })
        .collect()
}

#[test]
fn folders_of_images_are_the_classes_that_they_are_named_after() {
    let root = TempDir::new().unwrap();
    for (name, count) in [("dog", 3), ("Ankle boot", 2), ("cat", 4)] {
        (0..count)
            .for_each(|index| picture(&root.path().join(name).join(format!("{index}.png")), 200));
    }
    // Neither of these is a class.
    fs::create_dir(root.path().join("empty")).unwrap();
    picture(&root.path().join(".hidden/1.png"), 200);
    fs::write(root.path().join("readme.txt"), "pets").unwrap();
    let set = read_path(root.path()).unwrap();
    assert_eq!(
        (names(&set), counts(&set)),
        (
            ["Ankle boot", "cat", "dog"].map(str::to_owned).to_vec(),
            vec![2, 4, 3]
        )
    );

    // Test images may have a class that is rare in training; digits remain digits, even if some are
    // missing.
    let split = TempDir::new().unwrap();
    for name in ["train/a", "train/b", "test/a", "test/c"] {
        picture(&split.path().join(name).join("1.png"), 200);
    }
    let set = read_path(split.path()).unwrap();
    assert_eq!(
        (names(&set), set.train.labels, set.test.labels),
        (
            ["a", "b", "c"].map(str::to_owned).to_vec(),
            vec![0, 1],
            vec![0, 2]
        )
    );
    let digits = TempDir::new().unwrap();
    [7, 3]
        .iter()
        .for_each(|digit| picture(&digits.path().join(digit.to_string()).join("1.png"), 200));
    let set = read_path(digits.path()).unwrap();
    assert_eq!((set.classes, set.train.len()), (Classes::Digits, 2));
    [12, 40]
        .iter()
        .for_each(|number| picture(&digits.path().join(number.to_string()).join("1.png"), 200));
    let set = read_path(digits.path()).unwrap();
    let mut labels = set.train.labels;
    labels.sort_unstable();
    assert_eq!(
        (set.classes.len(), set.classes.name(40_u8), labels),
        (41, "40", vec![3, 7, 12, 40])
    );
}

#[test]
fn a_table_beside_folders_of_images_says_what_they_are() {
    let root = TempDir::new().unwrap();
    for name in ["scans/1.png", "photos/2.png"] {
        picture(&root.path().join(name), 200);
    }
    assert_eq!(names(&read_path(root.path()).unwrap()), ["photos", "scans"]);
    fs::write(
        root.path().join("train.csv"),
        "file,label\nscans/1.png,3\nphotos/2.png,5\n",
    )
    .unwrap();
    assert_eq!(read_path(root.path()).unwrap().classes, Classes::Digits);
    // Folders that divide a set are not classes.
    let divided = TempDir::new().unwrap();
    for name in ["train/7_0001.png", "train/3_0001.png", "test/3_0002.png"] {
        picture(&divided.path().join(name), 200);
    }
    let set = read_path(divided.path()).unwrap();
    assert_eq!(
        (set.classes, set.train.len(), set.test.len()),
        (Classes::Digits, 2, 1)
    );
}

#[test]
fn letters_in_folders_are_letters_and_one_folder_alone_is_no_set() {
    let root = TempDir::new().unwrap();
    picture(&root.path().join("A/1.png"), 200);
    assert!(matches!(
        read_path(root.path()),
        Err(DataError::NoData { .. })
    ));
    ('B'..='Z')
        .for_each(|letter| picture(&root.path().join(letter.to_string()).join("1.png"), 200));
    assert_eq!(read_path(root.path()).unwrap().classes, Classes::Letters);
    // A control character in the name of a folder reaches nobody's terminal.
    picture(&root.path().join("\u{1b}[31m").join("1.png"), 200);
    let set = read_path(root.path()).unwrap();
    assert!(set.classes.len() == 27 && names(&set).iter().all(|name| !name.contains('\u{1b}')));
    (0..80).for_each(|index| {
        picture(
            &root.path().join(format!("more {index}")).join("1.png"),
            200,
        );
    });
    assert!(reason(read_path(root.path())).contains("2 to 100 classes, not 101"));
}

#[test]
fn labels_in_tables_are_words_or_numbers() {
    let root = TempDir::new().unwrap();
    ["a", "b", "c"]
        .iter()
        .for_each(|name| picture(&root.path().join(format!("{name}.png")), 200));
    let table = root.path().join("labels.csv");
    fs::write(&table, "file,label\na.png,plus\nb.png,minus\nc.png,plus\n").unwrap();
    let set = read(table.to_str().unwrap(), &[]).unwrap();
    assert_eq!(
        (names(&set), counts(&set)),
        (["minus", "plus"].map(str::to_owned).to_vec(), vec![1, 2])
    );
    fs::write(&table, "file,label\na.png,5\nb.png,24\nc.png,0\n").unwrap();
    let set = read_path(&table).unwrap();
    assert_eq!(
        (set.classes.len(), counts(&set)[24], counts(&set)[9]),
        (25, 1, 0)
    );
    fs::write(&table, "file,label\na.png,plus\nb.png,\n").unwrap();
    assert!(reason(read_path(&table)).contains("line 3 has no label"));
    fs::write(&table, "file,label\na.png,plus\nb.png,plus\n").unwrap();
    assert!(reason(read_path(&table)).contains("2 to 100 classes, not 1"));

    // Kaggle's form, as Sign Language MNIST has it.
    let row = |label: &str| format!("{label}{}\n", ",7".repeat(PIXELS));
    fs::write(&table, [row("24"), row("3")].concat()).unwrap();
    assert_eq!(read_path(&table).unwrap().classes.len(), 25);
    fs::write(&table, [row("1"), row("100")].concat()).unwrap();
    assert!(
        reason(read_path(&table))
            .contains("line 2: the label \"100\" is not a number from 0 to 99")
    );
}

#[test]
fn emnists_letters_are_counted_from_one_and_lie_on_their_sides() {
    let root = TempDir::new().unwrap();
    let set = root.path().join("emnist-letters");
    write_idx_set(&set, 52, 26);
    let lying = read_path(&set).unwrap();
    let write_labels = |first: u8| {
        for (name, count) in [("train", 52_u8), ("t10k", 26)] {
            let labels = (0..count).map(|index| index % 26 + first);
            let bytes = [0x0801_u32, count.into()]
                .map(u32::to_be_bytes)
                .concat()
                .into_iter()
                .chain(labels);
            fs::write(
                set.join(format!("{name}-labels-idx1-ubyte")),
                bytes.collect::<Vec<u8>>(),
            )
            .unwrap();
        }
    };
    write_labels(1);
    let letters = read("emnist-letters", &[root.path().to_owned()]).unwrap();
    assert_eq!(
        (letters.classes.clone(), counts(&letters)),
        (Classes::Letters, vec![3; 26])
    );
    let (up, lie) = (letters.train.image(0), lying.train.image(0));
    assert!((0..PIXELS).all(|place| up[place] == lie[place % SIDE * SIDE + place / SIDE]));
    // Where nothing says what they are, their labels are numbers.
    assert_eq!(read_path(&set).unwrap().classes.len(), 27);
    write_labels(0);
    assert!(
        reason(read("emnist-letters", &[root.path().to_owned()]))
            .contains("label 0 is out of range: the 26 classes are numbered from 1 to 26")
    );
    // In a folder with other sets of EMNIST, the names of the files tell; so does that of a file
    // alone.
    write_labels(1);
    let raw = root.path().join("EMNIST/raw");
    fs::create_dir_all(&raw).unwrap();
    for name in [
        "train-images-idx3-ubyte",
        "train-labels-idx1-ubyte",
        "t10k-images-idx3-ubyte",
        "t10k-labels-idx1-ubyte",
    ] {
        fs::rename(
            set.join(name),
            raw.join(format!("emnist-letters-{}", name.replace("t10k", "test"))),
        )
        .unwrap();
    }
    for found in [
        read("emnist-letters", &[root.path().to_owned()]),
        read_path(&raw),
        read_path(&raw.join("emnist-letters-train-images-idx3-ubyte")),
    ] {
        let found = found.unwrap();
        // A file alone has no test images, for which some are taken out.
        assert!(
            found.classes == Classes::Letters
                && found.train.images.chunks(PIXELS).any(|image| image == up)
        );
    }
}

#[test]
fn a_set_that_is_written_and_read_again_keeps_its_classes() {
    let root = TempDir::new().unwrap();
    for name in ["cat", "dog"] {
        (0..4).for_each(|index| {
            picture(
                &root
                    .path()
                    .join("pets")
                    .join(name)
                    .join(format!("{index}.png")),
                200 + index,
            );
        });
    }
    let pets = read_path(&root.path().join("pets")).unwrap();
    let letters = Dataset {
        classes: Classes::Letters,
        ..pets.clone()
    };
    let clothing = Dataset {
        classes: Classes::Clothing,
        ..pets.clone()
    };
    let export = |set: &Dataset, format, folder: &Path| {
        export_set(set, format, folder, false, &[], &mut Unwatched).unwrap();
    };
    for (index, set) in [&pets, &letters, &clothing].into_iter().enumerate() {
        let written = root.path().join(format!("idx {index}"));
        export(set, DatasetFormat::Idx, &written);
        assert_eq!(&read_path(&written).unwrap(), set, "as IDX files");
    }
    let written = root.path().join("folders");
    export(&pets, DatasetFormat::Png, &written);
    assert_eq!(read_path(&written).unwrap().classes, pets.classes);
    assert!(written.join("train/cat").is_dir() && written.join("test").is_dir());
    // Clothing is not in alphabetical order: its folders are numbers.
    let written = root.path().join("clothing");
    export(&clothing, DatasetFormat::Png, &written);
    assert!(written.join("train/1").is_dir());

    let names = root.path().join("idx 0/classes.txt");
    for (text, expected) in [
        ("cat\n", "2 to 100 classes, not 1"),
        ("cat\ncat\n", "two classes are called"),
        ("\u{1b}[1m\ndog\n", "is not the name of a class"),
    ] {
        fs::write(&names, text).unwrap();
        let reason = reason(read_path(&root.path().join("idx 0")));
        assert!(
            reason.contains(expected) && !reason.contains('\u{1b}'),
            "{reason}"
        );
    }
    fs::write(&names, [0xFF, 0xFE]).unwrap();
    assert!(reason(read_path(&root.path().join("idx 0"))).contains("UTF-8"));
}

#[test]
fn only_data_of_the_same_classes_is_mixed() {
    let root = TempDir::new().unwrap();
    let place = |name: &str| root.path().join(name).display().to_string();
    for folder in [
        "pets/cat",
        "pets/dog",
        "more/cat",
        "more/dog",
        "shapes/line",
        "shapes/ring",
        "digits/3",
        "digits/5",
    ] {
        (0..9)
            .for_each(|index| picture(&root.path().join(folder).join(format!("{index}.png")), 200));
    }
    let mixed = |parts: &[&str]| read(&parts.join("+"), &[]);
    let (pets, more, shapes, digits) = (
        place("pets"),
        place("more"),
        place("shapes"),
        place("digits"),
    );
    assert_eq!(names(&mixed(&[&pets, &more]).unwrap()), ["cat", "dog"]);
    assert_eq!(
        mixed(&[&digits, "builtin"]).unwrap().classes,
        Classes::Digits
    );
    for parts in [
        [pets.as_str(), &shapes],
        [&pets, "builtin"],
        [&digits, &pets],
    ] {
        assert!(
            matches!(mixed(&parts), Err(DataError::DifferentClasses { .. })),
            "{parts:?}"
        );
    }
}
