//! What the machine has, and how busy it is, in the terminal.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use inkling::hardware::{Hardware, LoadSample};

use super::{inkling, keys, run, stderr, stdout};

#[test]
fn the_machine_is_described_for_people_and_for_scripts() {
    let home = tempfile::tempdir().unwrap();
    let said = stdout(&run(&home, &["hardware"]));
    assert!(said.contains("CPU") && said.contains("Memory"), "{said}");
    let found: Hardware =
        serde_json::from_str(&stdout(&run(&home, &["hardware", "--json"]))).unwrap();
    assert!(found.memory_total > 0);
}

#[test]
fn how_busy_it_is_is_said_again_and_again_while_somebody_listens() {
    let home = tempfile::tempdir().unwrap();
    for json in [true, false] {
        let mut watch = inkling(home.path());
        watch
            .args(["hardware", "--watch"])
            .args(json.then_some("--json"));
        let mut child = watch
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        for _ in 0..2 {
            let line = lines.next().unwrap().unwrap();
            if json {
                let reading: LoadSample = serde_json::from_str(&line).unwrap();
                assert!(
                    (0.0..=1.0).contains(&reading.processor)
                        && reading.memory_available < reading.memory_total,
                    "{line}"
                );
                assert_eq!(
                    keys(&line)[..3],
                    ["processor", "memory_total", "memory_available"]
                );
            } else {
                assert!(
                    line.starts_with("CPU ")
                        && line.contains("%, memory ")
                        && line.contains(" of "),
                    "{line}"
                );
            }
        }
        drop(lines);
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            (output.status.code(), stderr(&output).as_str()),
            (Some(0), ""),
            "nobody listens any more"
        );
    }
}
