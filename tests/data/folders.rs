//! Which files of a folder make a set: what belongs together, what is missing, and what only looks
//! like data.

use std::fs;

use inkling::data::{DataError, find, load};
use inkling::ink::PIXELS;
use inkling::problem::Explain as _;
use inkling::progress::Cancelled;
use inkling::run_config::{Classes, PublicDataset};
use tempfile::TempDir;

use super::{gzip, read, read_path, write_image};
use crate::support::write_idx_set;

const FILES: [&str; 4] = [
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
];

#[test]
fn a_file_of_a_set_that_is_missing_is_named() {
    for gone in FILES {
        let root = TempDir::new().unwrap();
        let set = root.path().join("mnist");
        write_idx_set(&set, 20, 10);
        fs::remove_file(set.join(gone)).unwrap();
        let missing = DataError::Missing {
            path: set.join(gone),
        };
        assert_eq!(read_path(&set).unwrap_err(), missing);
        assert_eq!(
            read("mnist", &[root.path().to_owned()]).unwrap_err(),
            missing
        );
        assert!(find(&[root.path().to_owned()]).is_empty());
    }
}

#[test]
fn emnists_images_are_set_upright() {
    let root = TempDir::new().unwrap();
    let set = root.path().join("emnist-digits");
    write_idx_set(&set, 20, 10);
    let lying = read_path(&set).unwrap();
    for name in FILES {
        fs::rename(
            set.join(name),
            set.join(format!("emnist-digits-{}", name.replace("t10k", "test"))),
        )
        .unwrap();
    }
    for upright in [
        read("emnist-digits", &[root.path().to_owned()]),
        read("emnist-digits", std::slice::from_ref(&set)),
        read_path(&set),
    ] {
        let upright = upright.unwrap();
        assert_eq!((upright.train.len(), upright.test.len()), (20, 10));
        for (up, lie) in upright
            .train
            .images
            .chunks(PIXELS)
            .zip(lying.train.images.chunks(PIXELS))
        {
            assert!((0..PIXELS).all(|place| up[place] == lie[place % 28 * 28 + place / 28]));
        }
    }
}

#[test]
fn a_folder_named_after_a_set_holds_that_set_and_no_other() {
    let root = TempDir::new().unwrap();
    let folders = [root.path().join("kmnist")];
    write_idx_set(&folders[0], 20, 10);
    assert_eq!(
        find(&folders)
            .iter()
            .map(|found| found.set)
            .collect::<Vec<_>>(),
        [PublicDataset::Kmnist]
    );
    assert!(matches!(
        read("mnist", &folders),
        Err(DataError::NotFound { .. })
    ));
}

#[test]
fn torchvisions_folders_are_found() {
    let root = TempDir::new().unwrap();
    write_idx_set(&root.path().join("FashionMNIST/raw"), 20, 10);
    let found = find(&[root.path().to_owned()]);
    assert_eq!(
        found.iter().map(|found| found.set).collect::<Vec<_>>(),
        [PublicDataset::FashionMnist]
    );
    // As a path, too: one set is meant by any of its folders, of two one has to be chosen.
    for path in ["", "FashionMNIST", "FashionMNIST/raw"] {
        let set = read_path(&root.path().join(path)).unwrap();
        assert_eq!(
            (set.classes, set.train.len()),
            (Classes::Clothing, 20),
            "{path}"
        );
    }
    write_idx_set(&root.path().join("MNIST/raw"), 20, 10);
    let message = read_path(root.path()).unwrap_err().message().to_string();
    assert!(
        message.contains("mnist, fashion-mnist") && message.contains("--data mnist --data-dir"),
        "{message}"
    );
}

#[test]
fn reading_a_large_file_can_be_broken_off_in_the_middle() {
    let root = TempDir::new().unwrap();
    write_idx_set(root.path(), 6000, 10);
    let spec = root.path().to_str().unwrap().parse().unwrap();
    let mut heard = Vec::new();
    let broken = load(&spec, &[], &mut |done: f32| {
        heard.push(done);
        if done > 0.3 { Err(Cancelled) } else { Ok(()) }
    });
    assert_eq!(broken, Err(DataError::Cancelled(Cancelled)));
    assert!(
        heard.is_sorted() && heard.len() > 3 && heard.last().is_some_and(|last| *last < 0.8),
        "{heard:?}"
    );
}

#[test]
fn a_packed_file_that_claims_more_than_can_be_in_it_is_not_unpacked() {
    let root = TempDir::new().unwrap();
    write_idx_set(root.path(), 20, 10);
    let header = [0x0803_u32, 1_999_999, 28, 28].map(u32::to_be_bytes);
    let path = root.path().join(FILES[2]);
    fs::write(&path, gzip(&header.concat())).unwrap();
    let DataError::Malformed {
        path: named,
        reason,
    } = read_path(root.path()).unwrap_err()
    else {
        panic!()
    };
    assert_eq!(named, path);
    assert!(reason.contains("cannot hold"), "{reason}");
}

fn table(label: impl Fn(usize) -> String, rows: usize) -> String {
    (0..rows)
        .map(|row| label(row) + &",7".repeat(PIXELS - 1) + "," + &(row % 256).to_string() + "\n")
        .collect()
}

