//! Of an archive on a server, only what is wanted is downloaded.

use std::io::{Cursor, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use inkling::download::DownloadError;
use inkling::math::random::Random;
use inkling::progress::Unwatched;
use inkling::run_config::PublicDataset;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::server::{Request, Server, cancel_in_the_middle, fetch, send, serve};
use crate::support::mnist_folder;

fn random_bytes(count: usize) -> Vec<u8> {
    let mut random = Random::stream(1, "archive", 0);
    (0..count).map(|_| random.range(0.0, 256.0) as u8).collect()
}

/// A ZIP archive of these files, some deflated and some stored, after a large one that nobody
/// wants.
fn archive(files: &[(impl AsRef<str>, Vec<u8>)]) -> Vec<u8> {
    let other = random_bytes(5_000_000);
    let files = files.iter().map(|(name, bytes)| (name.as_ref(), bytes));
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (index, (name, bytes)) in [("gzip/other.gz", &other)]
        .into_iter()
        .chain(files)
        .enumerate()
    {
        let method = [CompressionMethod::Stored, CompressionMethod::Deflated][index % 2];
        zip.start_file(
            name,
            SimpleFileOptions::default().compression_method(method),
        )
        .unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// MNIST's files, with their paths in the archive.
fn mnist_files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    [
        "train-images-idx3-ubyte.gz",
        "train-labels-idx1-ubyte.gz",
        "t10k-images-idx3-ubyte.gz",
        "t10k-labels-idx1-ubyte.gz",
    ]
    .into_iter()
    .map(|name| {
        (
            format!("gzip/{name}"),
            std::fs::read(folder.join(name)).unwrap(),
        )
    })
    .collect()
}

#[test]
fn only_the_files_of_a_set_are_downloaded_and_resumed_where_they_ended() {
    let Some(mnist) = mnist_folder() else { return };
    let files = mnist_files(&mnist);
    let zip = archive(&files);
    let size: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    let sent = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&sent);
    let server = Server::new(move |request, stream, number| {
        let (Some(from), Some(to)) = (request.from, request.to) else {
            return send(stream, "400 Bad Request", b"");
        };
        if number % 5 == 4 {
            return send(stream, "302 Found\r\nLocation: /moved/gzip.zip", b"");
        }
        if number % 3 == 2 {
            // It breaks in the middle.
            let head = format!(
                "Content-Range: bytes {from}-{to}/{}\r\nContent-Length: {}",
                zip.len(),
                to - from + 1
            );
            let _ = write!(stream, "HTTP/1.1 206 Partial Content\r\n{head}\r\n\r\n");
            let half = &zip[from as usize..(from + to) as usize / 2];
            counter.fetch_add(half.len(), Ordering::Relaxed);
            let _ = stream.write_all(half);
        } else {
            counter.fetch_add((to - from + 1) as usize, Ordering::Relaxed);
            serve(request, stream, &zip);
        }
    });
    let (home, mirror) = (tempfile::tempdir().unwrap(), server.archive("gzip.zip"));
    cancel_in_the_middle(&mirror, home.path());
    let before = sent.load(Ordering::Relaxed);
    let path = fetch(PublicDataset::Mnist, &mirror, home.path(), &mut Unwatched).unwrap();
    let after = sent.load(Ordering::Relaxed) - before;
    assert!(
        after < size * 3 / 4,
        "{after} of {size} bytes are downloaded after half of them were"
    );
    for (name, bytes) in &files {
        assert!(
            std::fs::read(path.join(Path::new(name).file_name().unwrap())).unwrap() == *bytes,
            "{name}"
        );
    }
    assert_eq!(
        std::fs::read_dir(&path).unwrap().count(),
        4,
        "nothing is left over"
    );
}

/// What comes of this archive, which is served as the closure says.
fn error_of(
    answer: impl Fn(&Request, &mut std::net::TcpStream) + Send + Sync + 'static,
) -> DownloadError {
    let home = tempfile::tempdir().unwrap();
    let server = Server::new(move |request, stream, _| answer(request, stream));
    let error = fetch(
        PublicDataset::FashionMnist,
        &server.archive("gzip.zip"),
        home.path(),
        &mut Unwatched,
    )
    .unwrap_err();
    assert!(!home.path().join("fashion-mnist").exists());
    let left: Vec<String> = std::fs::read_dir(home.path().join("fashion-mnist.partial"))
        .unwrap()
        .map(|part| part.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "lock")
        .collect();
    assert!(left.is_empty(), "{error}: {left:?}");
    error
}

#[test]
fn an_archive_that_is_sent_whole_is_not_downloaded() {
    let error = error_of(|_, stream| send(stream, "200 OK", &vec![0; 100_000]));
    assert!(
        matches!(&error, DownloadError::NoRanges { address } if address.ends_with("gzip.zip")),
        "{error:?}"
    );
    let page = error_of(|_, stream| send(stream, "200 OK\r\nContent-Type: text/html", b"<html>"));
    assert!(matches!(page, DownloadError::WebPage { .. }), "{page:?}");
    let missing = error_of(|_, stream| send(stream, "404 Not Found", b""));
    assert!(
        matches!(missing, DownloadError::Status { status: 404, .. }),
        "{missing:?}"
    );
}

#[test]
fn what_is_no_archive_or_has_other_files_is_refused() {
    let other = archive(&[("gzip/train-images-idx3-ubyte.gz", vec![1])]);
    let truncated = other[..other.len() - 30].to_vec();
    for bytes in [
        other,
        truncated,
        vec![0; 3_000_000],
        b"no archive".to_vec(),
        vec![1],
    ] {
        let error = error_of(move |request, stream| serve(request, stream, &bytes));
        assert!(
            matches!(&error, DownloadError::NotInArchive { name, .. } if name == "train-labels-idx1-ubyte.gz"),
            "{error:?}"
        );
    }
    // However long it says that it is, and however many files it says that it has.
    for total in [1 << 20, u64::from(u32::MAX) + 9, 1 << 62, u64::MAX] {
        let endless = error_of(move |request, stream| {
            let (from, to) = (request.from.unwrap(), request.to.unwrap());
            let end = [
                &b"PK\x06\x06"[..],
                &[0xFF; 52],
                b"PK\x06\x07",
                &[0x7F; 16],
                b"PK\x05\x06",
                &[0xFF; 18],
            ]
            .concat();
            let mut bytes = b"PK\x01\x02".repeat((to - from + 1) as usize / 4 + 1);
            bytes.extend_from_slice(&end);
            let head = format!("206 Partial Content\r\nContent-Range: bytes {from}-{to}/{total}");
            send(
                stream,
                &head,
                &bytes[bytes.len() - (to - from + 1) as usize..],
            );
        });
        assert!(
            matches!(endless, DownloadError::NotInArchive { .. }),
            "{total}: {endless:?}"
        );
    }
}

#[test]
fn a_server_that_sends_a_byte_at_a_time_is_given_up() {
    let began = std::time::Instant::now();
    let error = error_of(|request, stream| {
        if request.to == Some(0) {
            return send(
                stream,
                "206 Partial Content\r\nContent-Range: bytes 0-0/10000",
                b"P",
            );
        }
        let _ = write!(
            stream,
            "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-9999/10000\r\nContent-Length: 10000\r\n\r\n"
        );
        while stream.write_all(b"P").is_ok() {
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    assert!(matches!(error, DownloadError::Broken { .. }), "{error:?}");
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "three attempts of a second"
    );
}

#[test]
fn a_server_may_send_less_at_a_time_than_was_asked_for() {
    let Some(mnist) = mnist_folder() else { return };
    let files = mnist_files(&mnist);
    let zip = archive(&files);
    let from_archive = Server::new(move |request, stream, _| {
        let capped = request
            .from
            .zip(request.to)
            .map(|(from, to)| (from, to.min(from + 499_999)));
        let (from, to) = (capped.map(|(from, _)| from), capped.map(|(_, to)| to));
        serve(
            &Request {
                from,
                to,
                ..Request::default()
            },
            stream,
            &zip,
        );
    });
    // The archive is begun, and a folder ends it.
    let home = tempfile::tempdir().unwrap();
    cancel_in_the_middle(&from_archive.archive("gzip.zip"), home.path());
    assert!(
        home.path()
            .join("mnist.partial/train-images-idx3-ubyte.gz.zip.part")
            .exists()
    );
    let from_folder = Server::new(move |request, stream, _| {
        serve(
            request,
            stream,
            &std::fs::read(mnist.join(&request.name)).unwrap(),
        );
    });
    let path = from_folder.fetch(home.path()).unwrap();
    assert_eq!(
        std::fs::read_dir(&path).unwrap().count(),
        4,
        "nothing is left over"
    );
    // All of it from the archive.
    let home = tempfile::tempdir().unwrap();
    fetch(
        PublicDataset::Mnist,
        &from_archive.archive("gzip.zip"),
        home.path(),
        &mut Unwatched,
    )
    .unwrap();
}

#[test]
fn another_file_of_the_same_name_is_refused() {
    let random = random_bytes(29_515);
    for (bytes, is_too_large) in [
        (b"not the labels".to_vec(), false),
        (vec![0; 100_000], false),
        (random, false),
        (b"-".repeat(40_000), true),
    ] {
        // Deflated where it comes first, which makes random bytes a little longer, and stored where
        // it comes second.
        let name = "gzip/train-labels-idx1-ubyte.gz";
        let files = if is_too_large {
            vec![("first", vec![]), (name, bytes)]
        } else {
            vec![(name, bytes)]
        };
        let zip = archive(&files);
        let error = error_of(move |request, stream| serve(request, stream, &zip));
        let is_expected = if is_too_large {
            matches!(&error, DownloadError::TooLarge { largest: 29_515, address } if address.starts_with("train-labels-idx1-ubyte.gz in http"))
        } else {
            matches!(error, DownloadError::NotPublishedFile { .. })
        };
        assert!(is_expected, "{error:?}");
    }
}
