//! Owns what everything that goes into Inkling is licensed under, and the texts: gathered from the packages' own folders.
//! Must not fail the build: where cargo does not tell, the text says so, and the check of the packages notices.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::packages::{folder, string};

/// What files with licences in them are called.
const NAMES: [&str; 7] = ["licen", "copying", "copyright", "notice", "ofl", "ufl", "unlicense"];
/// Folders in a package that hold such files as well.
const FOLDERS: [&str; 4] = ["", "licenses", "LICENSES", "fonts"];

/// All of it, as it is shown.
pub fn text(packages: &Result<Vec<Value>, Box<dyn Error>>) -> String {
    match packages {
        Ok(list) => words(&list.iter().map(package).collect::<Vec<_>>()),
        Err(error) => format!("The licences could not be gathered when this Inkling was built: {error}\n"),
    }
}

/// A package that goes into the program.
struct Package {
    name: String,
    licence: String,
    whose: String,
    texts: Vec<String>,
}

fn package(metadata: &Value) -> Package {
    let licence = string(&metadata["license"]);
    let authors: Vec<String> = metadata["authors"].as_array().into_iter().flatten().map(string).collect();
    let whose = [authors.join(", "), string(&metadata["repository"])].into_iter().filter(|part| !part.is_empty());
    Package {
        name: format!("{} {}", string(&metadata["name"]), string(&metadata["version"])),
        texts: texts(&folder(metadata), &licence),
        licence: if licence.is_empty() { "see below".to_owned() } else { licence },
        whose: whose.collect::<Vec<_>>().join("; "),
    }
}

/// The texts in a package's folder; of two licences to choose from, the MIT one where it is among them.
fn texts(folder: &Path, licence: &str) -> Vec<String> {
    let mut files: Vec<PathBuf> = FOLDERS
        .iter()
        .filter_map(|name| std::fs::read_dir(folder.join(name)).ok())
        .flat_map(|entries| entries.filter_map(Result::ok).map(|entry| entry.path()))
        .filter(|path| path.is_file() && NAMES.iter().any(|name| file_name(path).starts_with(name)))
        .filter(|path| !["rs", "toml", "html", "spdx"].iter().any(|ending| path.extension().is_some_and(|has| has == *ending)))
        .collect();
    files.sort();
    if (licence.contains(" OR ") || licence.contains('/'))
        && let Some(mit) = files.iter().find(|path| file_name(path).contains("mit")).cloned()
    {
        files.retain(|path| *path == mit || file_name(path).starts_with("notice"));
    }
    files.iter().filter_map(|path| std::fs::read_to_string(path).ok()).map(|text| tidy(&text)).filter(|text| !text.is_empty()).collect()
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().to_lowercase()
}

/// The text without differences nobody sees, so that the same text is there once.
fn tidy(text: &str) -> String {
    text.trim_start_matches('\u{feff}').lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim_matches('\n').to_owned()
}

/// The list of packages, then every text with those it belongs to.
fn words(packages: &[Package]) -> String {
    let mut words = "Inkling is built from the following software, and is grateful for it.\n\n".to_owned();
    let mut texts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in packages {
        // Writing to a string cannot fail.
        let _ = writeln!(words, "{}: {}", package.name, package.licence);
        if !package.whose.is_empty() {
            let _ = writeln!(words, "    {}", package.whose);
        }
        for text in &package.texts {
            texts.entry(text).or_default().push(&package.name);
        }
    }
    let mut texts: Vec<_> = texts.into_iter().collect();
    texts.sort_by(|a, b| a.1.cmp(&b.1));
    for (text, whose) in texts {
        let _ = write!(words, "\n{}\n{}\n\n{text}\n", "=".repeat(78), whose.join(", "));
    }
    words
}