#[test]
fn a_test_table_counts_when_it_has_labels_and_is_not_passed_over_when_damaged() {
    let root = TempDir::new().unwrap();
    let names = (0..PIXELS)
        .map(|pixel| format!("pixel{pixel}"))
        .collect::<Vec<_>>()
        .join(",")
        + "\n";
    let header = "\u{feff}label,".to_owned() + &names;
    let labeled = |rows| table(|row| (row % 10).to_string(), rows);
    fs::write(root.path().join("train.csv"), header.clone() + &labeled(70)).unwrap();
    let test = root.path().join("test.csv");
    fs::write(&test, header.clone() + &labeled(8)).unwrap();
    let set = read_path(root.path()).unwrap();
    assert_eq!((set.train.len(), set.test.len()), (70, 8));

    // As Kaggle gives it: pixels alone.
    let unlabeled = labeled(8)
        .lines()
        .map(|line| &line[2..])
        .collect::<Vec<_>>()
        .join("\n");
    fs::write(&test, names + &unlabeled).unwrap();
    let set = read_path(root.path()).unwrap();
    assert_eq!((set.train.len(), set.test.len()), (60, 10));

    fs::write(&test, header + &table(|_| "x".to_owned(), 8)).unwrap();
    assert!(
        matches!(read_path(root.path()), Err(DataError::Malformed { path, .. }) if path == test)
    );
}

#[test]
fn hidden_files_beside_images_are_no_images() {
    let root = TempDir::new().unwrap();
    let class = root.path().join("3");
    write_image(&class.join("1.png"));
    fs::write(class.join("._1.png"), "Mac OS X").unwrap();
    assert_eq!(read_path(root.path()).unwrap().train.labels, [3]);
}

#[test]
fn files_that_hold_no_labeled_images_say_what_to_name_instead() {
    let root = TempDir::new().unwrap();
    write_idx_set(root.path(), 20, 10);
    let (archive, alone) = (root.path().join("digits.zip"), root.path().join("alone"));
    fs::write(&archive, b"PK\x03\x04 and so on").unwrap();
    fs::copy(root.path().join(FILES[0]), &alone).unwrap();
    for (path, word) in [
        (root.path().join(FILES[1]), "choose the file of images"),
        (archive, "Unpack it"),
        (alone, "choose the folder"),
    ] {
        let message = read_path(&path).unwrap_err().message().to_string();
        assert!(
            message.contains(path.to_str().unwrap()) && message.contains(word),
            "{message}"
        );
    }
}

#[cfg(unix)]
#[test]
fn what_may_not_be_read_is_unreadable_not_absent() {
    use std::os::unix::fs::PermissionsExt as _;
    let root = TempDir::new().unwrap();
    let (open, closed) = (root.path().join("open"), root.path().join("closed"));
    write_idx_set(&open, 20, 10);
    fs::create_dir(&closed).unwrap();
    let file = open.join(FILES[0]);
    for path in [&file, &closed] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
    }
    if fs::read(&file).is_ok() {
        eprintln!("skipped: this user may read everything");
        return;
    }
    assert!(matches!(read_path(&open), Err(DataError::Unreadable { path, .. }) if path == file));
    assert!(
        matches!(read_path(&closed), Err(DataError::Unreadable { path, .. }) if path == closed)
    );
}

#[test]
fn folders_for_validation_are_for_test_or_else_for_training() {
    let root = TempDir::new().unwrap();
    let write = |part: &str, images: usize| {
        for index in 0..images {
            write_image(
                &root
                    .path()
                    .join(part)
                    .join("3")
                    .join(format!("{index}.png")),
            );
        }
    };
    write("Training", 4);
    write("val", 2);
    let set = read_path(root.path()).unwrap();
    assert_eq!((set.train.len(), set.test.len()), (4, 2));
    assert!(set.notes[0].contains("validation images are used for testing"));
    write("Testing", 3);
    let set = read_path(root.path()).unwrap();
    assert_eq!((set.train.len(), set.test.len()), (6, 3));
    assert!(set.notes[0].contains("are also training images"));
}

#[test]
fn idx_files_of_another_size_are_scaled() {
    let root = TempDir::new().unwrap();
    let images = [0x0803_u32, 20, 56, 56].map(u32::to_be_bytes).concat();
    let image: Vec<u8> = (0..56 * 56)
        .map(|at| if at % 56 < 28 { 200 } else { 0 })
        .collect();
    fs::write(
        root.path().join(FILES[0]),
        [images, image.repeat(20)].concat(),
    )
    .unwrap();
    let labels: Vec<u8> = (0..20).collect();
    let header = [0x0801_u32, 20].map(u32::to_be_bytes).concat();
    fs::write(root.path().join(FILES[1]), [header, labels].concat()).unwrap();
    let set = read_path(root.path()).unwrap();
    assert!(
        set.train
            .image(0)
            .chunks(28)
            .all(|row| row[..14] == [200; 14] && row[14..] == [0; 14])
    );
    assert!(
        set.notes[0].contains("56x56 pixels were scaled"),
        "{:?}",
        set.notes
    );
}
