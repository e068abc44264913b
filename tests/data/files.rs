//! Data sets on disk: every format, and everything that can be wrong with one.

use std::fs;
use std::path::PathBuf;

use inkling::data::{DataError, contact_sheet, find, load};
use inkling::ink::PIXELS;
use inkling::progress::Cancelled;
use inkling::run_config::PublicDataset;
use tempfile::TempDir;

use super::{gzip, read, read_path};
use crate::support::{mnist_folder, write_idx_set};

const IMAGES: &str = "train-images-idx3-ubyte";
const LABELS: &str = "train-labels-idx1-ubyte";

fn idx_set() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let set = folder.path().join("mnist");
    write_idx_set(&set, 70, 20);
    (folder, set)
}

/// What reading says after `spoil` had its way with one file.
fn spoiled(file: &str, spoil: impl FnOnce(Vec<u8>) -> Vec<u8>) -> (DataError, PathBuf) {
    let (_folder, set) = idx_set();
    let path = set.join(file);
    fs::write(&path, spoil(fs::read(&path).unwrap())).unwrap();
    (read_path(&set).unwrap_err(), path)
}

#[track_caller]
fn assert_malformed((error, expected): (DataError, PathBuf), word: &str) {
    let DataError::Malformed { path, reason } = error else {
        panic!("{error}")
    };
    assert_eq!(path, expected);
    assert!(reason.contains(word), "{reason}");
}

#[test]
fn idx_files_are_read_plain_gzipped_whatever_their_name_and_in_either_spelling() {
    let (_folder, set) = idx_set();
    let plain = read_path(&set).unwrap();
    assert_eq!((plain.train.len(), plain.test.len()), (70, 20));
    assert_eq!(
        plain.train.labels[..12],
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]
    );
    for name in [IMAGES, LABELS] {
        let path = set.join(name);
        fs::write(&path, gzip(&fs::read(&path).unwrap())).unwrap();
        assert_eq!(read_path(&set).unwrap(), plain, "known by its content");
        fs::rename(
            path,
            set.join(format!("{}.gz", name.replace("-idx", ".idx"))),
        )
        .unwrap();
    }
    assert_eq!(read_path(&set).unwrap(), plain);
}

#[test]
fn half_of_the_built_in_digits_are_mixed_with_a_large_set_and_all_with_a_small_one() {
    let root = TempDir::new().unwrap();
    let folders = [root.path().to_owned()];
    for (images, spec) in [(70, "mnist+builtin"), (30_000, "builtin+mnist")] {
        write_idx_set(&root.path().join("mnist"), images, 20);
        let alone = read("mnist", &folders).unwrap();
        let mixed = read(spec, &folders).unwrap();
        // The test split is that of the first.
        let (counts, theirs) = match spec {
            "mnist+builtin" => ((images + 60_000, 20), 0..images),
            _ => ((images + 30_000, 10_000), 30_000..images + 30_000),
        };
        assert_eq!((mixed.train.len(), mixed.test.len()), counts);
        assert_eq!(mixed.train.labels[theirs], alone.train.labels);
    }
}

#[test]
fn a_set_is_found_by_name_and_counted() {
    let (folder, set) = idx_set();
    let folders = [folder.path().join("elsewhere"), folder.path().to_owned()];
    let found = find(&folders);
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].set, &found[0].folder),
        (PublicDataset::Mnist, &set)
    );
    assert_eq!(
        (
            found[0].train_images,
            found[0].test_images,
            found[0].original
        ),
        (70, 20, Some(false))
    );
    assert_eq!(read("mnist", &folders).unwrap(), read_path(&set).unwrap());
    assert_eq!(
        find(std::slice::from_ref(&set)).len(),
        1,
        "the folder may also hold MNIST's files themselves"
    );
    let DataError::NotFound { set, searched } = read("kmnist", &folders).unwrap_err() else {
        panic!()
    };
    assert_eq!((set.as_str(), searched.len()), ("kmnist", 2));
}

