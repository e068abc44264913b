//! Owns the IDX format of MNIST and its relatives: finding the four files, reading them with bounded memory, checking them
//! against each other. Must not trust a header: what it claims is held against what is there before room is made for it.

use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::source::{malformed, open, too_large, unreadable};
use super::{DataError, DataSet, Split};
use crate::ink::{PIXELS, SIDE};

/// More pictures than any digit set has (EMNIST's largest holds 814,255); what claims more is damaged.
const MOST: usize = 2_000_000;

/// The files of a set: images and labels, training and test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdxFiles {
    train: [PathBuf; 2],
    test: Option<[PathBuf; 2]>,
}

impl IdxFiles {
    /// The files in `folder`, by their usual names; `None` where there are no training images or labels.
    pub fn find(folder: &Path) -> Option<Self> {
        let pair = |which: &str| Some([find_file(folder, which, "images", 3)?, find_file(folder, which, "labels", 1)?]);
        Some(Self { train: pair("train")?, test: pair("t10k").or_else(|| pair("test")) })
    }

    /// Reads the set; the test split is empty where it has no files.
    pub fn read(&self) -> Result<DataSet, DataError> {
        let test = self.test.as_ref().map(read_split).transpose()?.unwrap_or_default();
        Ok(DataSet { train: read_split(&self.train)?, test })
    }

    /// How many training and test images the headers claim.
    pub fn counts(&self) -> Result<[u64; 2], DataError> {
        let count = |[images, _]: &[PathBuf; 2]| read_header(&mut open(images)?, images, Kind::Images).map(|count| count as u64);
        Ok([count(&self.train)?, self.test.as_ref().map(count).transpose()?.unwrap_or(0)])
    }

    /// True when the decompressed files are MNIST's own, by SHA-256.
    pub fn is_original_mnist(&self) -> Result<bool, DataError> {
        let [train_images, train_labels] = &self.train;
        let Some([test_images, test_labels]) = &self.test else { return Ok(false) };
        for (path, expected) in [train_labels, test_labels, test_images, train_images].into_iter().zip(MNIST_SHA256) {
            if digest(path)? != expected {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// MNIST's decompressed files, the small ones first: labels for training and test, then images for test and training.
const MNIST_SHA256: [&str; 4] = [
    "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
];

fn find_file(folder: &Path, which: &str, what: &str, dimensions: u8) -> Option<PathBuf> {
    // Both spellings are about, and so are files that some tool unpacked without renaming them.
    ["-", "."]
        .into_iter()
        .flat_map(|dot| ["", ".gz"].map(|end| folder.join(format!("{which}-{what}{dot}idx{dimensions}-ubyte{end}"))))
        .find(|path| path.is_file())
}

fn digest(path: &Path) -> Result<String, DataError> {
    let mut hasher = Sha256::new();
    // The longest of the four files is 47 MB; one that goes on is not MNIST's.
    let mut file = open(path)?.take(48_000_000);
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece).map_err(|error| unreadable(path, &error))? {
            0 => break,
            count => hasher.update(&piece[..count]),
        }
    }
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|half| char::from_digit(half.into(), 16).unwrap_or_default());
    Ok(hasher.finalize().iter().flat_map(digits).collect())
}

/// What a file holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Images,
    Labels,
}

/// Checks a header and gives the number of items it claims.
fn read_header(file: &mut dyn Read, path: &Path, kind: Kind) -> Result<usize, DataError> {
    let mut word = || {
        let mut bytes = [0; 4];
        file.read_exact(&mut bytes).map(|()| u32::from_be_bytes(bytes)).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => malformed(path, "it ends within its header"),
            _ => unreadable(path, &error),
        })
    };
    let (magic, name) = match kind {
        Kind::Images => (0x0803, "images (magic number 2051)"),
        Kind::Labels => (0x0801, "labels (magic number 2049)"),
    };
    let found = word()?;
    if found != magic {
        return Err(malformed(path, format!("it should hold {name}, but its magic number is {found}")));
    }
    let count = word()? as usize;
    if kind == Kind::Images {
        let (rows, columns) = (word()?, word()?);
        if (rows, columns) != (SIDE as u32, SIDE as u32) {
            return Err(malformed(path, format!("its pictures are {rows}x{columns} pixels, and Inkling reads {SIDE}x{SIDE}")));
        }
    }
    if count > MOST {
        return Err(too_large(path, format!("it claims {count} items, and {MOST} is the most Inkling takes")));
    }
    Ok(count)
}

/// The items of a file, exactly as many as its header claims.
fn read_items(path: &Path, kind: Kind) -> Result<Vec<u8>, DataError> {
    let mut file = open(path)?;
    let count = read_header(&mut file, path, kind)?;
    let expected = count * if kind == Kind::Images { PIXELS } else { 1 };
    let mut items = Vec::new();
    // One byte more than claimed tells a file that goes on; memory grows only as bytes really come.
    file.take(expected as u64 + 1).read_to_end(&mut items).map_err(|error| unreadable(path, &error))?;
    if items.len() < expected {
        return Err(malformed(path, format!("it is cut short: {count} items are claimed, {} of {expected} bytes are there", items.len())));
    }
    if items.len() > expected {
        return Err(malformed(path, format!("it goes on after the {count} items it claims")));
    }
    Ok(items)
}

fn read_split([image_path, label_path]: &[PathBuf; 2]) -> Result<Split, DataError> {
    let labels = read_items(label_path, Kind::Labels)?;
    let count = read_header(&mut open(image_path)?, image_path, Kind::Images)?;
    if count != labels.len() {
        return Err(malformed(
            image_path,
            format!("it holds {count} pictures, but {} holds {} labels", label_path.display(), labels.len()),
        ));
    }
    if count == 0 {
        return Err(malformed(image_path, "it holds no pictures"));
    }
    if let Some(position) = labels.iter().position(|&label| label > 9) {
        return Err(malformed(label_path, format!("label {} at position {position} is no digit", labels[position])));
    }
    Ok(Split { images: read_items(image_path, Kind::Images)?, labels })
}
