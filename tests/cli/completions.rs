//! What a shell is told to complete.

use super::{exits, home_with_set, run, stdout, succeed};

/// Titles that a shell would run, split or expand if it could.
const TITLES: [&str; 3] = [
    "My best run",
    "$(touch x) `touch y`; touch z",
    "it's \"5\" * \\ !",
];

#[test]
fn every_shell_can_complete_commands_and_options() {
    let home = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = stdout(&succeed(&home, &["completions", shell]));
        for word in ["train", "find-batch-size", "activation-checkpointing"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
    exits(&run(&home, "completions command.com"), 2);
    exits(&run(&home, "completions"), 2);
}

#[test]
fn runs_and_data_sets_are_completed_by_name() {
    let home = home_with_set(100, 20);
    for title in TITLES {
        succeed(&home, "train --network linear --data set --epochs 1");
        succeed(&home, &["runs", "rename", "latest", title]);
    }
    let names = |of: &str| stdout(&succeed(&home, &["completions", "--names", of]));
    let runs = names("runs");
    let newest_first: Vec<&str> = ["latest"]
        .into_iter()
        .chain(TITLES.into_iter().rev())
        .collect();
    assert_eq!(runs.lines().collect::<Vec<_>>(), newest_first);
    assert!(names("data").lines().any(|name| name == "fashion-mnist"));
    // A script asks for them wherever a run or a data set is named.
    let script = |shell: &str| stdout(&succeed(&home, &["completions", shell]));
    let zsh = script("zsh");
    for argument in [
        "--model=",
        "--config=",
        "--reproduce=",
        "--initial-weights=",
        "*::runs -- ",
        ":run -- ",
    ] {
        let line = zsh.lines().find(|line| line.contains(argument)).unwrap();
        assert!(line.contains(":_inkling_names runs'"), "{line}");
    }
    assert!(!zsh.contains(":_hosts'") && !zsh.contains(":_users'"));
    let fish = script("fish");
    for end in [
        "using_subcommand compare\" -k -a \"(inkling completions --names runs 2>/dev/null)\"",
        "using_subcommand runs; and __fish_seen_subcommand_from show\" -k",
        "using_subcommand eval\" -l data -r -k -a \"(inkling completions --names data",
    ] {
        assert!(fish.contains(end), "{end}");
    }
}

#[cfg(unix)]
#[test]
fn bash_quotes_what_it_completes_and_runs_nothing() {
    use std::os::unix::fs::symlink;
    use std::process::Command;
    let home = home_with_set(100, 20);
    for title in TITLES {
        succeed(&home, "train --network linear --data set --epochs 1");
        succeed(&home, &["runs", "rename", "latest", title]);
    }
    let programs = home.path().join("programs");
    std::fs::create_dir(&programs).unwrap();
    symlink(env!("CARGO_BIN_EXE_inkling"), programs.join("inkling")).unwrap();
    let script = stdout(&succeed(&home, "completions bash"));
    std::fs::write(home.path().join("script"), script).unwrap();
    // What bash does for a word: the candidates, then what the shell makes of the command with each.
    let completed = |command: &str, word: &str, typed: &str| {
        let program = format!(
            "source ./script; COMP_WORDS=(inkling {command} \"$1\"); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _inkling inkling \"$2\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let path = std::env::var("PATH").unwrap();
        let mut bash = Command::new("bash");
        let bash = bash
            .args(["-c", &program, "bash", word, typed])
            .env("INKLING_HOME", home.path())
            .env("PATH", format!("{}:{path}", programs.display()))
            .current_dir(home.path());
        let output = bash.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        stdout(&output)
            .lines()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    for (quote, command) in [
        ("", "eval --model"),
        ("\"", "runs show"),
        ("'", "train --config"),
    ] {
        let found = completed(command, quote, "");
        assert_eq!(found.len(), 4, "{found:?}");
        for (title, found) in TITLES.into_iter().rev().zip(&found[1..]) {
            let mut shell = Command::new("bash");
            let shell = shell
                .args(["-c", &format!("printf %s {quote}{found}{quote}")])
                .current_dir(home.path());
            assert_eq!(stdout(&shell.output().unwrap()), title, "{found}");
        }
    }
    assert_eq!(
        completed("compare --data", "fash", "fash"),
        ["fashion-mnist"]
    );
    assert_eq!(
        completed("compare", "My\\ b", "My\\ b"),
        ["My\\ best\\ run"]
    );
    for touched in ["x", "y", "z"] {
        assert!(!home.path().join(touched).exists());
    }
}
