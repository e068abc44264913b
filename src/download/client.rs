//! One file over HTTP, from where an interrupted download ended.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use ureq::http::{HeaderMap, Response, StatusCode, header};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body, Error, Timeout};

use super::sources::SourceFile;
use super::{DownloadError, Patience};
use crate::progress::Progress;
use crate::system::WriteError;
use crate::system::files::open_append;

/// Bytes that are read at a time.
const PIECE: usize = 1 << 16;
const MOST_REDIRECTS: u32 = 5;

/// A client that follows redirects, uses the proxy that the environment names (`HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`), and trusts whom the
/// system trusts.
pub struct Client {
    agent: Agent,
    patience: Patience,
}

/// How an attempt ended.
enum Attempt {
    /// The file is whole, as far as the server says.
    Complete,
    /// The connection broke after so many bytes.
    Broken { received: u64, reason: String },
}

impl Client {
    /// With `encrypted`, addresses and redirects that are not HTTPS are refused.
    pub fn new(encrypted: bool, patience: Patience) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).unversioned_rustls_crypto_provider(provider).build();
        let config = Agent::config_builder()
            .https_only(encrypted)
            .max_redirects(MOST_REDIRECTS)
            .user_agent(concat!("Inkling/", env!("CARGO_PKG_VERSION")))
            // Files are compressed already, and compared byte for byte.
            .accept_encoding("identity")
            .timeout_resolve(Some(patience.wait))
            .timeout_connect(Some(patience.wait))
            .timeout_recv_response(Some(patience.wait))
            .timeout_per_read(Some(patience.wait))
            .tls_config(tls)
            .build();
        Self { agent: config.into(), patience }
    }

    /// Downloads the file from this address into `part`, after what is there already.
    pub fn fetch(&self, address: &str, source: &SourceFile, part: &Path, progress: &mut impl Progress) -> Result<(), DownloadError> {
        let mut file = open_append(part).map_err(|error| WriteError::new(part, &error))?;
        let mut failures = 0;
        loop {
            match self.attempt(address, source, &mut file, part, progress)? {
                Attempt::Complete => return Ok(()),
                Attempt::Broken { received, reason } => {
                    failures = if received > 0 { 1 } else { failures + 1 };
                    if failures >= self.patience.attempts {
                        return Err(DownloadError::Broken { address: address.to_owned(), reason });
                    }
                    // Soon, but not so fast that it would be a burden for a server in trouble.
                    std::thread::sleep(self.patience.wait.mul_f32(0.01) * failures);
                }
            }
        }
    }

    fn attempt(
        &self,
        address: &str,
        source: &SourceFile,
        file: &mut File,
        part: &Path,
        progress: &mut impl Progress,
    ) -> Result<Attempt, DownloadError> {
        let largest = source.largest();
        let unwritable = |error: &io::Error| DownloadError::from(WriteError::new(part, error));
        let mut have = file.metadata().map_err(|error| unwritable(&error))?.len();
        let mut request = self.agent.get(address);
        if have > 0 {
            request = request.header(header::RANGE, format!("bytes={have}-"));
        }
        let mut response = match request.call() {
            Ok(response) => response,
            // There is nothing after what is there: either it is whole, or it is not the same file.
            Err(Error::StatusCode(status)) if status == StatusCode::RANGE_NOT_SATISFIABLE.as_u16() && have > 0 => {
                return Ok(Attempt::Complete);
            }
            Err(error) => return failed(address, &error),
        };
        if is_web_page(response.headers()) {
            return Err(DownloadError::WebPage { address: address.to_owned() });
        }
        if have > 0 && !continues_at(&response, have) {
            file.set_len(0).and_then(|()| file.seek(SeekFrom::Start(0))).map_err(|error| unwritable(&error))?;
            have = 0;
        }
        let too_large = || DownloadError::TooLarge { address: address.to_owned(), largest };
        if response.body().content_length().is_some_and(|more| have.saturating_add(more) > largest) {
            return Err(too_large());
        }
        let (mut received, mut piece) = (0, vec![0; PIECE]);
        let mut body = response.body_mut().as_reader();
        loop {
            progress.report(((have + received) as f32 / source.size as f32).min(1.0))?;
            match body.read(&mut piece) {
                Ok(0) => return Ok(Attempt::Complete),
                Ok(count) => {
                    received += count as u64;
                    if have + received > largest {
                        return Err(too_large());
                    }
                    file.write_all(&piece[..count]).map_err(|error| unwritable(&error))?;
                }
                Err(error) => return Ok(Attempt::Broken { received, reason: error.to_string() }),
            }
        }
    }
}

/// What an answer that is none means.
fn failed(address: &str, error: &Error) -> Result<Attempt, DownloadError> {
    let address = address.to_owned();
    let reason = match error {
        Error::Io(io) => io.to_string(),
        _ => error.to_string(),
    };
    Err(match error {
        Error::StatusCode(status) => DownloadError::Status { address, status: *status },
        Error::TooManyRedirects => DownloadError::Redirects { address },
        Error::HostNotFound | Error::ConnectionFailed | Error::Timeout(Timeout::Resolve | Timeout::Connect) => {
            DownloadError::NoConnection { address, reason }
        }
        Error::Io(io)
            if matches!(
                io.kind(),
                io::ErrorKind::ConnectionRefused | io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable
            ) =>
        {
            DownloadError::NoConnection { address, reason }
        }
        _ => return Ok(Attempt::Broken { received: 0, reason }),
    })
}

fn is_web_page(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/html"))
}

/// Whether the answer begins with this byte of the file.
fn continues_at(response: &Response<Body>, byte: u64) -> bool {
    let range = response.headers().get(header::CONTENT_RANGE).and_then(|range| range.to_str().ok());
    let first = range.and_then(|range| range.strip_prefix("bytes ")?.split('-').next()?.trim().parse::<u64>().ok());
    response.status() == StatusCode::PARTIAL_CONTENT && first == Some(byte)
}
