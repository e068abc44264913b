//! The accuracy above the plots, and what can be done when a run has ended.

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use inkling::records::ModelRef;
use inkling::window::{Action, Screen};

use super::panel::training;
use crate::fake_engine::Answers;
use crate::ui::stage::{Stage, serve};

fn finished() -> Harness<'static, Stage> {
    let mut harness = training(1, Answers::default());
    harness.state_mut().engine.finish();
    harness.run();
    harness
}

#[test]
fn the_accuracy_that_says_most_stands_above_the_plots() {
    let mut harness = training(1, Answers::default());
    harness.get_by_label("Training accuracy so far");
    harness.get_by_label("10.00 %");
    assert!(harness.query_by_label("Draw with it").is_none());
    harness.state_mut().engine.train(12);
    harness.run();
    harness.get_by_label("Validation accuracy after epoch 1");
    harness.get_by_label("92.00 %");
    let total = harness.state().app.ctx.config.epochs;
    for figure in [format!("2 of {total}"), "4,000 images/s".to_owned()] {
        assert!(
            harness.query_by_label(&figure).is_some(),
            "{figure} is not shown"
        );
    }
    harness.state_mut().app.apply(Action::Pause);
    serve(&mut harness);
    harness.get_by_label("paused");
    harness.state_mut().app.apply(Action::Resume);
    serve(&mut harness);
    harness.state_mut().engine.finish();
    harness.run();
    harness.get_by_label("Test accuracy on Built-in digits, 100 images");
    let title = harness.state().app.train.run.as_ref().unwrap().title();
    let [title, figure] =
        [title.as_str(), "99.00 %"].map(|label| harness.get_by_label(label).rect());
    assert!(
        title.bottom() <= figure.top(),
        "the run's name stands over its figure"
    );
    harness.get_by_label("99.00 %");
}

#[test]
fn a_finished_model_is_drawn_with_looked_into_or_exported() {
    let model = ModelRef::File("runs/one/model.safetensors".into());
    let mut harness = finished();
    harness.get_by_label("Draw with it").click();
    harness.run();
    assert_eq!(
        harness.state().done.last(),
        Some(&Action::DrawWith(model.clone()))
    );
    assert_eq!(harness.state().app.shell.screen, Screen::Draw);
    harness.get_by_label("See its mistakes").click();
    harness.run();
    assert_eq!(harness.state().app.shell.screen, Screen::Results);
    assert_eq!(
        harness
            .state()
            .app
            .results
            .shown
            .as_ref()
            .unwrap()
            .model
            .reference,
        model
    );
    harness.get_by_label("Export…").click();
    harness.run();
    assert_eq!(harness.state().app.shell.screen, Screen::Models);
    assert_eq!(
        harness.state().app.models.export.as_ref().unwrap().model,
        model
    );
    assert_eq!(
        harness.state().app.models.run_to_select,
        Some("runs/one".into()),
        "that run is the one that is selected"
    );
}

#[test]
fn the_accuracy_and_the_buttons_fit_a_small_window() {
    // What the plots have beside the run panel in a window of 900 x 600.
    let mut harness = finished();
    harness.set_size(eframe::egui::vec2(548.0, 480.0));
    harness.run();
    for label in [
        "Test accuracy on Built-in digits, 100 images",
        "99.00 %",
        "Draw with it",
        "See its mistakes",
        "Export…",
        "Loss plot",
        "Accuracy plot",
    ] {
        let rect = harness.get_by_label(label).rect();
        assert!(
            rect.left() >= 0.0 && rect.right() <= 548.0 && rect.bottom() <= 480.0,
            "{label}: {rect}"
        );
    }
    assert!(
        harness.get_by_label("Draw with it").rect().top()
            < harness.get_by_label("Loss plot").rect().top() - 40.0
    );
}
