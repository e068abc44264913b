//! Formats of the command line: durations and quoted paths.

use std::path::Path;

use crate::text::visible;

/// A duration: `0:42`, `1:02:03`.
pub fn clock(seconds: f64) -> String {
    let seconds = seconds.max(0.0).round() as u64;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

/// A path, quoted if needed so that it can be pasted into this system's shell; one with control
/// characters is only shown.
pub fn quoted(path: &Path) -> String {
    let text = visible::path(path);
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
