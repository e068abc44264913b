//! The plots as a person meets them, and the accuracy above them.

use eframe::egui::{Key, vec2};
use egui_kittest::kittest::Queryable;
use inkling::records::ModelRef;
use inkling::window::{Action, DrawAction, Screen, TrainAction};

use crate::fake_engine::Answers;
use crate::window::stage::{Driven, Panel, Seen, Staged, serve, stage, stage_with};

/// Plots of a run that has done this many steps.
pub fn training(steps: u64, answers: Answers) -> Staged {
    let mut harness = stage_with(Panel::Plots, [900.0, 700.0], answers);
    harness.apply(TrainAction::Start);
    serve(&mut harness);
    harness.state_mut().engine.train(steps);
    harness.run();
    harness
}

#[test]
fn before_a_run_it_is_said_what_to_do() {
    let harness = stage(Panel::Plots, [900.0, 600.0]);
    harness.get_by_label("Your next run");
    harness.get_by_label_contains("Press Start");
    assert!(!harness.has("Loss plot"));
}

#[test]
fn points_that_arrive_are_plotted_and_told() {
    let mut harness = training(4, Answers::default());
    let before = harness.value("Loss plot");
    assert!(
        before.starts_with("training ") && before.contains("at step 4"),
        "{before}"
    );
    assert!(!before.contains("validation"), "{before}");
    harness.state_mut().engine.train(6);
    harness.run();
    assert!(
        harness
            .value("Loss plot")
            .contains("validation 0.25 at step 10"),
        "{}",
        harness.value("Loss plot")
    );
    assert!(
        harness
            .value("Accuracy plot")
            .contains("validation 92.00% at step 10")
    );
    assert!(
        !harness.has("Throughput plot"),
        "the machine's plots are shown on request"
    );
    harness.click("Speed and memory");
    assert!(harness.app().ctx.settings.speed_and_memory);
    assert_eq!(
        harness.value("Throughput plot"),
        "4,000 images/s at step 10"
    );
    assert_eq!(harness.value("Memory plot"), "100 MiB at step 10");
}

#[test]
fn the_arrow_keys_move_the_crosshair_and_its_figures_are_told() {
    let mut harness = training(20, Answers::default());
    harness.focus("Loss plot");
    harness.press(Key::ArrowLeft, 3);
    harness.run();
    let told = harness.value("Loss plot");
    assert!(told.starts_with("Step 17, epoch 1.70"), "{told}");
    assert!(
        told.contains("validation loss 0.25 nats") && told.contains("throughput 4000 images/s"),
        "{told}"
    );
    harness.press(Key::Home, 1);
    harness.run();
    assert!(
        harness.value("Accuracy plot").starts_with("Step 1, "),
        "all plots share the crosshair"
    );
}

#[test]
fn the_pointer_moves_the_crosshair_of_every_plot() {
    let mut harness = training(20, Answers::default());
    let at = harness.rect("Accuracy plot").center();
    harness.hover_at(at);
    harness.run();
    assert!(
        harness.value("Loss plot").starts_with("Step "),
        "{}",
        harness.value("Loss plot")
    );
    harness.remove_cursor();
    harness.run();
    assert!(harness.value("Loss plot").contains("at step 20"));
}

#[test]
fn smoothing_scale_and_unit_can_be_chosen() {
    let mut harness = training(20, Answers::default());
    harness.click("View");
    harness.click("Logarithmic loss");
    assert!(harness.app().ctx.settings.log_loss);
    harness.get_by_label("X axis by epoch").click();
    harness.key(Key::Escape);
    harness.click("Show validation");
    assert!(harness.value("Loss plot").contains("at step 20"));
    let before = harness.value("Loss plot");
    let mut settings = harness.app().ctx.settings.clone();
    settings.smoothing = 0.0;
    harness.act(Action::ChangeSettings(Box::new(settings)));
    let after = harness.value("Loss plot");
    assert_ne!(before, after);
    assert!(
        after.starts_with("training 0.115,"),
        "unsmoothed it is the last step's own loss, 2.3 / 20: {after}"
    );
}

