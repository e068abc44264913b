//! What a model gets right and wrong.

use eframe::egui::Key;
use egui_kittest::kittest::Queryable;
use inkling::protocol::{Command, Job};
use inkling::records::{HardImage, RecordCard, Sample};
use inkling::run_config::{EvaluationSplit, Preset};
use inkling::window::{Action, Activity};

use crate::fake_engine::{Answers, record_card};
use crate::jobs::{cancelled, progress};
use crate::window::stage::{Driven, Panel, Seen, Staged, ask, serve, stage, stage_with};
use inkling::window::TrainAction;

fn measured(size: [f32; 2]) -> Staged {
    let mut harness = stage(Panel::Results, size);
    ask(&mut harness, "Evaluate");
    harness
}

#[test]
fn before_a_measurement_it_is_said_how_to_get_one() {
    let harness = stage(Panel::Results, [900.0, 600.0]);
    harness.get_by_label("No results yet");
    assert!(!harness.has("True and predicted digits"));
}

#[test]
fn a_measurement_shows_figures_with_their_interval() {
    for size in [[600.0, 2000.0], [1280.0, 1600.0]] {
        let harness = measured(size);
        harness.get_by_label("99.00%");
        // Wilson's interval of 99 out of 100.
        harness.get_by_label("likely 94.55% to 99.82%");
        assert_eq!(
            harness.value("True and predicted digits"),
            "1 of 100 images misclassified"
        );
        assert_eq!(harness.value("Accuracy for 4"), "90.00%, 1 of 10 wrong");
        harness.get_by_label("True digit 4, predicted 9, probability 93%");
    }
}

#[test]
fn the_reliability_is_shown_and_said() {
    for size in [[600.0, 2000.0], [1280.0, 1600.0], [1920.0, 1080.0]] {
        let harness = measured(size);
        assert!(harness.has("Calibration error") && harness.has("1.40%"));
        let sentence = "When it is 92% sure, it is right 95% of the time (20 images).";
        assert_eq!(
            harness.value("Reliability diagram"),
            format!("calibration error 1.40%. {sentence}")
        );
        harness.get_by_label(sentence);
    }
}

#[test]
fn choosing_a_cell_explains_it_and_filters_the_mistakes() {
    let mut harness = measured([1280.0, 1600.0]);
    harness.click("One 4 was classified as 9");
    assert_eq!(
        harness.value("True and predicted digits"),
        "One 4 was classified as 9"
    );
    harness.get_by_label("True digit 4, predicted 9, probability 93%");
    harness.click("No 4 was classified as 8");
    assert!(!harness.has("True digit 4, predicted 9, probability 93%"));
    harness.get_by_label("There are no such errors.");
    harness.click("Show all");
    harness.get_by_label("True digit 4, predicted 9, probability 93%");
}

#[test]
fn cells_can_be_chosen_by_keys() {
    let mut harness = measured([1280.0, 1600.0]);
    harness.focus("True and predicted digits");
    harness.press(Key::ArrowRight, 2);
    harness.press(Key::ArrowDown, 1);
    harness.run();
    assert_eq!(
        harness.value("True and predicted digits"),
        "Ten 1s were classified correctly"
    );
}

#[test]
fn a_measurement_shows_progress_and_can_be_cancelled() {
    let mut harness = stage(Panel::Results, [900.0, 600.0]);
    harness.click("Evaluate");
    harness.get_by_label("Evaluation progress");
    harness.state().engine.send(progress(31337, 0.9));
    harness.settle();
    let running = harness
        .app()
        .ctx
        .jobs
        .doing(Activity::Evaluation)
        .expect("a measurement");
    assert_eq!(running.progress.fraction, 0.0, "the other is not ours");
    harness.click("Cancel");
    let asked = harness.state_mut().engine.listen();
    let [Command::Submit { id, ref job, .. }, Command::Cancel(ended)] = asked[..] else {
        panic!("{asked:?}")
    };
    assert!(id == ended && matches!(**job, Job::Evaluate(_)));
    harness.state().engine.send(cancelled(id));
    harness.settle();
    assert!(!harness.has("Evaluation progress"));
    harness.get_by_label("No results yet");
}

