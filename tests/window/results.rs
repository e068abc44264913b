//! What a model gets right and wrong.

use eframe::egui::Key;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use inkling::protocol::Command;
use inkling::window::Action;

use crate::window::stage::{Panel, Stage, press, serve, stage, value};

fn measured(size: [f32; 2]) -> Harness<'static, Stage> {
    let mut harness = stage(Panel::Results, size);
    harness.get_by_label("Evaluate").click();
    serve(&mut harness);
    harness
}

#[test]
fn before_a_measurement_it_is_said_how_to_get_one() {
    let harness = stage(Panel::Results, [900.0, 600.0]);
    assert!(harness.query_by_label("No results yet").is_some());
    assert!(
        harness
            .query_by_label("True and predicted digits")
            .is_none()
    );
}

#[test]
fn a_measurement_shows_figures_with_their_interval() {
    for size in [[600.0, 2000.0], [1280.0, 1600.0]] {
        let harness = measured(size);
        assert!(harness.query_by_label("99.00 %").is_some());
        // Wilson's interval of 99 out of 100.
        assert!(
            harness
                .query_by_label("95 % CI: 94.55 % to 99.82 %")
                .is_some()
        );
        assert_eq!(
            value(&harness, "True and predicted digits"),
            "1 of 100 images misclassified"
        );
        assert_eq!(value(&harness, "Accuracy for 4"), "90.00 %, 1 of 10 wrong");
        assert!(
            harness
                .query_by_label("True digit 4, predicted 9, probability 93 %")
                .is_some()
        );
    }
}

#[test]
fn the_reliability_is_shown_and_said() {
    for size in [[600.0, 2000.0], [1280.0, 1600.0], [1920.0, 1080.0]] {
        let harness = measured(size);
        assert!(
            harness.query_by_label("Calibration error").is_some()
                && harness.query_by_label("1.40 %").is_some()
        );
        let sentence = "When it is 92 % sure, it is right 95 % of the time (20 images).";
        assert_eq!(
            value(&harness, "Reliability diagram"),
            format!("calibration error 1.40 %. {sentence}")
        );
        assert!(harness.query_by_label(sentence).is_some());
    }
}

#[test]
fn choosing_a_cell_explains_it_and_filters_the_mistakes() {
    let mut harness = measured([1280.0, 1600.0]);
    harness.get_by_label("One 4 was classified as 9").click();
    harness.run();
    assert_eq!(
        value(&harness, "True and predicted digits"),
        "One 4 was classified as 9"
    );
    assert!(
        harness
            .query_by_label("True digit 4, predicted 9, probability 93 %")
            .is_some()
    );
    harness.get_by_label("No 4 was classified as 8").click();
    harness.run();
    assert!(
        harness
            .query_by_label("True digit 4, predicted 9, probability 93 %")
            .is_none()
    );
    assert!(
        harness
            .query_by_label("There are no such errors.")
            .is_some()
    );
    harness.get_by_label("Show all").click();
    harness.run();
    assert!(
        harness
            .query_by_label("True digit 4, predicted 9, probability 93 %")
            .is_some()
    );
}

#[test]
fn cells_can_be_chosen_by_keys() {
    let mut harness = measured([1280.0, 1600.0]);
    harness.get_by_label("True and predicted digits").focus();
    harness.run();
    press(&mut harness, Key::ArrowRight, 2);
    press(&mut harness, Key::ArrowDown, 1);
    harness.run();
    assert_eq!(
        value(&harness, "True and predicted digits"),
        "Ten 1s were classified correctly"
    );
}

#[test]
fn a_measurement_shows_progress_and_can_be_cancelled() {
    let mut harness = stage(Panel::Results, [900.0, 600.0]);
    harness.get_by_label("Evaluate").click();
    harness.run();
    assert!(harness.query_by_label("Evaluation progress").is_some());
    harness.state_mut().engine.listen();
    harness.get_by_label("Cancel").click();
    serve(&mut harness);
    assert!(
        harness
            .state()
            .done
            .iter()
            .any(|action| matches!(action, Action::CancelJob(_)))
    );
    assert!(
        harness
            .state()
            .engine
            .heard
            .iter()
            .any(|command| matches!(command, Command::Cancel(_)))
    );
    assert!(harness.query_by_label("Evaluation progress").is_none());
    assert!(harness.query_by_label("No results yet").is_some());
}

#[test]
fn the_latest_runs_test_split_is_shown_without_asking() {
    let mut harness = stage(Panel::Results, [1280.0, 1200.0]);
    harness.state_mut().app.apply(Action::Start);
    serve(&mut harness);
    harness.state_mut().engine.finish();
    harness.run();
    assert_eq!(
        value(&harness, "True and predicted digits"),
        "1 of 100 images misclassified"
    );
}

#[test]
fn the_images_of_a_chosen_cell_are_seen_without_scrolling() {
    // What the screen has in a window of 1280 x 800 points, and of 900 x 600.
    for size in [[1244.0, 690.0], [864.0, 490.0]] {
        let mut harness = measured(size);
        harness.get_by_label("One 4 was classified as 9").click();
        harness.run();
        let image = harness
            .get_by_label("True digit 4, predicted 9, probability 93 %")
            .rect();
        assert!(
            image.bottom() <= size[1] && image.right() <= size[0],
            "{image:?} in {size:?}"
        );
    }
}

#[test]
fn a_misclassified_image_can_be_enlarged() {
    let mut harness = measured([1244.0, 690.0]);
    harness
        .get_by_label("True digit 4, predicted 9, probability 93 %")
        .click();
    harness.run();
    assert!(
        harness
            .query_by_label("Misclassified image, enlarged")
            .is_some()
    );
    assert!(harness.query_by_label("Probability of 9: 93 %").is_some());
    assert!(harness.query_by_label("1 of 1").is_some());
    press(&mut harness, Key::ArrowRight, 1);
    assert!(
        harness
            .query_by_label("Misclassified image, enlarged")
            .is_some(),
        "there is no other"
    );
    press(&mut harness, Key::Escape, 1);
    harness.run();
    assert!(
        harness
            .query_by_label("Misclassified image, enlarged")
            .is_none()
    );
}
