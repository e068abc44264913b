//! What cannot be is refused at once, with exit status 2 and a sentence; help and version are not
//! failures.

use std::collections::BTreeSet;
use std::path::Path;

use super::{exits, fails, prints, run, says, stderr, stdout, succeed, words};

#[test]
fn bad_usage_ends_with_status_2_and_says_why() {
    let home = tempfile::tempdir().unwrap();
    for (arguments, word) in [
        ("train --epochs 0", "number of epochs"),
        ("train --epochs -3", "-3"),
        ("train --epochs many", "many"),
        ("train --batch-size 0", "batch size"),
        ("train --batch-size 100000", "8192"),
        ("train --learning-rate NaN", "NaN"),
        ("train --learning-rate -1", "-1"),
        ("train --threads 0", "number of threads"),
        ("train --preset fastest", "one-epoch"),
        ("train --network resnet", "lenet"),
        ("train --optimizer lbfgs", "adamw"),
        ("train --weight-decay 2", "2"),
        ("train --momentum 1", "The momentum is out of range"),
        ("train --label-smoothing 0.9", "0.5"),
        ("train --clip-norm 0", "gradient clipping is out of range"),
        ("train --accumulation 0", "accumulation is out of range"),
        ("train --weight-averaging 1", "below 1"),
        ("train --early-stopping 0", "early stopping is out of range"),
        ("train --augmentation wild", "gentle"),
        ("train --precision f64", "f32"),
        ("train --device tpu", "auto"),
        ("train --data mnist++builtin", "mnist++builtin"),
        ("train --device cuda", "cuda"),
        ("eval", "--data"),
        ("predict", "INPUT"),
        ("export --model a --format onnx", "--out"),
        ("export --model a --format tflite --out b", "onnx"),
        (
            "export --model a --format pytorch --out b --quantize",
            "--quantize applies only to ONNX",
        ),
        (
            "export --model a --format card --out b --weights f16",
            "card contains none",
        ),
        (
            "export --model a --format onnx --out b --opset 12",
            "13..=26",
        ),
        (
            "export --model a --format onnx --out b --preprocessing maybe",
            "on or off",
        ),
        ("import", "FILE"),
        ("import a --mean 0.1", "--std"),
        ("import a --mean 0.1 --std 0", "above 0"),
        ("data show builtin", "--out"),
        ("hardware --watch --self-test", "--self-test"),
        ("fly", "fly"),
        ("fly.safetensors", "does not exist"),
        ("no/such/drawing", "does not exist"),
        ("train --fly", "--fly"),
    ] {
        let output = fails(&home, arguments, 2, word);
        assert!(stdout(&output).is_empty(), "{arguments:?}");
    }
    assert!(!home.path().join("runs").exists(), "nothing was begun");
}

#[test]
fn everything_wrong_is_said_at_once() {
    let home = tempfile::tempdir().unwrap();
    let said = stderr(&run(&home, "train --epochs 0 --batch-size 0"));
    assert!(said.contains("epochs") && said.contains("batch"), "{said}");
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let home = tempfile::tempdir().unwrap();
    for (arguments, words) in [
        ("train --resume --widths 64", "cannot be used with"),
        ("train --resume --layers 32C3", "cannot be used with"),
        ("train --reproduce run --repeats 2", "cannot be used with"),
        (
            "sweep --set seed=1,2 --set seed=3,4",
            "seed is given twice. Give it once, with its values separated by commas.",
        ),
        (
            "sweep --set learning-rate=1e-3,1e-2 --set lr=0.1",
            "learning-rate is given twice",
        ),
        ("train --reproduce run --epochs 2", "cannot be used with"),
        (
            "train --data builtin+builtin",
            "Built-in digits is given twice",
        ),
        (
            "eval --data builtin --model x --dropout-passes 0",
            "--dropout-passes",
        ),
        (
            "sweep --set learning-rate=1e-4..1e-2 --hosts box --executor slurm",
            "--hosts is for --executor ssh",
        ),
        (
            "sweep --set learning-rate=1e-4..1e-2 --hosts box --executor local",
            "--hosts is for --executor ssh",
        ),
        (
            "sweep --set learning-rate=1e-4..1e-2 --slurm=--partition=gpu",
            "--slurm is for --executor slurm",
        ),
        (
            "sweep --set learning-rate=1e-4..1e-2 --executor ssh",
            "--executor ssh needs hosts",
        ),
        (
            "train --slurm=--partition=gpu",
            "--slurm is for --executor slurm",
        ),
        (
            "train --hosts box --slurm=--partition=gpu",
            "--slurm is for --executor slurm",
        ),
        (
            "train --hosts box --executor local",
            "--hosts is for --executor ssh",
        ),
    ] {
        fails(&home, arguments, 2, words);
    }
    assert!(!home.path().join("sweeps").exists(), "no sweep was begun");
}

