//! Tables of figures as data, and their layout as text.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::format::{capitalized, widest};

/// Where the text below a table is wrapped.
const WIDTH: usize = 96;

#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    pub title: &'static str,
    /// A description of the measurement, without a capital at the start or a full stop.
    pub about: String,
    /// The column headings with their units; the first column names the line.
    pub columns: Vec<String>,
    pub lines: Vec<Line>,
    /// The meaning of the bars in the cells; empty if there are none.
    pub bars: &'static str,
}

impl Section {
    pub fn plain(
        title: &'static str,
        about: impl Into<String>,
        columns: impl IntoIterator<Item = impl Into<String>>,
        lines: Vec<Line>,
    ) -> Self {
        Self {
            title,
            about: about.into(),
            columns: columns.into_iter().map(Into::into).collect(),
            lines,
            bars: "",
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// One per column; empty if nothing was measured.
    pub cells: Vec<Cell>,
    pub detail: String,
    /// True if its figures are not reliable: they get a sign.
    pub unreliable: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// The name or figure, with its unit if the column's heading has none.
    pub text: String,
    /// The length of the bar beside the figure, as a fraction of the longest, from 0 to 1.
    pub bar: Option<f64>,
}

impl Cell {
    /// A figure beside a bar, if `longest` is the amount that the longest bar stands for.
    pub fn with_bar(text: String, amount: f64, longest: f64) -> Self {
        let share = amount / longest;
        Self {
            text,
            bar: Some(if share.is_finite() {
                share.clamp(0.0, 1.0)
            } else {
                0.0
            }),
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, bar: None }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// The sign of a line whose figures are not reliable.
pub const UNRELIABLE: &str = "~ ";

impl Line {
    pub fn of(cells: impl IntoIterator<Item = impl Into<Cell>>) -> Self {
        Self {
            cells: cells.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    pub fn cell(&self, column: usize) -> Option<Cow<'_, str>> {
        let cell = self.cells.get(column)?.text.as_str();
        Some(if self.unreliable && column == 0 {
            format!("{UNRELIABLE}{cell}").into()
        } else {
            cell.into()
        })
    }
}

pub fn text(sections: &[Section]) -> String {
    let mut text = String::new();
    for section in sections {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n{}", section.title);
        let columns = 0..section.columns.len();
        let heading = section
            .columns
            .iter()
            .map(|name| Cow::from(name.as_str()))
            .collect::<Vec<_>>();
        let lines = section.lines.iter().map(|line| {
            columns
                .clone()
                .filter_map(|column| line.cell(column))
                .collect::<Vec<_>>()
        });
        let table: Vec<_> = std::iter::once(heading).chain(lines).collect();
        let width = |column: usize| widest(table.iter().filter_map(|cells| cells.get(column)));
        let widths: Vec<usize> = columns.clone().map(width).collect();
        for cells in &table {
            let mut line = String::new();
            for (column, (cell, &width)) in cells.iter().zip(&widths).enumerate() {
                // Names are aligned left, figures right.
                let _ = if column == 0 {
                    write!(line, "  {cell:<width$}")
                } else {
                    write!(line, "   {cell:>width$}")
                };
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
        if section.about.is_empty() {
            continue;
        }
        for line in wrapped(&format!("{}.", capitalized(&section.about))) {
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
