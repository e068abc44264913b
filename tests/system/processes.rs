//! Child processes.

use std::process::Command;
use std::time::{Duration, Instant};

use inkling::system::process::run_within;

fn sh(script: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", script]);
    shell
}

#[test]
fn what_a_process_writes_and_how_it_ends_is_known() {
    let (output, exit) = run_within(
        sh("printf 'one\\ntwo\\n'; echo wrong >&2; exit 3"),
        Duration::from_mins(1),
    )
    .unwrap();
    assert_eq!(output.as_str(), "one\ntwo\n");
    assert_eq!(exit.stderr_tail.as_str(), "wrong");
    assert!(!exit.is_success);
    assert!(exit.status.contains('3'), "{}", exit.status);
}

/// As OpenSSH does, whose connection is kept for later commands.
#[test]
fn a_process_that_stays_behind_with_the_pipes_holds_nobody_up() {
    let begun = Instant::now();
    let (output, exit) =
        run_within(sh("sleep 300 & printf started"), Duration::from_mins(1)).unwrap();
    assert_eq!((output.as_str(), exit.is_success), ("started", true));
    assert!(begun.elapsed() < Duration::from_mins(1));
}

/// No more of what a process writes is kept than has been agreed on, however it writes it.
#[test]
fn a_process_that_writes_without_end_takes_no_memory() {
    let limit = Duration::from_mins(1);
    for flood in ["cat /dev/zero", "yes", "yes >&2 & cat /dev/zero"] {
        let error = run_within(sh(flood), limit).unwrap_err();
        assert!(error.contains("printed more than 8 MB"), "{flood}: {error}");
    }
    let (output, exit) = run_within(
        sh("head -c 50000000 /dev/zero | tr '\\0' x >&2; echo whole"),
        limit,
    )
    .unwrap();
    assert_eq!(output, "whole\n");
    assert!(
        exit.stderr_tail.len() <= 4096 && exit.stderr_tail.starts_with("xxx"),
        "{} bytes are kept",
        exit.stderr_tail.len()
    );
    let (_, exit) =
        run_within(sh("for line in 1 2 3 4 5 6 7 8 9; do head -c 100000 /dev/zero | tr '\\0' $line; echo; done >&2"), limit).unwrap();
    assert_eq!(
        exit.stderr_tail
            .lines()
            .map(|line| (line.len(), &line[..1]))
            .collect::<Vec<_>>()
            .first(),
        Some(&(4096, "2"))
    );
    assert!(
        exit.stderr_tail.len() < 8 * 4097,
        "{} bytes are kept",
        exit.stderr_tail.len()
    );
}
