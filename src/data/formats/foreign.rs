//! Files and folders that are known but not read: what each is, and what makes a data set of it
//! that is read.

use std::path::Path;

use super::{entries, file_name};
use crate::data::DataError;

const ARRAYS: &str = "Save its images and labels with NumPy, np.savez(\"set.npz\", x_train=images, y_train=labels), and use that file.";
const UNPACK: &str = "Unpack it and choose the folder.";
const CSV: &str = "Save it as CSV, and use that file.";
const TO_PARQUET: &str = "Convert it with the datasets library, load_from_disk(…)[\"train\"].to_parquet(\"train.parquet\"), and use that file.";
const IMAGE: &str = "Choose a folder of images: with a folder for each class, or with the digit in each name (7_0001.png).";

/// How files begin, what they are, and what to do with them.
const STARTS: [(&[u8], &str, &str); 14] = [
    (b"\x93NUMPY", "a single NumPy array", ARRAYS),
    (b"MATLAB 5.0", "a MATLAB file", ARRAYS),
    (
        b"\x89HDF\r\n",
        "an HDF5 file, as h5py and MATLAB 7.3 write it",
        ARRAYS,
    ),
    (
        b"ARROW1",
        "an Arrow file",
        "Save it as Parquet, and use that file.",
    ),
    (b"\xFF\xFF\xFF\xFF", "an Arrow stream", TO_PARQUET),
    (b"SQLite format 3", "a SQLite database", CSV),
    (b"\xD0\xCF\x11\xE0", "an Excel file", CSV),
    (b"7z\xBC\xAF", "a 7z archive", UNPACK),
    (b"Rar!", "a RAR archive", UNPACK),
    (b"BZh", "a file compressed with bzip2", UNPACK),
    (b"\xFD7zXZ", "a file compressed with xz", UNPACK),
    (b"\x28\xB5\x2F\xFD", "a file compressed with zstd", UNPACK),
    (b"\x89PNG", "a single image", IMAGE),
    (b"\xFF\xD8\xFF", "a single image", IMAGE),
];

/// Why the file at this path, which begins like this, is no data set that is read, if it is
/// known.
pub fn file(path: &Path, start: &[u8]) -> Option<DataError> {
    let known = STARTS
        .into_iter()
        .find(|(begin, ..)| start.starts_with(begin));
    let known = known.map(|(_, what, remedy)| (what, remedy)).or_else(|| {
        if start.get(257..262) == Some(b"ustar") {
            Some(("a tar archive", UNPACK))
        } else if matches!(start, [0x80, 2..=5, ..]) {
            Some((
                "a Python pickle, which could run any code and is never opened",
                ARRAYS,
            ))
        } else if is_libsvm(start) {
            Some((
                "a file in LIBSVM format",
                "Read it with scikit-learn's load_svmlight_file, save it with NumPy, np.savez(\"set.npz\", x_train=images.toarray(), y_train=labels), and use that file.",
            ))
        } else {
            None
        }
    });
    known.map(|(what, remedy)| refused(path, format!("it is {what}"), remedy))
}

/// A zip archive without arrays that are read; `names` are the names of its files.
pub fn archive<'n>(path: &Path, mut names: impl Iterator<Item = &'n str>) -> DataError {
    let is_named = |end: &str| file_name(path).to_lowercase().ends_with(end);
    let (what, remedy) = if is_named(".xlsx") {
        ("an Excel file", CSV)
    } else if names.any(|name| name.ends_with("data.pkl")) {
        ("a PyTorch file", ARRAYS)
    } else {
        ("a zip archive", UNPACK)
    };
    refused(path, format!("it is {what}"), remedy)
}

/// Why the folder at this path is no data set that is read, if it is known.
pub fn folder(path: &Path) -> Result<Option<DataError>, DataError> {
    let mut names = entries(path)?.filter_map(Result::ok);
    let is_saved = names.any(|path| {
        let name = file_name(&path);
        ["dataset_dict.json", "dataset_info.json"].contains(&name.as_str())
            || path.extension().is_some_and(|end| end == "arrow")
    });
    Ok(is_saved.then(|| {
        refused(
            path,
            "it is a folder written by Hugging Face's save_to_disk (Arrow)",
            TO_PARQUET,
        )
    }))
}

/// Something that is not damaged but not read either, and what to do.
pub fn refused(path: &Path, reason: impl Into<String>, remedy: impl Into<String>) -> DataError {
    DataError::Refused {
        path: path.to_owned(),
        reason: reason.into(),
        remedy: remedy.into(),
    }
}

/// A label and then numbers with their places: `5 153:3 154:18`.
fn is_libsvm(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    let mut words = text.split_ascii_whitespace();
    let is_label = words.next().is_some_and(|word| word.parse::<f64>().is_ok());
    let has_place = |word: &str| {
        word.split_once(':')
            .is_some_and(|(place, _)| place.parse::<u32>().is_ok())
    };
    is_label && words.next().is_some_and(has_place)
}
