//! The list of models.

use std::path::PathBuf;

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use inkling::app::{Action, Screen};
use inkling::records::{EpochRecord, ModelRef, RunSummary};
use inkling::run_config::RunConfig;
use inkling::runs::{RunEntry, RunError};

use crate::fake_engine::summary;
use crate::ui::stage::{Panel, Stage, stage};

fn finished(folder: &str, stopped: bool) -> RunEntry {
    let record = EpochRecord {
        epoch: 1,
        step: 10,
        train_loss: 0.3,
        train_accuracy: 0.9,
        validation_loss: 0.25,
        validation_accuracy: 0.92,
        seconds: 10.0,
    };
    let folder = PathBuf::from(folder);
    let summary = RunSummary {
        folder: folder.clone(),
        model_path: folder.join("model.safetensors"),
        ..summary(&RunConfig::default(), vec![record], stopped)
    };
    RunEntry { folder, summary: Ok(Box::new(summary)) }
}

fn listing(size: [f32; 2], runs: Vec<RunEntry>) -> Harness<'static, Stage> {
    let mut harness = stage(Panel::Models, size);
    harness.state_mut().app.runs = Some(runs);
    harness.run();
    harness
}

#[test]
fn without_runs_the_starter_model_is_offered_and_training_suggested() {
    let mut harness = listing([900.0, 600.0], Vec::new());
    assert!(harness.query_by_label_contains("Your trained models will appear here").is_some());
    harness.get_by_label("Train a model").click();
    harness.run();
    assert_eq!(harness.state().app.screen, Screen::Train);
    harness.get_by_label("Use for drawing").click();
    harness.run();
    assert!(harness.state().done.contains(&Action::DrawWith(ModelRef::Starter)));
}

#[test]
fn a_run_offers_everything_one_can_do_with_it() {
    for size in [[700.0, 1200.0], [1280.0, 900.0]] {
        let mut harness = listing(size, vec![finished("runs/one", false)]);
        assert!(harness.query_by_label_contains("99.00 % (95 % CI").is_some());
        assert!(harness.query_by_label("29,000").is_some(), "the parameters");
        for button in ["Use for drawing", "Reuse settings", "Open folder"] {
            harness.get_by_label(button).click();
            harness.run();
        }
        harness.get_by_label("Results").click();
        harness.run();
        let done = &harness.state().done;
        assert!(done.contains(&Action::DrawWith(ModelRef::File(PathBuf::from("runs/one/model.safetensors")))));
        assert!(done.contains(&Action::Configure(Box::default())));
        assert!(done.contains(&Action::OpenFolder(PathBuf::from("runs/one"))));
        assert!(done.contains(&Action::ShowResults(PathBuf::from("runs/one"))));
        assert_eq!(harness.state().app.screen, Screen::Results);
    }
}

#[test]
fn deleting_asks_first() {
    let mut harness = listing([1280.0, 900.0], vec![finished("runs/one", false)]);
    let deleted = Action::DeleteRun(PathBuf::from("runs/one"));
    harness.get_by_label("Delete…").click();
    harness.run();
    assert!(!harness.state().done.contains(&deleted));
    harness.get_by_label("Cancel").click();
    harness.run();
    assert!(harness.query_by_label("Delete permanently").is_none());
    harness.get_by_label("Delete…").click();
    harness.run();
    harness.get_by_label("Delete permanently").click();
    harness.run();
    assert!(harness.state().done.contains(&deleted));
}

#[test]
fn stopped_and_broken_runs_are_marked_not_hidden() {
    let broken = RunEntry {
        folder: PathBuf::from("runs/bad"),
        summary: Err(RunError::Malformed { folder: PathBuf::from("runs/bad"), reason: "half a file".to_owned() }),
    };
    let mut harness = listing([1280.0, 900.0], vec![finished("runs/one", true), broken]);
    assert!(harness.query_by_label_contains("· stopped,").is_some());
    assert!(harness.query_by_label_contains("not evaluated").is_some(), "a stopped run has no test accuracy");
    harness.get_by_label_contains("bad, damaged").click();
    harness.run();
    assert!(harness.query_by_label("This run cannot be loaded").is_some());
    assert!(harness.query_by_label_contains("half a file").is_some());
    harness.get_by_label("Delete…").click();
    harness.run();
    harness.get_by_label("Delete permanently").click();
    harness.run();
    assert_eq!(harness.state().done, [Action::DeleteRun(PathBuf::from("runs/bad"))]);
}
