//! Names, notes and stars, and the titles that come of them.

use std::fs;
use std::path::Path;

use inkling::records::Annotation;
use inkling::run_config::WeightFormat::F32;
use inkling::run_config::{ModelKind, RunConfig};
use inkling::runs::{RunEntry, Store, set_titles};
use inkling::train::TrainedModel;

use super::{names, outcome};

fn annotation(name: &str, note: &str) -> Annotation {
    Annotation {
        name: name.to_owned(),
        note: note.to_owned(),
        tags: vec!["baseline".to_owned()],
        starred: true,
    }
}

/// The titles, the oldest run's first.
fn titles(store: &Store) -> Vec<String> {
    store
        .list()
        .into_iter()
        .rev()
        .map(|run| run.title)
        .collect()
}

/// Saves a run that finished at this second.
fn save(store: &Store, outcome: &TrainedModel, second: u32) -> std::path::PathBuf {
    let mut outcome = outcome.clone();
    outcome.summary.finished_at = format!("2026-11-21T14:03:{second:02}Z");
    store.save(&outcome, F32, None).unwrap().folder
}

fn annotated(store: &Store, folder: &Path) -> Annotation {
    store
        .list()
        .into_iter()
        .find(|run| run.folder == folder)
        .unwrap()
        .annotation
}

#[test]
fn a_name_a_note_and_a_star_are_saved_with_the_run_and_come_back_with_it() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::new(root.path().join("runs"));
    let folder = store.save(&outcome(), F32, None).unwrap().folder;
    assert_eq!(annotated(&store, &folder), Annotation::default());
    let files = names(&folder)
        .into_iter()
        .map(|name| (fs::read(folder.join(&name)).unwrap(), name))
        .collect::<Vec<_>>();

    store
        .annotate(&folder, &annotation("Best one", "With rotation"))
        .unwrap();
    for (bytes, name) in files {
        assert_eq!(
            fs::read(folder.join(&name)).unwrap(),
            bytes,
            "{name} is untouched"
        );
    }
    store.delete(&folder).unwrap();
    assert!(
        store
            .annotate(&folder, &annotation("Too late", ""))
            .is_err()
    );
    assert!(!folder.exists(), "nothing is written where no run is");
    store.restore(&folder).unwrap();
    assert_eq!(
        annotated(&store, &folder),
        annotation("Best one", "With rotation")
    );
    assert_eq!(titles(&store), ["Best one"]);

    assert!(
        store
            .annotate(root.path(), &annotation("Elsewhere", ""))
            .is_err()
    );
    fs::remove_file(folder.join("model.safetensors")).unwrap();
    store.delete(&folder).unwrap();
    assert!(
        store.list().is_empty(),
        "a damaged run is deleted with its note"
    );
}

#[test]
fn what_cannot_be_read_is_ignored_and_what_can_be_is_fit_to_be_shown() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::new(root.path());
    let folder = store.save(&outcome(), F32, None).unwrap().folder;
    let file = folder.join("annotation.json");
    let long = format!("{{\"name\": \"{}\"}}", "x".repeat(20_000));
    for unusable in ["", "{\"name\": 7}", "[1]", "{\"name\": \"half", &long] {
        fs::write(&file, unusable).unwrap();
        assert_eq!(
            annotated(&store, &folder),
            Annotation::default(),
            "{unusable:.30}"
        );
        assert!(store.list()[0].summary.is_ok());
    }
    let hostile = serde_json::json!({"name": format!("  a\n\u{202e}b {}", "é".repeat(90)), "note": "\u{1b}[31mred\tand  more ", "starred": false});
    fs::write(&file, hostile.to_string()).unwrap();
    let read = annotated(&store, &folder);
    assert_eq!(read.name, format!("a b {}", "é".repeat(56)));
    assert_eq!(read.note.as_str(), "[31mred and more");
    assert!(!read.starred);
    assert_eq!(read.cleaned(), read);
}

