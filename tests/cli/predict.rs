//! Reading pictures and ink from the terminal.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Output, Stdio};

use image::{GrayImage, Luma};
use serde_json::Value;

use super::{
    exits, fails, inkling, keys, objects, prints, run, says, stderr, stdout, succeed, words,
};
use crate::data::gzip;

/// A plain stroke downwards.
const ONE: &str = r#"{"strokes": [[[50, 10], [50, 40], [50, 90]]]}"#;

/// A dark stroke downwards on white paper.
fn one() -> GrayImage {
    GrayImage::from_fn(60, 80, |x, y| {
        let is_dark = (27..33).contains(&x) && (15..65).contains(&y);
        Luma([if is_dark { 20 } else { 250 }])
    })
}

fn write_one(path: &Path) {
    one().save(path).unwrap();
}

#[track_caller]
fn assert_all_are_ones(output: &Output) {
    let is_one = |object: &Value| object["digit"] == 1;
    assert!(objects(output).iter().all(is_one), "{}", stdout(output));
}

fn paths(output: &Output) -> Vec<String> {
    objects(output)
        .iter()
        .map(|object| object["path"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_prediction_has_the_promised_shape() {
    let home = tempfile::tempdir().unwrap();
    write_one(&home.path().join("one.png"));
    let output = succeed(&home, "predict one.png --json");
    assert_eq!(
        keys(&stdout(&output)),
        [
            "path",
            "digit",
            "label",
            "confidence",
            "probabilities",
            "is_digit",
            "digit_score",
            "text",
            "digits"
        ]
    );
    let object = &objects(&output)[0];
    let probabilities: Vec<f64> = object["probabilities"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p.as_f64().unwrap())
        .collect();
    assert_eq!(probabilities.len(), 10);
    assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-4);
    assert_eq!(
        (&object["digit"], &object["label"]),
        (&1.into(), &"1".into()),
        "{object}"
    );
    assert_eq!(object["confidence"].as_f64(), Some(probabilities[1]));
    assert!(object["is_digit"].is_boolean() && object["digit_score"].is_number());
    assert_eq!(object["digits"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        object["digits"][0]["box"],
        serde_json::json!([27.0, 15.0, 6.0, 50.0])
    );
}

/// Two strokes downwards, side by side.
const ELEVEN: &str =
    r#"{"strokes": [[[50, 10], [50, 40], [50, 90]], [[90, 12], [90, 40], [90, 94]]]}"#;

#[test]
fn several_digits_are_read_as_a_number() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("number.json"), ELEVEN).unwrap();
    let output = run(&home, "predict --json number.json");
    let object = &objects(&output)[0];
    assert_eq!(object["text"], "11", "{object}");
    let digits = object["digits"].as_array().unwrap();
    let keys: Vec<_> = digits[0].as_object().unwrap().keys().collect();
    assert_eq!(keys.len(), 6, "{keys:?}");
    assert!(
        ["digit", "label", "confidence", "is_digit", "digit_score"]
            .iter()
            .all(|key| !digits[1][key].is_null()),
        "{object}"
    );
    assert_eq!(digits[1]["box"], serde_json::json!([90.0, 12.0, 0.0, 82.0]));
    // What belongs to one digit is nobody's here.
    assert!(
        [
            "digit",
            "label",
            "confidence",
            "probabilities",
            "is_digit",
            "digit_score"
        ]
        .iter()
        .all(|key| object[key].is_null()),
        "{object}"
    );
    let said = stdout(&run(&home, &["predict", "number.json"]));
    assert!(
        said.starts_with("number.json: 11 (1 — ") && said.lines().count() == 1,
        "{said}"
    );
}

#[test]
fn all_formats_of_images_are_read_and_found_in_folders() {
    let home = tempfile::tempdir().unwrap();
    let names = words("a.bmp b.gif c.jpg d.pgm e.png f.tif g.TIFF h.webp");
    fs::create_dir(home.path().join("images")).unwrap();
    for name in &names {
        let path = home.path().join("images").join(name);
        let picture = image::DynamicImage::from(one());
        // GIF and WebP have no gray of their own.
        if name.ends_with("gif") || name.ends_with("webp") {
            picture.to_rgb8().save(path)
        } else {
            picture.save(path)
        }
        .unwrap();
    }
    let output = succeed(&home, "predict --json images");
    assert_eq!(objects(&output).len(), names.len());
    assert_all_are_ones(&output);
}

#[test]
fn people_get_a_line_an_input() {
    let home = tempfile::tempdir().unwrap();
    write_one(&home.path().join("one.png"));
    fs::write(home.path().join("ink.json"), ONE).unwrap();
    let said = stdout(&run(&home, "predict one.png ink.json"));
    let lines: Vec<_> = said.lines().collect();
    assert!(
        lines.len() == 2 && lines[0].starts_with("one.png: ") && lines[1].starts_with("ink.json: "),
        "{said}"
    );
    assert!(lines.iter().all(|line| line.contains('1')), "{said}");
}

#[test]
fn drawings_of_json_lines_are_named_by_their_line() {
    let home = tempfile::tempdir().unwrap();
    let text = format!("{ONE}\n\n{ONE}\n");
    fs::write(home.path().join("ink.jsonl"), &text).unwrap();
    fs::write(home.path().join("packed.jsonl.gz"), gzip(text.as_bytes())).unwrap();
    let output = succeed(&home, "predict --json ink.jsonl packed.jsonl.gz");
    assert_eq!(
        paths(&output),
        [
            "ink.jsonl:1",
            "ink.jsonl:3",
            "packed.jsonl.gz:1",
            "packed.jsonl.gz:3"
        ]
    );
}

#[test]
fn a_folder_is_read_with_all_folders_in_it_in_order_and_without_what_is_hidden_or_not_ours() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("drawings");
    fs::create_dir_all(folder.join("more/deep")).unwrap();
    fs::create_dir_all(folder.join(".hidden")).unwrap();
    write_one(&folder.join("b.png"));
    write_one(&folder.join("c.JPG"));
    write_one(&folder.join("._b.png"));
    write_one(&folder.join(".hidden/e.png"));
    fs::write(folder.join("a.json"), ONE).unwrap();
    fs::write(folder.join("notes.txt"), "not ours").unwrap();
    fs::write(folder.join("e.ink"), ONE).unwrap();
    write_one(&folder.join("more/deep/d.png"));
    let output = succeed(&home, "predict --json drawings");
    let expected = ["a.json", "b.png", "c.JPG", "e.ink", "more/deep/d.png"]
        .map(|name| Path::new("drawings").join(name).display().to_string());
    assert_eq!(paths(&output), expected);
}

