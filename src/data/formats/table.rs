//! Tables as data sets, one alone or several for training and test in a folder: of pixels, such as
//! CSV files in Kaggle's form, `label,pixel0,…,pixel783`, gzipped or not; or of image files and
//! their labels, `file,label`, which lie beside the images or above them.

use std::path::{Component, Path, PathBuf};

use csv::ByteRecord;

use super::foreign::refused;
use super::idx_set::{emnists, named_classes};
use super::pixel_table::{LABEL, Layout, PixelTable, whole_label};
use super::pixels::{Originals, Pixels};
use super::rows::Rows;
use super::{
    DataError, DatasetFiles, Loaded, MAX_IMAGES, PARTS, Recognized, boxed, damaged, divided,
    entries, file_name, images, malformed, open, too_large,
};
use crate::data::dataset::{ClassLabels, assign};
use crate::data::{Dataset, Split};
use crate::ink::{Framing, PIXELS};
use crate::progress::{PartialProgress, Progress};
use crate::system::files::folder_of;
use crate::text::format::joined;
use crate::text::visible;

/// Names of the column of files, in lower case.
const FILE: [&str; 5] = ["file", "filename", "file_name", "path", "image"];
/// Missing files that are named.
const NAMED: usize = 3;

/// Tables for training, validation and test.
struct Tables([Vec<PathBuf>; 3]);

/// The tables in this folder, if there is one for training.
pub fn in_folder(folder: &Path) -> Recognized {
    let mut tables = Vec::new();
    for path in entries(folder)? {
        let path = path?;
        if let Some(named) = Named::of(&path)
            && path.is_file()
        {
            tables.push((named, path));
        }
    }
    tables.sort_unstable();
    let mut sets = tables
        .iter()
        .filter(|(named, _)| named.part == 0)
        .map(|(named, _)| named.set.as_str());
    // These are meant before others.
    let is_plain = |set: &str| set.is_empty() || MNIST.contains(&set);
    let plain = sets.clone().find(|set| is_plain(set));
    let Some(set) = plain.or(sets.clone().next()) else {
        return Ok(None);
    };
    if !is_plain(set) && sets.any(|other| other != set) {
        return Err(refused(
            folder,
            "it has tables of several data sets",
            format!("Choose one of them, such as {set}train.csv."),
        ));
    }
    let of_part = |wanted: usize| {
        let found = tables
            .iter()
            .find(|(named, _)| named.set == set && named.part == wanted);
        found.map(|(_, path)| path.clone()).into_iter().collect()
    };
    Ok(Some(boxed(Tables([0, 1, 2].map(of_part)))))
}

/// Separators of the words of a name.
const SEPARATORS: [char; 4] = ['-', '_', '.', ' '];
/// Prefixes of the names of MNIST's tables.
const MNIST: [&str; 2] = ["mnist_", "mnist-"];

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Named {
    /// The text before the part: nothing, or the name of a set with `mnist` in it.
    set: String,
    /// Its place in [`PARTS`].
    part: usize,
    /// True if it is called after the labels.
    has_labels: bool,
}

impl Named {
    fn of(path: &Path) -> Option<Self> {
        let name = file_name(path).to_lowercase();
        let name = ENDINGS.iter().find_map(|end| name.strip_suffix(end))?;
        let before_labels = name.strip_suffix("labels");
        let name = match before_labels {
            Some("") => "train",
            Some(before) => before.trim_end_matches(SEPARATORS),
            None => name,
        };
        (0..PARTS.len()).find_map(|part| {
            let mut words = PARTS[part].iter();
            let set = words.find_map(|word| name.strip_suffix(word))?;
            let is_name = set.contains("mnist") && set.ends_with(SEPARATORS);
            (set.is_empty() || is_name).then(|| Self {
                set: set.to_owned(),
                part,
                has_labels: before_labels.is_some(),
            })
        })
    }
}

/// A table alone.
pub fn of_file(path: &Path, start: &[u8]) -> Option<Box<dyn DatasetFiles>> {
    let table = || boxed(Tables([vec![path.to_owned()], Vec::new(), Vec::new()]));
    (is_named_like_a_table(path) || is_numbers(start)).then(table)
}

