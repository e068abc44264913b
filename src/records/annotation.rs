//! What a person says about a model.

use serde::{Deserialize, Serialize};

use crate::text::visible::is_hidden;

/// A name, a note, tags and a star. They belong to a saved run and change nothing about it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotation {
    /// The model's own name; empty where it has none.
    pub name: String,
    /// A line or two about it; may be empty.
    pub note: String,
    /// Words that it is found and grouped by, such as "baseline".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// True for a model that was starred.
    pub starred: bool,
}

impl Annotation {
    /// The most characters of a name.
    pub const MAX_NAME: usize = 60;
    /// The most characters of a note.
    pub const MAX_NOTE: usize = 240;

    /// The most characters of a tag.
    pub const MAX_TAG: usize = 24;
    /// The most tags.
    pub const MAX_TAGS: usize = 8;

    /// The tags in a text with commas between them.
    pub fn tags_of(text: &str) -> Vec<String> {
        let mut tags: Vec<String> = Vec::new();
        for tag in text
            .split(',')
            .map(|tag| one_line(tag, Self::MAX_TAG))
            .filter(|tag| !tag.is_empty())
        {
            if tags
                .iter()
                .all(|known| known.to_lowercase() != tag.to_lowercase())
            {
                tags.push(tag);
            }
        }
        tags.truncate(Self::MAX_TAGS);
        tags
    }

    /// Reads it as it is saved, from JSON. Whatever the file holds, the texts are fit to be shown.
    pub fn from_json(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice::<Self>(bytes).map(|annotation| annotation.cleaned())
    }

    /// The same with each text in one line, without hidden characters and spaces around it, and no
    /// longer than it may be.
    #[must_use]
    pub fn cleaned(&self) -> Self {
        Self {
            name: one_line(&self.name, Self::MAX_NAME),
            note: one_line(&self.note, Self::MAX_NOTE),
            tags: Self::tags_of(&self.tags.join(",")),
            starred: self.starred,
        }
    }
}

fn one_line(text: &str, max_chars: usize) -> String {
    let spaced: String = text
        .chars()
        .map(|c| if is_hidden(c) { ' ' } else { c })
        .collect();
    let line = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars()
        .take(max_chars)
        .collect::<String>()
        .trim_end()
        .to_owned()
}