#[test]
fn the_latest_runs_test_split_is_shown_without_asking() {
    let mut harness = stage(Panel::Results, [1280.0, 1200.0]);
    harness.apply(Action::Train(TrainAction::Start));
    serve(&mut harness);
    harness.state_mut().engine.finish();
    harness.run();
    assert_eq!(
        harness.value("True and predicted digits"),
        "1 of 100 images misclassified"
    );
}

#[test]
fn the_images_of_a_chosen_cell_are_seen_without_scrolling() {
    // What the screen has in a window of 1280 x 800 points, and of 900 x 600.
    for size in [[1244.0, 690.0], [864.0, 490.0]] {
        let mut harness = measured(size);
        harness.click("One 4 was classified as 9");
        let image = harness.rect("True digit 4, predicted 9, probability 93%");
        assert!(
            image.bottom() <= size[1] && image.right() <= size[0],
            "{image:?} in {size:?}"
        );
    }
}

#[test]
fn a_misclassified_image_can_be_enlarged() {
    let mut harness = measured([1244.0, 690.0]);
    harness.click("True digit 4, predicted 9, probability 93%");
    harness.get_by_label("Image, enlarged");
    harness.get_by_label("Probability of 9: 93%");
    harness.get_by_label("1 of 1");
    harness.press(Key::ArrowRight, 1);
    assert!(harness.has("Image, enlarged"), "there is no other");
    harness.press(Key::Escape, 1);
    harness.run();
    assert!(!harness.has("Image, enlarged"));
}

/// A measurement with this many images of a 4 taken for a 9.
fn with_errors(size: [f32; 2], errors: u32) -> Staged {
    let mut harness = measured(size);
    let shown = harness.state_mut().app.results.shown.as_mut().unwrap();
    let evaluation = &mut shown.measured.evaluation;
    evaluation.confusion[4][9] = errors;
    let one = evaluation.samples[0].clone();
    let nth = |index: u32| Sample {
        index: u64::from(index),
        ..one.clone()
    };
    evaluation.samples = (0..errors).map(nth).collect();
    harness.run();
    harness
}

#[test]
fn all_misclassified_images_can_be_seen_and_only_those_in_sight_are_drawn() {
    let tiles = |harness: &Staged| {
        let tiles = harness.query_all_by_label_contains("True digit 4, predicted 9");
        tiles.count()
    };
    let whole = with_errors([1600.0, 32_000.0], 700);
    assert_eq!(tiles(&whole), 700);
    let mut harness = with_errors([1600.0, 800.0], 700);
    assert!((20..150).contains(&tiles(&harness)), "{}", tiles(&harness));
    harness.get_by_label("700, the most confident first");
    let first = harness.query_all_by_label_contains("True digit 4, predicted 9");
    first.into_iter().next().unwrap().click();
    harness.run();
    harness.get_by_label("1 of 700");
    harness.press(Key::ArrowRight, 3);
    harness.run();
    harness.get_by_label("Image 3 (test split)");
}

#[test]
fn the_ends_of_the_bars_axis_are_labeled() {
    let harness = measured([1280.0, 1600.0]);
    // Of ten 4s one is wrong.
    harness.get_by_label("Bars go from 80% to 100%.");
}

/// The images of the stand-in's evaluation, as they are described.
const MISTAKE: &str = "True digit 4, predicted 9, probability 93%";
const A_1: &str = "True digit 1, predicted 1, probability 88%";
const A_7: &str = "True digit 7, predicted 7, probability 99%";

/// Of these, which are shown.
fn shown(harness: &Staged) -> [bool; 3] {
    [MISTAKE, A_1, A_7].map(|image| harness.has(image))
}

