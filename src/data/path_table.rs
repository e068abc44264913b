//! Tables of image files and their labels, `file,label`, which lie beside the images or above them.

use std::path::{Component, Path};

use csv::ByteRecord;

use super::class_labels::ClassLabels;
use super::csv_table::{reader, wrong_csv};
use super::data_file::{MAX_IMAGES, malformed, open, too_large};
use super::labelled_images;
use super::{DataError, Split};
use crate::ink::PIXELS;
use crate::progress::Progress;
use crate::run_config::Classes;
use crate::system::files::folder_of;
use crate::text::visible;

/// What the column of files is called, in lower case.
const FILE: [&str; 5] = ["file", "filename", "file_name", "path", "image"];
/// What the column of labels is called.
const LABEL: [&str; 3] = ["label", "class", "digit"];
/// What may stand between two columns: Excel writes semicolons in many countries.
const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];
/// Missing files that are named.
const NAMED: usize = 3;

/// A file, seen from the table's folder, and its label.
pub type NamedFile = (Box<str>, u8);

/// A table of this kind: where its columns are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathTable {
    delimiter: u8,
    file: usize,
    label: usize,
}

impl PathTable {
    /// The columns, where the first line of the file names one of files and one of labels.
    pub fn open(path: &Path) -> Result<Option<Self>, DataError> {
        let labelled = |(delimiter, file, label): (u8, usize, Option<usize>)| {
            Some(Self {
                delimiter,
                file,
                label: label?,
            })
        };
        Ok(columns(path)?.and_then(labelled))
    }

    /// True for a table of files without labels.
    pub fn is_unlabelled(path: &Path) -> Result<bool, DataError> {
        Ok(columns(path)?.is_some_and(|(.., label)| label.is_none()))
    }

    /// How many images the table at `path` names.
    pub fn count(self, path: &Path) -> Result<usize, DataError> {
        Ok(self.files(path, &mut ClassLabels::default())?.len())
    }

    /// Reads these files, which the table at `path` names, as images of these classes.
    pub fn read(
        files: &[NamedFile],
        path: &Path,
        classes: &Classes,
        progress: &mut dyn Progress,
    ) -> Result<Split, DataError> {
        let folder = folder_of(path);
        let missing: Vec<&str> = files
            .iter()
            .map(|(file, _)| &**file)
            .filter(|file| !folder.join(file).exists())
            .collect();
        if !missing.is_empty() {
            let named = missing
                .iter()
                .take(NAMED)
                .map(|file| format!("\"{file}\""))
                .collect::<Vec<_>>()
                .join(", ");
            let are = if missing.len() == 1 { "is" } else { "are" };
            let more = if missing.len() > NAMED {
                format!(" and {} more", missing.len() - NAMED)
            } else {
                String::new()
            };
            return Err(malformed(
                path,
                format!(
                    "{} of its {} images {are} missing: {named}{more}",
                    missing.len(),
                    files.len()
                ),
            ));
        }
        labelled_images::read(
            files.len(),
            classes,
            |index| (folder.join(&*files[index].0), files[index].1),
            progress,
        )
    }

    /// The files that the table at `path` names. Their labels are numbers of `labels`.
    pub fn files(self, path: &Path, labels: &mut ClassLabels) -> Result<Vec<NamedFile>, DataError> {
        let file = open(path)?;
        let budget = file.budget();
        let mut reader = reader(file, self.delimiter);
        let mut files = Vec::new();
        let mut record = ByteRecord::new();
        // The header.
        let mut line = 0;
        while reader
            .read_byte_record(&mut record)
            .map_err(|error| wrong_csv(path, error))?
        {
            let is_header =
                std::mem::replace(&mut line, record.position().map_or(0, csv::Position::line)) == 0;
            if is_header {
                continue;
            }
            files.push(self.row(path, line, &record, labels)?);
            if files.len() > MAX_IMAGES {
                return Err(too_large(
                    path,
                    format!("it has more than {MAX_IMAGES} rows"),
                ));
            }
            // A packed table can name one image any number of times.
            if (files.len() * PIXELS) as u64 > budget {
                return Err(too_large(
                    path,
                    format!(
                        "the images that it names take more than {budget} bytes, too much for its size"
                    ),
                ));
            }
        }
        if files.is_empty() {
            Err(malformed(path, "it contains no rows"))
        } else {
            Ok(files)
        }
    }

    fn row(
        self,
        path: &Path,
        line: u64,
        record: &ByteRecord,
        labels: &mut ClassLabels,
    ) -> Result<NamedFile, DataError> {
        let field = |index: usize| {
            String::from_utf8_lossy(record.get(index).unwrap_or_default())
                .trim()
                .to_owned()
        };
        let label = field(self.label);
        if label.is_empty() {
            return Err(malformed(path, format!("line {line} has no label")));
        }
        let number = labels
            .number(&visible::one_line(&label))
            .map_err(|error| malformed(path, format!("line {line}: {error}")))?;
        // Tables are made on Windows, too.
        let file = field(self.file).replace('\\', "/");
        let is_below = Path::new(&file)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if file.is_empty() || !is_below {
            return Err(malformed(
                path,
                format!(
                    "line {line}: \"{file}\" is not the name of a file in the table's folder or below"
                ),
            ));
        }
        Ok((file.into(), number))
    }
}

/// What stands between columns, the column of files, and that of labels if there is one; `None`
/// where the first line names no column of files.
fn columns(path: &Path) -> Result<Option<(u8, usize, Option<usize>)>, DataError> {
    let mut found = None;
    for delimiter in DELIMITERS {
        let mut record = ByteRecord::new();
        reader(open(path)?, delimiter)
            .read_byte_record(&mut record)
            .map_err(|error| wrong_csv(path, error))?;
        let column = |names: &[&str]| {
            record
                .iter()
                .position(|field| names.iter().any(|name| is_name(field, name)))
        };
        if let Some(file) = column(&FILE) {
            let label = column(&LABEL);
            found = Some((delimiter, file, label));
            if label.is_some() {
                break;
            }
        }
    }
    Ok(found)
}

fn is_name(field: &[u8], name: &str) -> bool {
    field.trim_ascii().eq_ignore_ascii_case(name.as_bytes())
}
