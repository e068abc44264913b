//! The list of models.

use std::path::PathBuf;

use eframe::egui::accesskit::Role;
use eframe::egui::{Event, Key, PointerButton};
use egui_kittest::kittest::{NodeT, Queryable};
use inkling::records::{Annotation, ModelRef, RunSummary};
use inkling::run_config::{DataSource, DataSpec, ModelKind, PublicDataset, RunConfig};
use inkling::runs::{RunEntry, RunError, Store};
use inkling::window::{Action, DrawAction, ModelsAction, Screen, TrainAction};

use crate::fake_engine::{record, run_entry, tested_on};
use crate::window::stage::{Driven, Panel, Seen, Staged, ask, button, stage};

fn finished(folder: &str, stopped: bool) -> RunEntry {
    run_entry(folder, &RunConfig::default(), vec![record(1)], stopped)
}

fn listing(size: [f32; 2], runs: Vec<RunEntry>) -> Staged {
    let mut harness = stage(Panel::Models, size);
    harness.state_mut().app.models.runs = Some(runs);
    harness.run();
    harness
}

#[test]
fn without_runs_the_starter_model_is_offered_and_training_suggested() {
    let mut harness = listing([900.0, 600.0], Vec::new());
    harness.get_by_label_contains("Your trained models will appear here");
    harness.click("Train a model");
    assert_eq!(harness.app().ctx.screen, Screen::Train);
    harness.click("Draw with it");
    assert_eq!(harness.app().ctx.screen, Screen::Draw);
}

#[test]
fn the_starter_model_has_its_details_while_another_is_in_use() {
    let mut harness = listing([1280.0, 900.0], vec![finished("runs/one", false)]);
    ask(&mut harness, "Draw with it");
    harness.click_containing("Starter model, Included with Inkling");
    assert!(harness.has("29,000"), "its parameters");
    harness.get_by_label("Draw with it");
}

#[test]
fn a_model_without_a_test_accuracy_says_so() {
    let harness = listing([1280.0, 900.0], vec![finished("runs/one", true)]);
    harness.get_by_label("not evaluated; open Results to evaluate it");
    harness.get_by_label_contains("Validation accuracy on Built-in digits, 1,000 images: 92.00%");
}

/// A run on MNIST and the built-in digits, in this folder.
fn mixed(folder: &str) -> RunEntry {
    let mut entry = finished(folder, false);
    let mut run = entry.summary.unwrap();
    run.config.data = DataSpec::with_builtin(DataSource::Named(PublicDataset::Mnist));
    run.test = Some(tested_on(&run.config.data));
    entry.summary = Ok(run);
    entry
}

#[test]
fn a_model_of_mixed_data_says_what_its_accuracy_was_measured_on() {
    let harness = listing([1280.0, 900.0], vec![mixed("runs/one")]);
    harness.get_by_label_contains("Test accuracy on MNIST, 100 images: 99.00%");
    harness.get_by_label_contains("likely ");
    harness.get_by_label("MNIST, 100 images");
    harness.get_by_label("92.00% on 1,000 images held out from training");
}

#[test]
fn the_buttons_of_a_model_are_where_those_of_every_other_are() {
    let other = |folder: &str, annotation: Annotation| RunEntry {
        annotation,
        ..finished(folder, false)
    };
    let note = "Fine-tuned on 5 drawings.".to_owned();
    let annotated = Annotation {
        note,
        tags: vec!["baseline".to_owned()],
        starred: true,
        ..Annotation::default()
    };
    let mut long = other("runs/long", annotated);
    long.title = "A title that is much too long for one line ".repeat(5);
    for size in [[900.0, 600.0], [1920.0, 1080.0]] {
        let mut harness = listing(
            size,
            vec![other("runs/one", Annotation::default()), long.clone()],
        );
        let buttons = |harness: &Staged| {
            ["Draw with it", "Export…", "Results", "More"].map(|label| harness.rect(label))
        };
        let before = buttons(&harness);
        ask(&mut harness, "Draw with it");
        assert_eq!(buttons(&harness), before, "{size:?}: in use");
        harness.click_containing(&long.title[..20]);
        let after = buttons(&harness);
        assert_eq!(
            after, before,
            "{size:?}: with a note, tags and a long title"
        );
        assert!(
            before.iter().all(|rect| rect.right() <= size[0]),
            "{size:?}"
        );
        // Deleting is in the menu, apart from everything else.
        harness.click("More");
        let delete = harness.rect("Delete…");
        assert!(
            after.iter().all(|rect| !rect.intersects(delete)),
            "{size:?}: {delete}"
        );
        assert!(delete.top() - harness.rect("Open folder").bottom() >= 6.0);
    }
}