#[test]
fn cells_of_the_diagonal_show_some_of_their_images() {
    let mut harness = measured([1280.0, 1600.0]);
    assert_eq!(shown(&harness), [true, false, false]);
    harness.click("Ten 7s were classified correctly");
    assert_eq!(shown(&harness), [false, false, true]);
    harness.get_by_label("Correctly classified images");
    harness.get_by_label("only 7s: 1 of 10, the least confident first");
    harness.click(A_7);
    harness.get_by_label("7, correct");
    harness.get_by_label("Probability of 7: 99%");
}

#[test]
fn a_bar_shows_the_errors_of_its_digit() {
    for size in [[600.0, 2600.0], [1280.0, 1600.0], [1920.0, 1080.0]] {
        let mut harness = measured(size);
        harness.click("Accuracy for 4");
        assert_eq!(shown(&harness), [true, false, false]);
        harness.get_by_label("only 4s: 1, the most confident first");
        // Another one, and the same again for all.
        harness.click("Accuracy for 5");
        assert_eq!(shown(&harness), [false; 3]);
        harness.get_by_label("There are no such errors.");
        harness.click("Accuracy for 5");
        assert_eq!(shown(&harness), [true, false, false]);
        assert!(!harness.has("Show all"));
    }
}

#[test]
fn bars_are_chosen_by_keys() {
    let mut harness = measured([1280.0, 1600.0]);
    harness.focus("Accuracy of each digit");
    harness.press(Key::ArrowDown, 5);
    harness.run();
    assert_eq!(
        harness.value("Accuracy of each digit"),
        "4: 90.00%, 1 of 10 wrong"
    );
    harness.get_by_label("only 4s: 1, the most confident first");
    harness.press(Key::Escape, 1);
    harness.run();
    assert!(!harness.has("Show all"));
}

#[test]
fn a_bin_of_the_reliability_diagram_shows_its_images() {
    for size in [[600.0, 2600.0], [1280.0, 1600.0], [1920.0, 1080.0]] {
        let mut harness = measured(size);
        let bin = "Confidence 87% to 93%: 19 of 20 images classified correctly";
        harness.click(bin);
        assert_eq!(shown(&harness), [true, true, false]);
        harness.get_by_label_contains("2 of the images are shown");
        harness.click("Show all");
        assert_eq!(shown(&harness), [true, false, false]);
    }
}

#[test]
fn bins_are_chosen_by_keys_and_those_without_images_are_left_out() {
    let mut harness = measured([1280.0, 1600.0]);
    harness.focus("Reliability diagram");
    let told = |harness: &Staged| harness.value("Reliability diagram");
    harness.press(Key::ArrowRight, 1);
    harness.run();
    assert_eq!(
        told(&harness),
        "confidence 93% to 100%: 80 of 80 images classified correctly"
    );
    assert_eq!(shown(&harness), [false, false, true]);
    harness.press(Key::ArrowLeft, 2);
    harness.run();
    assert!(told(&harness).starts_with("confidence 87% to 93%"));
    harness.press(Key::Escape, 1);
    harness.run();
    assert!(told(&harness).starts_with("calibration error"));
}

#[test]
fn suspected_label_errors_are_asked_about_and_listed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("suspects.csv");
    let mut harness = stage_with(Panel::Results, [1244.0, 690.0], Answers::file(&file));
    ask(&mut harness, "Evaluate");
    harness.click("Suspected label errors (1)");
    harness.get_by_label("1, the most suspicious first");
    harness.click("Labeled 4, 9? 93%");
    harness.get_by_label("Is this label right?");
    harness.get_by_label("Suggestion: 9");
    harness.get_by_label("Probability of 4: 5%");
    harness.click_containing("The label is right");
    harness.press(Key::N, 1);
    harness.press(Key::Escape, 1);
    harness.run();
    harness.get_by_label("Labeled 4, is 9");
    harness.click("Export list…");
    harness.until(|_| file.exists());
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        "index,split,label,suggestion,label_probability,suggestion_probability,answer\n\
         44,test,4,9,0.050000,0.930000,9\n"
    );
    harness.click("Show all");
    assert_eq!(shown(&harness), [true, false, false]);
}

