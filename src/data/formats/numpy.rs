//! Arrays as `NumPy` writes them: in an archive (`.npz`), such as Keras' with `x_train`, `y_train`,
//! `x_test` and `y_test`, or each in a file of a folder (`.npy`). An array is a header in Python's
//! notation, then the numbers.
//!
//! Headers are not trusted: shapes are compared with what the file may take, before memory is
//! allocated for them.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use half::f16;
use zip::ZipArchive;

use super::pixels::{Pixels, Shape};
use super::{
    DataError, DatasetFiles, Loaded, MAX_IMAGES, PARTS, Recognized, boxed, damaged, divided,
    entries, file_name, foreign, malformed, open_plain, too_large,
};
use crate::data::{Dataset, Split};
use crate::ink::Framing;
use crate::progress::Progress;
use crate::run_config::{CLASS_COUNTS, MAX_LABEL};
use crate::system::input_file::budget;

/// Names of arrays of images and of labels, in lower case; `arr_0` and `arr_1` are those
/// that were saved without a name.
const IMAGES: [&str; 6] = ["x", "images", "image", "imgs", "data", "arr0"];
const LABELS: [&str; 7] = [
    "y", "labels", "label", "target", "targets", "classes", "arr1",
];
/// How to write a file of arrays that is read.
const SAVE: &str = "Save it as np.savez(\"set.npz\", x_train=images, y_train=labels), and perhaps x_test and y_test: images of the shape (images, rows, columns), or with 3 colors at the end, and whole numbers as labels.";

/// The longest header that is read, in bytes.
const MAX_HEADER_BYTES: usize = 4096;
/// The most dimensions an array may have.
const MAX_DIMENSIONS: usize = 4;
/// The most numbers of an image.
const MAX_NUMBERS: u64 = 1 << 21;
/// Images or labels read between two reports of progress.
const CHUNK: usize = 256;

/// A zip archive with such arrays.
pub fn of_file(path: &Path, start: &[u8]) -> Recognized {
    if !start.starts_with(b"PK\x03\x04") {
        return Ok(None);
    }
    let is_named = path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("npz"));
    let (file, size) = open_plain(path)?;
    let archive = match zip_archive(BufReader::new(file), path) {
        Err(_) if !is_named => return Err(foreign::archive(path, std::iter::empty())),
        opened => opened?,
    };
    let names = names_in(&archive);
    match ArraySet::of(Place::Archive(archive), names.clone(), size, path) {
        Some(set) => Ok(Some(boxed(set))),
        None if is_named => Err(foreign::refused(
            path,
            format!(
                "none of its {} arrays has a name like x_train or images, with labels beside it",
                names.len()
            ),
            SAVE,
        )),
        None => Err(foreign::archive(path, names.iter().map(String::as_str))),
    }
}

pub fn in_folder(folder: &Path) -> Recognized {
    let (mut names, mut bytes) = (Vec::new(), 0_u64);
    for path in entries(folder)? {
        let name = file_name(&path?);
        if array_name(&name).is_some()
            && let Ok(about) = folder.join(&name).metadata()
        {
            bytes += about.len();
            names.push(name);
        }
    }
    let set = ArraySet::<File>::of(Place::Folder, names, bytes, folder);
    Ok(set.map(boxed))
}

fn zip_archive<R: Read + Seek>(file: R, path: &Path) -> Result<ZipArchive<R>, DataError> {
    ZipArchive::new(file)
        .map_err(|error| malformed(path, format!("it is a damaged zip archive ({error})")))
}

fn names_in<R: Read + Seek>(archive: &ZipArchive<R>) -> Vec<String> {
    let names = archive.file_names().filter_map(Result::ok);
    names.map(Cow::into_owned).collect()
}

/// The name of the array in a file of this name, in lower case and in one word.
fn array_name(file: &str) -> Option<String> {
    let name = file.to_lowercase();
    Some(name.strip_suffix(".npy")?.replace(['_', '-'], ""))
}

