//! What the ten classes of a data set stand for: digits, or with Fashion-MNIST and Kuzushiji-MNIST something else.

use serde::{Deserialize, Serialize};

/// What the ten classes of a data set stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Classes {
    /// The digits 0 to 9, of which class `n` is `n`.
    #[default]
    Digits,
    /// The articles of Fashion-MNIST (Xiao, Rasul, Vollgraf 2017, "Fashion-MNIST: a novel image dataset for benchmarking machine learning
    /// algorithms", table 2).
    Clothing,
    /// The characters of Kuzushiji-MNIST (Clanuwat et al. 2018, "Deep learning for classical Japanese literature"), one for each row of the hiragana
    /// table, romanised.
    Hiragana,
}

impl Classes {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Digits, Self::Clothing, Self::Hiragana];

    /// The names of the classes, in the order of their numbers.
    pub const fn names(self) -> [&'static str; 10] {
        match self {
            Self::Digits => ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"],
            Self::Clothing => ["T-shirt", "Trousers", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"],
            Self::Hiragana => ["o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"],
        }
    }

    /// The name of a class by its number, from 0 to 9.
    pub fn name(self, class: impl Into<usize>) -> &'static str {
        self.names().get(class.into()).copied().unwrap_or("?")
    }

    /// What results call one of them: "digit".
    pub const fn noun(self) -> &'static str {
        if self.are_digits() { "digit" } else { "class" }
    }

    /// One of them, to be drawn: "a digit".
    pub const fn one(self) -> &'static str {
        match self {
            Self::Digits => "a digit",
            Self::Clothing => "an article of clothing",
            Self::Hiragana => "a character",
        }
    }

    /// What is none of them: "not a digit".
    pub const fn none_of_them(self) -> &'static str {
        match self {
            Self::Digits => "not a digit",
            Self::Clothing => "not an article of clothing",
            Self::Hiragana => "not one of the characters",
        }
    }

    /// What an image of one of them shows: "a handwritten digit, 0 to 9,".
    pub const fn subject(self) -> &'static str {
        match self {
            Self::Digits => "a handwritten digit, 0 to 9,",
            Self::Clothing => "an article of clothing",
            Self::Hiragana => "a handwritten hiragana character, one of ten,",
        }
    }

    /// All of them together, in a sentence: "digits".
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Digits => "digits",
            Self::Clothing => "articles of clothing",
            Self::Hiragana => "hiragana characters",
        }
    }

    /// True for the digits.
    pub const fn are_digits(self) -> bool {
        matches!(self, Self::Digits)
    }

    /// The classes with these names.
    pub fn of_names(names: &[String]) -> Option<Self> {
        Self::ALL.into_iter().find(|classes| classes.names().iter().eq(names))
    }
}
