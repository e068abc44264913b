//! What may be shared of the log.

use std::path::Path;

use inkling::system::log::{Names, last_lines, shareable};

fn names() -> Names {
    Names::new(
        Some(Path::new("/home/annabel")),
        ["anna".to_owned()],
        Some("annas-laptop.example.org".to_owned()),
    )
}

fn shared(line: &str) -> Option<String> {
    shareable(&format!("2026-11-23T03:46:00Z 4711 {line}"), &names())
        .map(|line| line[26..].to_owned())
}

#[test]
fn messages_of_inkling_are_kept_and_values_are_not() {
    let line = r#"INFO inkling::runs: a leftover remains path="/home/annabel/runs/Oma \"Ilse\" = 3.png" error="Permission denied: x (os error 13)" step="4""#;
    let shown = shared(line).unwrap();
    let system = std::io::Error::from_raw_os_error(13);
    assert_eq!(
        shown,
        format!(r#"INFO inkling::runs: a leftover remains path="…" error="… {system}" step="…""#)
    );
    let own = r#"INFO inkling: started version="0.1.0" command="train""#;
    assert_eq!(shared(own).unwrap(), own);
    assert_eq!(
        shared("WARN winit::window: /home/annabel/secret could not be opened").unwrap(),
        "WARN winit::window: …"
    );
}

#[test]
fn what_is_no_whole_line_of_the_log_is_left_out() {
    for line in [
        "",
        "annabel",
        "path=\"/home/annabel",
        "2026 x INFO inkling: message",
        "2026 12 SECRET inkling: message",
    ] {
        assert_eq!(shareable(line, &names()), None, "{line}");
    }
    // A line that ends in the middle of a value, as on a full disk.
    assert_eq!(
        shared(r#"INFO inkling: opened path="/home/annabel/let"#)
            .unwrap_or_default()
            .find("let"),
        None
    );
}

#[test]
fn names_are_replaced_as_words_in_any_case() {
    let text =
        "/home/annabel/x ANNA's anna_1 annas hannah Annas-Laptop annas-laptop.example.org annabel";
    let replaced = names().replaced(text);
    assert_eq!(
        replaced,
        "<home>/x <user>'s <user>_1 annas hannah <host> <host> <user>"
    );
    assert_eq!(
        Names::new(Some(Path::new("/")), [String::new()], None).replaced(text),
        text
    );
}

#[test]
fn the_last_lines_come_from_as_many_files_as_it_takes() {
    let folder = tempfile::tempdir().unwrap();
    for (name, lines) in [
        ("inkling.2.log", "1\n2\n"),
        ("inkling.1.log", "3\n4\n"),
        ("inkling.log", "5\n6"),
    ] {
        std::fs::write(folder.path().join(name), lines).unwrap();
    }
    assert_eq!(last_lines(folder.path(), 3), ["4", "5", "6"]);
    assert_eq!(last_lines(folder.path(), 9), ["1", "2", "3", "4", "5", "6"]);
    assert!(last_lines(&folder.path().join("none"), 3).is_empty());
}

#[test]
fn panics_are_logged() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = std::process::Command::new(std::env::current_exe().unwrap());
    program
        .args(["--ignored", "--exact", "system::log::a_thread_panics"])
        .env(LOG_FOLDER, folder.path());
    assert!(!program.output().unwrap().status.success());
    let lines = last_lines(folder.path(), 10);
    let panic = lines
        .iter()
        .find(|line| line.contains("a thread panicked"))
        .unwrap();
    assert!(
        panic.contains("system/log.rs:") && panic.contains(r#"text="on \"purpose\"""#),
        "{panic}"
    );
    let shared = shareable(panic, &names()).unwrap();
    assert!(
        shared.contains("system/log.rs:") && !shared.contains("purpose"),
        "{shared}"
    );
}

/// Where the test below logs: the log is that of a whole process.
const LOG_FOLDER: &str = "INKLING_TEST_LOG_FOLDER";

#[test]
#[ignore = "called by panics_are_logged, in a separate process"]
fn a_thread_panics() {
    let Some(folder) = std::env::var_os(LOG_FOLDER) else {
        return;
    };
    inkling::system::log::start(Path::new(&folder), None);
    panic!("on \"purpose\"");
}