/// True for `arr_0.npy` and the like, as arrays are called that are saved without names.
fn is_unnamed(file: &str) -> bool {
    let name = array_name(file);
    let number = name.as_deref().and_then(|name| name.strip_prefix("arr"));
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

enum Place<R> {
    Archive(ZipArchive<R>),
    Folder,
}

/// The files of an array of images and of one of their labels.
type Pair = [String; 2];

/// Arrays that make a data set.
pub struct ArraySet<R> {
    place: Place<R>,
    path: PathBuf,
    /// The most bytes that its images may take.
    budget: u64,
    train: Vec<Pair>,
    test: Vec<Pair>,
    /// Arrays that were saved without names, if there are more than two.
    unnamed: Vec<String>,
    note: Option<String>,
}

impl<R: Read + Seek> ArraySet<R> {
    /// The set in a zip archive of `size` bytes that is open already; errors name `path`. `None`
    /// if no array is called as images or as labels are.
    pub fn of_archive(file: R, size: u64, path: &Path) -> Result<Option<Self>, DataError> {
        let archive = zip_archive(file, path)?;
        let names = names_in(&archive);
        Ok(Self::of(Place::Archive(archive), names, size, path))
    }

    fn of(place: Place<R>, mut names: Vec<String>, size: u64, path: &Path) -> Option<Self> {
        names.sort_unstable();
        let find = |words: &[&str], parts: &[&str]| {
            let is_meant = |name: &String| {
                let array = array_name(name);
                let mut called = parts.iter().flat_map(|part| {
                    words
                        .iter()
                        .flat_map(move |word| [format!("{word}{part}"), format!("{part}{word}")])
                });
                called.any(|called| array.as_deref() == Some(&called))
            };
            names.iter().find(|name| is_meant(name)).cloned()
        };
        let pair = |parts: &[&str]| Some([find(&IMAGES, parts)?, find(&LABELS, parts)?]);
        let [mut train, validation, mut test]: [Vec<Pair>; 3] =
            PARTS.map(|words| pair(words).into_iter().collect());
        let mut unnamed = Vec::new();
        if train.is_empty() {
            unnamed.extend(names.iter().filter(|name| is_unnamed(name)).cloned());
            if unnamed.len() <= 2 {
                unnamed.clear();
                train.extend(pair(&[""]));
            }
        }
        let note = divided(&mut train, validation, &mut test);
        (!train.is_empty() || !unnamed.is_empty()).then(|| Self {
            place,
            path: path.to_owned(),
            budget: budget(size),
            train,
            test,
            unnamed,
            note,
        })
    }

    /// Takes four arrays without names as training and test arrays, in this order, if their
    /// shapes show which are images, and which labels belong to them.
    fn pair_unnamed(&mut self) -> Result<(), DataError> {
        let names = std::mem::take(&mut self.unnamed);
        let (mut images, mut labels) = (Vec::new(), Vec::new());
        for name in &names {
            let lengths = self.lengths(name)?;
            let part = match Shape::of_array(&lengths) {
                Some(_) => &mut images,
                None => &mut labels,
            };
            part.push((lengths.first().copied(), name.clone()));
        }
        let counts = |part: &[(Option<u64>, String)]| {
            part.iter().map(|(count, _)| *count).collect::<Vec<_>>()
        };
        if counts(&labels) != counts(&images) {
            labels.reverse();
        }
        match <[_; 2]>::try_from(images)
            .ok()
            .zip(<[_; 2]>::try_from(labels).ok())
        {
            Some((
                [(train, x_train), (test, x_test)],
                [(of_train, y_train), (of_test, y_test)],
            )) if train >= test && (train, test) == (of_train, of_test) => {
                self.note = Some(format!(
                    "The arrays have no names: {} and {} were read as the training images and their labels, {} and {} for the test images and their labels.",
                    array(&x_train),
                    array(&y_train),
                    array(&x_test),
                    array(&y_test)
                ));
                self.train = vec![[x_train, y_train]];
                self.test = vec![[x_test, y_test]];
                Ok(())
            }
            _ => Err(foreign::refused(
                &self.path,
                format!(
                    "its {} arrays have no names, and their shapes do not tell which are images and labels for training and for test",
                    names.len()
                ),
                SAVE,
            )),
        }
    }

    /// Reads the set; the test split is empty if it has no arrays.
    pub fn read(&mut self, progress: &mut dyn Progress) -> Result<Dataset, DataError> {
        if !self.unnamed.is_empty() {
            self.pair_unnamed()?;
        }
        let pairs: Vec<Pair> = self.train.iter().chain(&self.test).cloned().collect();
        let (mut counts, mut bytes) = (Vec::new(), 0_u64);
        for pair in &pairs {
            let (count, shape) = self.count(pair)?;
            counts.push(count);
            bytes = bytes.saturating_add(count.saturating_mul(shape.bytes() as u64));
        }
        if bytes > self.budget {
            return Err(too_large(
                &self.path,
                format!("its images take {bytes} bytes, too much for its size"),
            ));
        }
        let (mut splits, mut pixels) = ([(); 2].map(|()| Split::default()), Vec::new());
        let (mut done, all) = (0, counts.iter().sum::<u64>().max(1));
        for (number, (pair, count)) in pairs.iter().zip(counts).enumerate() {
            let [start, end] = [done, done + count].map(|done| done as f32 / all as f32);
            done += count;
            let mut progress = |share: f32| progress.report(start + share * (end - start));
            let (images, labels) = self.part(pair, &mut progress)?;
            pixels.push(images);
            let split = &mut splits[usize::from(number >= self.train.len())];
            split.labels.extend(labels);
        }
        let [train, test] = splits;
        let mut set = Dataset::of_numbers(train, test).map_err(damaged(&self.path))?;
        let framing = Framing::of(&set.classes);
        let framed = Pixels::framed(pixels, framing, &mut set.notes, progress)?;
        for (number, images) in framed.into_iter().enumerate() {
            let split = if number < self.train.len() {
                &mut set.train
            } else {
                &mut set.test
            };
            if split.images.is_empty() {
                split.images = images;
            } else {
                split.images.extend(images);
            }
        }
        set.notes.extend(self.note.clone());
        Ok(set)
    }

    /// How many images these arrays claim to hold, which is as many as there are labels, and of
    /// which shape.
    fn count(&mut self, [images, labels]: &Pair) -> Result<(u64, Shape), DataError> {
        let (lengths, labels_lengths) = (self.lengths(images)?, self.lengths(labels)?);
        let Some(shape) = Shape::of_array(&lengths) else {
            return Err(foreign::refused(
                &self.path,
                format!("{}: its shape is {lengths:?}", array(images)),
                SAVE,
            ));
        };
        let count = lengths.first().copied().unwrap_or_default();
        let is_one_hot = |classes: &u64| CLASS_COUNTS.contains(&(*classes as usize));
        match labels_lengths.as_slice() {
            [labels] | [labels, 1] if *labels == count => {}
            [labels, classes] if *labels == count && is_one_hot(classes) => {}
            _ => {
                return Err(wrong(
                    &self.path,
                    labels,
                    format!("its shape is {labels_lengths:?}, but there are {count} images"),
                ));
            }
        }
        if count == 0 {
            return Err(wrong(&self.path, images, "it contains no images"));
        }
        if count > MAX_IMAGES as u64 {
            return Err(too_large(
                &self.path,
                format!(
                    "{} should contain {count} images, but the limit is {MAX_IMAGES}",
                    array(images)
                ),
            ));
        }
        Ok((count, shape))
    }

    fn part(
        &mut self,
        [images, labels]: &Pair,
        progress: &mut dyn Progress,
    ) -> Result<(Pixels, Vec<u8>), DataError> {
        let path = self.path.clone();
        let mut digits = Vec::new();
        self.rows(labels, &mut |_: f32| progress.report(0.0), |row| {
            digits.push(label(row).ok_or_else(|| {
                let is = match row {
                    [number] => format!("{number}, not a whole number from 0 to {MAX_LABEL}"),
                    _ => "neither a number nor a row with a single 1".to_owned(),
                };
                wrong(&path, labels, format!("label {} is {is}", digits.len() + 1))
            })?);
            Ok(())
        })?;
        let shape = Shape::of_array(&self.lengths(images)?);
        let shape = shape.ok_or_else(|| malformed(&path, "it changes while it is read"))?;
        let mut pixels = Pixels::new(shape);
        if !pixels.reserve(digits.len()) {
            return Err(wrong(&path, images, "there is not enough memory for it"));
        }
        self.rows(images, progress, |row| {
            pixels.push(row).map_err(|place| {
                foreign::refused(
                    &path,
                    format!(
                        "{}: image {} has a pixel of {}, not from 0 to 255",
                        array(images),
                        pixels.len() + 1,
                        row[place]
                    ),
                    "Save the images as they were before they were normalized: pixels from 0 to 255, or from 0 to 1.",
                )
            })
        })?;
        // They were counted, but two files of an archive may have the same name.
        if pixels.len() != digits.len() {
            return Err(malformed(&path, "it has several arrays of the same name"));
        }
        Ok((pixels, digits))
    }

    fn lengths(&mut self, name: &str) -> Result<Vec<u64>, DataError> {
        let path = self.path.clone();
        Ok(NpyHeader::read(&mut *self.open(name)?, &path, name)?.shape)
    }

    /// Hands on what belongs to each image, exactly as many as the header claims, which
    /// [`Self::count`] has found to be few enough. `progress` gets the fraction done.
    fn rows(
        &mut self,
        name: &str,
        progress: &mut dyn Progress,
        mut take: impl FnMut(&[f32]) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let path = self.path.clone();
        let wrong = |reason: &str| wrong(&path, name, reason);
        let mut file = BufReader::new(self.open(name)?);
        let header = NpyHeader::read(&mut file, &path, name)?;
        let [count, rest @ ..] = header.shape.as_slice() else {
            return Err(wrong("it has no dimensions"));
        };
        let length = rest
            .iter()
            .try_fold(1_u64, |all, length| all.checked_mul(*length));
        let length = length
            .filter(|length| *length <= MAX_NUMBERS)
            .ok_or_else(|| wrong("it has too many numbers for an image"))?;
        let mut bytes = vec![0; length as usize * header.number.bytes];
        let mut numbers = Vec::new();
        for row in 0..*count {
            if row.is_multiple_of(CHUNK as u64) {
                progress.report(row as f32 / *count as f32)?;
            }
            fill(&mut file, &mut bytes, &wrong)?;
            numbers.clear();
            let values = bytes.chunks_exact(header.number.bytes);
            numbers.extend(values.map(|bytes| header.number.value(bytes)));
            take(&numbers)?;
        }
        // The end of an archive's file is where its checksum is looked at.
        if file
            .read(&mut [0])
            .map_err(|error| wrong(&error.to_string()))?
            > 0
        {
            return Err(wrong("it has extra data after its numbers"));
        }
        Ok(())
    }

    fn open(&mut self, name: &str) -> Result<Box<dyn Read + '_>, DataError> {
        match &mut self.place {
            Place::Archive(archive) => {
                let file = archive.by_name(name);
                Ok(Box::new(file.map_err(|error| {
                    wrong(&self.path, name, error.to_string())
                })?))
            }
            Place::Folder => Ok(Box::new(open_plain(&self.path.join(name))?.0)),
        }
    }
}

