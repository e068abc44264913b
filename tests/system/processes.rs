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
    let (output, exit) = run_within(sh("printf 'one\\ntwo\\n'; echo wrong >&2; exit 3"), Duration::from_mins(1)).unwrap();
    assert_eq!((output.as_str(), exit.stderr_tail.as_str(), exit.is_success), ("one\ntwo\n", "wrong", false));
    assert!(exit.status.contains('3'), "{}", exit.status);
}

/// As OpenSSH does, whose connection is kept for later commands.
#[test]
fn a_process_that_stays_behind_with_the_pipes_holds_nobody_up() {
    let begun = Instant::now();
    let (output, exit) = run_within(sh("sleep 300 & printf started"), Duration::from_mins(1)).unwrap();
    assert_eq!((output.as_str(), exit.is_success), ("started", true));
    assert!(begun.elapsed() < Duration::from_mins(1));
}
