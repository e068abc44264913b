//! The pictures in the repository are those that the README and the guide show: any other would grow
//! old unseen.

use std::collections::BTreeSet;
use std::path::Path;

const FOLDER: &str = "assets/screenshots";

/// The paths of the pictures in this folder and the folders in it, relative to the root of the
/// repository.
fn pictures(folder: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap();
    let paths = entries.map(|entry| entry.unwrap()).flat_map(|entry| {
        let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            pictures(&path)
        } else {
            BTreeSet::from([path])
        }
    });
    paths.collect()
}

#[test]
fn the_readme_and_the_guide_show_every_picture() {
    let documents = concat!(
        include_str!("../../README.md"),
        include_str!("../../docs/guide.md")
    );
    let shown = documents
        .split(['(', ')'])
        .map(|text| text.trim_start_matches("../"))
        .filter(|text| text.starts_with(FOLDER))
        .map(str::to_owned)
        .collect();
    assert_eq!(pictures(FOLDER), shown);
}
