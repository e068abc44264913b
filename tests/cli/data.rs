//! Listing data sets, looking at one, and what the machine has.

use super::{
    exits, fails, home_with_set, inkling, last_object, objects, run, says, stderr, stdout, succeed,
    words,
};
use crate::support::write_idx_set;

#[test]
fn data_sets_are_listed_with_where_they_are() {
    let home = tempfile::tempdir().unwrap();
    write_idx_set(&home.path().join("data/mnist"), 30, 20);
    let output = succeed(&home, "data list --json");
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
    assert_eq!(sets[1]["train_images"], 30);
    assert_eq!(sets[1]["test_images"], 20);
    assert_eq!(sets[1]["original"], false);
    assert_eq!(sets[3]["found"], false);

    let people = stdout(&run(&home, &["data", "list"]));
    assert!(
        people
            .lines()
            .any(|line| line.starts_with("mnist") && line.contains("30 +     20 images")),
        "{people}"
    );
    assert!(people.contains("not found"), "{people}");
}

#[test]
fn a_set_that_is_missing_names_the_folder_and_the_download() {
    let home = tempfile::tempdir().unwrap();
    let mut train = inkling(home.path());
    // An empty variable names no folder.
    train.env("INKLING_DATA_DIR", "");
    let output = train.args(["train", "--data", "mnist"]).output().unwrap();
    exits(&output, 1);
    let refused = stderr(&output);
    let folder = home.path().join("data");
    for words in [&*folder.to_string_lossy(), "inkling data fetch mnist"] {
        assert!(refused.contains(words), "{refused}");
    }
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
    let empty = run(&home, "data show mine --out sheet.png");
    says(&empty, "You have not kept any drawings yet");
    keep_drawings(home.path());
    let listed = run(&home, "data list --json");
    let mine = last_object(&listed);
    assert_eq!(mine["name"].as_str(), Some("mine"));
    assert_eq!(mine["train_images"].as_u64(), Some(18));
    succeed(&home, "data show mine --out sheet.png");
    let trained = run(&home, "train --data mine --batch-size 4");
    says(&trained, "Your drawings have no 7");
}

#[test]
fn a_data_set_is_exported_and_read_back() {
    let home = tempfile::tempdir().unwrap();
    keep_drawings(home.path());
    let export = |data: &str, format: &str, out: &str| {
        let output = succeed(
            &home,
            &[
                "data", "export", data, "--format", format, "--out", out, "--json",
            ],
        );
        assert_eq!(objects(&output)[0]["images"].as_u64(), Some(18));
    };
    for (format, out) in [
        ("png", "folders"),
        ("idx", "idx"),
        ("csv", "tables"),
        ("ink", "drawings.jsonl"),
    ] {
        export("mine", format, out);
        let shown = succeed(
            &home,
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

    let refused = run(&home, "data export mine --format idx --out idx");
    says(&refused, "exist already");
    exits(
        &run(
            &home,
            "data export mine --format ink --out data/my-digits.jsonl --force",
        ),
        1,
    );
    let images = run(
        &home,
        "data export builtin --format ink --out builtin.jsonl",
    );
    says(&images, "Only drawings can be exported as ink");
}

#[test]
fn a_data_set_is_shown_as_a_sheet() {
    let home = home_with_set(50, 20);
    succeed(&home, "data show set --out sheets/sheet.png");
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
    let home = home_with_set(50, 20);
    let sheet = |augmentation: &str| {
        succeed(
            &home,
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
    let home = home_with_set(50, 20);
    fails(
        &home,
        "data show set --out set/t10k-labels-idx1-ubyte/sheet.png",
        1,
        "sheet.png",
    );
}

#[test]
fn the_machine_is_described() {
    let home = tempfile::tempdir().unwrap();
    let output = succeed(&home, &["hardware", "--json"]);
    let [machine] = &objects(&output)[..] else {
        panic!("one object: {}", stdout(&output))
    };
    assert!(
        machine["cpu"]["usable_cores"].as_u64().unwrap() > 0,
        "{machine}"
    );
    assert!(machine["memory_total"].as_u64().unwrap() > 0, "{machine}");
    assert!(stdout(&run(&home, &["hardware"])).contains("CPU"));
}

#[test]
fn a_data_set_is_checked_before_training() {
    let home = home_with_set(40, 20);
    let sound = succeed(&home, "data check set");
    // The images are no digits, which the labels do not say.
    let text = stdout(&sound);
    assert!(
        text.contains("The starter model classifies") && !text.contains("training images have"),
        "{text}"
    );
    // The test images are the training images.
    for kind in ["images-idx3", "labels-idx1"] {
        let name = |part: &str| home.path().join(format!("set/{part}-{kind}-ubyte"));
        std::fs::copy(name("train"), name("t10k")).unwrap();
    }
    let found = objects(&run(&home, "data check set --json"));
    assert_eq!(found[0]["train_images"], serde_json::json!(vec![4; 10]));
    let issue = &found[0]["issues"][0];
    assert_eq!(issue["issue"], "in_training_too");
    assert_eq!(issue["part"], "test");
    assert_eq!(issue["images"], 40);
    assert_eq!(
        issue["examples"][3],
        serde_json::json!({"index": 3, "label": 3})
    );
    let people = stdout(&run(&home, "data check set"));
    assert!(
        people.contains("40 test images are also in the training images.")
            && people.contains("0 (0), 1 (1)"),
        "{people}"
    );
    // Inverted they are no digits either.
    let images = home.path().join("set/train-images-idx3-ubyte");
    let mut light = std::fs::read(&images).unwrap();
    light[16..]
        .iter_mut()
        .for_each(|pixel| *pixel = 255 - *pixel);
    std::fs::write(&images, light).unwrap();
    let people = stdout(&run(&home, "data check set"));
    assert!(
        people.contains("training images have a light background")
            && people.contains("The starter model classifies"),
        "{people}"
    );
    let missing = run(&home, "data check nowhere");
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
        &home,
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
    assert_eq!(offline.status.code(), Some(1));
    assert_eq!(stdout(&offline), String::new());
    let said = stderr(&offline);
    assert!(
        said.contains("Could not connect to")
            && said.contains("Manually: download train-labels-idx1-ubyte.gz"),
        "{said}"
    );
    assert!(
        said.contains("sets/mnist") || said.contains("sets\\mnist"),
        "{said}"
    );
    let emnist = run(
        &home,
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
            && said.contains(&format!("Could not connect to {mirror}gzip.zip:")),
        "{said}"
    );
    assert!(
        said.contains("gzip.zip and unpack emnist-digits-test-labels-idx1-ubyte.gz"),
        "{said}"
    );
    let wrong = run(&home, "data fetch mnist --mirror nowhere --data-dir sets");
    says(&wrong, "“nowhere” is not the URL of a mirror.");
    assert_eq!(run(&home, "data fetch cifar").status.code(), Some(2));
    let mut command = inkling(home.path());
    let from_environment = command
        .args(words("data fetch mnist --data-dir sets"))
        .env("INKLING_DATA_MIRROR", &mirror)
        .output()
        .unwrap();
    let said = stderr(&from_environment);
    assert!(
        said.contains(&format!("Could not connect to {mirror}mnist/train-labels")),
        "{said}"
    );
}
