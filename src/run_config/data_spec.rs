//! How training data is named: `builtin`, `mnist`, a path, or several joined by `+`.
//!
//! Nothing is read here. Only if a person has typed the name is it even looked for; names in
//! files are taken as they stand, since a file from another machine can name any path, one on a
//! network too.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::choices::UnknownChoiceError;
use super::{Classes, ConfigError};
use crate::text::format::joined;
use crate::text::visible;

/// The data sets Inkling knows by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PublicDataset {
    Mnist,
    FashionMnist,
    Kmnist,
    EmnistDigits,
    EmnistLetters,
}

impl PublicDataset {
    /// Every set, in the order it is offered.
    pub const ALL: [Self; 5] = [
        Self::Mnist,
        Self::FashionMnist,
        Self::Kmnist,
        Self::EmnistDigits,
        Self::EmnistLetters,
    ];

    /// The name on the command line, which is also the name of its folder inside a data folder.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mnist => "mnist",
            Self::FashionMnist => "fashion-mnist",
            Self::Kmnist => "kmnist",
            Self::EmnistDigits => "emnist-digits",
            Self::EmnistLetters => "emnist-letters",
        }
    }

    pub const fn label(self) -> &'static str {
        match self {
            Self::Mnist => "MNIST",
            Self::FashionMnist => "Fashion-MNIST",
            Self::Kmnist => "Kuzushiji-MNIST",
            Self::EmnistDigits => "EMNIST digits",
            Self::EmnistLetters => "EMNIST letters",
        }
    }

    pub const fn classes(self) -> Classes {
        match self {
            Self::Mnist | Self::EmnistDigits => Classes::Digits,
            Self::FashionMnist => Classes::Clothing,
            Self::Kmnist => Classes::Hiragana,
            Self::EmnistLetters => Classes::Letters,
        }
    }
}

impl FromStr for PublicDataset {
    type Err = UnknownChoiceError;

    fn from_str(text: &str) -> Result<Self, UnknownChoiceError> {
        Self::ALL
            .into_iter()
            .find(|set| set.name() == text)
            .ok_or_else(|| UnknownChoiceError {
                what: "data set".to_owned(),
                given: text.to_owned(),
                known: Self::ALL.map(Self::name).join(", "),
            })
    }
}

pub fn data_set_names() -> impl Iterator<Item = &'static str> {
    let sets = PublicDataset::ALL.into_iter().map(PublicDataset::name);
    [BUILTIN, MINE].into_iter().chain(sets)
}

/// Letters that may be wrong, missing or too many in a name for it to be meant.
const WRONG_LETTERS: usize = 2;

/// The names of data sets that somebody may have meant who wrote this: those that begin with it, or
/// else those that differ the least from it.
pub fn similar_names(text: &str) -> Vec<&'static str> {
    let written = letters(text);
    if !is_bare(text) || written.len() <= WRONG_LETTERS {
        return Vec::new();
    }
    let begun: Vec<_> = data_set_names()
        .filter(|name| letters(name).starts_with(&written))
        .collect();
    if !begun.is_empty() {
        return begun;
    }
    let wrong = |name: &str| distance(&letters(name), &written);
    let fewest = data_set_names().map(wrong).min();
    let fewest = fewest.filter(|fewest| *fewest <= WRONG_LETTERS);
    data_set_names()
        .filter(|name| Some(wrong(name)) == fewest)
        .collect()
}

/// Whether this may be a name: a path has something else in it.
fn is_bare(text: &str) -> bool {
    text.chars()
        .all(|letter| letter.is_alphanumeric() || [' ', '-', '_'].contains(&letter))
}

