//! The names by which a person or a machine could be recognized.

use std::path::Path;

use sysinfo::System;

const USER_VARIABLES: [&str; 3] = ["USER", "LOGNAME", "USERNAME"];

/// What is replaced in texts that are to be shared, each with what takes its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names(Vec<(String, &'static str)>);

impl Names {
    /// The home folder, the user's name and the machine's.
    pub fn of_this_machine() -> Self {
        let home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned());
        let users = USER_VARIABLES
            .iter()
            .filter_map(|name| std::env::var(name).ok());
        let host = System::host_name().ok();
        Self::new(home.as_deref(), users, host)
    }

    /// These. The last folder of the home folder's path counts as a user's name.
    pub fn new(
        home: Option<&Path>,
        users: impl IntoIterator<Item = String>,
        host: Option<String>,
    ) -> Self {
        let in_home = home.and_then(|home| Some(home.file_name()?.to_string_lossy().into_owned()));
        let mut names: Vec<(String, &'static str)> = home
            .into_iter()
            .map(|home| (home.display().to_string(), "<home>"))
            .collect();
        names.extend(
            users
                .into_iter()
                .chain(in_home)
                .map(|name| (name, "<user>")),
        );
        let short = host
            .as_ref()
            .and_then(|host| host.split('.').next())
            .map(str::to_owned);
        names.extend(host.into_iter().chain(short).map(|name| (name, "<host>")));
        names.retain(|(name, _)| name.chars().any(char::is_alphanumeric));
        // The longest first: a home folder's path contains the user's name.
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Self(names)
    }

    /// `text` with each of them replaced where it stands as a word, in upper or lower case.
    pub fn replaced(&self, text: &str) -> String {
        self.0
            .iter()
            .fold(text.to_owned(), |text, (name, instead)| {
                replace_word(&text, name, instead)
            })
    }
}

fn replace_word(text: &str, word: &str, instead: &str) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let begins = !replaced.ends_with(char::is_alphanumeric);
        let length = length_at_start(rest, word)
            .filter(|&length| begins && !rest[length..].starts_with(char::is_alphanumeric));
        if let Some(length) = length {
            replaced.push_str(instead);
            rest = &rest[length..];
        } else {
            let first = rest.chars().next().map_or(0, char::len_utf8);
            replaced.push_str(&rest[..first]);
            rest = &rest[first..];
        }
    }
    replaced
}

/// How many bytes of `text`, from its start, are `word` in upper or lower case.
fn length_at_start(text: &str, word: &str) -> Option<usize> {
    let mut letters = text.char_indices();
    for expected in word.chars() {
        let (_, letter) = letters.next()?;
        if !letter.to_lowercase().eq(expected.to_lowercase()) {
            return None;
        }
    }
    Some(letters.next().map_or(text.len(), |(at, _)| at))
}