#[test]
fn a_click_beside_a_dialog_keeps_what_was_typed() {
    let mut harness = listing([1280.0, 900.0], vec![finished("runs/one", false)]);
    choose(&mut harness, "Rename…");
    harness
        .get_by_role_and_label(Role::TextInput, "Name")
        .type_text("Best one");
    harness.run();
    let beside = [8.0, 890.0].into();
    for event in [
        Event::PointerMoved(beside),
        button(beside, PointerButton::Primary, true),
        button(beside, PointerButton::Primary, false),
    ] {
        harness.input_mut().events.push(event);
        harness.step();
    }
    harness.run();
    harness.get_by_label("Name, note and tags");
    harness.key(Key::Escape);
    assert!(!harness.has("Name, note and tags"));
}

#[test]
fn a_run_offers_everything_one_can_do_with_it() {
    for size in [[700.0, 1200.0], [1280.0, 900.0]] {
        let mut harness = listing(size, vec![finished("runs/one", false)]);
        harness.get_by_label_contains("likely ");
        harness.get_by_label("Built-in digits, 100 images");
        assert!(harness.has("29,000"), "the parameters");
        harness.click("Draw with it");
        for button in ["Reuse settings", "Open folder"] {
            choose(&mut harness, button);
        }
        harness.click("Results");
        let done = &harness.state().done;
        assert!(
            done.contains(&Action::Draw(DrawAction::DrawWith(ModelRef::File(
                PathBuf::from("runs/one/model.safetensors")
            ))))
        );
        assert!(done.contains(&Action::Train(TrainAction::Configure(Box::default()))));
        assert!(done.contains(&Action::OpenFolder(PathBuf::from("runs/one"))));
        assert!(
            done.contains(&Action::Models(ModelsAction::ShowResults(PathBuf::from(
                "runs/one"
            ))))
        );
        assert_eq!(harness.app().ctx.screen, Screen::Results);
    }
}

/// Chooses this in the menu beside the buttons.
fn choose(harness: &mut Staged, label: &str) {
    harness.click("More");
    harness.click_containing(label);
}

#[test]
fn deleting_asks_first() {
    let mut harness = listing([1280.0, 900.0], vec![finished("runs/one", false)]);
    let deleted = Action::Models(ModelsAction::DeleteRun(PathBuf::from("runs/one")));
    choose(&mut harness, "Delete…");
    assert!(!harness.state().done.contains(&deleted));
    harness.click("Cancel");
    assert!(!harness.has("Delete"));
    choose(&mut harness, "Delete…");
    harness.key(Key::Escape);
    assert!(!harness.has("Delete"), "Escape cancels too");
    choose(&mut harness, "Delete…");
    harness.click("Delete");
    assert!(harness.state().done.contains(&deleted));
}

#[test]
fn stopped_and_broken_runs_are_marked_not_hidden() {
    let broken = RunEntry {
        folder: PathBuf::from("runs/bad"),
        summary: Err(RunError::Malformed {
            folder: PathBuf::from("runs/bad"),
            reason: "half a file".to_owned(),
        }),
        annotation: Annotation::default(),
        title: "bad".to_owned(),
    };
    let mut harness = listing([1280.0, 900.0], vec![finished("runs/one", true), broken]);
    harness.get_by_label_contains("· stopped,");
    harness.click_containing("bad, damaged");
    harness.get_by_label("This run cannot be loaded");
    harness.get_by_label_contains("half a file");
    harness.click("Delete…");
    harness.click("Delete");
    assert_eq!(
        harness.state().done,
        [Action::Models(ModelsAction::DeleteRun(PathBuf::from(
            "runs/bad"
        )))]
    );
}

/// Runs of two networks, of which the second in the list is the most accurate.
fn several() -> Vec<RunEntry> {
    let networks = [
        (ModelKind::Mlp, 0.91),
        (ModelKind::LeNet, 0.99),
        (ModelKind::ConvNet, 0.95),
        (ModelKind::Mlp, 0.93),
    ];
    let entry = |(index, (model, accuracy)): (usize, (ModelKind, f64))| {
        let mut entry = finished(&format!("runs/{index}"), false);
        let summary = entry.summary.as_mut().unwrap();
        summary.config.model = model;
        summary.test.as_mut().unwrap().evaluation.accuracy = accuracy;
        entry
    };
    networks.into_iter().enumerate().map(entry).collect()
}

/// The accuracies on the cards, from the top down.
fn listed(harness: &Staged) -> Vec<String> {
    let mut cards: Vec<(f32, String)> = harness
        .get_all_by_label_contains("Test accuracy on ")
        .map(|card| {
            (
                card.rect().top(),
                card.accesskit_node().label().unwrap_or_default(),
            )
        })
        .collect();
    cards.sort_by(|a, b| a.0.total_cmp(&b.0));
    cards
        .into_iter()
        .map(|(_, label)| label.rsplit(": ").next().unwrap()[..2].to_owned())
        .collect()
}

