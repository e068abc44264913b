//! The titles of models: what a person calls them, or network and data. No two models have the
//! same.

use std::collections::BTreeSet;

use super::RunEntry;
use crate::text::visible;

/// What the model that comes with Inkling is called.
pub const STARTER_MODEL: &str = "Starter model";
/// What the model of the run in progress is called.
pub const CURRENT_RUN: &str = "Current run";
/// What the model of a run that has ended is called until it is loaded from its file.
pub const LAST_RUN: &str = "Last run";

/// No saved run has one of these titles.
const RESERVED: [&str; 3] = [STARTER_MODEL, CURRENT_RUN, LAST_RUN];

/// Gives each of these runs, the newest of which comes first, a title of its own: the name a person
/// gave it, or its network and data, with a number from the second such run on. Where two would be
/// the same, the older run keeps its title.
pub fn set_titles(runs: &mut [RunEntry]) {
    let mut titles = Titles::default();
    for name in RESERVED {
        titles.take(name);
    }
    for run in &mut *runs {
        run.title.clear();
    }
    // Names that were given, then numbers, then what is left.
    let ways: [fn(&RunEntry, &mut Titles) -> Option<String>; 2] = [given, numbered];
    for way in ways {
        for run in runs.iter_mut().rev().filter(|run| run.title.is_empty()) {
            run.title = way(run, &mut titles).unwrap_or_default();
        }
    }
    for run in runs.iter_mut().rev().filter(|run| run.title.is_empty()) {
        run.title = titles.take_next(&automatic(run));
    }
}

/// True if both are the same to a reader.
pub fn same_title(a: &str, b: &str) -> bool {
    a.to_lowercase() == b.to_lowercase()
}

/// True for what models are called that are not saved runs.
pub fn is_reserved(title: &str) -> bool {
    RESERVED.iter().any(|reserved| same_title(reserved, title))
}

/// The titles that are taken, in lower case.
#[derive(Default)]
struct Titles(BTreeSet<String>);

impl Titles {
    /// Takes this title; false where it was taken before.
    fn take(&mut self, title: &str) -> bool {
        self.0.insert(title.to_lowercase())
    }

    /// Takes the title with the lowest number that is left.
    fn take_next(&mut self, title: &str) -> String {
        // One more than there are titles: one of them is free.
        let free = (1..=self.0.len() as u64 + 1)
            .map(|number| with_number(title, number))
            .find(|title| self.take(title));
        free.unwrap_or_default()
    }
}

fn given(run: &RunEntry, titles: &mut Titles) -> Option<String> {
    let name = &run.annotation.name;
    (!name.is_empty()).then(|| titles.take_next(name))
}

fn numbered(run: &RunEntry, titles: &mut Titles) -> Option<String> {
    let title = with_number(&automatic(run), run.summary.as_ref().ok()?.number?.into());
    titles.take(&title).then_some(title)
}

/// Without a number: network and data, or the name of a damaged run's folder.
fn automatic(run: &RunEntry) -> String {
    run.summary.as_ref().map_or_else(
        |_| {
            visible::label(
                &run.folder
                    .file_name()
                    .unwrap_or(run.folder.as_os_str())
                    .to_string_lossy(),
            )
        },
        |summary| summary.config.title(),
    )
}

fn with_number(title: &str, number: u64) -> String {
    if number <= 1 {
        title.to_owned()
    } else {
        format!("{title} {number}")
    }
}

/// The number of a run that is about to be saved beside these.
pub fn next_number<'r>(title: &str, runs: impl Iterator<Item = &'r RunEntry>) -> u32 {
    let alike = runs
        .filter_map(|run| run.summary.as_ref().ok())
        .filter(|summary| same_title(&summary.config.title(), title));
    // Runs that were saved elsewhere and put here have none, and are numbered as they are listed:
    // from 1.
    let (count, highest) = alike.fold((0, 0), |(count, highest): (u32, u32), summary| {
        (
            count.saturating_add(1),
            highest.max(summary.number.unwrap_or_default()),
        )
    });
    count.max(highest).saturating_add(1)
}
