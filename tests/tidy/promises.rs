//! What `docs/promises.md` says holds a promise exists.

use std::path::Path;

const PAGE: &str = include_str!("../../docs/promises.md");

/// Why a line of the page is wrong.
fn wrong(line: &str) -> Option<String> {
    let (_, held_by) = line
        .strip_prefix("| ")?
        .strip_suffix(" |")?
        .split_once(" | ")?;
    if held_by == "held by" {
        return None;
    }
    let tests: Vec<&str> = held_by.split('`').skip(1).step_by(2).collect();
    if tests.is_empty() {
        return Some(format!("nothing holds it: {line}"));
    }
    tests
        .into_iter()
        .find(|test| !exists(test))
        .map(|test| format!("{test} does not exist"))
}

/// True for `FILE::FUNCTION` and for `FILE`, seen from the root of the repository.
fn exists(test: &str) -> bool {
    let (file, name) = test.split_once("::").unwrap_or((test, ""));
    let Ok(text) = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)) else {
        return false;
    };
    name.is_empty()
        || text.contains(&format!("#[test]\nfn {name}()"))
        || text.contains(&format!("#[test]\n    fn {name}()"))
}

#[test]
fn every_promise_is_held_by_tests_that_exist() {
    let wrong: Vec<String> = PAGE.lines().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(PAGE.lines().filter(|line| line.starts_with("| ")).count() > 20);
}

#[test]
fn a_test_that_is_gone_is_noticed() {
    for line in [
        "| A. | `tests/tidy/mod.rs::gone` |",
        "| B. | `tests/gone.rs` |",
        "| C. | trust |",
    ] {
        assert!(wrong(line).is_some(), "{line}");
    }
    assert_eq!(
        wrong(
            "| D. | `tests/tidy/promises.rs::a_test_that_is_gone_is_noticed`, `tests/faults/faults.py` |"
        ),
        None
    );
}