impl<R: Read + Seek> DatasetFiles for ArraySet<R> {
    fn read(&mut self, progress: &mut dyn Progress) -> Result<Loaded, DataError> {
        Ok(Self::read(self, progress)?.into())
    }
}

fn array(file: &str) -> &str {
    file.strip_suffix(".npy").unwrap_or(file)
}

fn wrong(path: &Path, name: &str, reason: impl std::fmt::Display) -> DataError {
    malformed(path, format!("{}: {reason}", array(name)))
}

/// The class in a row of labels: a number, or the place of the only 1 among zeros.
fn label(row: &[f32]) -> Option<u8> {
    let class = match row {
        [number] if number.fract() == 0.0 => *number,
        [_] => return None,
        _ => {
            let place = row.iter().position(|number| *number == 1.0)?;
            let others = row.iter().filter(|number| **number != 0.0).count();
            (others == 1).then_some(place as f32)?
        }
    };
    (0.0..=f32::from(MAX_LABEL))
        .contains(&class)
        .then_some(class as u8)
}

/// The type and shape of an array, from its header.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NpyHeader {
    /// Its lengths, at most four.
    shape: Vec<u64>,
    number: Number,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Number {
    kind: Kind,
    bytes: usize,
    big_endian: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Signed,
    Unsigned,
    Float,
}

