//! Data sets come from a mirror whole, or not at all, whatever the server does.

mod archive;
mod server;

use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use inkling::download::{DownloadError, Mirror, RetryPolicy, download};
use inkling::progress::Unwatched;
use inkling::run_config::PublicDataset;

use self::server::{Request, Server, cancel_in_the_middle, fetch, send, serve};
use crate::support::mnist_folder;

/// The file of the real MNIST that is asked for.
fn mnist_file(folder: &Path, request: &Request) -> Vec<u8> {
    std::fs::read(folder.join(&request.name)).unwrap()
}

fn is_not_there(folder: &Path) -> bool {
    !folder.join("mnist").exists()
}

#[test]
fn a_set_is_downloaded_whole_and_found() {
    let Some(mnist) = mnist_folder() else { return };
    let home = tempfile::tempdir().unwrap();
    let server =
        Server::new(move |request, stream, _| serve(request, stream, &mnist_file(&mnist, request)));
    let mut shares = Vec::new();
    let mut progress = |share: f32| {
        shares.push(share);
        Ok(())
    };
    let path = download(
        PublicDataset::Mnist,
        Some(&server.mirror),
        home.path(),
        RetryPolicy::default(),
        &mut progress,
    )
    .unwrap();
    assert_eq!(path, home.path().join("mnist"));
    assert!(
        shares.is_sorted() && shares.len() > 100 && *shares.last().unwrap() <= 1.0,
        "{} reports",
        shares.len()
    );
    let found = inkling::data::find(&[home.path().to_owned()]);
    assert_eq!(
        (found.len(), found[0].train_images, found[0].original),
        (1, 60_000, Some(true))
    );
    assert_eq!(
        std::fs::read_dir(home.path()).unwrap().count(),
        1,
        "nothing is left over"
    );
    let asked = server.heard().len();
    assert_eq!(asked, 4);
    assert_eq!(server.fetch(home.path()).unwrap(), path, "it is there");
    assert_eq!(server.heard().len(), asked, "nothing is downloaded twice");
}

#[test]
fn what_was_interrupted_or_broke_goes_on_where_it_ended() {
    let Some(mnist) = mnist_folder() else { return };
    let home = tempfile::tempdir().unwrap();
    // Every other connection breaks in the middle, and lies about the length.
    let server = Server::new(move |request, stream, number| {
        let file = mnist_file(&mnist, request);
        if number % 2 == 1 || request.from.is_none() {
            let from = request.from.unwrap_or(0) as usize;
            let part = &file[from..file.len().min(from + file.len() / 3 + 1)];
            let head = if from == 0 {
                "200 OK".to_owned()
            } else {
                format!(
                    "206 Partial Content\r\nContent-Range: bytes {from}-{}/{}",
                    file.len() - 1,
                    file.len()
                )
            };
            let _ = write!(
                stream,
                "HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n",
                file.len() - from
            );
            let _ = stream.write_all(part);
        } else {
            serve(request, stream, &file);
        }
    });
    cancel_in_the_middle(&server.mirror, home.path());
    assert!(is_not_there(home.path()) && inkling::data::find(&[home.path().to_owned()]).is_empty());
    let before = server.heard().len();
    server.fetch(home.path()).unwrap();
    let after = &server.heard()[before..];
    assert!(
        after
            .iter()
            .all(|(name, from)| name.starts_with("train-images") && *from > Some(1_000_000)),
        "{after:?}"
    );
}

#[test]
fn a_server_that_knows_no_ranges_begins_again() {
    let Some(mnist) = mnist_folder() else { return };
    let home = tempfile::tempdir().unwrap();
    let server = Server::new(move |request, stream, number| {
        let file = mnist_file(&mnist, request);
        if number == 1 {
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n",
                file.len()
            );
            let _ = stream.write_all(&file[..file.len() / 2]);
        } else {
            serve(&Request::default(), stream, &file);
        }
    });
    server.fetch(home.path()).unwrap();
    assert_eq!(server.heard().len(), 5);
}

#[test]
fn what_is_not_the_published_file_is_refused_and_deleted() {
    for body in [&b"not a file of MNIST"[..], b""] {
        let home = tempfile::tempdir().unwrap();
        let server = Server::new(move |request, stream, _| serve(request, stream, body));
        let error = server.fetch(home.path()).unwrap_err();
        assert!(
            matches!(error, DownloadError::NotPublishedFile { .. }),
            "{error:?}"
        );
        assert!(is_not_there(home.path()));
        assert!(
            !home
                .path()
                .join("mnist.partial/train-labels-idx1-ubyte.gz.part")
                .exists()
        );
    }
}

#[test]
fn more_than_the_file_has_is_not_accepted() {
    let huge = |chunked: bool| {
        Server::new(move |_, stream, _| {
            let head = if chunked {
                "Transfer-Encoding: chunked"
            } else {
                "Content-Length: 99999999999"
            };
            let _ = write!(stream, "HTTP/1.1 200 OK\r\n{head}\r\n\r\n");
            // Without an end, until who asked has gone.
            let block = vec![7; 4096];
            let block = if chunked {
                [b"1000\r\n", block.as_slice(), b"\r\n"].concat()
            } else {
                block
            };
            while stream.write_all(&block).is_ok() {}
        })
    };
    for server in [huge(false), huge(true)] {
        let home = tempfile::tempdir().unwrap();
        let error = server.fetch(home.path()).unwrap_err();
        assert!(
            matches!(
                error,
                DownloadError::TooLarge {
                    largest: 57_762,
                    ..
                }
            ),
            "{error:?}"
        );
        let part = home
            .path()
            .join("mnist.partial/train-labels-idx1-ubyte.gz.part");
        assert!(part.metadata().unwrap().len() <= 57_762 && is_not_there(home.path()));
    }
}

