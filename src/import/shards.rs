//! Weights in several safetensors files, as Hugging Face's libraries save large models: an index,
//! `model.safetensors.index.json`, says which file has which tensor.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::ImportError;
use crate::nn::{MAX_FILE_BYTES, SafetensorsFile};
use crate::system::files::{folder_of, read_limited};

/// How the name of an index ends.
const INDEX_END: &str = ".safetensors.index.json";
/// The most bytes of an index: 10,000 tensors take about one megabyte.
const MAX_INDEX_BYTES: u64 = 4 << 20;
/// The most files; together they may be as large as a single one may be.
const MAX_FILES: usize = 64;

/// What an index says.
#[derive(Deserialize)]
struct Index {
    /// The file of each tensor, in the folder of the index.
    weight_map: BTreeMap<String, String>,
}

/// The content of all files that an index names.
pub struct Shards {
    files: Vec<Vec<u8>>,
    /// The tensors' names and the positions of their files.
    tensors: BTreeMap<String, usize>,
}

/// True for the path of an index, by its name.
pub fn is_index(path: &Path) -> bool {
    path.file_name().is_some_and(|name| {
        name.to_string_lossy()
            .to_ascii_lowercase()
            .ends_with(INDEX_END)
    })
}

impl Shards {
    /// Reads the index at this path and the files that it names.
    pub fn read(path: &Path) -> Result<Self, ImportError> {
        let unreadable = |path: &Path, error: &std::io::Error| ImportError::Unreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        let malformed = |reason: String| ImportError::Malformed {
            path: path.to_owned(),
            reason,
        };
        let json = read_limited(path, MAX_INDEX_BYTES).map_err(|error| unreadable(path, &error))?;
        let Index { weight_map } = serde_json::from_slice(&json).map_err(|error| {
            malformed(format!("it is not an index of safetensors files ({error})"))
        })?;
        let (mut names, mut tensors) = (Vec::new(), BTreeMap::new());
        for (tensor, file) in weight_map {
            let position = names
                .iter()
                .position(|name| *name == file)
                .unwrap_or(names.len());
            if position == names.len() {
                if !is_plain_name(&file) {
                    return Err(malformed(format!(
                        "\"{file}\" is not the name of a file in the folder of the index"
                    )));
                }
                names.push(file);
            }
            if names.len() > MAX_FILES {
                return Err(malformed(format!("it names more than {MAX_FILES} files")));
            }
            tensors.insert(tensor, position);
        }
        let (mut files, mut left) = (Vec::new(), MAX_FILE_BYTES);
        for name in names {
            let path = folder_of(path).join(name);
            let bytes = read_limited(&path, left).map_err(|error| unreadable(&path, &error))?;
            left -= bytes.len() as u64;
            files.push(bytes);
        }
        Ok(Self { files, tensors })
    }

    /// Opens them. Errors say what is wrong.
    pub fn open(&self) -> Result<ShardedFile<'_>, String> {
        let files = self
            .files
            .iter()
            .map(|bytes| SafetensorsFile::read(bytes))
            .collect::<Result<Vec<_>, _>>()?;
        let missing = self
            .tensors
            .iter()
            .find(|(name, position)| files[**position].tensor(name).is_none());
        match missing {
            Some((name, _)) => Err(format!(
                "the tensor {name} is not in the file that the index names"
            )),
            None => Ok(ShardedFile {
                files,
                tensors: &self.tensors,
            }),
        }
    }
}

/// Opened files, which together are like a single one.
pub struct ShardedFile<'a> {
    files: Vec<SafetensorsFile<'a>>,
    tensors: &'a BTreeMap<String, usize>,
}

impl<'a> ShardedFile<'a> {
    /// The names of the tensors, each with its file.
    pub fn tensors(&self) -> impl Iterator<Item = (&str, &SafetensorsFile<'a>)> {
        self.tensors
            .iter()
            .filter_map(|(name, position)| Some((name.as_str(), self.files.get(*position)?)))
    }

    pub fn file_of(&self, name: &str) -> Option<&SafetensorsFile<'a>> {
        self.files.get(*self.tensors.get(name)?)
    }
}

/// True for the name of a file without folders.
fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\\', ':']) && name != "." && name != ".."
}