#[test]
fn mnist_is_recognized_by_content() {
    let Some(folder) = mnist_folder() else { return };
    let copy = TempDir::new().unwrap();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(
            &mut flate2::read::GzDecoder::new(fs::File::open(&path).unwrap()),
            &mut bytes,
        )
        .unwrap();
        // Compressed anew, differently: only the content is the same.
        let packed = copy.path().join(path.file_name().unwrap());
        fs::write(packed, gzip(&bytes)).unwrap();
    }
    let found = find(&[copy.path().to_owned()]);
    assert_eq!(
        (
            found[0].train_images,
            found[0].test_images,
            found[0].original
        ),
        (60_000, 10_000, Some(true))
    );
}

/// What happens to a file.
type Damage<'a> = &'a dyn Fn(Vec<u8>) -> Vec<u8>;

#[test]
fn a_damaged_idx_file_is_named_with_what_is_wrong() {
    let with = |at: usize, value: u32| {
        move |mut bytes: Vec<u8>| {
            bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
            bytes
        }
    };
    let cases: [(&str, Damage, &str); 13] = [
        (
            IMAGES,
            &|bytes| bytes[..bytes.len() / 2].to_vec(),
            "truncated",
        ),
        (IMAGES, &|bytes| bytes[..9].to_vec(), "header"),
        (IMAGES, &|_| Vec::new(), "empty"),
        (LABELS, &|_| Vec::new(), "empty"),
        (IMAGES, &with(0, 0x0801), "it holds labels, not images"),
        (IMAGES, &with(4, 71), "cannot hold"),
        (LABELS, &with(0, 77), "magic number"),
        (IMAGES, &with(8, 280), "280x28"),
        (IMAGES, &with(4, 69), "69 images"),
        (LABELS, &with(4, 69), "extra data"),
        (
            LABELS,
            &|bytes| [&bytes[..20], &[100], &bytes[21..]].concat(),
            "label 100 of image 13 is larger than 99",
        ),
        (IMAGES, &|bytes| [bytes, vec![0]].concat(), "extra data"),
        (LABELS, &|_| b"not labels at all".to_vec(), "magic number"),
    ];
    for (file, spoil, word) in cases {
        assert_malformed(spoiled(file, spoil), word);
    }
    let (error, _) = spoiled(IMAGES, with(4, u32::MAX));
    assert!(matches!(error, DataError::TooLarge { .. }), "{error}");
}

#[test]
fn a_cut_off_or_endless_gzip_is_no_data() {
    let (error, path) = spoiled(IMAGES, |bytes| {
        let packed = gzip(&bytes);
        packed[..packed.len() / 2].to_vec()
    });
    assert_malformed((error, path), "");
    // Three bytes on disk for every thousand in memory: only as much is unpacked as the header
    // claims, and one byte.
    assert_malformed(
        spoiled(IMAGES, |bytes| gzip(&[bytes, vec![0; 64 << 20]].concat())),
        "extra data",
    );
}

#[test]
fn a_table_is_read_with_and_without_its_header() {
    let folder = TempDir::new().unwrap();
    let row = |label: usize| {
        std::iter::once(label.to_string())
            .chain((0..PIXELS).map(|pixel| ((pixel + label) % 256).to_string()))
            .collect::<Vec<_>>()
            .join(",")
    };
    let header = std::iter::once("label".to_owned())
        .chain((0..PIXELS).map(|pixel| format!("pixel{pixel}")))
        .collect::<Vec<_>>()
        .join(",");
    let rows = (0..70)
        .map(|index| row(index % 10))
        .collect::<Vec<_>>()
        .join("\n");
    let (bare, headed, packed) = (
        folder.path().join("bare.csv"),
        folder.path().join("headed.csv"),
        folder.path().join("packed.csv.gz"),
    );
    fs::write(&bare, &rows).unwrap();
    fs::write(
        &headed,
        format!("{header}\r\n{}\r\n", rows.replace('\n', "\r\n")),
    )
    .unwrap();
    fs::write(&packed, gzip(rows.as_bytes())).unwrap();
    let set = read_path(&bare).unwrap();
    assert_eq!(
        (set.train.len(), set.test.len()),
        (60, 10),
        "one in seven is held out where there is no test split"
    );
    assert_eq!(read_path(&headed).unwrap(), set);
    assert_eq!(read_path(&packed).unwrap(), set);

    for (text, word) in [
        (format!("{}\n{}", row(1), "3,1,2"), "line 2 has 3 values"),
        (row(111), "is not a number from 0 to 99"),
        (format!("{}x", row(1)), "pixel 783"),
        (String::new(), "no rows"),
    ] {
        fs::write(&bare, text).unwrap();
        assert_malformed((read_path(&bare).unwrap_err(), bare.clone()), word);
    }
    fs::write(&bare, "1".repeat(1 << 20)).unwrap();
    assert!(matches!(
        read_path(&bare).unwrap_err(),
        DataError::TooLarge { .. }
    ));
}