#[test]
fn answers_that_are_no_file_are_named() {
    let error_of = |head: &'static str| {
        let home = tempfile::tempdir().unwrap();
        let server = Server::new(move |_, stream, _| send(stream, head, b"<html>"));
        let error = server.fetch(home.path()).unwrap_err();
        assert!(is_not_there(home.path()), "{head}");
        error
    };
    let missing = error_of("404 Not Found");
    assert!(
        matches!(missing, DownloadError::Status { status: 404, .. }),
        "{missing:?}"
    );
    let broken = error_of("500 Internal Server Error");
    assert!(
        matches!(broken, DownloadError::Status { status: 500, .. }),
        "{broken:?}"
    );
    let page = error_of("200 OK\r\nContent-Type: text/html; charset=utf-8");
    assert!(matches!(page, DownloadError::WebPage { .. }), "{page:?}");
    let redirects = error_of("302 Found\r\nLocation: /set/round-and-round");
    assert!(
        matches!(redirects, DownloadError::Redirects { .. }),
        "{redirects:?}"
    );
    let garbled = error_of("this is not HTTP");
    assert!(
        matches!(garbled, DownloadError::Broken { .. }),
        "{garbled:?}"
    );
}

#[test]
fn a_server_that_says_nothing_any_more_is_given_up() {
    for says_first in [true, false] {
        let home = tempfile::tempdir().unwrap();
        let server = Server::new(move |_, stream, _| {
            if says_first {
                let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 28881\r\n\r\n");
            }
            thread::sleep(Duration::from_mins(1));
        });
        let began = Instant::now();
        let error = server.fetch(home.path()).unwrap_err();
        assert!(matches!(error, DownloadError::Broken { .. }), "{error:?}");
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "three attempts of a second"
        );
        assert_eq!(server.heard().len(), 3);
    }
}

#[test]
fn without_a_network_it_is_said_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mirror = format!("http://{}", listener.local_addr().unwrap())
        .parse()
        .unwrap();
    drop(listener);
    let home = tempfile::tempdir().unwrap();
    let error = download(
        PublicDataset::Mnist,
        Some(&mirror),
        home.path(),
        RetryPolicy::default(),
        &mut Unwatched,
    )
    .unwrap_err();
    assert!(
        matches!(error, DownloadError::NoConnection { .. }),
        "{error:?}"
    );
}

#[test]
fn a_folder_with_something_else_is_left_alone_and_no_two_download_at_once() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::new(|_, stream, _| send(stream, "404 Not Found", b""));
    std::fs::create_dir_all(home.path().join("mnist")).unwrap();
    std::fs::write(home.path().join("mnist/notes.txt"), "mine").unwrap();
    let error = server.fetch(home.path()).unwrap_err();
    assert!(matches!(error, DownloadError::Occupied { .. }), "{error:?}");
    std::fs::rename(home.path().join("mnist"), home.path().join("other")).unwrap();
    std::fs::create_dir_all(home.path().join("mnist.partial")).unwrap();
    let lock = std::fs::File::create(home.path().join("mnist.partial/lock")).unwrap();
    lock.lock().unwrap();
    assert_eq!(
        server.fetch(home.path()),
        Err(DownloadError::InProgress {
            set: PublicDataset::Mnist
        })
    );
    assert!(server.heard().is_empty());
}

#[test]
fn mirrors_are_addresses() {
    for (text, address) in [
        ("http://school/mnist", "http://school/mnist/"),
        ("https://example.org/a/", "https://example.org/a/"),
    ] {
        let mirror = text.parse::<Mirror>().unwrap();
        assert_eq!(mirror.to_string(), address);
        assert_eq!(
            mirror.folder_of(PublicDataset::Kmnist).address_of("a.gz"),
            format!("{address}kmnist/a.gz")
        );
    }
    let archive = "http://school/gzip.zip".parse::<Mirror>().unwrap();
    assert!(archive.is_archive() && archive.folder_of(PublicDataset::Kmnist) == archive);
    for text in [
        "ftp://example.org/",
        "example.org",
        "https://",
        "http:///mnist",
        "https://exa mple.org",
    ] {
        assert!(
            matches!(text.parse::<Mirror>(), Err(DownloadError::Address { .. })),
            "{text}"
        );
    }
}

#[test]
fn a_user_and_a_password_are_sent_as_a_header_and_shown_nowhere() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::new(|request, stream, _| {
        // anna:p@ss
        let is_allowed = request.authorization.as_deref() == Some("Basic YW5uYTpwQHNz");
        send(
            stream,
            if is_allowed {
                "410 Gone"
            } else {
                "401 Unauthorized"
            },
            b"",
        );
    });
    let mirror: Mirror = server
        .mirror
        .to_string()
        .replace("http://", "http://anna:p%40ss@")
        .parse()
        .unwrap();
    let Err(DownloadError::Status { address, status }) =
        fetch(PublicDataset::Mnist, &mirror, home.path(), &mut Unwatched)
    else {
        panic!("it was downloaded")
    };
    assert_eq!(
        (status, address.contains("anna")),
        (410, false),
        "{address}"
    );
    assert!(!format!("{mirror} {mirror:?}").contains("ss@"));
}