#[cfg(unix)]
#[test]
fn links_are_followed_but_not_in_circles() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("drawings");
    fs::create_dir_all(folder.join("in/deep")).unwrap();
    write_one(&folder.join("in/deep/a.png"));
    std::os::unix::fs::symlink(&folder, folder.join("in/deep/round")).unwrap();
    std::os::unix::fs::symlink(folder.join("in/deep"), folder.join("zz")).unwrap();
    let output = succeed(&home, "predict --json drawings");
    assert_eq!(paths(&output).len(), 1, "{}", stdout(&output));
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_read() {
    let home = tempfile::tempdir().unwrap();
    write_one(&home.path().join("one.png"));
    fs::write(home.path().join("broken.png"), b"\x89PNG broken").unwrap();
    fs::write(
        home.path().join("broken.jsonl"),
        format!("{ONE}\nnonsense\n{ONE}\n"),
    )
    .unwrap();
    fs::create_dir(home.path().join("empty")).unwrap();
    let output = run(
        &home,
        "predict --json missing.png broken.png broken.jsonl empty one.png",
    );
    exits(&output, 1);
    assert_eq!(
        paths(&output),
        ["broken.jsonl:1", "broken.jsonl:3", "one.png"]
    );
    let said = stderr(&output);
    assert_eq!(said.lines().count(), 4, "{said}");
    for name in ["missing.png", "broken.png", "broken.jsonl:2", "empty"] {
        assert!(said.contains(name), "{name} is not named: {said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_link_into_the_files_of_the_kernel_is_not_followed() {
    let home = tempfile::tempdir().unwrap();
    let images = home.path().join("images");
    fs::create_dir(&images).unwrap();
    write_one(&images.join("one.png"));
    std::os::unix::fs::symlink("/proc/self", images.join("process")).unwrap();
    std::os::unix::fs::symlink("/sys", images.join("system")).unwrap();
    // `cwd` in there leads back to it.
    write_one(&home.path().join("two.png"));
    let output = succeed(&home, "predict --json images");
    assert_eq!(paths(&output), ["images/one.png"]);
}

#[cfg(unix)]
#[test]
fn pipes_are_refused_whatever_their_names_say() {
    let home = tempfile::tempdir().unwrap();
    write_one(&home.path().join("one.png"));
    let pipes = ["pipe.png", "pipe.jsonl", "pipe.json.gz", "pipe"];
    for name in pipes {
        assert!(
            std::process::Command::new("mkfifo")
                .arg(home.path().join(name))
                .status()
                .unwrap()
                .success()
        );
    }
    let output = run(
        &home,
        &[
            &["predict", "--json"],
            &pipes[..],
            &["/dev/zero", "one.png"],
        ]
        .concat(),
    );
    exits(&output, 1);
    assert_eq!(paths(&output), ["one.png"]);
    assert_eq!(stderr(&output).lines().count(), 5, "{}", stderr(&output));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let home = tempfile::tempdir().unwrap();
    fs::write(
        home.path().join("ink.jsonl"),
        format!("{ONE}\n").repeat(2000),
    )
    .unwrap();
    let mut child = inkling(home.path())
        .args(words("predict --json ink.jsonl"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    out.read_line(&mut first).unwrap();
    drop(out);
    let output = child.wait_with_output().unwrap();
    assert!(first.contains("ink.jsonl:1"), "{first}");
    exits(&output, 0);
    assert_eq!(stderr(&output).as_str(), "");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_under_standard_output_is_said() {
    let home = tempfile::tempdir().unwrap();
    write_one(&home.path().join("one.png"));
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = inkling(home.path())
        .args(words("predict --json one.png"))
        .stdout(full)
        .output()
        .unwrap();
    exits(&output, 1);
    says(&output, "standard output");
}

/// A table of this many rows, each with the plain stroke of a one, and what stands before the
/// pixels.
fn table(header: &str, before: &str, rows: usize) -> String {
    let is_dark = |at| (13..15).contains(&(at % 28)) && (4..24).contains(&(at / 28));
    let pixels = (0..28 * 28).map(|at| if is_dark(at) { "255" } else { "0" });
    let pixels: Vec<&str> = pixels.collect();
    header.to_owned() + &format!("{before}{}\n", pixels.join(",")).repeat(rows)
}

fn header(first: &str) -> String {
    let names = (0..28 * 28).map(|pixel| format!("pixel{pixel}"));
    format!("{first}{}\n", names.collect::<Vec<_>>().join(","))
}

#[test]
fn rows_of_a_table_are_recognized_with_and_without_labels() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("test.csv"), table(&header(""), "", 2)).unwrap();
    fs::write(
        home.path().join("train.csv"),
        table(&header("label,"), "7,", 1),
    )
    .unwrap();
    fs::write(home.path().join("bare"), table("", "", 1)).unwrap();
    let output = succeed(&home, "predict --json test.csv train.csv bare");
    assert_eq!(
        paths(&output),
        ["test.csv:2", "test.csv:3", "train.csv:2", "bare:1"]
    );
    assert_all_are_ones(&output);

    fs::write(home.path().join("odd.csv"), "1,2,3\n").unwrap();
    fails(&home, "predict --json odd.csv", 1, "line 1 has 3 values");
}

#[test]
fn the_digits_of_a_table_are_written_as_kaggle_takes_them() {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    fs::write(at("test.csv"), table(&header(""), "", 3)).unwrap();
    let output = succeed(&home, "predict test.csv --out submission.csv");
    assert_eq!(
        fs::read_to_string(at("submission.csv")).unwrap(),
        "ImageId,Label\n1,1\n2,1\n3,1\n"
    );
    prints(&output, "3 images in test.csv");

    // What is there stays, unless --force is given, and so does the table itself.
    fails(
        &home,
        "predict test.csv --out submission.csv",
        1,
        "submission.csv",
    );
    let output = run(
        &home,
        "predict test.csv --out submission.csv --force --json",
    );
    assert_eq!(keys(&stdout(&output)), ["path", "images"]);
    exits(&run(&home, "predict test.csv --out test.csv --force"), 1);

    // Nothing is written for a table that is damaged, for what is not a table, and for several
    // inputs.
    fs::write(at("cut.csv"), table(&header(""), "", 2) + "0,0\n").unwrap();
    fs::write(at("empty.csv"), header("")).unwrap();
    fs::write(at("ink.json"), ONE).unwrap();
    for (inputs, status) in [
        ("cut.csv", 1),
        ("empty.csv", 1),
        ("ink.json", 1),
        ("test.csv test.csv", 2),
    ] {
        let output = run(&home, &format!("predict --out new.csv {inputs}"));
        exits(&output, status);
        assert!(!at("new.csv").exists(), "{inputs}");
    }
}

/// Recognizes what comes in on standard input.
fn run_with_input(home: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut child = inkling(home)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn standard_input_is_an_image_ink_or_a_table_by_its_content() {
    let home = tempfile::tempdir().unwrap();
    write_one(&home.path().join("one.png"));
    let packed = gzip(format!("{ONE}\n{ONE}\n").as_bytes());
    let packed_table = gzip(table(&header(""), "", 1).as_bytes());
    for (input, expected) in [
        (fs::read(home.path().join("one.png")).unwrap(), &["-"][..]),
        (ONE.as_bytes().to_vec(), &["-"]),
        (packed, &["-:1", "-:2"]),
        (packed_table, &["-:2"]),
        (table("", "1,", 2).into_bytes(), &["-:1", "-:2"]),
    ] {
        let output = run_with_input(home.path(), &["predict", "--json", "-"], &input);
        exits(&output, 0);
        assert_eq!(paths(&output), expected);
        assert_all_are_ones(&output);
    }
    let output = run_with_input(
        home.path(),
        &["predict", "-", "--out", "digits.csv"],
        table("", "", 1).as_bytes(),
    );
    exits(&output, 0);
    assert_eq!(
        fs::read_to_string(home.path().join("digits.csv")).unwrap(),
        "ImageId,Label\n1,1\n"
    );
    for (input, words) in [(&b""[..], "it is empty"), (b"hello", "standard input")] {
        let output = run_with_input(home.path(), &["predict", "-"], input);
        exits(&output, 1);
        says(&output, words);
    }
}
