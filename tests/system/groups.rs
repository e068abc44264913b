//! A group of files is written as a whole or not at all, also when its process dies in between.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use inkling::system::WriteErrorKind;
use inkling::system::files::{remove_leftovers, write_group};
use sha2::{Digest, Sha256};

use super::leftovers::names;

fn group(folder: &Path, files: &[(&str, &str)]) -> Vec<(PathBuf, String)> {
    files
        .iter()
        .map(|(name, content)| (folder.join(name), (*content).to_owned()))
        .collect()
}

fn content(folder: &Path) -> Vec<(String, String)> {
    names(folder)
        .into_iter()
        .map(|name| (name.clone(), fs::read_to_string(folder.join(name)).unwrap()))
        .collect()
}

#[test]
fn all_files_are_written_and_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("new");
    write_group(&group(&target, &[("a", "1"), ("b", "2")])).unwrap();
    write_group(&group(&target, &[("b", "3"), ("c", "4")])).unwrap();
    let expected = [("a", "1"), ("b", "3"), ("c", "4")]
        .map(|(name, content)| (name.to_owned(), content.to_owned()));
    assert_eq!(content(&target), expected);
}

#[test]
fn none_is_written_where_one_cannot_be() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a"), "old").unwrap();
    fs::create_dir(folder.path().join("taken")).unwrap();
    let refused =
        write_group(&group(folder.path(), &[("a", "new"), ("taken", "new")])).unwrap_err();
    assert_eq!(refused.kind, WriteErrorKind::NotRegular);
    assert_eq!(refused.path, folder.path().join("taken"));
    write_group(&group(folder.path(), &[("b", "1"), ("b", "2")])).unwrap_err();
    write_group(&group(folder.path(), &[("b", "1"), ("taken/b", "2")])).unwrap_err();
    assert_eq!(fs::read(folder.path().join("a")).unwrap(), b"old");
    assert_eq!(names(folder.path()), ["a", "taken"]);
}

/// What a process leaves that was killed after it had renamed the first two of three files: one was
/// there before, one not.
fn killed(folder: &Path) {
    let half = folder.join(".inkling-aaaaaa");
    fs::create_dir(&half).unwrap();
    let entry = |name: &str, replaces: bool, new: &str| {
        let digest: [u8; 32] = Sha256::digest(new).into();
        serde_json::json!({ "name": OsString::from(name), "replaces": replaces, "digest": digest })
    };
    let journal = [
        entry("a", true, "new a"),
        entry("b", false, "new b"),
        entry("c", true, "new c"),
    ];
    fs::write(
        half.join("group.json"),
        serde_json::to_vec(&journal).unwrap(),
    )
    .unwrap();
    for (path, content) in [("a", "new a"), ("b", "new b"), ("c", "old c")] {
        fs::write(folder.join(path), content).unwrap();
    }
    for (path, content) in [("0.old", "old a"), ("2.old", "old c"), ("2.new", "new c")] {
        fs::write(half.join(path), content).unwrap();
    }
}

#[test]
fn a_group_whose_process_died_is_undone() {
    let folder = tempfile::tempdir().unwrap();
    killed(folder.path());
    remove_leftovers(folder.path());
    let expected = [("a", "old a"), ("c", "old c")]
        .map(|(name, content)| (name.to_owned(), content.to_owned()));
    assert_eq!(content(folder.path()), expected);
}

#[test]
fn the_next_group_undoes_it_too() {
    let folder = tempfile::tempdir().unwrap();
    killed(folder.path());
    write_group(&group(folder.path(), &[("c", "3"), ("d", "4")])).unwrap();
    let expected = [("a", "old a"), ("c", "3"), ("d", "4")]
        .map(|(name, content)| (name.to_owned(), content.to_owned()));
    assert_eq!(content(folder.path()), expected);
}

#[test]
fn what_somebody_has_changed_since_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    killed(folder.path());
    fs::write(folder.path().join("a"), "mine").unwrap();
    fs::write(folder.path().join("b"), "mine too").unwrap();
    remove_leftovers(folder.path());
    let expected = [("a", "mine"), ("b", "mine too"), ("c", "old c")]
        .map(|(name, content)| (name.to_owned(), content.to_owned()));
    assert_eq!(content(folder.path()), expected);
}

#[test]
fn a_journal_that_leads_elsewhere_changes_nothing() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("folder");
    let half = folder.join(".inkling-aaaaaa");
    fs::create_dir_all(&half).unwrap();
    fs::write(outer.path().join("precious"), "kept").unwrap();
    for name in ["../precious", "..", "/etc/passwd", ""] {
        let digest: [u8; 32] = Sha256::digest("kept").into();
        let journal = serde_json::json!([{ "name": OsString::from(name), "replaces": false, "digest": digest }]);
        fs::write(
            half.join("group.json"),
            serde_json::to_vec(&journal).unwrap(),
        )
        .unwrap();
        remove_leftovers(&folder);
        assert_eq!(fs::read(outer.path().join("precious")).unwrap(), b"kept");
    }
}
