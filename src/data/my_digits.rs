//! The drawings that a person keeps, each with the digit that it shows: an ink file in Inkling's
//! data folder. They stay on this machine unless the person exports them, or agrees that they are
//! sent to another machine: [`Recipients`] are the machines that they agreed to, in a file beside
//! the settings, which windows and terminals share.
//!
//! Two windows may change the file at once: each change is made to what is there at that moment,
//! under a lock, and concerns single lines. Lines that cannot be read stay where they are.

use std::fs::File;
use std::io::{self, Cursor};
use std::path::{Path, PathBuf};

use super::formats::{as_data_error, malformed, too_large, unreadable};
use super::{DataError, Split};
use crate::ink::{self, Ink, InkFile, read_ink_file};
use crate::problem::Problem;
use crate::system::WriteError;
use crate::system::files::{
    create_folder, folder_of, open_lock, read_limited, write_through_links, write_whole,
};
use crate::system::input_file::InputFile;

/// The file's name in a data folder.
pub const FILE: &str = "my-digits.jsonl";
/// The largest file, in bytes: some ten thousand drawings.
const MAX_BYTES: u64 = 64 << 20;
/// Larger lists of recipients are not read: a name has at most a few hundred bytes.
const MAX_RECIPIENTS_BYTES: u64 = 1 << 20;
/// The most drawings that are kept.
pub const MAX_DRAWINGS: usize = 10_000;

#[derive(Clone, Debug, PartialEq)]
pub struct KeptDrawing {
    pub ink: Ink,
    pub digit: u8,
    /// Its line in the file, by which it is found again.
    line: Vec<u8>,
}

impl KeptDrawing {
    /// This drawing with this digit, its points to a hundredth of their unit; `None` if nothing
    /// is drawn.
    pub fn new(ink: &Ink, digit: u8) -> Option<Self> {
        let rounded = |value: f32| (value * 100.0).round() / 100.0;
        let finite = |point: &&[f32; 2]| point.iter().all(|value| rounded(*value).is_finite());
        let stroke = |stroke: &Vec<[f32; 2]>| {
            stroke
                .iter()
                .filter(finite)
                .map(|point| point.map(rounded))
                .collect::<Vec<_>>()
        };
        let strokes = ink
            .strokes
            .iter()
            .map(stroke)
            .filter(|stroke| !stroke.is_empty())
            .collect();
        let ink = Ink {
            strokes,
            pen: ink.pen.filter(|pen| pen.is_finite()),
        };
        let line = ink
            .labeled_json(char::from_digit(digit.into(), 10)?)?
            .into_bytes();
        Some(Self { ink, digit, line })
    }

    /// The same drawing with another digit.
    pub fn relabeled(&self, digit: u8) -> Option<Self> {
        Self::new(&self.ink, digit)
    }

    /// Its line in an ink file, without the line's end.
    pub fn line(&self) -> &[u8] {
        &self.line
    }

    /// A line of the file; `None` if it holds no drawing of a digit.
    fn of_line(line: &[u8], path: &Path) -> Option<Self> {
        let bytes = InputFile::new(Cursor::new(line.to_vec()), line.len() as u64).ok()?;
        let mut entries = InkFile::new(bytes, path);
        let entry = entries.next()?.ok().filter(|entry| !entry.ink.is_empty())?;
        let digit = entry.label?.to_digit(10)?;
        entries.next().is_none().then(|| Self {
            ink: entry.ink,
            digit: digit as u8,
            line: line.to_vec(),
        })
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeptDrawings {
    /// The drawings, in the order of the file.
    pub drawings: Vec<KeptDrawing>,
    /// Lines that hold no drawing of a digit; they stay in the file.
    pub unreadable: usize,
}

/// A change: drawings that go, and drawings that come. If there are as many of both, each takes
/// the place of another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edit {
    pub remove: Vec<KeptDrawing>,
    pub add: Vec<KeptDrawing>,
}

impl Edit {
    /// The change that takes this one back.
    #[must_use]
    pub fn inverse(self) -> Self {
        Self {
            remove: self.add,
            add: self.remove,
        }
    }

    fn make(&self, lines: &mut Vec<Vec<u8>>) {
        let replaces = self.remove.len() == self.add.len();
        let mut added = self.add.iter();
        for old in &self.remove {
            let new = if replaces { added.next() } else { None };
            // Gone if another window has removed it.
            let Some(place) = lines.iter().position(|line| *line == old.line) else {
                continue;
            };
            match new {
                Some(new) => lines[place].clone_from(&new.line),
                None => _ = lines.remove(place),
            }
        }
        lines.extend(added.map(|drawing| drawing.line.clone()));
    }
}

/// The file of a person's drawings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MyDigits {
    file: PathBuf,
}

impl MyDigits {
    /// The file in the first of these folders that has one, or else where it will be: in the last.
    /// Looks at the disk.
    pub fn in_folders(folders: &[PathBuf]) -> Self {
        let mut files = folders.iter().map(|folder| folder.join(FILE));
        let file = files
            .clone()
            .find(|file| file.is_file())
            .or_else(|| files.next_back());
        Self {
            file: file.unwrap_or_else(|| PathBuf::from(FILE)),
        }
    }

    pub fn path(&self) -> &Path {
        &self.file
    }

    /// Its content; nothing if there is none yet.
    pub fn read(&self) -> Result<KeptDrawings, DataError> {
        Ok(self.kept(&self.lines()?))
    }