/// Whether a file that begins like this has nothing but numbers in its rows.
fn is_numbers(start: &[u8]) -> bool {
    let is_between = |byte: &u8| b",; \t".contains(byte);
    let is_of_number = |byte: &u8| byte.is_ascii_digit() || b"+-.eE\"\r\n".contains(byte);
    start
        .iter()
        .all(|byte| is_between(byte) || is_of_number(byte))
        && start.iter().filter(|byte| is_between(byte)).count() >= 8
}

impl DatasetFiles for Tables {
    /// Kaggle's own test.csv has no labels: then part of the training images is the test split.
    fn read(&mut self, progress: &mut dyn Progress) -> Result<Loaded, DataError> {
        let [mut train, validation, mut test] = std::mem::take(&mut self.0);
        if let [table] = test.as_slice()
            && is_unlabeled(table)?
        {
            test.clear();
        }
        let note = divided(&mut train, validation, &mut test);
        let mut set = read(&train, &test, progress)?;
        set.notes.extend(note);
        Ok(set.into())
    }
}

/// How many images a table of files names; `None` for other tables.
pub fn count_named_images(path: &Path) -> Result<Option<usize>, DataError> {
    let count = |table: PathTable| Ok(table.files(path, &mut ClassLabels::default())?.len());
    PathTable::open(path)?.map(count).transpose()
}

/// How the names of tables end.
const ENDINGS: [&str; 3] = [".csv", ".csv.gz", ".tsv"];

/// Whether a file is a table, by its name.
pub fn is_named_like_a_table(path: &Path) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    ENDINGS.iter().any(|end| name.ends_with(end))
}

enum Content {
    Images(PixelTable),
    Files(Vec<NamedFile>),
}

/// Reads tables with labels: those for training, and those for test.
fn read(
    train: &[PathBuf],
    test: &[PathBuf],
    progress: &mut dyn Progress,
) -> Result<Dataset, DataError> {
    let paths: Vec<&Path> = train.iter().chain(test).map(PathBuf::as_path).collect();
    let first = paths.first().copied().unwrap_or(Path::new(""));
    let mut labels = ClassLabels::default();
    let mut tables = Vec::new();
    for (number, path) in paths.iter().copied().enumerate() {
        let mut progress = part(progress, number, paths.len());
        tables.push(match PathTable::open(path)? {
            Some(table) => Content::Files(table.files(path, &mut labels)?),
            None => Content::Images(PixelTable::read(
                open(path)?,
                path,
                &mut labels,
                &mut progress,
            )?),
        });
    }
    let (classes, numbers) = labels.classes().map_err(damaged(first))?;
    let framing = Framing::of(&classes);
    let (lies, emnist) = emnists(first);
    let (mut notes, mut originals) = (Vec::new(), Originals::default());
    let (mut splits, mut pixels) = (Vec::new(), Vec::new());
    for (number, (path, table)) in paths.iter().copied().zip(tables).enumerate() {
        let mut split = match table {
            Content::Files(files) => {
                let mut progress = part(progress, number, paths.len());
                PathTable::read(&files, path, framing, &mut originals, &mut progress)?
            }
            Content::Images(PixelTable {
                mut images,
                labels,
                notes: more,
            }) => {
                if lies {
                    images.transpose();
                }
                pixels.push(images);
                if number == 0 {
                    notes = more;
                }
                Split {
                    images: Vec::new(),
                    labels,
                }
            }
        };
        assign(&mut split, &numbers);
        splits.push(split);
    }
    if lies && !pixels.is_empty() {
        notes.push(
            "Images were set upright: EMNIST stores them with rows and columns exchanged."
                .to_owned(),
        );
    }
    let mut framed = Pixels::framed(pixels, framing, &mut notes, progress)?.into_iter();
    notes.extend(originals.note(framing));
    let [mut set_train, mut set_test] = [(); 2].map(|()| Split::default());
    for (number, mut split) in splits.into_iter().enumerate() {
        if split.images.is_empty() {
            split.images = framed.next().unwrap_or_default();
        }
        let whole = if number < train.len() {
            &mut set_train
        } else {
            &mut set_test
        };
        if whole.is_empty() {
            *whole = split;
        } else {
            whole.append(&split);
        }
    }
    let mut set = match emnist {
        Some(set) => named_classes(set, first, set_train, set_test)?,
        None => Dataset {
            train: set_train,
            test: set_test,
            classes,
            ..Dataset::default()
        },
    };
    set.notes = notes;
    Ok(set)
}

