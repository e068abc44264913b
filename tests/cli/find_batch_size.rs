//! `inkling find-batch-size`.

use super::{assert_nothing_is_saved, fails, home_with_set, objects, run, stdout, succeed, words};

#[test]
fn each_batch_size_is_timed_and_nothing_is_saved() {
    let home = home_with_set(1200, 100);
    let given = words(
        "find-batch-size --data set --preset quick --batch-size 48 --accuracy 50 \
             --threads 1",
    );
    let output = succeed(&home, &[&given[..], &["--json"]].concat());
    let events = objects(&output);
    let (last, timed) = events.split_last().unwrap();
    let sizes: Vec<u64> = timed
        .iter()
        .map(|row| row["batch_size"].as_u64().unwrap())
        .collect();
    assert_eq!(
        sizes,
        [48, 32, 64, 128, 256, 512, 1024],
        "the one that was asked for comes first"
    );
    assert!(
        timed
            .iter()
            .all(|row| row["event"] == "timed" && row["images_per_second"].as_f64().unwrap() > 0.0)
    );
    assert!(
        sizes.contains(&last["recommended"].as_u64().unwrap()),
        "{last}"
    );
    assert_eq!(last["accuracy"], 0.5);
    assert_eq!(last["config"]["schedule"], "one-cycle");

    let text = run(&home, &given);
    let said = stdout(&text);
    assert!(
        said.contains("Time to accuracy") && said.contains("Recommended batch size: "),
        "{said}"
    );
    assert_nothing_is_saved(home.path());
}

#[test]
fn accuracies_that_cannot_be_are_bad_usage() {
    let home = tempfile::tempdir().unwrap();
    for accuracy in ["0.97", "100", "nan"] {
        fails(
            &home,
            &["find-batch-size", "--accuracy", accuracy],
            2,
            "from 20 to 99.9 percent",
        );
    }
}