#[test]
fn the_curves_are_saved_as_csv() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("curves.csv");
    let mut harness = training(3, Answers::file(&file));
    harness.click("Save");
    harness.click("Data (CSV)");
    assert!(
        harness
            .state()
            .done
            .contains(&Action::Train(TrainAction::SaveCurves))
    );
    // The file is written on a separate thread; its notice says when it is there.
    while harness.app().ctx.notices.is_empty() {
        harness.state_mut().app.poll();
        std::thread::yield_now();
    }
    let text = std::fs::read_to_string(file).unwrap();
    assert_eq!(
        text.lines()
            .filter(|line| line.starts_with("step,"))
            .count(),
        3,
        "{text}"
    );
}

#[test]
fn a_training_loss_with_label_smoothing_says_so() {
    let note = "Training loss includes label smoothing of 0.1";
    let mut harness = training(4, Answers::default());
    assert!(
        harness.value("Loss plot").ends_with(note),
        "{}",
        harness.value("Loss plot")
    );
    assert!(!harness.value("Accuracy plot").contains("label smoothing"));
    harness.apply(TrainAction::Stop);
    serve(&mut harness);
    harness.configure(|config| config.label_smoothing = 0.0);
    harness.apply(TrainAction::Start);
    serve(&mut harness);
    harness.state_mut().engine.train(4);
    harness.run();
    assert!(
        harness.value("Loss plot").ends_with("at step 4"),
        "{}",
        harness.value("Loss plot")
    );
}

fn finished() -> Staged {
    let mut harness = training(1, Answers::default());
    harness.state_mut().engine.finish();
    harness.run();
    harness
}

#[test]
fn the_accuracy_that_says_most_stands_above_the_plots() {
    let mut harness = training(1, Answers::default());
    harness.get_by_label("Training accuracy so far");
    harness.get_by_label("10.00%");
    assert!(!harness.has("Draw with it"));
    harness.state_mut().engine.train(12);
    harness.run();
    harness.get_by_label("Validation accuracy after epoch 1");
    harness.get_by_label("92.00%");
    harness.state_mut().engine.finish();
    harness.run();
    harness.get_by_label("Test accuracy on Built-in digits, 100 images");
    let title = harness.the_run().config.title();
    let [title, figure] = [title.as_str(), "99.00%"].map(|label| harness.rect(label));
    assert!(
        title.bottom() <= figure.top(),
        "the run's name stands over its figure"
    );
    harness.get_by_label("99.00%");
}

#[test]
fn a_finished_model_is_drawn_with_looked_into_or_exported() {
    let model = ModelRef::File("runs/one/model.safetensors".into());
    let mut harness = finished();
    harness.click("Draw with it");
    assert_eq!(
        harness.state().done.last(),
        Some(&Action::Draw(DrawAction::DrawWith(model.clone())))
    );
    assert_eq!(harness.app().ctx.screen, Screen::Draw);
    harness.click("See its mistakes");
    assert_eq!(harness.app().ctx.screen, Screen::Results);
    assert_eq!(
        harness
            .app()
            .results
            .shown
            .as_ref()
            .unwrap()
            .model
            .reference,
        model
    );
    harness.click("Export…");
    assert_eq!(harness.app().ctx.screen, Screen::Models);
    assert_eq!(harness.app().models.export.as_ref().unwrap().model, model);
    assert_eq!(
        harness.app().models.run_to_select,
        Some("runs/one".into()),
        "that run is the one that is selected"
    );
}

#[test]
fn the_accuracy_and_the_buttons_fit_a_small_window() {
    // What the plots have beside the run panel in a window of 900 x 600.
    let mut harness = finished();
    harness.set_size(vec2(548.0, 480.0));
    harness.run();
    for label in [
        "Test accuracy on Built-in digits, 100 images",
        "99.00%",
        "Draw with it",
        "See its mistakes",
        "Export…",
        "Loss plot",
        "Accuracy plot",
    ] {
        let rect = harness.rect(label);
        assert!(
            rect.left() >= 0.0 && rect.right() <= 548.0 && rect.bottom() <= 480.0,
            "{label}: {rect}"
        );
    }
    assert!(harness.rect("Draw with it").top() < harness.rect("Loss plot").top() - 40.0);
}
