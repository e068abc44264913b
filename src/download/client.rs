//! Files and parts of them over HTTP, from where an interrupted download ended.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use ureq::http::{HeaderMap, Response, StatusCode, header};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::typestate::WithoutBody;
use ureq::{Agent, Body, Error, RequestBuilder, Timeout};

use super::{DownloadError, RetryPolicy};
use crate::progress::Progress;
use crate::system::WriteError;
use crate::system::files::open_append;

/// Bytes that are read at a time.
const PIECE: usize = 1 << 16;
const MAX_REDIRECTS: u32 = 5;
/// Why a range is not complete.
const TOO_FEW: &str = "the server sent fewer bytes than were requested";

/// A client that follows redirects, uses the proxy that the environment names (`HTTPS_PROXY`,
/// `ALL_PROXY`, `NO_PROXY`), and trusts whom the system trusts.
pub struct Client {
    agent: Agent,
    patience: RetryPolicy,
    authorization: Option<String>,
}

pub enum Bytes {
    /// All of them: this many are expected, and this many are accepted at most.
    All {
        size: u64,
        largest: u64,
    },
    Range(Range<u64>),
}

enum Attempt<T = ()> {
    /// All is there, as far as the server says.
    Complete(T),
    /// The connection broke after this many bytes.
    Broken { received: u64, reason: String },
}

