//! `inkling find-lr`.

use super::{assert_nothing_is_saved, exits, objects, run, stdout, succeed};
use crate::support::write_idx_set;

#[test]
fn a_learning_rate_is_found_and_the_command_that_uses_it_is_printed() {
    let home = tempfile::tempdir().unwrap();
    write_idx_set(&home.path().join("a set"), 1200, 100);
    let given = [
        "find-lr",
        "--data",
        "a set",
        "--preset",
        "quick",
        "--learning-rate",
        "7",
        "--threads",
        "1",
    ];
    let output = succeed(&home, &[&given[..], &["--json"]].concat());
    let events = objects(&output);
    let (last, steps) = events.split_last().unwrap();
    assert!(steps.iter().all(|step| step["event"] == "step"));
    assert_eq!(steps.len() as u64, last["steps"].as_u64().unwrap());
    let rates: Vec<f64> = steps
        .iter()
        .map(|step| step["learning_rate"].as_f64().unwrap())
        .collect();
    assert!(rates.windows(2).all(|two| two[0] < two[1]) && (rates[0] / 1e-6 - 1.0).abs() < 1e-3);
    let suggested = last["suggested"].as_f64().unwrap();
    assert!((1e-5..1.0).contains(&suggested), "{last}");
    assert_eq!(
        last["config"]["epochs"], 5,
        "the settings are those that were asked for"
    );

    let text = succeed(&home, &given);
    let said = stdout(&text);
    assert!(
        said.contains("smoothed") && said.contains("The loss falls fastest at"),
        "{said}"
    );
    let command = said.lines().last().unwrap();
    for words in [
        "inkling train --preset quick --data ",
        "a set",
        &format!(" --learning-rate {suggested} "),
        " --threads 1",
    ] {
        assert!(command.contains(words), "{words}: {command}");
    }
    assert_nothing_is_saved(home.path());
}

#[test]
fn settings_that_cannot_be_are_bad_usage() {
    let home = tempfile::tempdir().unwrap();
    exits(&run(&home, "find-lr --batch-size 0"), 2);
}
