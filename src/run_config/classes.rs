//! What the classes of a data set stand for: digits, what is known of named sets, or whatever the
//! folders and labels of a person's own data say.

use std::ops::RangeInclusive;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::visible;

/// How many classes a data set may have.
pub const CLASS_COUNTS: RangeInclusive<usize> = 2..=100;
/// The largest label of a data set whose labels are numbers.
pub const MAX_LABEL: u8 = *CLASS_COUNTS.end() as u8 - 1;
/// The longest name of a class, in characters.
const MAX_NAME_CHARS: usize = 40;

/// The classes of a data set. Stored as their names, in the order of their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(into = "Vec<String>", try_from = "Vec<String>")]
pub enum Classes {
    /// The digits 0 to 9, of which class `n` is `n`.
    #[default]
    Digits,
    /// The articles of Fashion-MNIST (Xiao, Rasul, Vollgraf 2017, "Fashion-MNIST: a novel image
    /// dataset for benchmarking machine learning algorithms", table 2).
    Clothing,
    /// The characters of Kuzushiji-MNIST (Clanuwat et al. 2018, "Deep learning for classical
    /// Japanese literature"), one for each row of the hiragana table, romanized.
    Hiragana,
    /// The 26 letters, a class for each with its capital and its small form, as in EMNIST letters
    /// (Cohen, Afshar, Tapson, van Schaik 2017, "EMNIST: an extension of MNIST to handwritten
    /// letters").
    Letters,
    /// Any others, by their names.
    Named(ClassNames),
}

/// The names of classes that Inkling does not know: [`CLASS_COUNTS`] of them, all different, none
/// of them empty. Made by [`Classes::of_names`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClassNames(Arc<[Box<str>]>);

/// Why these cannot be the names of classes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum ClassesError {
    #[error("a data set has {} to {} classes, not {given}", CLASS_COUNTS.start(), CLASS_COUNTS.end())]
    Count { given: usize },
    #[error("\"{0}\" is not the name of a class: it should have 1 to {MAX_NAME_CHARS} characters")]
    Name(String),
    #[error("two classes are called \"{0}\"")]
    Duplicate(String),
}

const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
const CLOTHING: [&str; 10] = [
    "T-shirt",
    "Trousers",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
];
const HIRAGANA: [&str; 10] = ["o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"];
const LETTERS: [&str; 26] = [
    "A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P", "Q", "R", "S",
    "T", "U", "V", "W", "X", "Y", "Z",
];

impl Classes {
    /// Those that Inkling knows.
    pub const KNOWN: [Self; 4] = [Self::Digits, Self::Clothing, Self::Hiragana, Self::Letters];

    /// The classes with these names, in the order of their numbers.
    pub fn of_names<S: AsRef<str>>(names: &[S]) -> Result<Self, ClassesError> {
        if let Some(known) = Self::KNOWN
            .into_iter()
            .find(|classes| classes.names().eq(names.iter().map(AsRef::as_ref)))
        {
            return Ok(known);
        }
        if !CLASS_COUNTS.contains(&names.len()) {
            return Err(ClassesError::Count { given: names.len() });
        }
        let mut found: Vec<Box<str>> = Vec::with_capacity(names.len());
        for name in names {
            let name = name.as_ref().trim();
            let is_name = (1..=MAX_NAME_CHARS).contains(&name.chars().count())
                && visible::label(name) == name;
            if !is_name {
                return Err(ClassesError::Name(visible::label(
                    &name.chars().take(2 * MAX_NAME_CHARS).collect::<String>(),
                )));
            }
            if found.iter().any(|other| **other == *name) {
                return Err(ClassesError::Duplicate(name.to_owned()));
            }
            found.push(name.into());
        }
        Ok(Self::Named(ClassNames(found.into())))
    }