#[test]
fn models_are_searched_and_sorted() {
    let mut harness = listing([1280.0, 900.0], several());
    assert_eq!(listed(&harness), ["91", "99", "95", "93"]);
    harness.click("Order of models");
    harness.click("Most accurate first");
    assert_eq!(listed(&harness), ["99", "95", "93", "91"]);
    harness.focus("Search models");
    harness
        .get_by_label("Search models")
        .type_text(&ModelKind::Mlp.label().to_lowercase());
    harness.run();
    assert_eq!(listed(&harness), ["93", "91"]);
    harness
        .get_by_label("Search models")
        .type_text("nothing like that");
    harness.run();
    harness.get_by_label("No model matches the search.");
}

#[test]
fn a_card_is_used_by_double_click_and_has_a_menu() {
    let mut harness = listing([1280.0, 900.0], several());
    let card = harness
        .get_all_by_label_contains("Test accuracy on ")
        .next()
        .unwrap()
        .rect()
        .center();
    let mut events = vec![Event::PointerMoved(card)];
    for pressed in [true, false, true, false] {
        events.push(button(card, PointerButton::Primary, pressed));
    }
    harness.input_mut().events.extend(events);
    harness.step();
    harness.run();
    let first = PathBuf::from("runs/0");
    assert!(
        harness
            .state()
            .done
            .contains(&Action::Draw(DrawAction::DrawWith(ModelRef::File(
                first.join("model.safetensors")
            )))),
        "{:?}",
        harness.state().done
    );
    harness
        .get_all_by_label_contains("Test accuracy on ")
        .next()
        .unwrap()
        .click_secondary();
    harness.run();
    harness.click("Curves");
    assert!(
        harness
            .state()
            .done
            .contains(&Action::Train(TrainAction::ShowCurves(first)))
    );
}

/// The annotation that was asked for last, and of which run.
fn annotated(harness: &Staged) -> Option<(PathBuf, Annotation)> {
    harness
        .state()
        .done
        .iter()
        .rev()
        .find_map(|action| match action {
            Action::Models(ModelsAction::Annotate(folder, annotation)) => {
                Some((folder.clone(), annotation.clone()))
            }
            _ => None,
        })
}

/// The same runs in their folders on the disk.
fn stored(size: [f32; 2]) -> Staged {
    let mut harness = stage(Panel::Models, size);
    let root = harness.app().ctx.runs_folder().to_owned();
    for (index, entry) in several().into_iter().enumerate() {
        let folder = root.join(index.to_string());
        let summary = RunSummary {
            finished_at: format!("2026-11-21T13:00:0{}Z", 9 - index),
            ..*entry.summary.unwrap()
        };
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(
            folder.join("run.json"),
            serde_json::to_vec(&summary).unwrap(),
        )
        .unwrap();
        std::fs::write(folder.join("model.safetensors"), "").unwrap();
    }
    harness.state_mut().app.models.runs = Some(Store::new(root).list());
    harness.run();
    harness
}

/// The title of a run in this order.
fn title(harness: &Staged, index: usize) -> String {
    harness.app().models.runs.as_ref().unwrap()[index]
        .title
        .clone()
}

fn folder(harness: &Staged, index: usize) -> PathBuf {
    harness.app().ctx.runs_folder().join(index.to_string())
}

#[test]
fn a_model_is_renamed_by_f2_and_no_two_have_the_same_name() {
    let mut harness = stored([900.0, 600.0]);
    let taken = title(&harness, 1);
    harness.key(Key::F2);
    harness.get_by_label("Name").type_text(&taken);
    harness.run();
    harness.get_by_label_contains(&format!(
        "Another model is already called “{taken}”. Choose"
    ));
    harness.key(Key::Enter);
    assert_eq!(annotated(&harness), None);
    harness.key(Key::Escape);
    assert!(!harness.has("Name, note and tags"), "Escape cancels");

    harness.key(Key::F2);
    harness.get_by_label("Name").type_text("Best one");
    harness.run();
    harness.key(Key::Enter);
    let expected = Annotation {
        name: "Best one".to_owned(),
        ..Annotation::default()
    };
    assert_eq!(annotated(&harness), Some((folder(&harness, 0), expected)));
    assert!(!harness.has("Name, note and tags"));
    let card = harness
        .get_by_label_contains("Best one, ")
        .accesskit_node()
        .label()
        .unwrap();
    assert!(
        card.contains(
            &RunConfig {
                model: ModelKind::Mlp,
                ..RunConfig::default()
            }
            .title()
        ),
        "{card}"
    );
}

