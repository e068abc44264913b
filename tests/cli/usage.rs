//! What cannot be is refused at once, with exit status 2 and a sentence; help and version are no failures.

use super::{run, stderr, stdout};

#[test]
fn bad_usage_ends_with_status_2_and_says_why() {
    let home = tempfile::tempdir().unwrap();
    for (arguments, word) in [
        (&["train", "--epochs", "0"][..], "number of epochs"),
        (&["train", "--epochs", "-3"], "-3"),
        (&["train", "--epochs", "many"], "many"),
        (&["train", "--batch-size", "0"], "batch size"),
        (&["train", "--batch-size", "100000"], "8192"),
        (&["train", "--lr", "NaN"], "NaN"),
        (&["train", "--lr", "-1"], "-1"),
        (&["train", "--threads", "0"], "number of threads"),
        (&["train", "--preset", "fastest"], "one-epoch"),
        (&["train", "--model", "resnet"], "lenet"),
        (&["train", "--optimizer", "lbfgs"], "adamw"),
        (&["train", "--weight-decay", "2"], "2"),
        (&["train", "--momentum", "1"], "The momentum is out of range"),
        (&["train", "--label-smoothing", "0.9"], "0.5"),
        (&["train", "--clip-norm", "0"], "gradient clipping is out of range"),
        (&["train", "--accumulation", "0"], "accumulation is out of range"),
        (&["train", "--weight-averaging", "1"], "below 1"),
        (&["train", "--early-stopping", "0"], "early stopping is out of range"),
        (&["train", "--augmentation", "wild"], "gentle"),
        (&["train", "--precision", "f64"], "f32"),
        (&["train", "--device", "tpu"], "auto"),
        (&["train", "--data", "mnist++builtin"], "mnist++builtin"),
        (&["train", "--device", "cuda"], "cuda"),
        (&["eval"], "--data"),
        (&["predict"], "INPUT"),
        (&["export", "--model", "a", "--format", "onnx"], "--out"),
        (&["export", "--model", "a", "--format", "tflite", "--out", "b"], "onnx"),
        (&["export", "--model", "a", "--format", "pytorch", "--out", "b", "--quantize"], "--quantize applies only to ONNX"),
        (&["export", "--model", "a", "--format", "card", "--out", "b", "--weights", "f16"], "card contains none"),
        (&["export", "--model", "a", "--format", "onnx", "--out", "b", "--opset", "12"], "13..=26"),
        (&["export", "--model", "a", "--format", "onnx", "--out", "b", "--preprocessing", "maybe"], "on or off"),
        (&["import"], "FILE"),
        (&["import", "a", "--mean", "0.1"], "--std"),
        (&["import", "a", "--mean", "0.1", "--std", "0"], "above 0"),
        (&["data", "show", "builtin"], "--out"),
        (&["hardware", "--watch", "--self-test"], "--self-test"),
        (&["fly"], "fly"),
        (&["fly.safetensors"], "does not exist"),
        (&["no/such/drawing"], "does not exist"),
        (&["train", "--fly"], "--fly"),
    ] {
        let output = run(home.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stdout(&output).is_empty(), "{arguments:?}");
        assert!(stderr(&output).contains(word), "{arguments:?} does not say {word:?}: {}", stderr(&output));
    }
    assert!(!home.path().join("runs").exists(), "nothing was begun");
}

#[test]
fn everything_wrong_is_said_at_once() {
    let home = tempfile::tempdir().unwrap();
    let said = stderr(&run(home.path(), &["train", "--epochs", "0", "--batch-size", "0"]));
    assert!(said.contains("epochs") && said.contains("batch"), "{said}");
}

#[test]
fn help_and_version_are_answers() {
    let home = tempfile::tempdir().unwrap();
    for (arguments, word) in [(&["--help"][..], "predict"), (&["train", "--help"], "--preset"), (&["--version"], env!("CARGO_PKG_VERSION"))]
    {
        let output = run(home.path(), arguments);
        assert_eq!(output.status.code(), Some(0));
        assert!(stdout(&output).contains(word), "{arguments:?}: {}", stdout(&output));
    }
}

/// On other systems the window needs no such variable.
#[cfg(target_os = "linux")]
#[test]
fn without_a_display_one_sentence_names_the_command_line() {
    let home = tempfile::tempdir().unwrap();
    let output = run(home.path(), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stdout(&output).is_empty());
    let said = stderr(&output);
    assert!(said.contains("inkling train") && said.lines().count() == 1 && said.trim_end().ends_with('.'), "{said}");
}

/// The variable is set, but nothing answers there.
#[cfg(all(target_os = "linux", feature = "gui"))]
#[test]
fn an_unreachable_display_gets_the_same_sentence() {
    let home = tempfile::tempdir().unwrap();
    let output = super::inkling(home.path()).env("DISPLAY", ":65001").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("inkling train"), "{}", stderr(&output));
}

#[test]
fn help_and_manual_name_every_command_and_every_exit_status() {
    let home = tempfile::tempdir().unwrap();
    let help = stdout(&run(home.path(), &["--help"]));
    let manual = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/linux.d/inkling.1")).unwrap();
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' '))?.split_whitespace().next())
        .collect();
    assert!(["import", "export", "train"].iter().all(|command| commands.contains(command)), "{help}");
    // The engine is for the window alone.
    for command in commands.into_iter().filter(|command| *command != "engine") {
        let named = |line: &str| [format!(".BR {command} ,"), format!(".B {command}")].contains(&line.trim().to_owned());
        assert!(manual.lines().any(named), "{command} is not in the manual");
    }
    for status in ["1 failure", "2 invalid usage", "130 after", "143 after", "129 after"] {
        assert!(help.contains(status) && manual.contains(status), "{status}");
    }
}

#[test]
fn every_shell_can_complete_commands_and_options() {
    let home = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = run(home.path(), &["completions", shell]);
        assert_eq!(output.status.code(), Some(0), "{shell}: {}", stderr(&output));
        let script = stdout(&output);
        for word in ["train", "find-batch-size", "checkpoint-activations"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
    assert_eq!(run(home.path(), &["completions", "command.com"]).status.code(), Some(2));
}
