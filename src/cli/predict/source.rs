//! The input: a file or standard input, and its kind.

use std::collections::BTreeSet;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use crate::data::{DataError, PixelRows, is_named_like_a_table};
use crate::ink::{
    Framing, IMAGE_FORMATS, InkError, InkFile, Writing, is_named_like_an_image, read_ink_file,
    read_writing, read_writing_file,
};
use crate::problem::Problem;
use crate::system::disk::is_of_the_kernel;
use crate::system::input_file::InputFile;

pub const STANDARD_INPUT: &str = "-";
/// The most bytes that are read from it: as many as an image may have.
const MAX_BYTES: u64 = 256 << 20;
/// Bytes that identify the kind.
const START: u64 = 64;

/// A file or what came in on standard input.
pub enum Source {
    File(PathBuf),
    /// All bytes of standard input.
    Standard(Vec<u8>),
}

pub enum Content {
    Image(Box<Writing>),
    Ink(Box<InkFile>),
    Table(Box<PixelRows>),
}

#[derive(Clone, Copy)]
enum Kind {
    Image,
    Ink,
    Table,
}

impl Source {
    /// Reads standard input to its end.
    pub fn standard() -> Result<Self, InkError> {
        let path = || PathBuf::from("standard input");
        let mut bytes = Vec::new();
        let read = io::stdin()
            .lock()
            .take(MAX_BYTES + 1)
            .read_to_end(&mut bytes);
        read.map_err(|error| InkError::Unreadable {
            path: path(),
            reason: error.to_string(),
        })?;
        if bytes.is_empty() {
            return Err(InkError::Malformed {
                path: path(),
                reason: "it is empty".to_owned(),
            });
        }
        if bytes.len() as u64 > MAX_BYTES {
            return Err(InkError::TooLarge {
                path: path(),
                reason: format!("it has more than {MAX_BYTES} bytes"),
            });
        }
        Ok(Self::Standard(bytes))
    }

    pub fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Standard(_) => STANDARD_INPUT.to_owned(),
        }
    }

    pub fn path(&self) -> &Path {
        match self {
            Self::File(path) => path,
            Self::Standard(_) => Path::new("standard input"),
        }
    }

    /// Opens it as what it is by its name or else its first bytes; of an image, a model is shown
    /// what `framing` says.
    pub fn open(self, framing: Framing) -> Result<Content, Problem> {
        let path = self.path().to_owned();
        let content = match (self.kind(), self) {
            (Kind::Image, Self::File(path)) => {
                Content::Image(Box::new(read_writing_file(&path, framing)?))
            }
            (Kind::Image, Self::Standard(bytes)) => {
                let size = bytes.len() as u64;
                Content::Image(Box::new(read_writing(
                    Cursor::new(bytes),
                    size,
                    &path,
                    framing,
                )?))
            }
            (Kind::Ink, Self::File(path)) => Content::Ink(Box::new(read_ink_file(&path)?)),
            (Kind::Ink, source) => {
                Content::Ink(Box::new(InkFile::new(source.input_file()?, &path)))
            }
            (Kind::Table, source) => Content::Table(Box::new(PixelRows::new(
                source.input_file()?,
                &path,
                framing,
            )?)),
        };
        Ok(content)
    }

    /// The rows of a table, read as [`Self::open`] does it; an error if it is not one.
    pub fn rows(self, framing: Framing) -> Result<PixelRows, Problem> {
        let path = self.path().to_owned();
        match self.open(framing)? {
            Content::Table(rows) => Ok(*rows),
            Content::Image(_) | Content::Ink(_) => Err(DataError::Malformed {
                path,
                reason: "it is not a table of pixels (CSV)".to_owned(),
            }
            .into()),
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Self::File(path) if is_named_like_ink(path) => Kind::Ink,
            Self::File(path) if is_named_like_an_image(path) => Kind::Image,
            Self::File(path) if is_named_like_a_table(path) => Kind::Table,
            // What cannot be opened is reported later, when it is read.
            Self::File(path) => InputFile::open(path).map_or(Kind::Image, kind_of_content),
            Self::Standard(bytes) => {
                // gzip packs hardly anything into its header, and the start of what follows needs
                // no more.
                let start = bytes.get(..1 << 16).unwrap_or(bytes).to_vec();
                let size = start.len() as u64;
                InputFile::new(Cursor::new(start), size).map_or(Kind::Image, kind_of_content)
            }
        }
    }

    fn input_file(self) -> Result<InputFile, DataError> {
        let path = self.path().to_owned();
        let opened = match self {
            Self::File(path) => InputFile::open(&path),
            Self::Standard(bytes) => {
                let size = bytes.len() as u64;
                InputFile::new(Cursor::new(bytes), size)
            }
        };
        opened.map_err(|error| DataError::Unreadable {
            path,
            reason: error.to_string(),
        })
    }
}

