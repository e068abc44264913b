//! Data that is meant to do harm, or might as well be: pipes and loops among the files, names that
//! are not words, files that change while they are read.

use std::fs;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use inkling::data::{ClassLabels, DataError, IdxKind, PixelTable, read_idx};
use inkling::ink::PIXELS;
use inkling::problem::Explain as _;
use inkling::progress::Unwatched;
use inkling::system::input_file::InputFile;
use tempfile::TempDir;

use super::{read_path, write_image};

/// A folder with a class folder, and an image in it.
fn class_folder() -> (TempDir, PathBuf) {
    let root = TempDir::new().unwrap();
    let class = root.path().join("3");
    write_image(&class.join("1.png"));
    (root, class)
}

#[cfg(unix)]
fn pipe(path: &Path) {
    assert!(
        std::process::Command::new("mkfifo")
            .arg(path)
            .status()
            .unwrap()
            .success()
    );
}

#[cfg(unix)]
#[test]
fn a_pipe_among_images_is_refused_rather_than_waited_for() {
    let (root, class) = class_folder();
    let path = class.join("2.png");
    pipe(&path);
    let error = read_path(root.path()).unwrap_err();
    assert!(
        matches!(&error, DataError::Unreadable { path: named, reason } if *named == path && reason.contains("pipe")),
        "{error}"
    );
}

#[cfg(unix)]
#[test]
fn pipes_with_the_names_of_data_files_are_refused() {
    for name in ["train.csv", "digits.jsonl", "digits.csv.gz", "digits"] {
        let root = TempDir::new().unwrap();
        let path = root.path().join(name);
        pipe(&path);
        assert!(
            matches!(read_path(&path), Err(error @ DataError::Unreadable { .. }) if error.remedy() == "Choose a file."),
            "{name}"
        );
    }
}

#[cfg(unix)]
#[test]
fn links_that_lead_in_circles_are_named_or_passed_over() {
    use std::os::unix::fs::symlink;
    let (root, class) = class_folder();
    // Folders that are links to the folder they are in, to one another, and to nothing.
    symlink(root.path(), root.path().join("4")).unwrap();
    symlink(root.path().join("6"), root.path().join("5")).unwrap();
    symlink(root.path().join("5"), root.path().join("6")).unwrap();
    symlink(root.path().join("nothing"), root.path().join("7")).unwrap();
    symlink(&class, class.join("loop")).unwrap();
    assert_eq!(read_path(root.path()).unwrap().train.labels, [3]);
    let path = class.join("2.png");
    symlink(&path, &path).unwrap();
    let error = read_path(root.path()).unwrap_err();
    assert!(
        matches!(&error, DataError::Unreadable { path: named, .. } if *named == path),
        "{error}"
    );
}

#[cfg(unix)]
#[test]
fn names_with_line_breaks_and_escape_codes_stay_what_they_are() {
    let (root, class) = class_folder();
    let path = class.join("a\n\u{1b}[2J\u{202e}.png");
    fs::rename(class.join("1.png"), &path).unwrap();
    assert_eq!(read_path(root.path()).unwrap().train.labels, [3]);
    fs::write(&path, "no image").unwrap();
    assert!(
        matches!(read_path(root.path()), Err(DataError::Malformed { path: named, .. }) if named == path)
    );
}

#[cfg(unix)]
#[test]
fn an_image_that_may_not_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let (root, class) = class_folder();
    let path = class.join("1.png");
    for closed in [&path, &class] {
        fs::set_permissions(closed, fs::Permissions::from_mode(0o000)).unwrap();
        let allowed = fs::read(&path).is_ok();
        let read = read_path(root.path());
        fs::set_permissions(closed, fs::Permissions::from_mode(0o700)).unwrap();
        if allowed {
            eprintln!("skipped: this user may read everything");
            return;
        }
        assert!(
            matches!(&read, Err(DataError::Unreadable { path: named, .. }) if named == closed),
            "{read:?}"
        );
    }
}

#[test]
fn thousands_of_other_folders_are_not_searched() {
    let (root, class) = class_folder();
    for index in 10..2000 {
        fs::create_dir(root.path().join(index.to_string())).unwrap();
        fs::create_dir(class.join(format!("{index}.folder"))).unwrap();
    }
    assert_eq!(read_path(root.path()).unwrap().train.labels, [3]);
}

#[test]
fn a_file_that_shrinks_or_grows_while_it_is_read_is_no_data() {
    let header = [0x0801_u32, 100].map(u32::to_be_bytes).concat();
    for (labels, word) in [(60, "truncated"), (140, "extra data")] {
        // When it was opened it had 100 labels.
        let file =
            InputFile::new(Cursor::new([&header[..], &vec![7; labels]].concat()), 108).unwrap();
        let error =
            read_idx(file, Path::new("labels"), IdxKind::Labels, &mut Unwatched).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[test]
fn a_file_that_never_ends_is_given_up() {
    let row = "3".to_owned() + &",255".repeat(PIXELS) + "\n";
    let file = InputFile::new(Endless(row.into_bytes(), 0), 1000).unwrap();
    let error = PixelTable::read(
        file,
        Path::new("endless.csv"),
        &mut ClassLabels::default(),
        &mut Unwatched,
    )
    .unwrap_err();
    assert!(
        matches!(&error, DataError::TooLarge { reason, .. } if reason.contains("1000 bytes have grown")),
        "{error}"
    );
}

/// The same bytes for ever.
struct Endless(Vec<u8>, usize);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        for byte in buffer.iter_mut() {
            *byte = self.0[self.1];
            self.1 = (self.1 + 1) % self.0.len();
        }
        Ok(buffer.len())
    }
}
