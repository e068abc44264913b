//! The IDX format of MNIST (`LeCun` et al. 1998): a magic number, big-endian sizes, then a byte per
//! pixel or label; and the two files of a split, images and labels, by the names of MNIST or by any
//! others that differ only in that word.
//!
//! Headers are not trusted: what they claim is compared with the file's size before memory is
//! allocated for it, and allocated once.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::pixels::{Pixels, SIDES_TEXT, Shape};
use super::{
    DataError, MAX_IMAGES, file_name, first_bytes, malformed, open, too_large, too_large_label,
    unreadable,
};
use crate::ink::PIXELS;
use crate::progress::Progress;
use crate::system::input_file::InputFile;

/// Bytes read between two reports of progress.
const CHUNK: u64 = 1 << 20;
/// DEFLATE compresses at most 1,032 bytes into one.
const DEFLATE_RATIO: u64 = 1032;

/// The content that an IDX file should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Images in gray.
    Images,
    Labels,
}

impl Kind {
    /// Unsigned bytes (0x08) in three dimensions or in one.
    pub const fn magic(self) -> u32 {
        match self {
            Self::Images => 0x0803,
            Self::Labels => 0x0801,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Images => "images",
            Self::Labels => "labels",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    kind: Kind,
    count: u64,
    /// Of images.
    shape: Option<Shape>,
}

impl Header {
    /// Bytes of an item.
    fn item(self) -> u64 {
        self.shape.map_or(1, |shape| shape.numbers() as u64)
    }

    /// `70 images of 28x28 pixels`.
    fn claim(self) -> String {
        let sides = self.shape.map_or(String::new(), |shape| {
            format!(" of {}x{} pixels", shape.rows, shape.columns)
        });
        format!("{} {}{sides}", self.count, self.kind.name())
    }
}

/// How many items the header claims; an error if the file is too small for them.
pub fn count(path: &Path, kind: Kind) -> Result<u64, DataError> {
    Ok(read_header(&mut open(path)?, path, kind)?.count)
}

/// The images of a file, exactly as many as its header claims. `progress` gets the fraction done
/// and may cancel.
fn read_images(path: &Path, progress: &mut dyn Progress) -> Result<Pixels, DataError> {
    let (items, shape) = read_idx(open(path)?, path, Kind::Images, progress)?;
    let shape = shape.ok_or_else(|| malformed(path, "it contains no images"))?;
    Ok(Pixels::of_bytes(shape, items))
}

/// The items of a file that is open already, exactly as many as its header claims, and the shape of
/// images; errors name `path`. `progress` gets the fraction done and may cancel.
pub fn read_idx(
    mut file: InputFile,
    path: &Path,
    kind: Kind,
    progress: &mut dyn Progress,
) -> Result<(Vec<u8>, Option<Shape>), DataError> {
    let header = read_header(&mut file, path, kind)?;
    let expected = header.count * header.item();
    let is_framed = header.shape.is_some_and(Shape::is_framed);
    let mut items: Vec<u8> = Vec::new();
    // Once and for all: growing by doubling would take up to three times as much for a moment. The
    // header's claim is within the file's budget.
    if items.try_reserve_exact(expected as usize + 1).is_err() {
        return Err(too_large(
            path,
            format!("there is not enough memory for its {}", header.claim()),
        ));
    }
    let mut shown = 0;
    // Reading one byte more than claimed detects a longer file, and makes gzip verify its checksum.
    loop {
        let there = items.len() as u64;
        progress.report(there as f32 / expected.max(1) as f32)?;
        let wanted = CHUNK.min(expected + 1 - there);
        let came = file
            .by_ref()
            .take(wanted)
            .read_to_end(&mut items)
            .map_err(unreadable(path))? as u64;
        if is_framed {
            let whole = items.len() / PIXELS * PIXELS;
            progress.images(&items[shown..whole]);
            shown = whole;
        }
        if came < wanted {
            break;
        }
        if there + came > expected {
            return Err(malformed(
                path,
                format!("it has extra data after its {}", header.claim()),
            ));
        }
    }
    let there = items.len() as u64;
    if there < expected {
        return Err(malformed(
            path,
            format!(
                "it is truncated: it should contain {} but has only {}",
                header.claim(),
                there / header.item()
            ),
        ));
    }
    if kind == Kind::Labels
        && let Some(reason) = too_large_label(&items)
    {
        return Err(malformed(path, reason));
    }
    Ok((items, header.shape))
}

fn read_header(file: &mut InputFile, path: &Path, kind: Kind) -> Result<Header, DataError> {
    if file.size() == 0 {
        return Err(malformed(path, "it is empty"));
    }
    let mut header_bytes = 0;
    let mut word = || {
        let mut bytes = [0; 4];
        header_bytes += 4;
        file.read_exact(&mut bytes)
            .map(|()| u32::from_be_bytes(bytes))
            .map_err(|error| match error.kind() {
                std::io::ErrorKind::UnexpectedEof => {
                    malformed(path, "it ends in the middle of its header")
                }
                _ => unreadable(path)(error),
            })
    };
    let other = if kind == Kind::Images {
        Kind::Labels
    } else {
        Kind::Images
    };
    match word()? {
        magic if magic == kind.magic() => {}
        magic if magic == other.magic() => {
            return Err(malformed(
                path,
                format!("it holds {}, not {}", other.name(), kind.name()),
            ));
        }
        magic => {
            let (name, wanted) = (kind.name(), kind.magic());
            return Err(malformed(
                path,
                format!(
                    "its magic number is {magic:#010x}; files of {name} start with {wanted:#010x}"
                ),
            ));
        }
    }
    let count = u64::from(word()?);
    let shape = if kind == Kind::Images {
        let (rows, columns) = (word()?, word()?);
        let shape = Shape::gray(rows as usize, columns as usize);
        Some(shape.ok_or_else(|| {
            malformed(
                path,
                format!(
                    "its images have {rows}x{columns} pixels, but {SIDES_TEXT} a side are read"
                ),
            )
        })?)
    } else {
        None
    };
    let header = Header { kind, count, shape };
    if count == 0 {
        return Err(malformed(path, format!("it contains no {}", kind.name())));
    }
    if count > MAX_IMAGES as u64 {
        return Err(too_large(
            path,
            format!(
                "it should contain {count} {}, but the limit is {MAX_IMAGES}",
                kind.name()
            ),
        ));
    }
    let item = header.item().max(shape.map_or(1, Shape::bytes) as u64);
    let claimed = count * header.item() + header_bytes;
    let (size, packed, ratio) = if file.is_gzipped() {
        (file.size(), "compressed ", DEFLATE_RATIO)
    } else {
        (file.size(), "", 1)
    };
    if claimed > size.saturating_mul(ratio) {
        return Err(malformed(
            path,
            format!(
                "it is truncated: {size} {packed}bytes cannot hold its {}",
                header.claim()
            ),
        ));
    }
    if count * item > file.budget() {
        return Err(too_large(
            path,
            format!(
                "{size} {packed}bytes unpack to {}, more than real ones would",
                header.claim()
            ),
        ));
    }
    Ok(header)
}

/// The two files of a split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdxFiles {
    pub images: PathBuf,
    /// A label for each of them.
    pub labels: PathBuf,
}

impl IdxFiles {
    /// `NAME-images` and `NAME-labels`.
    pub fn find(folder: &Path, name: &str) -> Result<Option<Self>, DataError> {
        let missing = |what: &str| {
            Err(DataError::Missing {
                path: folder.join(format!("{name}-{what}-ubyte")),
            })
        };
        match (
            find_file(folder, name, "images", 3),
            find_file(folder, name, "labels", 1),
        ) {
            (Some(images), Some(labels)) => Ok(Some(Self { images, labels })),
            (Some(_), None) => missing("labels-idx1"),
            (None, Some(_)) => missing("images-idx3"),
            (None, None) => Ok(None),
        }
    }

