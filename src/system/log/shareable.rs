//! Lines of the log without anything personal, for reports of faults.

use std::io;

use super::names::Names;

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

/// Where the fields begin.
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