#[test]
fn answers_are_kept_and_lead_to_the_next_suspect() {
    let mut harness = measured([1244.0, 690.0]);
    let shown = harness.state_mut().app.results.shown.as_mut().unwrap();
    let evaluation = &mut shown.measured.evaluation;
    let more = Sample {
        index: 45,
        label_probability: 0.01,
        ..evaluation.samples[0].clone()
    };
    evaluation.samples.push(more);
    evaluation.suspected = 2;
    harness.run();
    harness.click("Suspected label errors (2)");
    let first = harness.query_all_by_label("Labeled 4, 9? 93%");
    first.into_iter().next().unwrap().click();
    harness.run();
    harness.get_by_label("Image 45 (test split)");
    harness.press(Key::Y, 1);
    harness.run();
    harness.get_by_label("Image 44 (test split)");
    harness.press(Key::ArrowLeft, 1);
    harness.press(Key::ArrowRight, 1);
    harness.press(Key::Escape, 1);
    harness.run();
    harness.get_by_label("Labeled 4, label is right");
    harness.get_by_label("Labeled 4, 9? 93%");
}

#[test]
fn a_model_that_learned_the_labels_is_no_judge_of_them() {
    let mut harness = measured([1244.0, 690.0]);
    harness.click("Suspected label errors (1)");
    assert!(!harness.mentions("learned from these labels"));
    let shown = harness.state_mut().app.results.shown.as_mut().unwrap();
    shown.measured.split = EvaluationSplit::Train;
    harness.run();
    assert!(harness.mentions("learned from these labels"));
}

#[test]
fn what_most_runs_of_a_record_misclassify_is_hard_for_everybody() {
    let mut harness = measured([1244.0, 690.0]);
    assert!(!harness.has("Hard for everybody"));
    let mut record = record_card(Preset::Balanced, "builtin", [0.99, 0.98]);
    let hard = |index, doubtful| HardImage {
        index,
        label: "4".to_owned(),
        answer: "9".to_owned(),
        runs: 2,
        doubtful,
    };
    record.hard = vec![hard(3, false), hard(44, true)];
    let other_images = RecordCard {
        test_images: 10_000,
        ..record.clone()
    };
    harness.state_mut().app.train.records = vec![other_images];
    harness.run();
    assert!(!harness.has("Hard for everybody"), "of other test images");
    harness.state_mut().app.train.records = vec![record];
    harness.run();
    harness.click("Hard for everybody");
    harness.get_by_label(
        "this model misclassifies 1 of the 2 images that more than half of 2 runs of Balanced misclassify",
    );
    harness.click("True digit 4, predicted 9, probability 93%, doubtful label");
    harness.get_by_label(
        "Hard for everybody: 2 of 2 runs misclassify it, most as 9. Its label is doubtful.",
    );
    harness.press(Key::Escape, 1);
    harness.click("Show all");
    harness.get_by_label("True digit 4, predicted 9, probability 93%");
}

#[test]
fn without_errors_there_is_nothing_to_show() {
    let mut harness = measured([1244.0, 690.0]);
    let shown = harness.state_mut().app.results.shown.as_mut().unwrap();
    let evaluation = &mut shown.measured.evaluation;
    (evaluation.confusion[4][4], evaluation.confusion[4][9]) = (10, 0);
    evaluation.samples.clear();
    evaluation.suspected = 0;
    harness.run();
    harness.get_by_label("All images were classified correctly.");
    assert!(!harness.mentions("Suspected label errors"));
    harness.click("Accuracy for 4");
    harness.get_by_label("There are no such errors.");
}