/// A name as it is compared: in lower case and in one word.
fn letters(name: &str) -> String {
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// How many letters have to be put in, left out or exchanged to make one text of the other
/// (Levenshtein 1965).
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for (at, wanted) in other.iter().enumerate() {
            let exchanged = diagonal + usize::from(letter != *wanted);
            diagonal = row[at + 1];
            row[at + 1] = exchanged.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

/// The name of [`DataSource::Builtin`].
const BUILTIN: &str = "builtin";
/// The name of [`DataSource::Unknown`].
const UNKNOWN: &str = "unknown";
/// The name of [`DataSource::Mine`].
const MINE: &str = "mine";

/// One source of labeled images.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DataSource {
    /// Digits written by Inkling's own generator.
    Builtin,
    /// A set looked up by name in the data folders.
    Named(PublicDataset),
    /// The drawings that the person keeps.
    Mine,
    /// A folder of IDX files, of class folders or of images, a CSV file or an ink file.
    Path(PathBuf),
    /// The unknown training data of an imported model. It cannot be read.
    Unknown,
}

impl DataSource {
    /// The source as it is written on the command line and in files.
    pub fn name(&self) -> String {
        match self {
            Self::Builtin => BUILTIN.to_owned(),
            Self::Named(set) => set.name().to_owned(),
            Self::Mine => MINE.to_owned(),
            Self::Path(path) => path.display().to_string(),
            Self::Unknown => UNKNOWN.to_owned(),
        }
    }

    /// The name people see: of a path, its last part, in one line.
    pub fn label(&self) -> String {
        match self {
            Self::Unknown => "unknown data".to_owned(),
            Self::Builtin => "Built-in digits".to_owned(),
            Self::Named(set) => set.label().to_owned(),
            Self::Mine => "My digits".to_owned(),
            Self::Path(path) => visible::label(&last_part(path)),
        }
    }

    /// The meaning of its classes; `None` if the name does not say.
    pub const fn known_classes(&self) -> Option<Classes> {
        match self {
            Self::Builtin | Self::Mine => Some(Classes::Digits),
            Self::Named(set) => Some(set.classes()),
            Self::Path(_) | Self::Unknown => None,
        }
    }

    /// The typed text: what exists is a path, and a name may be written in any way, such as
    /// `FashionMNIST`.
    fn typed(text: &str) -> Self {
        match Self::parse(text) {
            Self::Path(path) if !path.exists() => data_set_names()
                .find(|name| is_bare(text) && letters(name) == letters(text))
                .map_or(Self::Path(path), Self::parse),
            source => source,
        }
    }

    fn parse(text: &str) -> Self {
        match text {
            BUILTIN => Self::Builtin,
            UNKNOWN => Self::Unknown,
            MINE => Self::Mine,
            _ => PublicDataset::ALL
                .into_iter()
                .find(|set| set.name() == text)
                .map_or_else(|| Self::Path(PathBuf::from(text)), Self::Named),
        }
    }
}

/// One or more sources; several are mixed for training, and the first one's test split is the test
/// split.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(into = "Stored", try_from = "Stored")]
pub struct DataSpec(Vec<DataSource>);

/// The form in files: `mnist+/some/folder`, or a list if a `+` belongs to a path.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Stored {
    Joined(String),
    List(Vec<String>),
}

impl DataSpec {
    pub fn builtin() -> Self {
        Self(vec![DataSource::Builtin])
    }

    pub fn single(source: DataSource) -> Self {
        Self(vec![source])
    }

    /// A source mixed with the built-in digits, whose forms and pens it may lack; it is tested on
    /// its own test split.
    pub fn with_builtin(source: DataSource) -> Self {
        Self(vec![source, DataSource::Builtin])
    }

    /// These sources; the built-in digits if there are none.
    pub fn of(sources: Vec<DataSource>) -> Self {
        if sources.is_empty() {
            Self::builtin()
        } else {
            Self(sources)
        }
    }

    /// Splits at `+`; `source` parses each part.
    fn parse(text: &str, source: fn(&str) -> DataSource) -> Result<Self, UnknownChoiceError> {
        let parts: Vec<&str> = text.split('+').map(str::trim).collect();
        if parts.iter().any(|part| part.is_empty()) {
            return Err(unknown(text));
        }
        Ok(Self(parts.into_iter().map(source).collect()))
    }

    pub fn unknown() -> Self {
        Self(vec![DataSource::Unknown])
    }

    /// The same with only the names left of folders and files of this machine.
    #[must_use]
    pub fn without_folders(&self) -> Self {
        self.with_paths(|path| visible::label(&last_part(path)).into())
    }

    /// The same with relative paths starting from this folder.
    #[must_use]
    pub fn located(&self, folder: &Path) -> Self {
        self.with_paths(|path| folder.join(path))
    }

