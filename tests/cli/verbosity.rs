//! How much is said besides results and errors: `--quiet` and `--verbose`.

use super::{fails, home_with_set, objects, prints, says, stderr, stdout, succeed};

const TRAIN: &str = "train --network linear --data set --epochs 1";

#[test]
fn quiet_leaves_results_and_errors() {
    let home = home_with_set(200, 40);
    let usual = succeed(&home, TRAIN);
    says(&usual, "Epoch 1 of 1");
    prints(&usual, "inkling predict --model");
    for option in ["-q", "--quiet"] {
        let quiet = succeed(&home, &format!("{option} {TRAIN}"));
        assert_eq!(stderr(&quiet), "");
        let lines: Vec<String> = stdout(&quiet).lines().map(str::to_owned).collect();
        assert!(
            lines.len() == 2
                && lines[0].starts_with("Done.")
                && lines[1].starts_with("Model saved"),
            "{lines:?}"
        );
    }
    let json = succeed(&home, &format!("{TRAIN} --json -q"));
    assert_eq!(stderr(&json), "");
    assert!(objects(&json).len() > 1);
    fails(&home, "-q predict none.png", 1, "none.png");
    fails(&home, "runs show nothing -q", 2, "no run or file");
    fails(&home, "train -q -v", 2, "cannot be used with");
}

#[test]
fn verbose_prints_the_log() {
    let home = home_with_set(200, 40);
    assert_eq!(stderr(&succeed(&home, "runs list")), "");
    for option in ["-v", "--verbose", "-vv"] {
        let output = succeed(&home, &format!("{option} runs list"));
        says(&output, "started version=");
        says(&output, "command=\"runs\"");
        prints(&output, "There are no runs yet.");
    }
    // Below the limit of what is printed, an option and the environment agree.
    let mut program = super::inkling(home.path());
    let program = program.args(["-q", "runs", "list"]).env("RUST_LOG", "info");
    assert_eq!(stderr(&program.output().unwrap()), "");
}
