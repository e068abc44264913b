//! Ink files: JSON in any layout, JSON lines, gzipped or not; damaged ones name the file and the
//! line.

use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use inkling::ink::{InkEntry, InkError, read_ink_file};
use tempfile::TempDir;

use crate::data::gzip;

fn saved(name: &str, bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn entries(name: &str, bytes: &[u8]) -> Result<Vec<InkEntry>, InkError> {
    let (_folder, path) = saved(name, bytes);
    read_ink_file(&path)?.collect()
}

/// What an error names: `NAME:LINE`.
fn named(error: InkError) -> String {
    let (InkError::Malformed { path, .. }
    | InkError::Unreadable { path, .. }
    | InkError::TooLarge { path, .. }) = error;
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// The end of the path an error names (`NAME:LINE`), and its reason.
fn complaint(name: &str, bytes: &[u8]) -> (String, String) {
    match entries(name, bytes).unwrap_err() {
        InkError::Malformed { path, reason } => (
            path.file_name().unwrap().to_string_lossy().into_owned(),
            reason,
        ),
        other => panic!("{other}"),
    }
}

const LINES: &str = "{\"strokes\": [[[0, 1], [2.5, 3]]], \"label\": \"7\", \"writer\": {\"}\": \"a\\\"}\"}}\n\n{\"strokes\": [], \"pen\": 4}\n{\"label\": 3, \"strokes\": [[[1, 2]]]}";

#[test]
fn json_lines_give_each_drawing_with_its_line() {
    for (name, bytes) in [
        ("a.jsonl", LINES.as_bytes().to_vec()),
        ("a.jsonl.gz", gzip(LINES.as_bytes())),
        ("a.txt", gzip(LINES.as_bytes())),
    ] {
        let entries = entries(name, &bytes).unwrap();
        let found: Vec<_> = entries
            .iter()
            .map(|entry| (entry.line, entry.label))
            .collect();
        assert_eq!(
            found,
            [(Some(1), Some('7')), (Some(3), None), (Some(4), Some('3'))],
            "{name}"
        );
        assert_eq!(entries[0].ink.strokes, [vec![[0.0, 1.0], [2.5, 3.0]]]);
        assert_eq!(entries[1].ink.pen, Some(4.0));
    }
}

#[test]
fn a_single_drawing_may_be_laid_out_in_any_way() {
    let json = "\n{\n  \"strokes\": [\n    [[0, 0], [1, 1]]\n  ]\n}\n";
    let single = entries("a.json", json.as_bytes()).unwrap();
    assert_eq!((single.len(), single[0].line), (1, None));
    // Named as lines it is one, even alone, so that what is printed for it does not change when a
    // second is added.
    assert_eq!(
        entries("a.jsonl", b"{\"strokes\": []}").unwrap()[0].line,
        Some(1)
    );
}

#[test]
fn a_line_that_makes_no_sense_costs_only_itself() {
    let good = "{\"strokes\": []}";
    for bad in [
        "{\"strokes\": 5}",
        "{\"strokes\": [",
        "junk",
        "{\"note\": \"",
        "{}{}",
        "]",
    ] {
        let text = format!("{good}\n{bad}\n\n{good} and more\n{bad}\n{good}");
        let read = |name: &str, bytes: &[u8]| {
            let (_folder, path) = saved(name, bytes);
            let line_of = |entry: InkEntry| entry.line.unwrap().to_string();
            let found = read_ink_file(&path)
                .unwrap()
                .map(|entry| entry.map(line_of).map_err(named))
                .collect::<Vec<_>>();
            found
                .into_iter()
                .map(|found| found.unwrap_or_else(|place| format!("not {place}")))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            read("a.jsonl", text.as_bytes()),
            [
                "1",
                "not a.jsonl:2",
                "4",
                "not a.jsonl:4",
                "not a.jsonl:5",
                "6"
            ],
            "{bad}"
        );
        assert_eq!(
            read("b.ndjson.gz", &gzip(text.as_bytes()))[4..],
            ["not b.ndjson.gz:5", "6"],
            "{bad}"
        );
        // In other files nobody knows where the next drawing begins.
        assert_eq!(
            read("a.json", text.as_bytes()),
            ["1", "not a.json:2"],
            "{bad}"
        );
    }
}

#[test]
fn damage_is_told_with_file_and_line() {
    let good = "{\"strokes\": []}\n";
    for (bad, words) in [
        ("{\"strokes\": [[[1]]]}", "invalid length 1"),
        ("{\"strokes\": [[[NaN, 1]]]}", "expected value"),
        ("{\"stroke\": []}", "missing field `strokes`"),
        ("[1, 2]", "not a JSON object"),
        ("junk", "not a JSON object"),
        (
            "{\"strokes\": [], \"label\": \"seven\"}",
            "not a single character",
        ),
        ("{\"strokes\": [], \"label\": 12}", "not a single character"),
        ("{\"strokes\": [[[1, 2]", "incomplete"),
        ("\u{0}\u{1}", "not a JSON object"),
    ] {
        let (name, reason) = complaint("a.jsonl", format!("{good}{good}{bad}\n").as_bytes());
        assert_eq!(name, "a.jsonl:3", "{bad}");
        assert!(reason.contains(words), "{bad}: {reason}");
    }
    // In a layout of several lines it is the line of the damage.
    assert_eq!(
        complaint("a.json", b"{\"strokes\":\n[\n[[1, 2]],\n[[x, 2]]\n]}").0,
        "a.json:4"
    );
}

#[test]
fn files_without_drawings_say_so() {
    for empty in [&b""[..], b"\n \n", &gzip(b"")] {
        assert!(complaint("a.json", empty).1.contains("no drawing"));
    }
}

#[test]
fn a_gzip_file_cut_short_is_told() {
    let whole = gzip(LINES.repeat(50).as_bytes());
    let (name, _) = complaint("a.jsonl.gz", &whole[..whole.len() / 2]);
    assert!(name.starts_with("a.jsonl.gz:"), "{name}");
    complaint("a.jsonl.gz", &[0x1F, 0x8B, 8, 0, 1, 2, 3]);
}

#[test]
fn bombs_are_given_up_early() {
    // Each unpacks to 64 MB: blanks, an endless drawing, an endless text in one.
    for begin in ["", "{\"strokes\": [", "{\"strokes\": [], \"note\": \""] {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(begin.as_bytes()).unwrap();
        for _ in 0..64 {
            encoder.write_all(&vec![b' '; 1 << 20]).unwrap();
        }
        let (name, reason) = complaint("a.jsonl.gz", &encoder.finish().unwrap());
        assert_eq!(name, "a.jsonl.gz:1");
        assert!(reason.contains("1048576 bytes"), "{reason}");
    }
}

#[test]
fn numbers_beyond_f32_are_read_and_nesting_is_bounded() {
    // Ink skips points that are not finite, so 1e300 costs its point and nothing else.
    let entries = entries("a.json", b"{\"strokes\": [[[1e300, 1], [1, 2]]]}").unwrap();
    assert!(!entries[0].ink.is_empty());
    let deep = format!(
        "{{\"strokes\": {}1{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    complaint("a.json", deep.as_bytes());
    // Of what is skipped, no depth matters.
    let deep = format!(
        "{{\"strokes\": [], \"x\": {}1{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert_eq!(
        self::entries("a.json", deep.as_bytes()).map(|entries| entries.len()),
        Ok(1)
    );
}

#[test]
fn what_cannot_be_opened_is_unreadable() {
    let folder = tempfile::tempdir().unwrap();
    for path in [
        folder.path(),
        &folder.path().join("absent.jsonl"),
        Path::new(""),
    ] {
        let error = read_ink_file(path).map(Iterator::count);
        assert!(
            matches!(error, Err(InkError::Unreadable { .. })),
            "{}",
            path.display()
        );
    }
}

#[test]
fn a_writer_is_a_text_of_limited_length_and_nothing_else() {
    let long = "é".repeat(100);
    let line = |writer: &str| format!(r#"{{"strokes":[[[0,0],[1,1]]],"writer":{writer}}}"#) + "\n";
    let file: String = [
        r#""Ada""#,
        "7",
        "null",
        r#"{"name":"Ben"}"#,
        &format!("\"{long}\""),
    ]
    .map(line)
    .concat();
    let writers: Vec<Option<String>> = entries("a.jsonl", file.as_bytes())
        .unwrap()
        .into_iter()
        .map(|entry| entry.writer)
        .collect();
    assert_eq!(
        writers,
        [
            Some("Ada".to_owned()),
            None,
            None,
            None,
            Some("é".repeat(64))
        ]
    );
}

#[test]
fn pressures_are_read_where_there_is_one_for_each_point() {
    let with = |pressures: &str| {
        let json = format!(
            "{{\"strokes\": [[[0, 0], [1, 1]], [[5, 5]]], \"pressures\": {pressures}, \"pen\": 2}}"
        );
        entries("a.json", json.as_bytes()).unwrap().remove(0)
    };
    assert_eq!(
        with("[[0.5, 1], [0]]").pressures,
        [vec![0.5, 1.0], vec![0.0]]
    );
    assert_eq!(with("[[], [0.25]]").pressures, [Vec::new(), vec![0.25]]);
    // Other programs may call something else so: that costs nothing but the pressures.
    for odd in [
        "[[0.5], [0]]",
        "[[0.5, 1]]",
        "[[0.5, 2], [0]]",
        "[[0.5, -1], [0]]",
        "\"high\"",
        "[1, 2, 3]",
        "{}",
        "null",
    ] {
        let entry = with(odd);
        assert!(
            entry.pressures.is_empty()
                && entry.ink.strokes.len() == 2
                && entry.ink.pen == Some(2.0),
            "{odd}"
        );
    }
    let ink = with("[[], []]").ink;
    assert_eq!(ink.json_with(&[Vec::new(), Vec::new()]), ink.json());
    let written = ink.json_with(&[vec![0.5, 0.75], Vec::new()]).unwrap();
    assert_eq!(
        entries("a.json", written.as_bytes()).unwrap()[0].pressures,
        [vec![0.5, 0.75], Vec::new()]
    );
}