    /// The pair that a file of images belongs to: the labels are beside it, if its name has
    /// `labels` for `images` and `idx1` for `idx3`, gzipped or not. `None` if its name has no
    /// `images` in it or it holds something else.
    pub fn of_images(path: &Path) -> Result<Option<Self>, DataError> {
        let name = file_name(path);
        let Some(labels) = name_of_labels(&name) else {
            return Ok(None);
        };
        if !first_bytes(path)?.starts_with(&Kind::Images.magic().to_be_bytes()) {
            return Ok(None);
        }
        let plain = labels.strip_suffix(".gz").unwrap_or(&labels);
        let files = [labels.clone(), plain.to_owned(), format!("{plain}.gz")]
            .map(|name| path.with_file_name(name));
        match files.iter().find(|file| file.is_file()) {
            Some(labels) => Ok(Some(Self {
                images: path.to_owned(),
                labels: labels.clone(),
            })),
            None => Err(DataError::Missing {
                path: path.with_file_name(labels),
            }),
        }
    }

    /// Reads both; `transposed` if rows and columns are exchanged.
    pub fn read(
        &self,
        transposed: bool,
        progress: &mut dyn Progress,
    ) -> Result<(Pixels, Vec<u8>), DataError> {
        let path = &self.labels;
        let (labels, _) = read_idx(open(path)?, path, Kind::Labels, &mut |_: f32| {
            progress.report(0.0)
        })?;
        // Whether the large file belongs to the small one is checked before it is read.
        let count = count(&self.images, Kind::Images)?;
        if count != labels.len() as u64 {
            let reason = format!(
                "it holds {count} images, but {} holds {} labels",
                self.labels.display(),
                labels.len()
            );
            return Err(malformed(&self.images, reason));
        }
        if !transposed {
            return Ok((read_images(&self.images, progress)?, labels));
        }
        // Nothing is shown as it is in the file: on its side.
        let mut images = read_images(&self.images, &mut |done: f32| progress.report(done))?;
        images.transpose();
        if images.shape().is_framed() {
            progress.images(images.as_bytes());
        }
        Ok((images, labels))
    }
}

/// `Digits_Images.idx3.gz` becomes `Digits_Labels.idx1.gz`.
fn name_of_labels(images: &str) -> Option<String> {
    let replaced = |name: &str, from: &str, to: &str| {
        // Letters outside ASCII keep their places.
        let at = name.to_ascii_lowercase().rfind(from)?;
        let is_capital = |offset: usize| {
            name.as_bytes()
                .get(at + offset)
                .is_some_and(u8::is_ascii_uppercase)
        };
        let word: String = match (is_capital(0), is_capital(1)) {
            (true, true) => to.to_ascii_uppercase(),
            (true, false) => to[..1].to_ascii_uppercase() + &to[1..],
            _ => to.to_owned(),
        };
        Some(format!("{}{word}{}", &name[..at], &name[at + from.len()..]))
    };
    let labels = replaced(images, "images", "labels")?;
    Some(replaced(&labels, "idx3", "idx1").unwrap_or(labels))
}

fn find_file(folder: &Path, which: &str, what: &str, dimensions: u8) -> Option<PathBuf> {
    // Both spellings are in use, and some tools decompress files without renaming them.
    ["-", "."]
        .into_iter()
        .flat_map(|dot| {
            ["", ".gz"]
                .map(|end| folder.join(format!("{which}-{what}{dot}idx{dimensions}-ubyte{end}")))
        })
        .find(|path| path.is_file())
}