    /// Number of drawings; an error if there are none.
    pub fn count(&self) -> Result<u64, DataError> {
        match self.read()?.drawings.len() as u64 {
            0 => Err(DataError::NoDrawings {
                path: self.file.clone(),
            }),
            count => Ok(count),
        }
    }

    /// Makes a change, and returns what is in the file then.
    pub fn change(&self, edit: &Edit) -> Result<KeptDrawings, Problem> {
        let _lock = lock(&self.file).map_err(|error| WriteError::new(&self.file, &error))?;
        let mut lines = self.lines()?;
        edit.make(&mut lines);
        let kept = self.kept(&lines);
        let text = lines
            .iter()
            .flat_map(|line| line.iter().copied().chain([b'\n']))
            .collect::<Vec<u8>>();
        if edit.add.len() > edit.remove.len()
            && (kept.drawings.len() > MAX_DRAWINGS || text.len() as u64 > MAX_BYTES)
        {
            return Err(too_large(
                &self.file,
                format!(
                    "it is full, with {} drawings",
                    kept.drawings.len() - edit.add.len()
                ),
            )
            .into());
        }
        write_whole(&self.file, &text)?;
        Ok(kept)
    }

    fn lines(&self) -> Result<Vec<Vec<u8>>, DataError> {
        let text = match read_limited(&self.file, MAX_BYTES) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(unreadable(&self.file)(error)),
        };
        let ended = |line: &[u8]| line.strip_suffix(b"\r").unwrap_or(line).to_vec();
        Ok(text
            .split(|byte| *byte == b'\n')
            .map(ended)
            .filter(|line| !line.trim_ascii().is_empty())
            .collect())
    }

    fn kept(&self, lines: &[Vec<u8>]) -> KeptDrawings {
        let drawings: Vec<_> = lines
            .iter()
            .filter_map(|line| KeptDrawing::of_line(line, &self.file))
            .collect();
        KeptDrawings {
            unreadable: lines.len() - drawings.len(),
            drawings,
        }
    }

    /// The drawings as images, in the order of the file; an error if there are none.
    pub fn split(&self) -> Result<Split, DataError> {
        let kept = self.read()?;
        if kept.unreadable > 0 {
            tracing::warn!(
                lines = kept.unreadable,
                "lines of the person's drawings cannot be read"
            );
        }
        if kept.drawings.is_empty() {
            return Err(DataError::NoDrawings {
                path: self.file.clone(),
            });
        }
        let mut split = Split::default();
        for drawing in &kept.drawings {
            split
                .images
                .extend_from_slice(ink::rasterize(&drawing.ink).pixels());
            split.labels.push(drawing.digit);
        }
        Ok(split)
    }
}

/// The drawings of an ink file, each of which must be labeled with a digit.
pub fn labeled_drawings(path: &Path) -> Result<Vec<KeptDrawing>, DataError> {
    let mut drawings = Vec::new();
    for entry in read_ink_file(path).map_err(as_data_error)? {
        let entry = entry.map_err(as_data_error)?;
        let line = entry.line.unwrap_or(1);
        let digit = entry.label.and_then(|label| label.to_digit(10));
        let digit = digit
            .ok_or_else(|| malformed(path, format!("line {line} is not labeled with a digit")))?;
        drawings.extend(KeptDrawing::new(&entry.ink, digit as u8));
        if drawings.len() > MAX_DRAWINGS {
            return Err(too_large(
                path,
                format!("it has more than {MAX_DRAWINGS} drawings"),
            ));
        }
    }
    Ok(drawings)
}

/// The other machines that a person's drawings may be sent to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipients {
    file: PathBuf,
}

impl Recipients {
    /// Those in this file. Nothing is read yet.
    pub fn in_file(file: &Path) -> Self {
        Self {
            file: file.to_owned(),
        }
    }

    /// Their names, in the order in which they were added. A file that cannot be read means that
    /// nobody has agreed to anything.
    pub fn list(&self) -> Vec<String> {
        let read = read_limited(&self.file, MAX_RECIPIENTS_BYTES)
            .and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
        read.unwrap_or_else(|error| {
            if error.kind() != io::ErrorKind::NotFound {
                tracing::warn!(%error, "the list of machines that may receive drawings cannot be read");
            }
            Vec::new()
        })
    }

    /// Whether this machine is among them.
    pub fn contains(&self, machine: &str) -> bool {
        self.list().iter().any(|name| name == machine)
    }

    /// Notes that the person agrees.
    pub fn add(&self, machine: &str) -> Result<(), WriteError> {
        self.change(|names| {
            names.retain(|name| name != machine);
            names.push(machine.to_owned());
        })
    }

    /// Notes that the person does not agree any more.
    pub fn remove(&self, machine: &str) -> Result<(), WriteError> {
        self.change(|names| names.retain(|name| name != machine))
    }

    fn change(&self, change: impl FnOnce(&mut Vec<String>)) -> Result<(), WriteError> {
        let failed = |error: &io::Error| WriteError::new(&self.file, error);
        let _lock = lock(&self.file).map_err(|error| failed(&error))?;
        let mut names = self.list();
        change(&mut names);
        let text = serde_json::to_vec_pretty(&names).map_err(|error| failed(&error.into()))?;
        write_through_links(&self.file, &text)
    }
}

/// Waits until no other process changes the file.
fn lock(file: &Path) -> io::Result<File> {
    create_folder(folder_of(file))?;
    let lock = open_lock(&file.with_extension("lock"))?;
    // Some network drives have no locks; a single window needs none.
    if let Err(error) = lock.lock() {
        tracing::info!(%error, file = %file.display(), "a file is changed without a lock");
    }
    Ok(lock)
}