    /// The classes of data whose labels are nothing but numbers, the largest of which is this: the
    /// digits, unless there are more of them.
    pub fn numbered(largest: u8) -> Result<Self, ClassesError> {
        if usize::from(largest) < DIGITS.len() {
            return Ok(Self::Digits);
        }
        Self::of_names(
            &(0..=largest)
                .map(|label| label.to_string())
                .collect::<Vec<_>>(),
        )
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Named(ClassNames(names)) => names.len(),
            known => known.known_names().len(),
        }
    }

    /// False: there are always some.
    pub const fn is_empty(&self) -> bool {
        false
    }

    const fn known_names(&self) -> &'static [&'static str] {
        match self {
            Self::Digits => &DIGITS,
            Self::Clothing => &CLOTHING,
            Self::Hiragana => &HIRAGANA,
            Self::Letters => &LETTERS,
            Self::Named(_) => &[],
        }
    }

    /// The name of a class by its number, from 0.
    pub fn name(&self, class: impl Into<usize>) -> &str {
        let class = class.into();
        match self {
            Self::Named(ClassNames(names)) => names.get(class).map(|name| &**name),
            known => known.known_names().get(class).copied(),
        }
        .unwrap_or("?")
    }

    /// The names of the classes, in the order of their numbers.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> + DoubleEndedIterator {
        (0..self.len()).map(|class| self.name(class))
    }

    /// Whether they are nothing but numbers, from 0.
    pub fn are_numbers(&self) -> bool {
        self.names()
            .enumerate()
            .all(|(class, name)| *name == *class.to_string())
    }

    /// Whether data with those classes can be taken for data with these: labels that are nothing
    /// but numbers are the numbers of as many classes, and numbers may lack the last ones.
    pub fn accept(&self, data: &Self) -> bool {
        let fits = data.len() == self.len() || self.are_numbers() && data.len() < self.len();
        self == data || data.are_numbers() && fits
    }

    /// The noun for one of them in results: "digit".
    pub const fn noun(&self) -> &'static str {
        match self {
            Self::Digits => "digit",
            Self::Letters => "letter",
            Self::Clothing | Self::Hiragana | Self::Named(_) => "class",
        }
    }

    /// The same for several: "digits".
    pub const fn nouns(&self) -> &'static str {
        match self {
            Self::Digits => "digits",
            Self::Letters => "letters",
            Self::Clothing | Self::Hiragana | Self::Named(_) => "classes",
        }
    }

    /// One of them, to be drawn: "a digit".
    pub const fn one(&self) -> &'static str {
        match self {
            Self::Digits => "a digit",
            Self::Clothing => "an article of clothing",
            Self::Hiragana => "a character",
            Self::Letters => "a letter",
            Self::Named(_) => "one of the classes",
        }
    }

    /// The name for none of them: "not a digit".
    pub const fn none_of_them(&self) -> &'static str {
        match self {
            Self::Digits => "not a digit",
            Self::Clothing => "not an article of clothing",
            Self::Hiragana => "not one of the characters",
            Self::Letters => "not a letter",
            Self::Named(_) => "none of the classes",
        }
    }

    /// The content of an image of one of them: "a handwritten digit, 0 to 9,".
    pub fn subject(&self) -> String {
        match self {
            Self::Digits => "a handwritten digit, 0 to 9,".to_owned(),
            Self::Clothing => "an article of clothing".to_owned(),
            Self::Hiragana => "a handwritten hiragana character, one of ten,".to_owned(),
            Self::Letters => "a handwritten letter".to_owned(),
            Self::Named(_) => format!("one of {} classes", self.len()),
        }
    }

    /// All of them together, in a sentence: "digits", "cat, dog and 3 other classes".
    pub fn plural(&self) -> String {
        match self {
            Self::Digits => "digits".to_owned(),
            Self::Clothing => "articles of clothing".to_owned(),
            Self::Hiragana => "hiragana characters".to_owned(),
            Self::Letters => "letters".to_owned(),
            Self::Named(_) => {
                let [first, second] = [0_usize, 1].map(|class| self.name(class));
                match self.len() - 2 {
                    0 => format!("the classes {first} and {second}"),
                    1 => format!("{first}, {second} and 1 other class"),
                    others => format!("{first}, {second} and {others} other classes"),
                }
            }
        }
    }

    /// True for the digits.
    pub const fn are_digits(&self) -> bool {
        matches!(self, Self::Digits)
    }

    /// True for what people write by hand: of an image, only what is written is recognized.
    pub const fn are_written(&self) -> bool {
        matches!(self, Self::Digits | Self::Letters)
    }
}

impl From<Classes> for Vec<String> {
    fn from(classes: Classes) -> Self {
        classes.names().map(str::to_owned).collect()
    }
}

impl TryFrom<Vec<String>> for Classes {
    type Error = ClassesError;

    fn try_from(names: Vec<String>) -> Result<Self, ClassesError> {
        Self::of_names(&names)
    }
}
