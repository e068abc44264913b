//! Owns the model card's words. Must not know the files beside it, but for those it is told of.

use std::fmt::Write as _;

use super::LIMITS;
use crate::export::{Subject, facts};
use crate::math::statistics::class_scores;
use crate::records::{Evaluation, FileInfo};

/// The card as Markdown; `files` are those that stand beside it.
pub fn markdown(subject: &Subject, files: &[FileInfo]) -> String {
    let mut text = format!("# {}\n\n{}\n", subject.title(), subject.sentence());
    if !files.is_empty() {
        text += "\n## Files\n\n| file | what it is |\n|---|---|\n";
        for file in files {
            line(&mut text, &format!("| `{}` | {} |", file.name, file.about));
        }
    }
    text += "\n## How well it reads\n\n";
    match subject.tested() {
        Some(tested) => line(&mut text, &format!("{tested} of {}.", subject.file.card.data.label())),
        None => line(&mut text, "It was not measured on a test split."),
    }
    if let Some(quantization) = subject.quantization() {
        line(&mut text, &format!("\nQuantised: {quantization}."));
    }
    if let Some(test) = subject.test() {
        confusion(&mut text, test);
    }
    for (heading, facts) in facts::groups(subject) {
        let _ = write!(text, "\n## {heading}\n\n| | |\n|---|---|\n");
        for (name, value) in facts {
            line(&mut text, &format!("| {name} | {} |", value.replace('|', "\\|")));
        }
    }
    text += "\n## Limits\n\n";
    for limit in LIMITS {
        line(&mut text, &format!("- {limit}"));
    }
    let _ = write!(text, "\nWritten by Inkling {}.\n", env!("CARGO_PKG_VERSION"));
    text
}

/// Rows are what the pictures show, columns what was read.
fn confusion(text: &mut String, test: &Evaluation) {
    *text += "\nWhat the pictures show (rows) and what was read (columns):\n\n|  | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | right |\n";
    *text += "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n";
    for (score, row) in class_scores(test).into_iter().zip(&test.confusion) {
        let counts = row.map(|count| count.to_string()).join(" | ");
        let share = score.accuracy().map_or_else(|| "–".to_owned(), |share| crate::text::format::percent(share, 1));
        line(text, &format!("| **{}** | {counts} | {share} |", score.digit));
    }
}

fn line(text: &mut String, line: &str) {
    *text += line;
    text.push('\n');
}