impl NpyHeader {
    /// Reads the header of the array of this name; the numbers follow it.
    fn read(file: &mut (impl Read + ?Sized), path: &Path, name: &str) -> Result<Self, DataError> {
        let wrong = |reason: &str| wrong(path, name, reason);
        let mut start = [0; 8];
        fill(file, &mut start, &wrong)?;
        let length = match start {
            [0x93, b'N', b'U', b'M', b'P', b'Y', 1, _] => {
                let mut length = [0; 2];
                fill(file, &mut length, &wrong)?;
                u16::from_le_bytes(length).into()
            }
            [0x93, b'N', b'U', b'M', b'P', b'Y', 2 | 3, _] => {
                let mut length = [0; 4];
                fill(file, &mut length, &wrong)?;
                u32::from_le_bytes(length) as usize
            }
            _ => return Err(wrong("it is not a NumPy array")),
        };
        if length > MAX_HEADER_BYTES {
            return Err(wrong("its header is too long"));
        }
        let mut header = vec![0; length];
        fill(file, &mut header, &wrong)?;
        let refused = |reason: String, remedy| {
            foreign::refused(path, format!("{}: {reason}", array(name)), remedy)
        };
        Self::parse(&String::from_utf8_lossy(&header), &wrong, &refused)
    }

    fn parse(
        header: &str,
        wrong: &impl Fn(&str) -> DataError,
        refused: &impl Fn(String, &'static str) -> DataError,
    ) -> Result<Self, DataError> {
        let value = |key: &str| {
            let (_, after) = header.split_once(&format!("'{key}':"))?;
            Some(after.trim_start())
        };
        let kind = value("descr")
            .and_then(|value| value.strip_prefix('\'')?.split_once('\''))
            .map(|(kind, _)| kind);
        let shape = value("shape")
            .and_then(|value| value.strip_prefix('(')?.split_once(')'))
            .map(|(shape, _)| shape);
        let (Some(kind), Some(shape), Some(order)) = (kind, shape, value("fortran_order")) else {
            return Err(wrong("its header is damaged, or it holds no plain numbers"));
        };
        let shape: Result<Vec<u64>, _> = shape
            .split(',')
            .map(str::trim)
            .filter(|length| !length.is_empty())
            .map(str::parse)
            .collect();
        let shape = shape.map_err(|_| wrong("its header is damaged"))?;
        if shape.len() > MAX_DIMENSIONS {
            return Err(wrong("it has too many dimensions"));
        }
        if !order.starts_with("False") && shape.len() > 1 {
            return Err(refused(
                "it is in Fortran order".to_owned(),
                "Save it in C order: np.ascontiguousarray(array).",
            ));
        }
        let number = Number::of(kind).ok_or_else(|| {
            refused(
                format!("it holds values of the type {kind}, which are not plain numbers"),
                "Save it as numbers: array.astype(\"uint8\") or array.astype(\"float32\"). Python objects are never opened.",
            )
        })?;
        Ok(Self { shape, number })
    }
}

impl Number {
    /// Of whole numbers, with or without a sign, of floating-point numbers, and of truth values.
    fn of(kind: &str) -> Option<Self> {
        let mut letters = kind.chars();
        let order = letters.next().filter(|order| "<>|=".contains(*order))?;
        let letter = letters.next()?;
        let bytes = letters.as_str().parse().ok()?;
        let kind = match (letter, bytes) {
            ('i', 1 | 2 | 4 | 8) => Kind::Signed,
            ('u', 1 | 2 | 4 | 8) | ('b', 1) => Kind::Unsigned,
            ('f', 2 | 4 | 8) => Kind::Float,
            _ => return None,
        };
        Some(Self {
            kind,
            bytes,
            big_endian: order == '>',
        })
    }

    /// The number that these bytes are. Whole numbers beyond what is read may be rounded.
    fn value(self, bytes: &[u8]) -> f32 {
        // The byte of the least weight first.
        let mut little = [0; 8];
        for (at, byte) in bytes.iter().take(8).enumerate() {
            little[if self.big_endian {
                self.bytes - 1 - at
            } else {
                at
            }] = *byte;
        }
        let whole = u64::from_le_bytes(little);
        match (self.kind, self.bytes) {
            (Kind::Unsigned, _) => whole as f32,
            (Kind::Signed, bytes) => {
                let unused = 64 - 8 * bytes as u32;
                (whole.cast_signed() << unused >> unused) as f32
            }
            (Kind::Float, 2) => f16::from_bits(whole as u16).to_f32(),
            (Kind::Float, 4) => f32::from_bits(whole as u32),
            (Kind::Float, _) => f64::from_bits(whole) as f32,
        }
    }
}

fn fill(
    file: &mut (impl Read + ?Sized),
    bytes: &mut [u8],
    wrong: &impl Fn(&str) -> DataError,
) -> Result<(), DataError> {
    file.read_exact(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => wrong("it is truncated"),
        _ => wrong(&error.to_string()),
    })
}
