//! Lines of the log without anything personal, for reports of faults: without values that others
//! worded, and without the names by which a person or a machine could be recognized.

use std::io;
use std::path::Path;

use sysinfo::System;

/// Fields whose values Inkling itself words: numbers, and names that stand in its source.
const OWN_FIELDS: [&str; 6] = [
    "command", "location", "problem", "status", "thread", "version",
];
const HIDDEN: &str = "…";
/// How the system's errors are numbered in texts.
const SYSTEM_ERROR: &str = "(os error ";

/// The line without anything personal; `None` for what is not a line of Inkling's log, or only part
/// of one.
pub fn shareable(line: &str, names: &Names) -> Option<String> {
    let (head, rest) = line.split_once(": ")?;
    let [_, process, level, target] = head.split(' ').collect::<Vec<_>>()[..] else {
        return None;
    };
    process.parse::<u32>().ok()?;
    if !["ERROR", "WARN", "INFO"].contains(&level) {
        return None;
    }
    let (message, mut fields) = rest.split_at(first_field(rest));
    // A value that has no end, as on a full disk.
    if message.contains("=\"") {
        return None;
    }
    // Other libraries may put anything in their messages.
    let is_ours = target == "inkling" || target.starts_with("inkling::");
    let mut kept = format!("{head}: {}", if is_ours { message } else { HIDDEN });
    while let Some((name, value, rest)) = field(fields) {
        kept.push_str(&format!(" {name}=\"{}\"", shareable_value(name, value)));
        fields = rest;
    }
    Some(names.replaced(&kept))
}

fn first_field(rest: &str) -> usize {
    let begins = |at: &usize| field(&rest[*at..]).is_some();
    rest.match_indices(' ')
        .map(|(at, _)| at)
        .find(begins)
        .unwrap_or(rest.len())
}

/// The name and the escaped value of the field that `text` begins with, and what follows.
fn field(text: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = text.strip_prefix(' ')?.split_once("=\"")?;
    if name.is_empty()
        || !name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte))
    {
        return None;
    }
    let mut escaped = false;
    let end = rest.find(|letter| {
        let ends = letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped;
        ends
    })?;
    Some((name, &rest[..end], &rest[end + 1..]))
}

fn shareable_value(name: &str, value: &str) -> String {
    if OWN_FIELDS.contains(&name) {
        return value.to_owned();
    }
    // The system's own words, from its number: what stands before it may be a file's name.
    let number = value
        .rsplit_once(SYSTEM_ERROR)
        .and_then(|(_, rest)| rest.split(')').next()?.parse().ok());
    number.map_or_else(
        || HIDDEN.to_owned(),
        |number| format!("{HIDDEN} {}", io::Error::from_raw_os_error(number)),
    )
}

const USER_VARIABLES: [&str; 3] = ["USER", "LOGNAME", "USERNAME"];

/// The replacements in texts that are to be shared.
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