#[test]
fn no_two_models_have_the_same_title_and_a_title_stays() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::new(root.path());
    let outcome = outcome();
    let title = outcome.summary.config.title();
    let folders: Vec<_> = (0..3)
        .map(|second| save(&store, &outcome, second))
        .collect();
    let [second, third, fourth] = [2, 3, 4].map(|number| format!("{title} {number}"));
    assert_eq!(titles(&store), [&*title, &*second, &*third]);

    store.delete(&folders[0]).unwrap();
    store.delete(&folders[2]).unwrap();
    assert_eq!(
        titles(&store),
        [&*second],
        "the others were deleted, and it keeps its number"
    );
    save(&store, &outcome, 3);
    assert_eq!(
        titles(&store),
        [&*second, &*fourth],
        "the deleted ones can still be restored"
    );
    store.restore(&folders[0]).unwrap();
    store.restore(&folders[2]).unwrap();
    assert_eq!(titles(&store), [&*title, &*second, &*third, &*fourth]);

    store
        .annotate(&folders[1], &annotation("Best one", ""))
        .unwrap();
    store
        .annotate(&folders[2], &annotation("BEST ONE", ""))
        .unwrap();
    assert_eq!(
        titles(&store),
        [&*title, "Best one", "BEST ONE 2", &*fourth]
    );
    store
        .annotate(&folders[1], &annotation("Current run", ""))
        .unwrap();
    assert_eq!(
        titles(&store),
        [&*title, "Current run 2", "BEST ONE", &*fourth]
    );
}

#[test]
fn runs_that_were_put_there_and_copies_have_titles_of_their_own() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::new(root.path());
    let outcome = outcome();
    let entry = |number: Option<u32>, model: ModelKind| {
        let config = RunConfig {
            model,
            ..outcome.summary.config.clone()
        };
        let summary = inkling::records::RunSummary {
            number,
            config,
            ..outcome.summary.clone()
        };
        RunEntry {
            folder: "some run".into(),
            summary: Ok(Box::new(summary)),
            annotation: Annotation::default(),
            title: String::new(),
        }
    };
    // The newest first, and a copied folder has the number of the one it was copied from.
    let kinds = [
        (Some(2), ModelKind::LeNet),
        (Some(2), ModelKind::LeNet),
        (None, ModelKind::Mlp),
        (None, ModelKind::LeNet),
        (None, ModelKind::LeNet),
    ];
    let mut runs: Vec<RunEntry> = kinds
        .into_iter()
        .map(|(number, model)| entry(number, model))
        .collect();
    set_titles(&mut runs);
    let title = outcome.summary.config.title();
    let mlp = runs[2].summary.as_ref().unwrap().config.title();
    let shown: Vec<&str> = runs.iter().map(|run| run.title.as_str()).collect();
    assert_eq!(
        shown,
        [
            format!("{title} 4"),
            format!("{title} 2"),
            mlp,
            format!("{title} 3"),
            title.clone()
        ]
    );

    // After two runs that were put there, the first that is saved there is the third.
    for second in 0..2 {
        let folder = save(&store, &outcome, second);
        let mut json: serde_json::Value =
            serde_json::from_slice(&fs::read(folder.join("run.json")).unwrap()).unwrap();
        json.as_object_mut().unwrap().remove("number").unwrap();
        fs::write(folder.join("run.json"), json.to_string()).unwrap();
    }
    save(&store, &outcome, 2);
    assert_eq!(
        titles(&store),
        [title.clone(), format!("{title} 2"), format!("{title} 3")]
    );
}

#[test]
fn tags_are_short_few_and_differ() {
    let tags = Annotation::tags_of(" a\u{202e}b , , A B,a  b, c");
    assert_eq!(tags, ["a b", "c"]);
    let many: Vec<String> = (0..20)
        .map(|number| format!("{number}").repeat(30))
        .collect();
    let kept = Annotation {
        tags: many,
        ..Annotation::default()
    }
    .cleaned()
    .tags;
    assert_eq!(kept.len(), Annotation::MAX_TAGS);
    assert_eq!(kept[0].len(), Annotation::MAX_TAG);
    assert!(
        !serde_json::to_string(&Annotation::default())
            .unwrap()
            .contains("tags")
    );
}