#[test]
fn class_folders_are_read_in_the_same_order_everywhere() {
    let folder = TempDir::new().unwrap();
    for (part, count) in [("train", 3), ("test", 1)] {
        for digit in 0..10_u8 {
            let class = folder.path().join(part).join(digit.to_string());
            fs::create_dir_all(&class).unwrap();
            for index in 0..count {
                let image = image::GrayImage::from_fn(28, 28, |x, y| {
                    let inside = (8..20).contains(&x) && (6..8 + u32::from(digit)).contains(&y);
                    image::Luma([if inside { 250 - index as u8 } else { 0 }])
                });
                image.save(class.join(format!("{index}.png"))).unwrap();
            }
            fs::write(class.join("notes.txt"), "not an image").unwrap();
        }
    }
    let set = read_path(folder.path()).unwrap();
    assert_eq!((set.train.len(), set.test.len()), (30, 10));
    assert_eq!(set.test.labels, (0..10).collect::<Vec<u8>>());
    assert_eq!(read_path(folder.path()).unwrap(), set);

    let broken = folder.path().join("train/4/broken.png");
    fs::write(&broken, b"\x89PNG not really").unwrap();
    assert_malformed((read_path(folder.path()).unwrap_err(), broken), "");
}

#[test]
fn labeled_ink_is_a_data_set() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("mine.jsonl");
    let line =
        |label: &str| format!("{{\"label\": \"{label}\", \"strokes\": [[[0, 0], [10, 40]]]}}\n");
    fs::write(
        &path,
        (0..14)
            .map(|index| line(&(index % 10).to_string()))
            .collect::<String>(),
    )
    .unwrap();
    let set = read_path(&path).unwrap();
    assert_eq!((set.train.len(), set.test.len()), (12, 2));
    fs::write(&path, line("1") + &line("k")).unwrap();
    assert_malformed((read_path(&path).unwrap_err(), path.clone()), "line 2");
}

#[test]
fn a_mix_trains_on_all_and_is_tested_on_the_first() {
    let (folder, set) = idx_set();
    let second = folder.path().join("second");
    write_idx_set(&second, 30, 5);
    let mix = read(
        &format!("mnist+{}", second.display()),
        &[folder.path().to_owned()],
    )
    .unwrap();
    assert_eq!((mix.train.len(), mix.test.len()), (100, 20));
    assert_eq!(mix.test, read_path(&set).unwrap().test);
}

#[test]
fn nothing_to_read_is_said() {
    let folder = TempDir::new().unwrap();
    assert!(matches!(
        read_path(folder.path()),
        Err(DataError::NoData { .. })
    ));
    assert!(matches!(
        read_path(&folder.path().join("none")),
        Err(DataError::Missing { .. })
    ));
}

#[test]
fn reading_is_broken_off_when_asked() {
    let (_folder, set) = idx_set();
    let spec = set.to_str().unwrap().parse().unwrap();
    assert_eq!(
        load(&spec, &[], &mut |_: f32| Err(Cancelled)),
        Err(DataError::Cancelled(Cancelled))
    );
}

#[test]
fn a_contact_sheet_has_a_row_for_each_class() {
    let (_folder, set) = idx_set();
    let sheet = contact_sheet(&read_path(&set).unwrap(), 5, 1);
    assert_eq!(sheet.dimensions(), (20 + 5 * 32 + 4, 10 * 32 + 4));
    assert!((0..10).all(|row| {
        (24..184).any(|x| (0..28).any(|y| sheet.get_pixel(x, 4 + row * 32 + y)[0] < 100))
    }));
    let label = |row: u32| {
        (0..20 * 32)
            .map(|place| sheet.get_pixel(place % 20, row * 32 + place / 20)[0])
            .collect::<Vec<_>>()
    };
    assert!(
        (0..10)
            .all(|row| label(row).contains(&0) && (0..row).all(|other| label(other) != label(row))),
        "each row says its class"
    );
}
