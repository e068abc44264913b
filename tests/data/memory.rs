//! How much memory data sets take while they are read, whatever their files claim and however well
//! they compress.

use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use image::{ExtendedColorType, ImageEncoder};
use inkling::data::DataError;
use inkling::ink::PIXELS;
use tempfile::TempDir;

use super::read_path;
use crate::meter::{peak_of, peak_on_threads};
use crate::support::write_idx_set;

/// What any file may be unpacked to, in bytes.
const FLOOR: usize = 64 << 20;

fn repeated(begin: &[u8], bytes: &[u8], times: usize) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(begin).unwrap();
    let block = bytes.repeat(1000);
    for _ in 0..times / 1000 {
        encoder.write_all(&block).unwrap();
    }
    encoder.finish().unwrap()
}

#[track_caller]
fn assert_too_large(path: &Path, most: usize) {
    let (read, peak) = peak_of(|| read_path(path).map(|set| set.train.len()));
    assert!(matches!(read, Err(DataError::TooLarge { .. })), "{read:?}");
    assert!(
        peak < most,
        "{peak} bytes for {} ({read:?})",
        path.display()
    );
}

#[test]
fn a_set_of_idx_files_takes_its_own_size() {
    let root = TempDir::new().unwrap();
    write_idx_set(root.path(), 3000, 3000);
    let (set, peak) = peak_of(|| read_path(root.path()).unwrap());
    let own = (set.train.len() + set.test.len()) * (PIXELS + 1);
    assert!(peak < own + (1 << 18), "{peak} bytes for images of {own}");
}

#[test]
fn a_set_without_a_test_split_takes_twice_its_own_size() {
    let root = TempDir::new().unwrap();
    write_idx_set(root.path(), 5000, 10);
    for name in ["t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"] {
        fs::remove_file(root.path().join(name)).unwrap();
    }
    let (set, peak) = peak_of(|| read_path(root.path()).unwrap());
    let own = (set.train.len() + set.test.len()) * (PIXELS + 1);
    assert!(
        peak < 2 * own + (1 << 18),
        "{peak} bytes for images of {own}"
    );
}

#[test]
fn a_small_packed_file_of_many_blank_images_is_refused_before_any_is_unpacked() {
    let root = TempDir::new().unwrap();
    write_idx_set(root.path(), 20, 10);
    let count = 200_000;
    let header = [0x0803, count as u32, 28, 28]
        .map(u32::to_be_bytes)
        .concat();
    fs::write(
        root.path().join("train-images-idx3-ubyte"),
        repeated(&header, &[0; PIXELS], count),
    )
    .unwrap();
    let labels = [
        &[0x0801, count as u32].map(u32::to_be_bytes).concat()[..],
        &vec![3; count],
    ]
    .concat();
    fs::write(root.path().join("train-labels-idx1-ubyte"), labels).unwrap();
    assert_too_large(root.path(), 1 << 20);
}

#[test]
fn a_small_packed_table_is_given_up_when_it_has_unpacked_to_too_much() {
    let root = TempDir::new().unwrap();
    let path = root.path().join("bomb.csv.gz");
    fs::write(
        &path,
        repeated(
            &[],
            ("3".to_owned() + &",0".repeat(PIXELS) + "\n").as_bytes(),
            70_000,
        ),
    )
    .unwrap();
    assert_too_large(&path, 2 * FLOOR);
}

#[test]
fn drawings_of_nothing_do_not_make_a_large_set_of_a_small_file() {
    let root = TempDir::new().unwrap();
    let path = root.path().join("bomb.jsonl.gz");
    fs::write(
        &path,
        repeated(&[], b"{\"strokes\":[],\"label\":1}\n", 120_000),
    )
    .unwrap();
    assert!(path.metadata().unwrap().len() < 61_000);
    assert_too_large(&path, 5 * FLOOR / 2);
}

#[test]
fn class_folders_decode_no_more_images_at_once_than_fit_in_the_memory_for_them() {
    let root = TempDir::new().unwrap();
    let mut png = Vec::new();
    image::codecs::png::PngEncoder::new(&mut png)
        .write_image(
            &vec![0; 3000 * 3000 * 8],
            3000,
            3000,
            ExtendedColorType::Rgba16,
        )
        .unwrap();
    fs::create_dir(root.path().join("7")).unwrap();
    for index in 0..12 {
        fs::write(root.path().join(format!("7/{index}.png")), &png).unwrap();
    }
    let (set, peak) = peak_on_threads(12, || read_path(root.path()).unwrap());
    assert_eq!(set.train.len() + set.test.len(), 12);
    assert!(peak < 768 << 20, "{peak}");
}