impl Client {
    /// With `encrypted`, addresses and redirects that are not HTTPS are refused. `authorization` is
    /// the value of that header, which redirects do not get.
    pub fn new(encrypted: bool, patience: RetryPolicy, authorization: Option<String>) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::PlatformVerifier)
            .unversioned_rustls_crypto_provider(provider)
            .build();
        let config = Agent::config_builder()
            .https_only(encrypted)
            .max_redirects(MAX_REDIRECTS)
            .user_agent(concat!("Inkling/", env!("CARGO_PKG_VERSION")))
            // Files are compressed already, and compared byte for byte.
            .accept_encoding("identity")
            .timeout_resolve(Some(patience.wait))
            .timeout_connect(Some(patience.wait))
            .timeout_recv_response(Some(patience.wait))
            .timeout_per_read(Some(patience.wait))
            .tls_config(tls)
            .build();
        Self {
            agent: config.into(),
            patience,
            authorization,
        }
    }

    fn get(&self, address: &str) -> RequestBuilder<WithoutBody> {
        let request = self.agent.get(address);
        match &self.authorization {
            Some(authorization) => request.header(header::AUTHORIZATION, authorization),
            None => request,
        }
    }

    /// Downloads these bytes of the file at this address into `part`, after what is there already.
    pub fn fetch(
        &self,
        address: &str,
        bytes: &Bytes,
        part: &Path,
        progress: &mut impl Progress,
    ) -> Result<(), DownloadError> {
        let mut file = open_append(part).map_err(|error| WriteError::new(part, &error))?;
        self.persist(address, || {
            self.attempt(address, bytes, &mut file, part, progress)
        })
    }

    /// These bytes of the file at this address, and how many it has.
    pub fn bytes(
        &self,
        address: &str,
        range: Range<u64>,
        progress: &mut impl Progress,
    ) -> Result<(Vec<u8>, u64), DownloadError> {
        let length = range.end.saturating_sub(range.start);
        self.persist(address, || {
            progress.report(0.0)?;
            let request = self
                .get(address)
                .config()
                .timeout_recv_body(Some(self.patience.wait))
                .build();
            let mut response = match request.header(header::RANGE, bytes_header(&range)).call() {
                Ok(response) => response,
                Err(error) => return failed(address, &error),
            };
            if is_web_page(response.headers()) {
                return Err(DownloadError::WebPage {
                    address: address.to_owned(),
                });
            }
            let total = content_range(&response)
                .filter(|(first, _)| *first == range.start)
                .and_then(|(_, total)| total);
            let Some(total) = total else {
                return Err(DownloadError::NoRanges {
                    address: address.to_owned(),
                });
            };
            let mut bytes = Vec::new();
            match response
                .body_mut()
                .as_reader()
                .take(length)
                .read_to_end(&mut bytes)
            {
                Ok(count) if count as u64 == length => Ok(Attempt::Complete((bytes, total))),
                Ok(_) => Ok(Attempt::Broken {
                    received: 0,
                    reason: TOO_FEW.to_owned(),
                }),
                Err(error) => Ok(Attempt::Broken {
                    received: 0,
                    reason: error.to_string(),
                }),
            }
        })
    }

    /// Attempts it until it is complete, or the connection has broken too often without anything
    /// having come.
    fn persist<T>(
        &self,
        address: &str,
        mut attempt: impl FnMut() -> Result<Attempt<T>, DownloadError>,
    ) -> Result<T, DownloadError> {
        let mut failures = 0;
        loop {
            match attempt()? {
                Attempt::Complete(result) => return Ok(result),
                Attempt::Broken { received, reason } => {
                    failures = if received > 0 { 1 } else { failures + 1 };
                    if failures >= self.patience.attempts {
                        return Err(DownloadError::Broken {
                            address: address.to_owned(),
                            reason,
                        });
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
        bytes: &Bytes,
        file: &mut File,
        part: &Path,
        progress: &mut impl Progress,
    ) -> Result<Attempt, DownloadError> {
        let (range, size, largest) = match bytes {
            Bytes::All { size, largest } => (None, *size, *largest),
            Bytes::Range(range) => (
                Some(range),
                range.end - range.start,
                range.end - range.start,
            ),
        };
        let unwritable = |error: &io::Error| DownloadError::from(WriteError::new(part, error));
        let mut have = file.metadata().map_err(|error| unwritable(&error))?.len();
        let mut request = self.get(address);
        if let Some(range) = range {
            if have >= size {
                return Ok(Attempt::Complete(()));
            }
            request = request.header(
                header::RANGE,
                bytes_header(&(range.start + have..range.end)),
            );
        } else if have > 0 {
            request = request.header(header::RANGE, format!("bytes={have}-"));
        }
        let mut response = match request.call() {
            Ok(response) => response,
            // There is nothing after what is there: either it is whole, or it is not the same file.
            Err(Error::StatusCode(status))
                if status == StatusCode::RANGE_NOT_SATISFIABLE.as_u16()
                    && have > 0
                    && range.is_none() =>
            {
                return Ok(Attempt::Complete(()));
            }
            Err(error) => return failed(address, &error),
        };
        if is_web_page(response.headers()) {
            return Err(DownloadError::WebPage {
                address: address.to_owned(),
            });
        }
        let begins_at = content_range(&response).map_or(0, |(first, _)| first);
        match range {
            Some(range) if begins_at != range.start + have => {
                return Err(DownloadError::NoRanges {
                    address: address.to_owned(),
                });
            }
            None if begins_at != have => {
                file.set_len(0)
                    .and_then(|()| file.seek(SeekFrom::Start(0)))
                    .map_err(|error| unwritable(&error))?;
                have = 0;
            }
            _ => {}
        }
        let too_large = || DownloadError::TooLarge {
            address: address.to_owned(),
            largest,
        };
        // Of a range, what is sent after its end is not read.
        if range.is_none()
            && response
                .body()
                .content_length()
                .is_some_and(|more| have.saturating_add(more) > largest)
        {
            return Err(too_large());
        }
        let most = range.map_or(u64::MAX, |_| size - have);
        let (mut received, mut piece) = (0, vec![0; PIECE]);
        let mut body = response.body_mut().as_reader().take(most);
        loop {
            progress.report(((have + received) as f32 / size as f32).min(1.0))?;
            match body.read(&mut piece) {
                Ok(0) if range.is_some() && received < most => {
                    return Ok(Attempt::Broken {
                        received,
                        reason: TOO_FEW.to_owned(),
                    });
                }
                Ok(0) => return Ok(Attempt::Complete(())),
                Ok(count) => {
                    received += count as u64;
                    if have + received > largest {
                        return Err(too_large());
                    }
                    file.write_all(&piece[..count])
                        .map_err(|error| unwritable(&error))?;
                }
                Err(error) => {
                    return Ok(Attempt::Broken {
                        received,
                        reason: error.to_string(),
                    });
                }
            }
        }
    }
}

/// The value of the header that asks for these bytes.
fn bytes_header(range: &Range<u64>) -> String {
    format!("bytes={}-{}", range.start, range.end.saturating_sub(1))
}

fn failed<T>(address: &str, error: &Error) -> Result<Attempt<T>, DownloadError> {
    let address = address.to_owned();
    let reason = match error {
        Error::Io(io) => io.to_string(),
        _ => error.to_string(),
    };
    Err(match error {
        Error::StatusCode(status) => DownloadError::Status {
            address,
            status: *status,
        },
        Error::TooManyRedirects => DownloadError::Redirects { address },
        Error::HostNotFound
        | Error::ConnectionFailed
        | Error::Timeout(Timeout::Resolve | Timeout::Connect) => {
            DownloadError::NoConnection { address, reason }
        }
        Error::Io(io)
            if matches!(
                io.kind(),
                io::ErrorKind::ConnectionRefused
                    | io::ErrorKind::NetworkUnreachable
                    | io::ErrorKind::HostUnreachable
            ) =>
        {
            DownloadError::NoConnection { address, reason }
        }
        _ => {
            return Ok(Attempt::Broken {
                received: 0,
                reason,
            });
        }
    })
}

fn is_web_page(headers: &HeaderMap) -> bool {
    let kind = headers
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| {
        kind.trim_start()
            .to_ascii_lowercase()
            .starts_with("text/html")
    })
}

/// The first byte of a file that this answer has, and how many the file has, if the answer is a
/// part of one.
fn content_range(response: &Response<Body>) -> Option<(u64, Option<u64>)> {
    let range = response
        .headers()
        .get(header::CONTENT_RANGE)
        .filter(|_| response.status() == StatusCode::PARTIAL_CONTENT)?;
    let (bytes, total) = range
        .to_str()
        .ok()?
        .strip_prefix("bytes ")?
        .split_once('/')?;
    Some((
        bytes.split('-').next()?.trim().parse().ok()?,
        total.trim().parse().ok(),
    ))
}
