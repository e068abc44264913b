//! `inkling profile`.

use super::{assert_nothing_is_saved, exits, json_file, objects, run, stdout, succeed, words};

#[test]
fn the_time_of_a_step_is_shown_and_a_trace_is_written_once() {
    let home = tempfile::tempdir().unwrap();
    let given = words("profile --network tiny --batch-size 64 --trace trace.json");
    let output = succeed(&home, &given);
    let text = stdout(&output);
    for part in [
        "A step of 64 images takes",
        "Forward pass",
        "Backward pass",
        "Optimizer",
        "conv1, forward",
        "conv1, backward",
        "GFLOP/s",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    let trace: serde_json::Value = json_file(home.path().join("trace.json"));
    assert!(trace["traceEvents"].as_array().unwrap().len() > 30);

    exits(&run(&home, &given), 1);
    let forced = succeed(&home, &[&given[..], &["--force", "--json"]].concat());
    let event = &objects(&forced)[0];
    assert_eq!(event["event"].as_str(), Some("profiled"));
    assert_eq!(event["device"].as_str(), Some("cpu"));
    assert_eq!(event["batch_size"].as_u64(), Some(64));
    assert!(
        event["rows"]
            .as_array()
            .unwrap()
            .iter()
            .any(|row| row["kind"] == "backward" && row["name"] == "conv1")
    );
    assert_nothing_is_saved(home.path());
    exits(&run(&home, "profile --batch-size 0"), 2);
}