/// The progress of one of so many tables. Right for MNIST, whose test split is a seventh of the
/// whole.
fn part(progress: &mut dyn Progress, number: usize, tables: usize) -> PartialProgress<'_> {
    let share = if tables > 1 { 6.0 / 7.0 } else { 1.0 };
    let others = tables.saturating_sub(1).max(1) as f32;
    let start = |number: usize| match number {
        0 => 0.0,
        _ => share + (1.0 - share) * (number - 1) as f32 / others,
    };
    PartialProgress::of(progress, start(number), start(number + 1))
}

fn is_unlabeled(path: &Path) -> Result<bool, DataError> {
    let has_pixels_alone = || Ok(Layout::of(&Rows::new(open(path)?, path)?)?.label.is_none());
    match columns(path)? {
        Some((_, label)) => Ok(label.is_none()),
        None => has_pixels_alone(),
    }
}

/// A file, seen from the table's folder, and its label.
type NamedFile = (Box<str>, u8);

/// A table of this kind: where its columns are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PathTable {
    file: usize,
    label: usize,
}

impl PathTable {
    /// The columns, if the first line of the file names one of files and one of labels.
    fn open(path: &Path) -> Result<Option<Self>, DataError> {
        let labeled = |(file, label): (usize, Option<usize>)| {
            Some(Self {
                file,
                label: label?,
            })
        };
        Ok(columns(path)?.and_then(labeled))
    }

    /// Reads these files, which the table at `path` names.
    fn read(
        files: &[NamedFile],
        path: &Path,
        framing: Framing,
        originals: &mut Originals,
        progress: &mut dyn Progress,
    ) -> Result<Split, DataError> {
        let folder = folder_of(path);
        let missing: Vec<&str> = files
            .iter()
            .map(|(file, _)| &**file)
            .filter(|file| !folder.join(file).exists())
            .collect();
        if !missing.is_empty() {
            let named = missing.iter().take(NAMED);
            let named = joined(named.map(|file| format!("\"{file}\"")), ", ");
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
        images::read(
            files.len(),
            framing,
            originals,
            |index| (folder.join(&*files[index].0), files[index].1),
            progress,
        )
    }

    /// The files that the table at `path` names. Their labels are numbers of `labels`.
    fn files(self, path: &Path, labels: &mut ClassLabels) -> Result<Vec<NamedFile>, DataError> {
        let file = open(path)?;
        let budget = file.budget();
        let mut rows = Rows::new(file, path)?;
        let mut files = Vec::new();
        // The header.
        rows.next_row()?;
        while let Some((line, record)) = rows.next_row()? {
            files.push(self.row(path, line, record, labels)?);
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
        let label = whole_label(&label).unwrap_or_else(|| visible::one_line(&label));
        let number = labels
            .number(&label)
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

/// The column of files, and the column of labels if there is one; `None` if the first line names no
/// column of files.
fn columns(path: &Path) -> Result<Option<(usize, Option<usize>)>, DataError> {
    let rows = Rows::new(open(path)?, path)?;
    let column = |names: &[&str]| {
        let mut fields = rows.first.first()?.iter();
        fields.position(|field| names.iter().any(|name| is_name(field, name)))
    };
    Ok(column(&FILE).map(|file| (file, column(&LABEL))))
}

fn is_name(field: &[u8], name: &str) -> bool {
    field.trim_ascii().eq_ignore_ascii_case(name.as_bytes())
}
