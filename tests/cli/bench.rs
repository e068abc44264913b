//! `inkling bench` as a script and a person meet it. That its figures are right no test can say;
//! that they are there, one can.

use super::{objects, run, says, stderr, stdout, succeed};

#[test]
fn a_quick_benchmark_prints_figures_and_keeps_them() {
    let home = tempfile::tempdir().unwrap();
    let output = succeed(&home, "bench --quick --json");
    let lines = objects(&output);
    let figures: Vec<_> = lines
        .iter()
        .filter(|line| line["event"] == "figure")
        .collect();
    for what in [
        "product",
        "memory",
        "step",
        "pipeline",
        "update",
        "read-one",
        "read-many",
        "plain-candle",
    ] {
        assert!(
            figures.iter().any(|figure| figure["what"] == what),
            "no figure of {what} in {}",
            stdout(&output)
        );
    }
    for figure in &figures {
        let numbers = figure
            .as_object()
            .unwrap()
            .values()
            .filter_map(serde_json::Value::as_f64);
        assert!(
            numbers
                .into_iter()
                .all(|number| number.is_finite() && number > 0.0),
            "{figure}"
        );
    }
    let steps = figures.iter().filter(|figure| figure["what"] == "step");
    assert!(
        steps
            .clone()
            .all(|step| step["share_of_product"].as_f64().is_some())
    );
    let last = lines.last().unwrap();
    assert_eq!(last["event"], "finished");
    let kept = inkling::bench::latest(&home.path().join("bench")).expect("a report");
    assert_eq!(last["report"], kept.1.json.display().to_string());
    assert_eq!(kept.0.rows.len(), figures.len());
    assert!(
        stderr(&output).contains("Matrix multiplication"),
        "people read the table on standard error"
    );
}

#[test]
fn the_steps_of_a_preset_are_compared() {
    let home = tempfile::tempdir().unwrap();
    let output = succeed(&home, "bench --compare devices --preset quick --json");
    let lines = objects(&output);
    let steps: Vec<_> = lines
        .iter()
        .filter(|line| line["event"] == "figure" && line["device"] == "cpu")
        .collect();
    for precision in ["f32", "bf16", "f16"] {
        assert!(
            steps.iter().any(|step| step["precision"] == precision
                && step["images_per_second"].as_f64() > Some(1.0)),
            "{precision}"
        );
    }
    assert_eq!(lines.last().unwrap()["event"], "finished");
    says(&output, "recommended");
    assert_eq!(
        run(&home, "bench --preset quick").status.code(),
        Some(2),
        "nothing is compared"
    );
    assert_eq!(run(&home, "bench --compare planets").status.code(), Some(2));
}
