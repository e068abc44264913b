//! What reaches a terminal: names of files, and words in them, never as control characters.

use std::fs;

use inkling::run_config::{Activation, DataSource, DataSpec, ModelKind};
use inkling::text::visible::is_hidden;

use super::{fails, objects, run, stderr, stdout, succeed, write_model};
use crate::support::model_file;

/// Escape codes, a new title, a bell, a reversal of what follows, and the start of a line of its
/// own.
const NAME: &str = "a\u{1b}[31m\u{1b}]0;t\u{7}\u{202e}\u{9b}1m\nDone.";

#[cfg(unix)]
#[test]
fn names_of_files_are_shown_with_escapes() {
    let home = tempfile::tempdir().unwrap();
    let starter = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/starter.safetensors");
    let [model, image, folder] =
        ["safetensors", "json", "d"].map(|ending| format!("{NAME}.{ending}"));
    fs::copy(starter, home.path().join(&model)).unwrap();
    fs::write(
        home.path().join(&image),
        r#"{"strokes": [[[50, 10], [50, 90]]]}"#,
    )
    .unwrap();
    fs::write(home.path().join("broken.png"), "no image").unwrap();
    let (dash, archive) = (format!("--{NAME}"), format!("{NAME}.zip"));
    let export = [
        "export", "--format", "zip", "--model", &model, "--out", &archive,
    ];
    for (arguments, status) in [
        (&["predict", &image][..], 0),
        (&["predict", "missing.png", &format!("{NAME}.png")], 1),
        (&["predict", &dash], 2),
        (&[dash.as_str()], 2),
        (&export, 0),
        (&export, 1),
        (&["import", &model, "--out", &folder], 0),
        (&["import", &image], 1),
        (&["eval", "--model", &model, "--data", &image], 1),
        (&["data", "list", "--data-dir", &folder], 0),
        (&["data", "show", &image, "--out", "sheet.png"], 1),
        (&["train", "--data", NAME], 1),
    ] {
        let output = fails(&home, arguments, status, "");
        for text in [stdout(&output), stderr(&output)] {
            assert_eq!(
                text.chars().find(|&c| c != '\n' && is_hidden(c)),
                None,
                "{arguments:?}: {text:?}"
            );
            assert!(
                !text.lines().any(|line| line.starts_with("Done.")),
                "{arguments:?}: {text:?}"
            );
        }
    }
    // For scripts a name is what it is.
    let output = run(&home, &["predict", "--json", &image]);
    assert_eq!(objects(&output)[0]["path"], image.as_str());
}

#[test]
fn the_words_of_a_model_are_shown_with_escapes() {
    let home = tempfile::tempdir().unwrap();
    let mut model = model_file(ModelKind::Mlp, Activation::Relu);
    model.card.data = DataSpec::single(DataSource::Path(NAME.into()));
    model.card.config.data = model.card.data.clone();
    write_model(&home, "m.safetensors", &model);
    for arguments in [
        "import m.safetensors",
        "eval --model m.safetensors --data builtin",
    ] {
        let output = succeed(&home, arguments);
        let text = stdout(&output) + &stderr(&output);
        assert!(
            text.contains("\\u{1b}[31m") && !text.chars().any(|c| c != '\n' && is_hidden(c)),
            "{text:?}"
        );
        assert!(
            !text.lines().any(|line| line.starts_with("Done.")),
            "{text:?}"
        );
    }
}
