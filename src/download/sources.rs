//! Where data sets are published, and how their files are recognized.

use std::fmt;
use std::io::Read;
use std::path::Path;
use std::str::FromStr;

use base64::prelude::{BASE64_STANDARD, Engine};
use flate2::read::GzDecoder;

use super::DownloadError;
use crate::run_config::PublicDataset;
use crate::system::files::open_regular;
use crate::system::sha256::sha256_of;
use crate::text::visible;

pub(super) struct SourceFile {
    /// Its name, at every mirror.
    pub name: &'static str,
    /// Its size as it was published, in bytes.
    pub size: u64,
    pub digest: Digest,
}

/// A SHA-256, in hexadecimal digits.
pub(super) enum Digest {
    /// Of the file: it was never compressed anew.
    File(&'static str),
    /// Of what is in it, which has this many bytes: mirrors have it compressed in different ways.
    Content(&'static str, u64),
}

impl SourceFile {
    /// The most bytes that are accepted.
    pub fn largest(&self) -> u64 {
        match self.digest {
            Digest::File(_) => self.size,
            // Compressed in another way, it may be a little larger.
            Digest::Content(..) => 2 * self.size,
        }
    }

    /// Whether this file is at this path as it was published.
    pub fn is_at(&self, path: &Path) -> bool {
        let Ok(opened) = open_regular(path) else {
            return false;
        };
        match self.digest {
            Digest::File(expected) => {
                sha256_of(opened.take(self.size + 1)).is_ok_and(|found| found == expected)
            }
            // One byte more than there should be changes the digest.
            Digest::Content(expected, length) => sha256_of(GzDecoder::new(opened).take(length + 1))
                .is_ok_and(|found| found == expected),
        }
    }
}

const IMAGES: u64 = 16 + 784 * 60_000;
const TEST_IMAGES: u64 = 16 + 784 * 10_000;

/// The SHA-256 of MNIST's decompressed files, the small ones first: labels for training and test,
/// then images for test and training.
pub const MNIST_SHA256: [&str; 4] = [
    "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
];

/// The names of MNIST's files, and of the files of the sets that take its place.
const NAMES: [&str; 4] = [
    "train-labels-idx1-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "train-images-idx3-ubyte.gz",
];

const MNIST: [SourceFile; 4] = [
    content(0, 28_881, 60_008),
    content(1, 4_542, 10_008),
    content(2, 1_648_877, TEST_IMAGES),
    content(3, 9_912_422, IMAGES),
];

/// The digests are those in the checksums of TensorFlow Datasets and of torchvision's bindings.
const FASHION_MNIST: [SourceFile; 4] = intact(
    NAMES,
    [29_515, 5_148, 4_422_102, 26_421_880],
    [
        "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
        "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
        "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
        "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
    ],
);

/// From the same sources.
const KMNIST: [SourceFile; 4] = intact(
    NAMES,
    [29_497, 5_120, 3_041_136, 18_165_135],
    [
        "e38f9ebcd0f3ebcdec7fc8eabdcdaef93bb0df8ea12bee65224341c8183d8e17",
        "20bb9a0ef54c7db3efc55a92eef5582c109615df22683c380526788f98e42a1c",
        "edd7a857845ad6bb1d0ba43fe7e794d164fe2dce499a1694695a792adfac43c5",
        "51467d22d8cc72929e2a028a0428f2086b092bb31cfb79c69cc0a90ce135fde4",
    ],
);

/// The digests are those that several projects have of the files in NIST's archive (`mnists` on
/// GitHub among them).
const EMNIST_DIGITS: [SourceFile; 4] = intact(
    [
        "emnist-digits-test-labels-idx1-ubyte.gz",
        "emnist-digits-train-labels-idx1-ubyte.gz",
        "emnist-digits-test-images-idx3-ubyte.gz",
        "emnist-digits-train-images-idx3-ubyte.gz",
    ],
    [19_960, 113_859, 9_908_519, 59_515_779],
    [
        "bad1834c45d5988e270b99d43b13edc3fd898f658ffbc2caf2846ef27f7b05b0",
        "6638a6ff5fe2eefd9cca2471995b46c82986b8e4b2a70d2f5ce8e05d7edb319e",
        "20ebe43509264f7639d37c835a3f0b009e90b29e00a099a03101abe1644a3f63",
        "f7c95004d14d81af89522e67d8f0c781dfb3bd544181c81bfe1eb6b41c35b726",
    ],
);

/// From the same sources.
const EMNIST_LETTERS: [SourceFile; 4] = intact(
    [
        "emnist-letters-test-labels-idx1-ubyte.gz",
        "emnist-letters-train-labels-idx1-ubyte.gz",
        "emnist-letters-test-images-idx3-ubyte.gz",
        "emnist-letters-train-images-idx3-ubyte.gz",
    ],
    [144, 79_283, 5_039_157, 30_804_864],
    [
        "924955c31fe7fd809b7303b5c0141282955f4b8390c74cdfd5d80435e0f4b4cb",
        "9759af91ea6bccdf07a6040fd085861f2ec88e37f7c3f5760f6feb57106fbe5c",
        "50f0e93d75b99b463e9760b8345866f22587fa2c2fba472730a5ba09c693412d",
        "6288f418a917e007bf5fddb823a2dc7a5c6a35031401b93292a539cb12bd881f",
    ],
);

/// This one of MNIST's files, of which mirrors have the content.
const fn content(file: usize, size: u64, length: u64) -> SourceFile {
    SourceFile {
        name: NAMES[file],
        size,
        digest: Digest::Content(MNIST_SHA256[file], length),
    }
}

/// Files that were never compressed anew, with their sizes and SHA-256.
const fn intact(
    names: [&'static str; 4],
    sizes: [u64; 4],
    digests: [&'static str; 4],
) -> [SourceFile; 4] {
    const NONE: SourceFile = content(0, 0, 0);
    let (mut files, mut file) = ([NONE; 4], 0);
    while file < files.len() {
        files[file] = SourceFile {
            name: names[file],
            size: sizes[file],
            digest: Digest::File(digests[file]),
        };
        file += 1;
    }
    files
}

/// The files of a set, the small ones first.
pub(super) const fn files(set: PublicDataset) -> &'static [SourceFile] {
    match set {
        PublicDataset::Mnist => &MNIST,
        PublicDataset::FashionMnist => &FASHION_MNIST,
        PublicDataset::Kmnist => &KMNIST,
        PublicDataset::EmnistDigits => &EMNIST_DIGITS,
        PublicDataset::EmnistLetters => &EMNIST_LETTERS,
    }
}

pub fn published_size(set: PublicDataset) -> u64 {
    files(set).iter().map(|file| file.size).sum()
}

/// The public mirrors of a set, in the order in which they are tried.
pub fn mirrors(set: PublicDataset) -> Vec<Mirror> {
    let addresses: &[&str] = match set {
        PublicDataset::Mnist => &[
            "https://storage.googleapis.com/cvdf-datasets/mnist/",
            "https://ossci-datasets.s3.amazonaws.com/mnist/",
        ],
        PublicDataset::FashionMnist => &[
            "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
        ],
        PublicDataset::Kmnist => &["https://codh.rois.ac.jp/kmnist/dataset/kmnist/"],
        // 562 MB with all of EMNIST's sets, of which only what is wanted is downloaded.
        PublicDataset::EmnistDigits | PublicDataset::EmnistLetters => {
            &["https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip"]
        }
    };
    addresses
        .iter()
        .map(|&address| Mirror {
            address: address.to_owned(),
            credentials: None,
        })
        .collect()
}

/// The environment variable that names a mirror, as in a school without a way to the public ones.
const MIRROR_VARIABLE: &str = "INKLING_DATA_MIRROR";

/// A folder of a server, with files or with a folder for each data set: an address that ends in
/// `/`. Or a ZIP archive with files of data sets, whose address ends in `.zip`.
#[derive(Clone, PartialEq, Eq)]
pub struct Mirror {
    /// Without the credentials: it is shown, and logged.
    address: String,
    /// `user:password`, as it was given.
    credentials: Option<String>,
}

impl Mirror {
    pub fn from_env() -> Result<Option<Self>, DownloadError> {
        match std::env::var(MIRROR_VARIABLE) {
            Ok(address) if !address.is_empty() => address.parse().map(Some),
            _ => Ok(None),
        }
    }

    pub fn is_archive(&self) -> bool {
        !self.address.ends_with('/')
    }

    /// Its folder of a set, which has the set's name. An archive has no such folders.
    #[must_use]
    pub fn folder_of(&self, set: PublicDataset) -> Self {
        let address = if self.is_archive() {
            self.address.clone()
        } else {
            format!("{}{}/", self.address, set.name())
        };
        Self {
            address,
            credentials: self.credentials.clone(),
        }
    }

    /// The address that a file is downloaded from: the file's, or the archive's.
    pub fn address_of(&self, name: &str) -> String {
        if self.is_archive() {
            self.address.clone()
        } else {
            format!("{}{name}", self.address)
        }
    }

    /// The value of the header that has the user and the password (RFC 7617).
    pub fn authorization(&self) -> Option<String> {
        Some(format!(
            "Basic {}",
            BASE64_STANDARD.encode(percent_decoded(self.credentials.as_deref()?))
        ))
    }

    /// Whether what comes from there can be neither read nor changed on its way.
    pub fn is_encrypted(&self) -> bool {
        self.address.starts_with("https://")
    }
}

impl fmt::Display for Mirror {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.address)
    }
}

/// As it is shown, without its credentials.
impl fmt::Debug for Mirror {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Mirror({self})")
    }
}

