//! Listing data sets, looking at one, and what the machine has.

use super::{inkling, objects, run, stderr, stdout};
use crate::support::write_idx_set;

#[test]
fn data_sets_are_listed_with_where_they_are() {
    let home = tempfile::tempdir().unwrap();
    write_idx_set(&home.path().join("data/mnist"), 30, 20);
    let output = run(home.path(), &["data", "list", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let sets = objects(&output);
    let names: Vec<_> = sets
        .iter()
        .map(|set| set["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "builtin",
            "mnist",
            "fashion-mnist",
            "kmnist",
            "emnist-digits",
            "emnist-letters",
            "mine"
        ]
    );
    assert_eq!(
        (
            &sets[1]["train_images"],
            &sets[1]["test_images"],
            &sets[1]["original"]
        ),
        (&30.into(), &20.into(), &false.into())
    );
    assert_eq!(sets[3]["found"], false);

    let people = stdout(&run(home.path(), &["data", "list"]));
    assert!(
        people
            .lines()
            .any(|line| line.starts_with("mnist") && line.contains("30 +     20 images")),
        "{people}"
    );
    assert!(people.contains("not found"), "{people}");
}

/// Two drawings of each digit but the 7, and a line that is none.
fn keep_drawings(home: &std::path::Path) {
    let mut text = String::from("this is not a drawing\n");
    for digit in (0..10).filter(|digit| *digit != 7) {
        for place in 0..2 {
            text += &format!(
                "{{\"strokes\":[[[{place}.0,0.0],[{digit}.5,40.0]]],\"pen\":4.0,\"label\":\"{digit}\"}}\n"
            );
        }
    }
    std::fs::create_dir_all(home.join("data")).unwrap();
    std::fs::write(home.join("data/my-digits.jsonl"), text).unwrap();
}

#[test]
fn drawings_that_are_kept_are_a_data_set() {
    let home = tempfile::tempdir().unwrap();
    let empty = run(home.path(), &["data", "show", "mine", "--out", "sheet.png"]);
    assert!(
        stderr(&empty).contains("You have not kept any drawings yet"),
        "{}",
        stderr(&empty)
    );
    keep_drawings(home.path());
    let listed = run(home.path(), &["data", "list", "--json"]);
    let mine = objects(&listed).pop().unwrap();
    assert_eq!(
        (mine["name"].as_str(), mine["train_images"].as_u64()),
        (Some("mine"), Some(18))
    );
    let shown = run(home.path(), &["data", "show", "mine", "--out", "sheet.png"]);
    assert_eq!(shown.status.code(), Some(0), "{}", stderr(&shown));
    let trained = run(
        home.path(),
        &["train", "--data", "mine", "--batch-size", "4"],
    );
    assert!(
        stderr(&trained).contains("Your drawings have no 7"),
        "{}",
        stderr(&trained)
    );
}

#[test]
fn a_data_set_is_exported_and_read_back() {
    let home = tempfile::tempdir().unwrap();
    keep_drawings(home.path());
    let export = |data: &str, format: &str, out: &str| {
        let output = run(
            home.path(),
            &[
                "data", "export", data, "--format", format, "--out", out, "--json",
            ],
        );
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(objects(&output)[0]["images"].as_u64(), Some(18));
    };
    for (format, out) in [
        ("png", "folders"),
        ("idx", "idx"),
        ("csv", "tables"),
        ("ink", "drawings.jsonl"),
    ] {
        export("mine", format, out);
        let shown = run(
            home.path(),
            &[
                "data",
                "show",
                out,
                "--out",
                "sheet.png",
                "--force",
                "--json",
            ],
        );
        assert_eq!(shown.status.code(), Some(0), "{}", stderr(&shown));
        let sheet = &objects(&shown)[0];
        // One image in seven is for testing.
        assert_eq!(
            (
                sheet["train_images"].as_u64(),
                sheet["test_images"].as_u64()
            ),
            (Some(16), Some(2)),
            "{format}"
        );
    }
    export("idx", "csv", "again");
    let tables = |folder: &str, name: &str| {
        std::fs::read_to_string(home.path().join(folder).join(name)).unwrap()
    };
    assert_eq!(tables("tables", "train.csv").lines().count(), 19);
    assert_eq!(
        tables("again", "train.csv").lines().count() + tables("again", "test.csv").lines().count(),
        20
    );
    assert!(
        std::fs::read_to_string(home.path().join("drawings.jsonl"))
            .unwrap()
            .lines()
            .all(|line| line.contains("label"))
    );

    let refused = run(
        home.path(),
        &["data", "export", "mine", "--format", "idx", "--out", "idx"],
    );
    assert!(
        stderr(&refused).contains("exist already"),
        "{}",
        stderr(&refused)
    );
    let source = run(
        home.path(),
        &[
            "data",
            "export",
            "mine",
            "--format",
            "ink",
            "--out",
            "data/my-digits.jsonl",
            "--force",
        ],
    );
    assert_eq!(source.status.code(), Some(1));
    let images = run(
        home.path(),
        &[
            "data",
            "export",
            "builtin",
            "--format",
            "ink",
            "--out",
            "builtin.jsonl",
        ],
    );
    assert!(
        stderr(&images).contains("Only drawings can be exported as ink"),
        "{}",
        stderr(&images)
    );
}

#[test]
fn a_data_set_is_shown_as_a_sheet() {
    let home = tempfile::tempdir().unwrap();
    write_idx_set(&home.path().join("set"), 50, 20);
    let output = run(
        home.path(),
        &["data", "show", "set", "--out", "sheets/sheet.png"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let sheet = image::open(home.path().join("sheets/sheet.png")).unwrap();
    assert!(
        sheet.width() > 28 * 5 && sheet.height() > 28 * 10,
        "{}x{}",
        sheet.width(),
        sheet.height()
    );
}

#[test]
fn a_sheet_shows_pictures_as_training_changes_them() {
    let home = tempfile::tempdir().unwrap();
    write_idx_set(&home.path().join("set"), 50, 20);
    let sheet = |augmentation: &str| {
        let output = run(
            home.path(),
            &[
                "data",
                "show",
                "set",
                "--out",
                "sheet.png",
                "--force",
                "--augmentation",
                augmentation,
            ],
        );
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        image::open(home.path().join("sheet.png"))
            .unwrap()
            .into_luma8()
    };
    let plain = sheet("off");
    assert!(sheet("strong") != plain && sheet("gentle") != plain);
    assert!(
        sheet("strong") == sheet("strong"),
        "the same seed changes them alike"
    );
}

#[test]
fn a_sheet_that_cannot_be_written_is_named() {
    let home = tempfile::tempdir().unwrap();
    write_idx_set(&home.path().join("set"), 50, 20);
    let output = run(
        home.path(),
        &[
            "data",
            "show",
            "set",
            "--out",
            "set/t10k-labels-idx1-ubyte/sheet.png",
        ],
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("sheet.png"), "{}", stderr(&output));
}

#[test]
fn the_machine_is_described() {
    let home = tempfile::tempdir().unwrap();
    let output = run(home.path(), &["hardware", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let [machine] = &objects(&output)[..] else {
        panic!("one object: {}", stdout(&output))
    };
    assert!(
        machine["cpu"]["usable_cores"].as_u64().unwrap() > 0,
        "{machine}"
    );
    assert!(machine["memory_total"].as_u64().unwrap() > 0, "{machine}");
    assert!(stdout(&run(home.path(), &["hardware"])).contains("CPU"));
}

#[test]
fn a_data_set_is_checked_before_training() {
    let home = tempfile::tempdir().unwrap();
    write_idx_set(&home.path().join("set"), 40, 20);
    let sound = run(home.path(), &["data", "check", "set"]);
    assert_eq!(sound.status.code(), Some(0), "{}", stderr(&sound));
    assert!(
        stdout(&sound).contains("Nothing odd was found."),
        "{}",
        stdout(&sound)
    );
    // The test images are the training images.
    for kind in ["images-idx3", "labels-idx1"] {
        let name = |part: &str| home.path().join(format!("set/{part}-{kind}-ubyte"));
        std::fs::copy(name("train"), name("t10k")).unwrap();
    }
    let found = objects(&run(home.path(), &["data", "check", "set", "--json"]));
    assert_eq!(found[0]["train_images"], serde_json::json!(vec![4; 10]));
    let issue = &found[0]["issues"][0];
    assert_eq!(
        (&issue["issue"], &issue["part"], &issue["images"]),
        (&"in_training_too".into(), &"test".into(), &40.into())
    );
    assert_eq!(
        issue["examples"][3],
        serde_json::json!({"index": 3, "label": 3})
    );
    let people = stdout(&run(home.path(), &["data", "check", "set"]));
    assert!(
        people.contains("40 test images are in the training images too.")
            && people.contains("0 (0), 1 (1)"),
        "{people}"
    );
    let missing = run(home.path(), &["data", "check", "nowhere"]);
    assert!(
        missing.status.code() == Some(1) && stderr(&missing).contains("nowhere"),
        "{}",
        stderr(&missing)
    );
}

#[test]
fn a_data_set_is_fetched_from_a_mirror_that_is_there() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("sets")).unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mirror = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let offline = run(
        home.path(),
        &[
            "data",
            "fetch",
            "mnist",
            "--mirror",
            &mirror,
            "--data-dir",
            "sets",
            "--json",
        ],
    );
    assert_eq!(
        (offline.status.code(), stdout(&offline)),
        (Some(1), String::new())
    );
    let said = stderr(&offline);
    assert!(
        said.contains("There is no connection to")
            && said.contains("By hand: download train-labels-idx1-ubyte.gz"),
        "{said}"
    );
    assert!(
        said.contains("sets/mnist") || said.contains("sets\\mnist"),
        "{said}"
    );
    let emnist = run(
        home.path(),
        &[
            "data",
            "fetch",
            "emnist-digits",
            "--mirror",
            &format!("{mirror}gzip.zip"),
            "--data-dir",
            "sets",
        ],
    );
    let said = stderr(&emnist);
    assert!(
        emnist.status.code() == Some(1)
            && said.contains(&format!("There is no connection to {mirror}gzip.zip:")),
        "{said}"
    );
    assert!(
        said.contains("gzip.zip and unpack emnist-digits-test-labels-idx1-ubyte.gz"),
        "{said}"
    );
    let wrong = run(
        home.path(),
        &[
            "data",
            "fetch",
            "mnist",
            "--mirror",
            "nowhere",
            "--data-dir",
            "sets",
        ],
    );
    assert!(
        stderr(&wrong).contains("“nowhere” is not the address of a mirror."),
        "{}",
        stderr(&wrong)
    );
    assert_eq!(
        run(home.path(), &["data", "fetch", "cifar"]).status.code(),
        Some(2)
    );
    let mut command = inkling(home.path());
    let from_environment = command
        .args(["data", "fetch", "mnist", "--data-dir", "sets"])
        .env("INKLING_DATA_MIRROR", &mirror)
        .output()
        .unwrap();
    let said = stderr(&from_environment);
    assert!(
        said.contains(&format!(
            "There is no connection to {mirror}mnist/train-labels"
        )),
        "{said}"
    );
}
