//! Owns tables of figures as data, and how they are laid out as text. Must not know what the figures are of.

use std::fmt::Write as _;

/// Figures that belong together, as a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// What they are about, in plain words.
    pub title: &'static str,
    /// What exactly was measured, for those who want to know.
    pub about: String,
    /// What stands in each column, its unit included; the first names the line.
    pub columns: Vec<String>,
    /// The lines.
    pub lines: Vec<Line>,
}

/// A line of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// One for each column; empty where nothing was measured.
    pub cells: Vec<String>,
    /// More about this line.
    pub detail: String,
}

/// The tables as text, under each other.
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
                // Names to the left, figures to the right.
                let _ = if column == 0 { write!(line, "  {cell:<width$}") } else { write!(line, "   {cell:>width$}") };
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
        let _ = writeln!(text, "  ({})", section.about);
    }
    text
}