#[test]
fn help_and_version_are_answers() {
    let home = tempfile::tempdir().unwrap();
    for (arguments, word) in [
        ("--help", "predict"),
        ("train --help", "--preset"),
        ("help train", "--preset"),
        ("--version", env!("CARGO_PKG_VERSION")),
    ] {
        prints(&succeed(&home, arguments), word);
    }
}

/// On other systems the window needs no such variable.
#[cfg(target_os = "linux")]
#[test]
fn without_a_display_one_sentence_names_the_command_line() {
    let home = tempfile::tempdir().unwrap();
    let output = run(&home, &[]);
    exits(&output, 2);
    assert!(stdout(&output).is_empty());
    let said = stderr(&output);
    assert!(
        said.contains("inkling train")
            && said.lines().count() == 1
            && said.trim_end().ends_with('.'),
        "{said}"
    );
}

/// The variable is set, but nothing answers there.
#[cfg(all(target_os = "linux", feature = "gui"))]
#[test]
fn an_unreachable_display_gets_the_same_sentence() {
    let home = tempfile::tempdir().unwrap();
    let output = super::inkling(home.path())
        .env("DISPLAY", ":65001")
        .output()
        .unwrap();
    exits(&output, 2);
    says(&output, "inkling train");
}

/// The names under "Commands:", but for `help`, which prints what `--help` does.
fn commands(help: &str) -> Vec<&str> {
    let lines = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty());
    lines
        .filter_map(|line| {
            line.strip_prefix("  ")
                .filter(|rest| !rest.starts_with(' '))?
                .split_whitespace()
                .next()
        })
        .filter(|name| *name != "help")
        .collect()
}

/// A manual page without fonts and escapes.
fn plain(page: &str) -> String {
    [r"\fB", r"\fI", r"\fR", r"\"]
        .into_iter()
        .fold(page.to_owned(), |page, code| page.replace(code, ""))
}

/// The variables of this kind that the sources read.
fn variables() -> BTreeSet<String> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut found = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for path in folder
            .read_dir()
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                // `env!` is of the build.
                let literals = text
                    .split("\"INKLING_")
                    .skip(1)
                    .filter(|rest| !rest.starts_with("RUSTC"));
                found.extend(
                    literals
                        .filter_map(|rest| Some(format!("INKLING_{}", rest.split_once('"')?.0))),
                );
            }
        }
    }
    found
}

