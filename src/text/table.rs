//! Tables of figures as data, and their layout as text.

use std::fmt::Write as _;

use super::format::capitalised;

/// Where the text below a table is wrapped.
const WIDTH: usize = 96;

/// A table of related figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The heading.
    pub title: &'static str,
    /// What exactly was measured, without a capital at the start or a full stop.
    pub about: String,
    /// The column headings with their units; the first column names the line.
    pub columns: Vec<String>,
    /// The lines.
    pub lines: Vec<Line>,
}

/// A line of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// One per column; empty if nothing was measured.
    pub cells: Vec<String>,
    /// Details of this line; may be empty.
    pub detail: String,
}

/// The tables as text, one below the other.
pub fn text(sections: &[Section]) -> String {
    let mut text = String::new();
    for section in sections {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n{}", section.title);
        let table = || std::iter::once(&section.columns).chain(section.lines.iter().map(|line| &line.cells));
        let width =
            |column: usize| table().filter_map(|cells| cells.get(column)).map(|cell| cell.chars().count()).max().unwrap_or_default();
        let widths: Vec<usize> = (0..section.columns.len()).map(width).collect();
        for cells in table() {
            let mut line = String::new();
            for (column, (cell, &width)) in cells.iter().zip(&widths).enumerate() {
                // Names are aligned left, figures right.
                let _ = if column == 0 { write!(line, "  {cell:<width$}") } else { write!(line, "   {cell:>width$}") };
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
        for line in wrapped(&format!("{}.", capitalised(&section.about))) {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

/// The words of a text in lines of at most [`WIDTH`] characters.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
