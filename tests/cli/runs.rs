//! Runs by their titles: listed, shown, renamed, deleted, and named wherever a model is asked for.

use super::{exits, fails, home_with_set, last_object, objects, prints, run, stdout};

#[test]
fn runs_are_listed_shown_named_and_deleted() {
    let home = home_with_set(200, 40);
    let home = home.path();
    prints(&run(home, "runs list"), "There are no runs yet.");
    fails(home, "eval --model latest --data set", 2, "no run or file");
    for _ in 0..2 {
        exits(
            &run(home, "train --network linear --data set --epochs 1"),
            0,
        );
    }
    let listed = objects(&run(home, "runs --json"));
    let title = |index: usize| listed[index]["title"].as_str().unwrap().to_owned();
    assert_eq!((listed.len(), title(0)), (2, format!("{} 2", title(1))));
    prints(&run(home, "runs"), &title(0));

    // The whole title of one is the beginning of the other's.
    let path_of = |name: &str| {
        let output = run(home, &["runs", "path", name]);
        exits(&output, 0);
        stdout(&output).trim().to_owned()
    };
    for (name, index) in [
        ("latest", 0),
        (&*title(0), 0),
        (&*title(1).to_uppercase(), 1),
    ] {
        assert_eq!(path_of(name), listed[index]["model_path"].as_str().unwrap());
    }
    fails(
        home,
        &["runs", "path", "lin"],
        2,
        "may be any of these runs",
    );
    fails(home, &["runs", "path", "nothing"], 2, "`inkling runs list`");

    let shown = run(home, "runs show latest");
    for words in [&*title(0), "Test accuracy", "inkling train", "1 epoch"] {
        prints(&shown, words);
    }
    let latest = last_object(&run(home, "runs show latest --json"));
    assert_eq!(latest, listed[0]);
    let by_title = last_object(&run(
        home,
        &["eval", "--model", &title(0), "--data", "set", "--json"],
    ));
    let by_path = last_object(&run(
        home,
        &[
            "eval",
            "--model",
            &path_of("latest"),
            "--data",
            "set",
            "--json",
        ],
    ));
    assert_eq!(by_title["accuracy"], by_path["accuracy"]);

    for (name, why) in [
        (title(1), "Another model is called"),
        ("Starter model".to_owned(), "Another model is called"),
        ("latest".to_owned(), "Another model is called"),
        (" ".to_owned(), "1 to 60 visible characters"),
        ("a\u{202e}b".to_owned(), "1 to 60 visible characters"),
    ] {
        fails(home, &["runs", "rename", "latest", &name], 2, why);
    }
    prints(
        &run(home, &["runs", "rename", "latest", "Baseline"]),
        " to Baseline.",
    );
    assert_eq!(path_of("base"), listed[0]["model_path"].as_str().unwrap());

    // A run's settings, and the run itself, are named in the same way.
    for (name, status) in [
        ("latest", 0),
        ("baseline", 0),
        ("nothing", 2),
        ("n.json", 1),
    ] {
        let config = ["train", "--config", name, "--out", "again", "--force"];
        exits(&run(home, &config), status);
        let reproduced = run(
            home,
            &["train", "--reproduce", name, "--out", "again", "--force"],
        );
        assert_eq!(reproduced.status.code(), Some(status), "{reproduced:?}");
    }

    fails(home, "runs delete latest", 2, "by its title");
    prints(&run(home, "runs delete baseline"), "Deleted Baseline.");
    assert_eq!(objects(&run(home, "runs list --json")).len(), 1);
    assert!(!home.join("runs/.deleted").read_dir().unwrap().any(|_| true));
}