#[test]
fn help_and_manual_name_every_command_every_variable_and_every_exit_status() {
    let home = tempfile::tempdir().unwrap();
    let help = stdout(&run(&home, &["--help"]));
    let manual = plain(&stdout(&run(&home, &["man"])));
    let commands = commands(&help);
    assert!(
        ["import", "export", "train"]
            .iter()
            .all(|command| commands.contains(command)),
        "{help}"
    );
    for command in &commands {
        assert!(
            manual.contains(&format!("inkling-{command}(1)")),
            "{command} is not in the manual: {manual}"
        );
    }
    for status in [
        "0 success",
        "1 failure",
        "2 invalid usage",
        "130 after",
        "143 after",
        "129 after",
    ] {
        let (number, meaning) = status.split_once(' ').unwrap();
        assert!(
            help.contains(status) && manual.contains(&format!("{number}\n{meaning}")),
            "{status}: {manual}"
        );
    }
    let variables = variables();
    assert!(
        variables.contains("INKLING_HOME") && variables.len() >= 4,
        "{variables:?}"
    );
    for variable in variables.iter().map(String::as_str).chain(["RUST_LOG"]) {
        assert!(
            help.contains(variable) && manual.contains(variable),
            "{variable}"
        );
    }
    assert!(
        help.lines().all(|line| line.chars().count() <= 100),
        "lines that are wrapped lose their indentation: {help}"
    );
    for section in [
        "NAME",
        "SYNOPSIS",
        "DESCRIPTION",
        "OPTIONS",
        "SUBCOMMANDS",
        "\"EXIT STATUS\"",
        "ENVIRONMENT",
        "FILES",
    ] {
        assert!(
            manual.contains(&format!(".SH {section}\n")),
            "{section}: {manual}"
        );
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let home = tempfile::tempdir().unwrap();
    succeed(&home, "man --out pages");
    let page = |name: &str| {
        plain(&std::fs::read_to_string(home.path().join(format!("pages/inkling{name}.1"))).unwrap())
    };
    let help = stdout(&run(&home, &["--help"]));
    for command in commands(&help) {
        let text = page(&format!("-{command}"));
        assert!(
            text.contains(&format!("inkling {command}")) && text.contains("EXIT STATUS"),
            "{command}: {text}"
        );
    }
    let title = format!(
        ".TH INKLING-TRAIN 1 \" \" \"Inkling {}\" \"User Commands\"",
        env!("CARGO_PKG_VERSION")
    );
    assert!(page("-train").contains(&title), "{}", page("-train"));
    assert!(
        page("-train").contains("--activation-checkpointing")
            && page("-data-list").contains("--json")
    );
    assert_eq!(
        page("").trim_end(),
        plain(&stdout(&run(&home, &["man"]))).trim_end()
    );
    assert_eq!(
        page("-data-list").trim_end(),
        plain(&stdout(&run(&home, "man data list"))).trim_end()
    );
    fails(&home, &["man", "fly"], 2, "There is no command “fly”");
}

#[cfg(target_os = "linux")]
#[test]
fn a_home_that_is_not_utf8_is_refused_and_said() {
    use std::os::unix::ffi::OsStrExt;
    let home = tempfile::tempdir().unwrap();
    let folder = home
        .path()
        .join(std::ffi::OsStr::from_bytes(b"not \xff utf-8"));
    std::fs::create_dir(&folder).unwrap();
    for arguments in ["train --json", "sweep --test", "bench --json"] {
        let output = super::inkling(home.path())
            .env("INKLING_HOME", &folder)
            .args(words(arguments))
            .output()
            .unwrap();
        exits(&output, 1);
        says(&output, "is not valid UTF-8. Set INKLING_HOME");
    }
    // The folder that it is started in is in checkpoints.
    let output = super::inkling(home.path())
        .current_dir(&folder)
        .args(words("train --preset quick"))
        .output()
        .unwrap();
    exits(&output, 2);
    says(&output, "not valid UTF-8");
}

#[cfg(unix)]
#[test]
fn a_limit_on_the_size_of_files_is_an_error() {
    let home = tempfile::tempdir().unwrap();
    crate::support::write_idx_set(&home.path().join("set"), 60, 10);
    let train = format!(
        "ulimit -f 8; exec {} train --data set --network mlp --epochs 1",
        env!("CARGO_BIN_EXE_inkling")
    );
    let mut child = std::process::Command::new("sh");
    child
        .args(["-c", &train])
        .env("INKLING_HOME", home.path())
        .current_dir(home.path())
        .stderr(std::process::Stdio::piped());
    let mut child = child.spawn().unwrap();
    let said = std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().unwrap()));
    let said = said
        .map(Result::unwrap)
        .find(|line| line.contains("not saved yet"));
    child.kill().unwrap();
    child.wait().unwrap();
    let said = said.expect("it is still there, and says why it cannot be saved");
    assert!(
        said.contains("File too large") && said.contains("ulimit -f"),
        "{said}"
    );
}