impl FromStr for Mirror {
    type Err = DownloadError;

    /// An address over HTTPS, or over HTTP as within a school: files are recognized by their
    /// digests in any case. A user and a password may stand before the host.
    fn from_str(text: &str) -> Result<Self, DownloadError> {
        let wrong = || DownloadError::Address {
            address: visible::without_credentials(text),
        };
        let scheme = ["https://", "http://"]
            .into_iter()
            .find(|scheme| text.starts_with(scheme))
            .ok_or_else(wrong)?;
        let after = &text[scheme.len()..];
        let authority = after.split(['/', '?', '#']).next().unwrap_or_default();
        let (credentials, host) = authority
            .rsplit_once('@')
            .map_or((None, authority), |(credentials, host)| {
                (Some(credentials), host)
            });
        let has_wrong_port = host
            .rsplit_once(':')
            .is_some_and(|(_, port)| !port.ends_with(']') && port.parse::<u16>().is_err());
        if host.is_empty() || has_wrong_port || text.contains(char::is_whitespace) {
            return Err(wrong());
        }
        let path = &after[authority.len()..];
        let is_complete = path.ends_with('/') || path.to_ascii_lowercase().ends_with(".zip");
        let address = format!("{scheme}{host}{path}{}", if is_complete { "" } else { "/" });
        Ok(Self {
            address,
            credentials: credentials.map(str::to_owned),
        })
    }
}

/// The bytes of a text in which `%40` stands for `@`.
fn percent_decoded(text: &str) -> Vec<u8> {
    let (mut decoded, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((&first, after)) = rest.split_first() {
        let code = after
            .get(..2)
            .filter(|_| first == b'%')
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = code.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        decoded.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    decoded
}
