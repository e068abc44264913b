//! What is read may be anything; nothing is waited for, and nothing is read beyond its limit.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;

use inkling::system::files::{open_lock, open_regular, read_limited};

#[test]
fn a_regular_file_and_a_link_to_one_are_opened() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "content").unwrap();
    let mut text = String::new();
    open_regular(&file)
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(text, "content");
    assert_eq!(
        open_regular(&folder.path().join("none"))
            .unwrap_err()
            .kind(),
        ErrorKind::NotFound
    );
    assert!(
        open_regular(folder.path())
            .unwrap_err()
            .to_string()
            .contains("a folder")
    );
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("file", folder.path().join("link")).unwrap();
        assert_eq!(
            read_limited(&folder.path().join("link"), 7).unwrap(),
            b"content"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn pipes_devices_and_sockets_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
    )
    .unwrap();
    let socket = folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    for (path, words) in [
        (&*pipe, "a named pipe"),
        (&socket, "a socket"),
        (Path::new("/dev/null"), "a device"),
    ] {
        assert!(open_regular(path).unwrap_err().to_string().contains(words));
        assert!(
            read_limited(path, 10)
                .unwrap_err()
                .to_string()
                .contains(words)
        );
    }
    assert!(
        open_lock(&pipe)
            .unwrap_err()
            .to_string()
            .contains("a named pipe")
    );
}

#[test]
fn nothing_is_read_beyond_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, [7; 2_000]).unwrap();
    assert_eq!(read_limited(&file, 2_000).unwrap(), [7; 2_000]);
    let refused = read_limited(&file, 1_999).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::FileTooLarge);
    assert_eq!(refused.to_string().as_str(), "it is larger than 1 kB");
    // One that takes no room on the disk, but would in memory.
    fs::File::create(&file).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(
        read_limited(&file, 1 << 20).unwrap_err().kind(),
        ErrorKind::FileTooLarge
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_says_it_is_empty_is_read_up_to_the_limit() {
    assert!(
        !read_limited(Path::new("/proc/self/status"), 1 << 20)
            .unwrap()
            .is_empty()
    );
    assert_eq!(
        read_limited(Path::new("/proc/self/status"), 10)
            .unwrap_err()
            .kind(),
        ErrorKind::FileTooLarge
    );
}
