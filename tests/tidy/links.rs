//! Every link between documents leads to a file that exists, and to a heading in it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// Folders and files with documents, seen from the root of the repository.
const DOCUMENTS: [&str; 6] = ["", "docs", "packaging", "tests", "benches", "fuzz"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Each document with its text.
fn documents() -> BTreeMap<PathBuf, String> {
    let mut documents = BTreeMap::new();
    for folder in DOCUMENTS {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "md") {
                let text = std::fs::read_to_string(&path).unwrap();
                let name = path.strip_prefix(root()).unwrap();
                documents.insert(name.to_owned(), text);
            }
        }
    }
    documents
}

/// Lines that are not code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !code && !fence
    })
}

/// The targets of links and pictures that are not addresses on the web.
fn links(text: &str) -> Vec<&str> {
    let starts = ["](", "href=\""];
    let ends = [')', '"'];
    let found = prose(text).flat_map(|line| {
        starts.iter().flat_map(move |start| {
            line.match_indices(start)
                .filter_map(move |(at, _)| line[at + start.len()..].split(ends).next())
        })
    });
    found
        .filter(|target| !target.contains("://") && !target.is_empty())
        .collect()
}

/// What GitHub calls the headings of a document in addresses.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter(|line| line.starts_with('#'));
    let mut seen = BTreeMap::<String, usize>::new();
    let anchor = |heading: &str| {
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter_map(|letter| match letter {
            ' ' => Some('-'),
            '-' | '_' => Some(letter),
            _ => letter.is_alphanumeric().then_some(letter),
        });
        let name: String = kept.collect();
        let before = seen.entry(name.clone()).or_default();
        *before += 1;
        match *before {
            1 => name,
            more => format!("{name}-{}", more - 1),
        }
    };
    headings.map(anchor).collect()
}

/// The path without `..`.
fn resolved(folder: &Path, target: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for component in folder.join(target).components() {
        match component {
            Component::ParentDir => {
                path.pop();
            }
            other => path.push(other),
        }
    }
    path
}

fn leads_somewhere(documents: &BTreeMap<PathBuf, String>, from: &Path, link: &str) -> bool {
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let path = match file {
        "" => from.to_owned(),
        file => resolved(from.parent().unwrap_or(Path::new("")), file),
    };
    root().join(&path).exists()
        && (anchor.is_empty()
            || documents
                .get(&path)
                .is_some_and(|text| anchors(text).contains(anchor)))
}

#[test]
fn every_link_in_the_documents_leads_somewhere() {
    let documents = documents();
    let mut count = 0;
    for (path, text) in &documents {
        for link in links(text) {
            count += 1;
            assert!(
                leads_somewhere(&documents, path, link),
                "{} links to {link}, which does not exist",
                path.display()
            );
        }
    }
    assert!(count > 100, "only {count} links were found");
}

#[test]
fn a_link_to_nothing_is_noticed() {
    let documents = documents();
    let from = Path::new("docs/cli.md");
    for (link, exists) in [
        ("settings.md", true),
        ("../README.md#install", true),
        ("#exit-status", true),
        ("gone.md", false),
        ("settings.md#gone", false),
        ("#gone", false),
    ] {
        assert_eq!(leads_somewhere(&documents, from, link), exists, "{link}");
    }
}
