//! The licenses of the packages Inkling is built from, gathered from their folders.
//!
//! A failure does not fail the build: the text says so instead, and the check of the packages
//! notices.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::packages::{folder, string};

/// Names of files with licenses begin with these.
const NAMES: [&str; 7] = [
    "licen",
    "copying",
    "copyright",
    "notice",
    "ofl",
    "ufl",
    "unlicense",
];
/// Folders of a package that have such files.
const FOLDERS: [&str; 4] = ["", "licenses", "LICENSES", "fonts"];

/// The text that is shown.
pub fn text(packages: &Result<Vec<Value>, Box<dyn Error>>) -> String {
    match packages {
        Ok(list) => format_text(&list.iter().map(package).chain(fonts()).collect::<Vec<_>>()),
        Err(error) => {
            format!("The licenses could not be gathered when Inkling was built: {error}\n")
        }
    }
}

/// A package that is part of the program.
struct Package {
    name: String,
    license: String,
    owners: String,
    texts: Vec<String>,
}

/// The fonts of the window, which are not packages.
fn fonts() -> impl Iterator<Item = Package> {
    let fonts = [
        ("Inter 4.1", "OFL-1.1", "https://rsms.me/inter"),
        ("Phosphor 2.1", "MIT", "https://phosphoricons.com"),
    ];
    fonts.into_iter().map(|(name, license, owners)| {
        let short = name.split(' ').next().unwrap_or(name);
        let file = format!("assets/fonts/{short}-LICENSE.txt");
        Package {
            name: name.to_owned(),
            license: license.to_owned(),
            owners: owners.to_owned(),
            texts: std::fs::read_to_string(file)
                .map(|text| tidy(&text))
                .into_iter()
                .collect(),
        }
    })
}

fn package(metadata: &Value) -> Package {
    let license = string(&metadata["license"]);
    let authors: Vec<String> = metadata["authors"]
        .as_array()
        .into_iter()
        .flatten()
        .map(string)
        .collect();
    let owners = [authors.join(", "), string(&metadata["repository"])]
        .into_iter()
        .filter(|part| !part.is_empty());
    Package {
        name: format!(
            "{} {}",
            string(&metadata["name"]),
            string(&metadata["version"])
        ),
        texts: texts(&folder(metadata), &license),
        license: if license.is_empty() {
            "see below".to_owned()
        } else {
            license
        },
        owners: owners.collect::<Vec<_>>().join("; "),
    }
}

/// The texts in a package's folder; of two licenses to choose from, the MIT one where it is among
/// them.
fn texts(folder: &Path, license: &str) -> Vec<String> {
    let mut files: Vec<PathBuf> = FOLDERS
        .iter()
        .filter_map(|name| std::fs::read_dir(folder.join(name)).ok())
        .flat_map(|entries| entries.filter_map(Result::ok).map(|entry| entry.path()))
        .filter(|path| path.is_file() && NAMES.iter().any(|name| file_name(path).starts_with(name)))
        .filter(|path| {
            !["rs", "toml", "html", "spdx"]
                .iter()
                .any(|ending| path.extension().is_some_and(|has| has == *ending))
        })
        .collect();
    files.sort();
    if (license.contains(" OR ") || license.contains('/'))
        && let Some(mit) = files
            .iter()
            .find(|path| file_name(path).contains("mit"))
            .cloned()
    {
        files.retain(|path| *path == mit || file_name(path).starts_with("notice"));
    }
    files
        .iter()
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .map(|text| tidy(&text))
        .filter(|text| !text.is_empty())
        .collect()
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase()
}

/// The text without invisible differences, so that equal texts are listed once.
fn tidy(text: &str) -> String {
    text.trim_start_matches('\u{feff}')
        .lines()
        .map(str::trim_end)
        .collect::<Vec<_>>()
        .join("\n")
        .trim_matches('\n')
        .to_owned()
}

/// The packages, then each text with the packages it belongs to.
fn format_text(packages: &[Package]) -> String {
    let mut text = "Inkling is built from the following software.\n\n".to_owned();
    let mut texts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in packages {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}: {}", package.name, package.license);
        if !package.owners.is_empty() {
            let _ = writeln!(text, "    {}", package.owners);
        }
        for license in &package.texts {
            texts.entry(license).or_default().push(&package.name);
        }
    }
    let mut texts: Vec<_> = texts.into_iter().collect();
    texts.sort_by(|a, b| a.1.cmp(&b.1));
    for (license, packages) in texts {
        let _ = write!(
            text,
            "\n{}\n{}\n\n{license}\n",
            "=".repeat(78),
            packages.join(", ")
        );
    }
    text
}
