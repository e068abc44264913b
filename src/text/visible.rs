//! Text from outside (file names, the contents of files, messages of libraries), made safe to show
//! in a terminal or a window: control characters could move the cursor, change colors or fake
//! further lines, and bidirectional controls could reorder what people read.

use std::path::Path;

/// Characters of a label; longer ones are cut off.
const LABEL_LENGTH: usize = 120;

/// True for characters that change how others are shown instead of being shown themselves: control
/// characters, separators of lines and paragraphs, bidirectional controls, tags, and invisible ones
/// that make different names look the same.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}'
        )
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The text in one line, with each hidden character as its escape: `\n`, `\u{1b}`.
pub fn one_line(text: &str) -> String {
    escaped(text, is_hidden)
}

/// The same in several lines: line feeds stay.
pub fn lines(text: &str) -> String {
    escaped(text, |c| c != '\n' && is_hidden(c))
}

pub fn path(path: &Path) -> String {
    one_line(&path.to_string_lossy())
}

/// A name in one line of at most 120 characters.
pub fn label(text: &str) -> String {
    let line = one_line(text);
    match line.char_indices().nth(LABEL_LENGTH) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The text without what stands before an `@` in addresses (`https://user:password@host/`).
pub fn without_credentials(text: &str) -> String {
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        shown.push_str(before);
        let word = after
            .split(|c: char| c.is_whitespace() || c == '"')
            .next()
            .unwrap_or_default();
        let authority = word.split(['/', '?', '#']).next().unwrap_or_default();
        // What is no port belongs to a password with a slash in it.
        let is_cut_off = authority
            .rsplit_once(':')
            .is_some_and(|(_, port)| !port.bytes().all(|byte| byte.is_ascii_digit()));
        let end = authority
            .rfind('@')
            .or_else(|| word.rfind('@').filter(|_| is_cut_off));
        rest = end.map_or(after, |end| &after[end + 1..]);
    }
    shown + rest
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_escaped(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// A path, quoted if needed so that it can be pasted into this system's shell; one with control
/// characters is only shown.
pub fn quoted(path: &Path) -> String {
    let text = self::path(path);
    let harmless =
        |c: char| c.is_alphanumeric() || "-_./+:,=@".contains(c) || (cfg!(windows) && c == '\\');
    if !text.is_empty() && text.chars().all(harmless) {
        text
    } else if cfg!(windows) {
        // File names on Windows cannot contain double quotes.
        format!("\"{text}\"")
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