#[test]
fn f2_on_a_card_with_the_focus_renames_that_one() {
    let mut harness = stored([1280.0, 800.0]);
    let card = format!("{}, 2", title(&harness, 2));
    harness.get_by_label_contains(&card).focus();
    harness.run();
    harness.key(Key::F2);
    harness.write("Third");
    harness.click("Save");
    assert_eq!(annotated(&harness).unwrap().0, folder(&harness, 2));
}

#[test]
fn a_note_is_written_from_the_details_and_found_by_the_search() {
    let mut harness = stored([1280.0, 800.0]);
    choose(&mut harness, "Add a note…");
    // The field has the focus, and Enter saves.
    harness.write("with rotation");
    harness.key(Key::Enter);
    assert_eq!(annotated(&harness).unwrap().1.note, "with rotation");
    harness.get_by_label("with rotation");
    harness.focus("Search models");
    harness.get_by_label("Search models").type_text("rotation");
    harness.run();
    assert_eq!(listed(&harness), ["91"]);
}

#[test]
fn tags_are_written_found_and_group_the_list() {
    let mut harness = stored([1280.0, 800.0]);
    choose(&mut harness, "Add tags…");
    harness.write("rotated, Baseline,, rotated");
    harness.key(Key::Enter);
    assert_eq!(annotated(&harness).unwrap().1.tags, ["rotated", "Baseline"]);
    harness.click("Order of models");
    harness.click("Grouped by tag");
    assert_eq!(
        listed(&harness).first().map(String::as_str),
        Some("91"),
        "without a tag comes last"
    );
    harness.get_by_label("Without a tag");
    harness.click("Baseline");
    assert_eq!(listed(&harness), ["91"]);
}

#[test]
fn starred_models_are_marked_and_can_come_first() {
    let mut harness = stored([1280.0, 800.0]);
    let third = format!("{}, 2", title(&harness, 2));
    harness.get_by_label_contains(&third).click_secondary();
    harness.run();
    // That of the menu lies over the list.
    let star = harness
        .get_all_by_label("Star")
        .min_by(|a, b| a.rect().left().total_cmp(&b.rect().left()))
        .unwrap();
    star.click();
    harness.run();
    let starred = Annotation {
        starred: true,
        ..Annotation::default()
    };
    assert_eq!(
        annotated(&harness),
        Some((folder(&harness, 2), starred.clone()))
    );
    harness.get_by_label_contains(", starred, ");
    harness.click("Order of models");
    harness.click("Starred first");
    assert_eq!(listed(&harness), ["95", "91", "99", "93"]);
    harness.click("Star");
    assert_eq!(
        annotated(&harness),
        Some((folder(&harness, 0), starred)),
        "the star in the details is that of the selected model"
    );
}

#[test]
fn a_run_of_one_epoch_shows_its_steps() {
    let mut harness = stored([1920.0, 1000.0]);
    harness.get_by_role_and_label(Role::Figure, "Accuracy by epoch");
    let steps: String = (1..=10)
        .map(|step| format!("{step},0.5,0.{step:02},0.001\n"))
        .collect();
    std::fs::write(folder(&harness, 0).join("steps.csv"), steps).unwrap();
    harness.apply(ModelsAction::RefreshRuns);
    let first = folder(&harness, 0);
    harness.until(|app| app.models.thumbnail(&first).is_some());
    harness.get_by_role_and_label(Role::Figure, "Accuracy by step");
    let settings = harness.rect("Settings");
    assert!(
        settings.left() > harness.rect("Parameters").right(),
        "a wide window shows the settings beside the results"
    );
}

#[test]
fn a_wide_window_has_two_columns_of_cards_of_one_height() {
    let runs = || {
        let mut noted = finished("runs/one", false);
        noted.annotation.note = "With a note".to_owned();
        vec![
            noted,
            finished("runs/two", false),
            finished("runs/three", false),
        ]
    };
    let cards = |size| -> Vec<_> {
        let harness = listing(size, runs());
        let cards = harness.get_all_by_label_contains("Test accuracy on ");
        let mut cards: Vec<_> = cards.map(|card| card.rect()).collect();
        cards.sort_by(|a, b| {
            (a.top(), a.left())
                .partial_cmp(&(b.top(), b.left()))
                .unwrap()
        });
        cards
    };
    let narrow = cards([1280.0, 900.0]);
    assert!(
        narrow
            .windows(2)
            .all(|pair| pair[0].left() == pair[1].left())
    );
    let wide = cards([1600.0, 900.0]);
    let [left, right, below] = wide[..3] else {
        panic!("{wide:?}")
    };
    assert_eq!((left.top(), left.height()), (right.top(), right.height()));
    assert!(left.right() < right.left() && left.left() == below.left());
    assert!(below.top() > left.bottom());
    assert!(below.height() < left.height(), "it has no note");
}