/// JSON starts with a brace, a table with a number or the name of a column. Only these are gzipped.
fn kind_of_content(file: InputFile) -> Kind {
    let is_gzipped = file.is_gzipped();
    let mut start = Vec::new();
    let _ = file.take(START).read_to_end(&mut start);
    let text = start
        .strip_prefix(b"\xEF\xBB\xBF")
        .unwrap_or(&start)
        .trim_ascii_start();
    let text = text.strip_prefix(b"\"").unwrap_or(text);
    let is_table = text.starts_with(b"label")
        || text.starts_with(b"pixel")
        || text.first().is_some_and(u8::is_ascii_digit);
    match text.first() {
        Some(b'{') => Kind::Ink,
        _ if is_table => Kind::Table,
        _ if is_gzipped => Kind::Ink,
        _ => Kind::Image,
    }
}

const INK: [&str; 7] = [
    ".ink",
    ".json",
    ".jsonl",
    ".ndjson",
    ".json.gz",
    ".jsonl.gz",
    ".ndjson.gz",
];

/// The file itself, or the images and ink files in a folder and the folders in it, sorted by path.
/// Hidden files and folders are skipped. Symbolic links are followed, to other disks too, but into
/// no folder a second time, so that none leads in circles, and not to `/proc` and the like. A
/// folder within that cannot be read is given to `unreadable`.
pub fn files_of(
    input: &Path,
    unreadable: &mut impl FnMut(InkError),
) -> Result<Vec<PathBuf>, InkError> {
    if !input.is_dir() {
        return Ok(vec![input.to_owned()]);
    }
    let mut files = Vec::new();
    let mut entered = BTreeSet::new();
    let mut folders = vec![input.to_owned()];
    while let Some(folder) = folders.pop() {
        let listed = folder.canonicalize().and_then(|place| {
            if entered.insert(place) {
                entries(&folder)
            } else {
                Ok(Vec::new())
            }
        });
        let error = |error: io::Error| InkError::Unreadable {
            path: folder.clone(),
            reason: error.to_string(),
        };
        match listed.map_err(error) {
            Err(error) if folder == input => return Err(error),
            Err(error) => unreadable(error),
            Ok(paths) => {
                for path in paths {
                    if path.is_dir() {
                        if !is_of_the_kernel(&path) {
                            folders.push(path);
                        }
                    } else if path.is_file()
                        && (is_named_like_an_image(&path) || is_named_like_ink(&path))
                    {
                        files.push(path);
                    }
                }
            }
        }
    }
    if files.is_empty() {
        let reason = format!(
            "neither the folder nor any folder in it contains images ({IMAGE_FORMATS}) or ink files (JSON, JSON Lines)"
        );
        return Err(InkError::Malformed {
            path: input.to_owned(),
            reason,
        });
    }
    files.sort();
    Ok(files)
}

/// The entries of a folder that are not hidden, sorted.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in folder.read_dir()? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with('.') {
            paths.push(entry.path());
        }
    }
    // The first link to a folder is the one that is followed, whatever order the file system lists
    // them in.
    paths.sort_by(|a, b| b.cmp(a));
    Ok(paths)
}

/// Whether a file is an ink file, by its name.
pub fn is_named_like_ink(path: &Path) -> bool {
    let name = path.to_string_lossy().to_ascii_lowercase();
    INK.iter().any(|ending| name.ends_with(ending))
}
