//! The tests that `docs/guarantees.md` names exist.

use std::path::Path;

const PAGE: &str = include_str!("../../docs/guarantees.md");

/// The start of each guarantee; its tests follow, as a list.
const START: &str = "<details><summary>";

/// Why a guarantee, from its text to the end of its list, is wrong.
fn wrong(guarantee: &str) -> Option<String> {
    let (text, rest) = guarantee.split_once("</summary>")?;
    let (list, _) = rest.split_once("</details>")?;
    let mut tests = list
        .lines()
        .filter_map(|line| line.strip_prefix("- `")?.strip_suffix('`'))
        .peekable();
    if tests.peek().is_none() {
        return Some(format!("no test is named: {text}"));
    }
    tests
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
fn every_guarantee_names_tests_that_exist() {
    let guarantees: Vec<&str> = PAGE.split(START).skip(1).collect();
    let wrong: Vec<String> = guarantees.iter().copied().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(guarantees.len() > 20);
    assert_eq!(PAGE.matches("</summary>\n\n- `").count(), guarantees.len());
}

#[test]
fn a_test_that_is_gone_is_noticed() {
    for guarantee in [
        "A.</summary>\n\n- `tests/tidy/mod.rs::gone`\n\n</details>",
        "B.</summary>\n\n- `tests/gone.rs`\n\n</details>",
        "C.</summary>\n\ntrust\n\n</details>",
    ] {
        assert!(wrong(guarantee).is_some(), "{guarantee}");
    }
    assert_eq!(
        wrong(
            "D.</summary>\n\n- `tests/tidy/guarantees.rs::a_test_that_is_gone_is_noticed`\n- `tests/faults/faults.py`\n\n</details>"
        ),
        None
    );
}