    fn with_paths(&self, changed: impl Fn(&Path) -> PathBuf) -> Self {
        let source = |source: &DataSource| match source {
            DataSource::Path(path) => DataSource::Path(changed(path)),
            other => other.clone(),
        };
        Self(self.0.iter().map(source).collect())
    }

    /// True if the drawings that the person keeps are among it.
    pub fn has_my_digits(&self) -> bool {
        self.0.contains(&DataSource::Mine)
    }

    /// True if it can be looked for.
    pub fn is_known(&self) -> bool {
        !self.0.contains(&DataSource::Unknown)
    }

    /// Itself, or if nobody said what it is, the built-in digits, which are as good as any.
    #[must_use]
    pub fn or_builtin(self) -> Self {
        if self.is_known() {
            self
        } else {
            Self::builtin()
        }
    }

    /// The meaning of its classes: as in the first source for which it is known, and digits
    /// if it is of none.
    pub fn classes(&self) -> Classes {
        self.known_classes().unwrap_or_default()
    }

    /// The same; `None` if it is not known, since all sources are folders and files.
    pub fn known_classes(&self) -> Option<Classes> {
        self.0.iter().find_map(DataSource::known_classes)
    }

    /// The problem with a source that is there twice, or with a mix of sources whose classes stand
    /// for different things.
    pub(super) fn problem(&self) -> Option<ConfigError> {
        let repeated = |(index, source): (usize, &DataSource)| {
            self.0[..index].contains(source).then(|| source.label())
        };
        if let Some(data) = self.0.iter().enumerate().find_map(repeated) {
            return Some(ConfigError::RepeatedData { data });
        }
        let known = |source: &DataSource| Some((source.label(), source.known_classes()?));
        let (first, classes) = self.0.iter().find_map(known)?;
        let (other, _) = self
            .0
            .iter()
            .filter_map(known)
            .find(|(_, others)| *others != classes)?;
        Some(ConfigError::MixedClasses { first, other })
    }

    /// The sources, first the one whose test split counts; never empty.
    pub fn sources(&self) -> &[DataSource] {
        &self.0
    }

    /// The source whose test split counts, alone.
    #[must_use]
    pub fn tested(&self) -> Self {
        Self(self.0.iter().take(1).cloned().collect())
    }

    /// The name people see.
    pub fn label(&self) -> String {
        joined(self.0.iter().map(DataSource::label), " + ")
    }
}

impl std::fmt::Display for DataSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&joined(self.0.iter().map(DataSource::name), "+"))
    }
}

impl From<DataSpec> for Stored {
    fn from(spec: DataSpec) -> Self {
        let names: Vec<String> = spec.0.iter().map(DataSource::name).collect();
        if names.iter().any(|name| name.contains('+')) {
            Self::List(names)
        } else {
            Self::Joined(names.join("+"))
        }
    }
}

impl TryFrom<Stored> for DataSpec {
    type Error = UnknownChoiceError;

    fn try_from(stored: Stored) -> Result<Self, UnknownChoiceError> {
        match stored {
            Stored::Joined(text) => Self::parse(&text, DataSource::parse),
            Stored::List(names) if names.is_empty() => Err(unknown("")),
            Stored::List(names) => Ok(Self(
                names.iter().map(|name| DataSource::parse(name)).collect(),
            )),
        }
    }
}

impl FromStr for DataSpec {
    type Err = UnknownChoiceError;

    /// The typed text: split at `+`, but a `+` inside a path that exists as a whole
    /// belongs to the path.
    fn from_str(text: &str) -> Result<Self, UnknownChoiceError> {
        let whole = PathBuf::from(text);
        if text.contains('+') && whole.exists() {
            return Ok(Self(vec![DataSource::Path(whole)]));
        }
        Self::parse(text, DataSource::typed)
    }
}

fn last_part(path: &Path) -> Cow<'_, str> {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy()
}

fn unknown(given: &str) -> UnknownChoiceError {
    let names = PublicDataset::ALL.map(PublicDataset::name).join(", ");
    UnknownChoiceError {
        what: "data set".to_owned(),
        given: given.to_owned(),
        known: format!("builtin, mine, {names}, a path, or several of these joined by +"),
    }
}
