//! Folders appear whole or not at all.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use inkling::system::files::TemporaryFolder;

use super::leftovers::names;

fn filled(parent: &Path, content: &str) -> TemporaryFolder {
    let folder = TemporaryFolder::new_in(parent).unwrap();
    fs::write(folder.path().join("file"), content).unwrap();
    folder
}

#[test]
fn it_is_gone_unless_it_was_put_in_its_place() {
    let parent = tempfile::tempdir().unwrap();
    drop(filled(parent.path(), "lost"));
    assert!(names(parent.path()).is_empty());
    let mut folder = filled(parent.path(), "one");
    folder.move_to(&parent.path().join("run")).unwrap();
    drop(folder);
    assert_eq!(names(parent.path()), ["run"]);
    assert_eq!(fs::read(parent.path().join("run/file")).unwrap(), b"one");
}

#[test]
fn it_never_takes_a_name_that_is_taken_and_may_try_another() {
    let parent = tempfile::tempdir().unwrap();
    fs::create_dir(parent.path().join("run")).unwrap();
    let mut folder = filled(parent.path(), "one");
    assert_eq!(
        folder
            .move_to(&parent.path().join("run"))
            .unwrap_err()
            .kind(),
        ErrorKind::AlreadyExists
    );
    folder.move_to(&parent.path().join("run 2")).unwrap();
    drop(folder);
    assert_eq!(names(parent.path()), ["run", "run 2"]);
}

#[test]
fn it_replaces_a_folder_and_nothing_else() {
    let parent = tempfile::tempdir().unwrap();
    let target = parent.path().join("run");
    for content in ["one", "two"] {
        filled(parent.path(), content).replace(&target).unwrap();
        assert_eq!(fs::read(target.join("file")).unwrap(), content.as_bytes());
        assert_eq!(names(parent.path()), ["run"]);
    }
    fs::write(parent.path().join("file"), "stays").unwrap();
    filled(parent.path(), "three")
        .replace(&parent.path().join("file"))
        .unwrap_err();
    assert_eq!(names(parent.path()), ["file", "run"]);
}
