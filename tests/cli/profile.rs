//! `inkling profile`.

use std::fs;

use super::{objects, run, stderr, stdout};

#[test]
fn the_time_of_a_step_is_shown_and_a_trace_is_written_once() {
    let home = tempfile::tempdir().unwrap();
    let given = [
        "profile",
        "--network",
        "tiny",
        "--batch-size",
        "64",
        "--trace",
        "trace.json",
    ];
    let output = run(home.path(), &given);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    for part in [
        "A step of 64 images takes",
        "Forward pass",
        "Backward pass",
        "Optimiser",
        "conv1, forward",
        "conv1, backward",
        "GFLOP/s",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    let trace: serde_json::Value =
        serde_json::from_slice(&fs::read(home.path().join("trace.json")).unwrap()).unwrap();
    assert!(trace["traceEvents"].as_array().unwrap().len() > 30);

    let again = run(home.path(), &given);
    assert_eq!(again.status.code(), Some(1), "{}", stderr(&again));
    let forced = run(home.path(), &[&given[..], &["--force", "--json"]].concat());
    assert_eq!(forced.status.code(), Some(0), "{}", stderr(&forced));
    let event = &objects(&forced)[0];
    assert_eq!(
        (
            event["event"].as_str(),
            event["device"].as_str(),
            event["batch_size"].as_u64()
        ),
        (Some("profiled"), Some("cpu"), Some(64))
    );
    assert!(
        event["rows"]
            .as_array()
            .unwrap()
            .iter()
            .any(|row| row["kind"] == "backward" && row["name"] == "conv1")
    );
    for folder in ["runs", "checkpoints"] {
        assert!(
            fs::read_dir(home.path().join(folder))
                .map_or(true, |mut entries| entries.next().is_none()),
            "{folder} is empty"
        );
    }
    let bad = run(home.path(), &["profile", "--batch-size", "0"]);
    assert_eq!(bad.status.code(), Some(2));
}
