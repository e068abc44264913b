//! A file is written whole or not at all, and nothing but a regular file is ever replaced.

use std::path::Path;
use std::{fs, io};

use inkling::system::files::{write_through_links, write_whole, write_whole_with};
use inkling::system::{WriteError, WriteErrorKind};

use super::leftovers::names;

#[test]
fn what_was_there_stays_until_everything_new_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("new/folder/file");
    write_whole(&file, b"old").unwrap();
    let failed = write_whole_with(&file, |to| {
        to.write_all(b"half")?;
        Err(io::Error::from_raw_os_error(libc::ENOSPC))
    });
    assert_eq!(failed.unwrap_err().kind, WriteErrorKind::NoSpace);
    assert_eq!(fs::read(&file).unwrap(), b"old");
    write_whole(&file, b"new").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"new");
    assert_eq!(names(file.parent().unwrap()), ["file"]);
}

#[test]
fn a_folder_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let refused = write_whole(folder.path(), b"new").unwrap_err();
    assert_eq!(refused.kind, WriteErrorKind::NotRegular);
    assert!(refused.reason.contains("a folder"), "{refused}");
}

#[cfg(target_os = "linux")]
#[test]
fn pipes_devices_and_links_are_not_replaced() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let [file, link, pipe] = ["file", "link", "pipe"].map(|name| folder.path().join(name));
    fs::write(&file, "old").unwrap();
    symlink("file", &link).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
    for (path, words) in [
        (&*link, "a symbolic link"),
        (&pipe, "a named pipe"),
        (Path::new("/dev/null"), "a device"),
    ] {
        let refused = write_whole(path, b"new").unwrap_err();
        assert_eq!(refused.kind, WriteErrorKind::NotRegular);
        assert!(refused.reason.contains(words), "{refused}");
    }
    assert!(link.is_symlink() && pipe.metadata().unwrap().file_type().is_fifo());
    assert_eq!(fs::read(&file).unwrap(), b"old");
    assert_eq!(names(folder.path()), ["file", "link", "pipe"]);
}

#[cfg(unix)]
#[test]
fn settings_that_are_a_link_stay_one() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let [link, dangling, circle] =
        ["settings", "dangling", "circle"].map(|name| folder.path().join(name));
    fs::create_dir(folder.path().join("dotfiles")).unwrap();
    symlink("dotfiles/settings", &link).unwrap();
    fs::write(folder.path().join("dotfiles/settings"), "old").unwrap();
    symlink("dotfiles/none yet", &dangling).unwrap();
    symlink("circle", &circle).unwrap();
    write_through_links(&link, b"new").unwrap();
    write_through_links(&dangling, b"made").unwrap();
    assert!(write_through_links(&circle, b"lost").is_err());
    assert!(link.is_symlink() && dangling.is_symlink() && circle.is_symlink());
    assert_eq!(
        fs::read(folder.path().join("dotfiles/settings")).unwrap(),
        b"new"
    );
    assert_eq!(
        fs::read(folder.path().join("dotfiles/none yet")).unwrap(),
        b"made"
    );
}

#[test]
fn what_can_be_done_about_a_failure_is_told_apart() {
    for (code, kind) in [
        (libc::ENOSPC, WriteErrorKind::NoSpace),
        (libc::EACCES, WriteErrorKind::NotPermitted),
        (libc::EIO, WriteErrorKind::Other),
    ] {
        let system = io::Error::from_raw_os_error(code);
        let error = WriteError::new(Path::new("file"), &system);
        assert_eq!((error.kind, error.reason), (kind, system.to_string()));
    }
}
