//! What killed processes leave behind is deleted; what living ones write, and what is somebody's
//! own, stays.

use std::fs;
use std::path::Path;

use inkling::system::files::{TemporaryFolder, remove_leftovers, write_whole_with};

pub fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn leftovers_go_and_all_else_stays() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    // Left by processes that were killed: a file, a folder with its lock, one without,
    // and a lock alone.
    for file in [
        ".inkling-aB3dE6",
        ".inkling-aaaaaa.lock",
        ".inkling-bbbbbb.lock",
    ] {
        fs::write(at(file), "half").unwrap();
    }
    for inside in [".inkling-aaaaaa", ".inkling-cccccc"] {
        fs::create_dir(at(inside)).unwrap();
        fs::write(at(inside).join("model.safetensors"), "half").unwrap();
    }
    let somebodys = [
        ".inkling-dddddd.old",
        ".inkling-notes.txt",
        ".inkling-é12345",
        "inkling-aaaaaa",
        "run.json",
    ];
    somebodys
        .iter()
        .for_each(|name| fs::write(at(name), "kept").unwrap());
    remove_leftovers(folder.path());
    let mut kept = somebodys.map(str::to_owned);
    kept.sort();
    assert_eq!(names(folder.path()), kept);
}

#[test]
fn what_is_being_written_stays() {
    let folder = tempfile::tempdir().unwrap();
    let mut living = TemporaryFolder::new_in(folder.path()).unwrap();
    fs::write(living.path().join("file"), "part").unwrap();
    write_whole_with(&folder.path().join("file"), |to| {
        remove_leftovers(folder.path());
        to.write_all(b"whole")
    })
    .unwrap();
    living.move_to(&folder.path().join("run")).unwrap();
    drop(living);
    assert_eq!(names(folder.path()), ["file", "run"]);
    assert_eq!(fs::read(folder.path().join("run/file")).unwrap(), b"part");
}

#[test]
fn a_folder_that_was_being_replaced_is_put_back() {
    let folder = tempfile::tempdir().unwrap();
    let half = folder.path().join(".inkling-aaaaaa");
    // The moment between the two renames where the system cannot exchange folders.
    fs::create_dir_all(half.join("old")).unwrap();
    fs::write(half.join("old/run.json"), "earlier").unwrap();
    fs::write(
        half.join("old.json"),
        serde_json::to_vec(&std::ffi::OsString::from("run")).unwrap(),
    )
    .unwrap();
    remove_leftovers(folder.path());
    assert_eq!(
        fs::read(folder.path().join("run/run.json")).unwrap(),
        b"earlier"
    );
    assert_eq!(names(folder.path()), ["run"]);
}

#[cfg(target_os = "linux")]
#[test]
fn links_and_pipes_with_such_names_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("precious")).unwrap();
    fs::write(folder.path().join("precious/file"), "kept").unwrap();
    std::os::unix::fs::symlink("precious", folder.path().join(".inkling-aaaaaa")).unwrap();
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        folder.path().join(".inkling-bbbbbb"),
        rustix::fs::Mode::RUSR,
    )
    .unwrap();
    remove_leftovers(folder.path());
    assert_eq!(
        names(folder.path()),
        [".inkling-aaaaaa", ".inkling-bbbbbb", "precious"]
    );
    assert_eq!(
        fs::read(folder.path().join("precious/file")).unwrap(),
        b"kept"
    );
}

#[test]
fn whatever_writes_to_a_folder_cleans_it_first() {
    let folder = tempfile::tempdir().unwrap();
    let leave = || fs::write(folder.path().join(".inkling-aaaaaa"), "half").unwrap();
    leave();
    write_whole_with(&folder.path().join("file"), |to| to.write_all(b"whole")).unwrap();
    assert_eq!(names(folder.path()), ["file"]);
    leave();
    drop(TemporaryFolder::new_in(folder.path()).unwrap());
    assert_eq!(names(folder.path()), ["file"]);
}
