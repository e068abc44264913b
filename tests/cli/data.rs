//! Listing data sets, looking at one, and what the machine has.

use super::{objects, run, stderr, stdout};
use crate::support::write_idx_set;

#[test]
fn data_sets_are_listed_with_where_they_are() {
    let home = tempfile::tempdir().unwrap();
    write_idx_set(&home.path().join("data/mnist"), 30, 20);
    let output = run(home.path(), &["data", "list", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let sets = objects(&output);
    let names: Vec<_> = sets.iter().map(|set| set["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["builtin", "mnist", "fashion-mnist", "kmnist", "emnist-digits"]);
    assert_eq!((&sets[1]["train_images"], &sets[1]["test_images"], &sets[1]["original"]), (&30.into(), &20.into(), &false.into()));
    assert_eq!(sets[3]["found"], false);

    let people = stdout(&run(home.path(), &["data", "list"]));
    assert!(people.lines().any(|line| line.starts_with("mnist") && line.contains("30 +     20 images")), "{people}");
    assert!(people.contains("not found"), "{people}");
}

#[test]
fn a_data_set_is_shown_as_a_sheet() {
    let home = tempfile::tempdir().unwrap();
    write_idx_set(&home.path().join("set"), 50, 20);
    let output = run(home.path(), &["data", "show", "set", "--out", "sheets/sheet.png"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let sheet = image::open(home.path().join("sheets/sheet.png")).unwrap();
    assert!(sheet.width() > 28 * 5 && sheet.height() > 28 * 10, "{}x{}", sheet.width(), sheet.height());
}

#[test]
fn a_sheet_shows_pictures_as_training_changes_them() {
    let home = tempfile::tempdir().unwrap();
    write_idx_set(&home.path().join("set"), 50, 20);
    let sheet = |augmentation: &str| {
        let output = run(home.path(), &["data", "show", "set", "--out", "sheet.png", "--force", "--augmentation", augmentation]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        image::open(home.path().join("sheet.png")).unwrap().into_luma8()
    };
    let plain = sheet("off");
    assert!(sheet("strong") != plain && sheet("gentle") != plain);
    assert!(sheet("strong") == sheet("strong"), "the same seed changes them alike");
}

#[test]
fn a_sheet_that_cannot_be_written_is_named() {
    let home = tempfile::tempdir().unwrap();
    write_idx_set(&home.path().join("set"), 50, 20);
    let output = run(home.path(), &["data", "show", "set", "--out", "set/t10k-labels-idx1-ubyte/sheet.png"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("sheet.png"), "{}", stderr(&output));
}

#[test]
fn the_machine_is_described() {
    let home = tempfile::tempdir().unwrap();
    let output = run(home.path(), &["hardware", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let [machine] = &objects(&output)[..] else { panic!("one object: {}", stdout(&output)) };
    assert!(machine["cpu"]["usable_cores"].as_u64().unwrap() > 0, "{machine}");
    assert!(machine["memory_total"].as_u64().unwrap() > 0, "{machine}");
    assert!(stdout(&run(home.path(), &["hardware"])).contains("CPU"));
}
