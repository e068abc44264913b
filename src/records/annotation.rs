//! What a person says about a model.

use serde::{Deserialize, Serialize};

use crate::text::visible::is_hidden;

/// A name, a note and a star. They belong to a saved run and change nothing about it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Annotation {
    /// The model's own name; empty where it has none.
    pub name: String,
    /// A line or two about it; may be empty.
    pub note: String,
    /// True for a model that was starred.
    pub starred: bool,
}

impl Annotation {
    /// The most characters of a name.
    pub const MAX_NAME: usize = 60;
    /// The most characters of a note.
    pub const MAX_NOTE: usize = 240;

    /// Reads it as it is saved, from JSON. Whatever the file holds, the texts are fit to be shown.
    pub fn from_json(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice::<Self>(bytes).map(|annotation| annotation.cleaned())
    }

    /// The same with both texts in one line each, without hidden characters and spaces around them, and no longer than they may be.
    #[must_use]
    pub fn cleaned(&self) -> Self {
        Self { name: one_line(&self.name, Self::MAX_NAME), note: one_line(&self.note, Self::MAX_NOTE), starred: self.starred }
    }
}

fn one_line(text: &str, max_chars: usize) -> String {
    let spaced: String = text.chars().map(|c| if is_hidden(c) { ' ' } else { c }).collect();
    let line = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(max_chars).collect::<String>().trim_end().to_owned()
}
