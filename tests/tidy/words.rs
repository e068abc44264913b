//! The words that a machine can check in every text of the repository; `docs/design.md` has the
//! others.

use std::path::{Path, PathBuf};

/// What is not written, in small letters, and what is written instead.
const SPELLINGS: [(&str, &str); 20] = [
    ("analyse", "analyze"),
    ("artefact", "artifact"),
    ("behaviour", "behavior"),
    ("capitalis", "capitaliz"),
    ("catalogue", "catalog"),
    ("centre", "center"),
    ("colour", "color"),
    ("generalis", "generaliz"),
    ("initialis", "initializ"),
    ("labelled", "labeled"),
    ("learnt", "learned"),
    ("licence", "license"),
    ("modelling", "modeling"),
    ("neighbour", "neighbor"),
    ("normalis", "normaliz"),
    ("optimise", "optimize"),
    ("recognis", "recogniz"),
    ("regularis", "regulariz"),
    ("summaris", "summariz"),
    ("utilis", "utiliz"),
];

/// egui's.
const NAMES_OF_OTHERS: [&str; 1] = ["labelled_by"];

const SPACES: [&str; 8] = [
    " ",
    "\u{a0}",
    "\u{2009}",
    "\u{202f}",
    r"\u{a0}",
    r"\u{2009}",
    r"\u{202f}",
    "&nbsp;",
];

const TEXTS: [&str; 19] = [
    ".ci",
    ".github",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.toml",
    "README.md",
    "SECURITY.md",
    "assets",
    "benches",
    "build",
    "build.rs",
    "clippy.toml",
    "docs",
    "examples",
    "fuzz",
    "packaging",
    "src",
    "tests",
];

/// Folders that hold nothing that people wrote, and the list of what this file looks for.
const LEFT_OUT: [&str; 3] = ["corpus", "target", "words.rs"];

/// "99.4 %". Before a number, `%` is an operator: `seconds / 60 % 60`.
fn percent_after_a_space(line: &str) -> bool {
    line.match_indices('%').any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + 1..]);
        let figure = SPACES
            .iter()
            .filter_map(|space| before.strip_suffix(space))
            .any(|figure| {
                figure.ends_with(|last: char| last.is_ascii_digit() || last == '}')
                    || figure.ends_with('"') && after.starts_with('"')
            });
        figure
            && !after
                .trim_start()
                .starts_with(|first: char| first.is_ascii_digit())
    })
}

/// What is wrong with a line; empty if nothing is.
fn problems(line: &str) -> Vec<String> {
    let mut words = line.to_lowercase();
    for name in NAMES_OF_OTHERS {
        words = words.replace(name, "");
    }
    let spellings = SPELLINGS
        .iter()
        .filter(|(wrong, _)| words.contains(wrong))
        .map(|(wrong, right)| format!("write \"{right}\", not \"{wrong}\""));
    let percent = percent_after_a_space(line).then(|| "write 99.4% without a space".to_owned());
    spellings.chain(percent).collect()
}

fn check(path: &Path, count: &mut usize) {
    if LEFT_OUT.iter().any(|name| path.ends_with(name)) {
        return;
    }
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            check(&entry.unwrap().path(), count);
        }
        return;
    }
    let Ok(text) = String::from_utf8(std::fs::read(path).unwrap()) else {
        return;
    };
    *count += 1;
    for (index, line) in text.lines().enumerate() {
        let problems = problems(line);
        assert!(
            problems.is_empty(),
            "{}:{}: {problems:?}: {line}",
            path.display(),
            index + 1
        );
    }
}

#[test]
fn spelling_is_american_and_no_space_stands_before_a_percent_sign() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for name in TEXTS {
        check(&root.join(name), &mut count);
    }
    assert!(count > 800, "only {count} texts were found");
}

#[test]
fn a_space_before_a_percent_sign_is_noticed() {
    for space in SPACES {
        for line in [
            format!("99.4{space}% of the images"),
            format!("95{space}% CI"),
            format!("\"{{:.0}}{space}%\""),
            format!(".suffix(\"{space}%\")"),
            format!("99.4{space}%"),
        ] {
            assert_eq!(problems(&line).len(), 1, "{line}");
        }
    }
    for line in [
        "99.4% of the images",
        "seconds / 60 % 60",
        "index % count",
        "in %",
        "{share}%",
    ] {
        assert!(problems(line).is_empty(), "{line}");
    }
}

#[test]
fn british_spelling_is_noticed() {
    assert_eq!(problems("The Colour of the CENTRE").len(), 2);
    assert!(problems("field.labelled_by(label.id)").is_empty());
}
