//! A server on this machine that answers as a test wants it to.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use inkling::download::{DownloadError, Mirror, RetryPolicy, download};
use inkling::progress::{Cancelled, Progress, Unwatched};
use inkling::run_config::PublicDataset;

/// What a server is asked for: the name of a file, and the first and last byte that are wanted.
#[derive(Default)]
pub struct Request {
    pub name: String,
    pub from: Option<u64>,
    pub to: Option<u64>,
    pub authorization: Option<String>,
}

/// The name of each file that was asked for, and the byte from which on.
pub type Requests = Vec<(String, Option<u64>)>;

/// A server on this machine, which answers as the closure says until the test ends.
pub struct Server {
    pub mirror: Mirror,
    heard: Arc<Mutex<Requests>>,
}

impl Server {
    pub fn new(answer: impl Fn(&Request, &mut TcpStream, usize) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mirror = format!("http://{}/sets", listener.local_addr().unwrap())
            .parse()
            .unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (answer, of_server) = (Arc::new(answer), Arc::clone(&heard));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (Ok(mut stream), answer, heard) =
                    (stream, Arc::clone(&answer), Arc::clone(&of_server))
                else {
                    return;
                };
                thread::spawn(move || {
                    let Some(request) = read_request(&stream) else {
                        return;
                    };
                    let number = {
                        let mut heard = heard.lock().unwrap();
                        heard.push((request.name.clone(), request.from));
                        heard.len()
                    };
                    answer(&request, &mut stream, number);
                });
            }
        });
        Self { mirror, heard }
    }

    pub fn heard(&self) -> Requests {
        self.heard.lock().unwrap().clone()
    }

    /// The archive of this name on it.
    pub fn archive(&self, name: &str) -> Mirror {
        format!("{}{name}", self.mirror).parse().unwrap()
    }

    /// Downloads MNIST from it.
    pub fn fetch(&self, folder: &Path) -> Result<PathBuf, DownloadError> {
        fetch(PublicDataset::Mnist, &self.mirror, folder, &mut Unwatched)
    }
}

/// Downloads a set with little patience.
pub fn fetch(
    set: PublicDataset,
    mirror: &Mirror,
    folder: &Path,
    progress: &mut impl Progress,
) -> Result<PathBuf, DownloadError> {
    let patience = RetryPolicy {
        wait: Duration::from_secs(1),
        attempts: 3,
    };
    download(set, Some(mirror), folder, patience, progress)
}

/// Begins to download MNIST, and cancels in the middle of its last file, the longest.
pub fn cancel_in_the_middle(mirror: &Mirror, folder: &Path) {
    let mut progress = |share: f32| if share > 0.5 { Err(Cancelled) } else { Ok(()) };
    assert_eq!(
        fetch(PublicDataset::Mnist, mirror, folder, &mut progress),
        Err(DownloadError::Cancelled(Cancelled))
    );
}

fn read_request(stream: &TcpStream) -> Option<Request> {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let name = lines
        .next()?
        .split(' ')
        .nth(1)?
        .rsplit('/')
        .next()?
        .to_owned();
    let headers: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let range = headers.iter().find_map(|line| {
        line.to_lowercase()
            .strip_prefix("range: bytes=")
            .map(str::to_owned)
    });
    let (from, to) = range
        .as_deref()
        .and_then(|range| range.split_once('-'))
        .unwrap_or_default();
    let authorization = headers
        .iter()
        .find(|line| line.to_lowercase().starts_with("authorization: "))
        .map(|line| line[15..].to_owned());
    Some(Request {
        name,
        from: from.parse().ok(),
        to: to.parse().ok(),
        authorization,
    })
}

pub fn send(stream: &mut TcpStream, head: &str, body: &[u8]) {
    // Who asked may have gone.
    let _ = write!(
        stream,
        "HTTP/1.1 {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(body);
}

/// As servers usually answer: the file, or the bytes of it that are asked for.
pub fn serve(request: &Request, stream: &mut TcpStream, file: &[u8]) {
    match request.from.map(|from| from as usize) {
        None => send(
            stream,
            "200 OK\r\nContent-Type: application/octet-stream",
            file,
        ),
        Some(from) if from < file.len() => {
            let last = request
                .to
                .map_or(file.len() - 1, |to| (to as usize).min(file.len() - 1));
            let head = format!(
                "206 Partial Content\r\nContent-Range: bytes {from}-{last}/{}",
                file.len()
            );
            send(stream, &head, &file[from..=last]);
        }
        Some(_) => send(stream, "416 Range Not Satisfiable", b""),
    }
}
