//! The comparison of models.

use eframe::egui::accesskit::Role;
use eframe::egui::{
    Event, Key, Modifiers, MouseWheelSource, MouseWheelUnit, Rect, TouchPhase, pos2, vec2,
};
use egui_kittest::kittest::Queryable;
use inkling::protocol::{Command, Job};
use inkling::records::EpochRecord;
use inkling::run_config::{DataSource, DataSpec, PublicDataset, RunConfig};
use inkling::runs::{RunEntry, set_titles};

use crate::fake_engine::{record, run_entry};
use crate::window::stage::{Driven, Panel, Seen, Staged, ask, stage};
use inkling::window::ModelsAction;

/// Runs of one, two, three epochs and so on, the third on MNIST.
fn runs(count: u32) -> Vec<RunEntry> {
    let record = |epoch: u32| EpochRecord {
        validation_accuracy: 0.9 + 0.01 * epoch as f32,
        ..record(epoch)
    };
    let run = |epochs: u32| {
        let mut config = RunConfig {
            epochs,
            ..RunConfig::default()
        };
        if epochs == 3 {
            config.data = DataSpec::single(DataSource::Named(PublicDataset::Mnist));
        }
        let epochs = (1..=epochs).map(record).collect::<Vec<_>>();
        run_entry(format!("runs/{}", epochs.len()), &config, epochs, false)
    };
    let mut runs: Vec<RunEntry> = (1..=count).rev().map(run).collect();
    set_titles(&mut runs);
    runs
}

fn comparing(size: [f32; 2], count: u32) -> Staged {
    let mut harness = stage(Panel::Models, size);
    harness.state_mut().app.models.runs = Some(runs(count));
    harness.run();
    harness.click("More");
    harness.click("Compare…");
    harness
}

fn tick(harness: &mut Staged, title: &str) {
    harness.get_by_role_and_label(Role::CheckBox, title).click();
    harness.run();
}

/// The title of the run of this many epochs on the built-in digits.
fn title(harness: &Staged, epochs: usize) -> String {
    let runs = harness.app().models.runs.as_ref().unwrap();
    runs.iter()
        .find(|run| run.folder.ends_with(epochs.to_string()))
        .unwrap()
        .title
        .clone()
}

#[test]
fn curves_and_settings_stand_beside_each_other_and_the_difference_is_said() {
    for size in [[700.0, 2400.0], [1280.0, 2000.0]] {
        let mut harness = comparing(size, 2);
        harness.get_by_label("Choose 2 to 8 models");
        let [one, two] = [1, 2].map(|epochs| title(&harness, epochs));
        assert!(
            harness
                .query_by_role_and_label(Role::CheckBox, &format!("A: {two}"))
                .is_some(),
            "the selected run is the first"
        );
        tick(&mut harness, &one);
        assert!(harness.has("Settings that differ") && harness.has("Epochs"));
        assert!(!harness.has("Batch size"), "it is the same");
        let plot = harness.get_by_label("Validation accuracy by epoch");
        assert_eq!(plot.value().as_deref(), Some("A 92.00%, B 91.00%"));
        harness.get_by_label("Training loss").click();
        harness.click("by seconds of training");
        harness.get_by_label("Training loss by seconds of training");

        ask(&mut harness, "Compare accuracies");
        for words in [
            "B against A: better by 2.00 points",
            "McNemar's exact test",
            "Compared on 1,000 images of",
        ] {
            assert!(harness.shows(words), "{words}");
        }
        harness.get_by_label("Accuracy by digit");

        // Another baseline needs no other measurement.
        harness.click("Baseline B");
        harness.get_by_label_contains("A against B: worse by 2.00 points");
        assert!(!harness.shows("against A"));

        // What was found is about these models alone.
        tick(&mut harness, &format!("B: {one}"));
        assert!(!harness.shows("against A"));
        harness.click("Back to the list");
        harness.get_by_label("More");
    }
}

#[test]
fn the_loss_of_every_step_is_plotted_and_a_run_without_steps_is_named() {
    let home = tempfile::tempdir().unwrap();
    let mut harness = stage(Panel::Models, [1280.0, 1200.0]);
    let mut both = runs(2);
    for run in &mut both {
        run.folder = home.path().join(run.folder.file_name().unwrap());
        std::fs::create_dir(&run.folder).unwrap();
    }
    // Two epochs of ten steps, and some steps of an epoch that was not completed.
    let table = (1..=23)
        .map(|step| format!("{step},{},0.5,0.001\n", if step <= 20 { 0.5 } else { 7.0 }))
        .collect::<String>();
    std::fs::write(
        both[0].folder.join("steps.csv"),
        format!("step,loss,accuracy,learning_rate\n{table}"),
    )
    .unwrap();
    harness.state_mut().app.models.runs = Some(both);
    harness.run();
    harness.click("More");
    harness.click("Compare…");
    let one = title(&harness, 1);
    tick(&mut harness, &one);
    harness.click("Training loss per step");
    let since = std::time::Instant::now();
    while harness
        .get_by_label("Training loss per step by epoch")
        .value()
        .is_none_or(|value| value.is_empty())
    {
        assert!(
            since.elapsed() < std::time::Duration::from_secs(20),
            "the steps were not read"
        );
        std::thread::sleep(std::time::Duration::from_millis(5));
        harness.run();
    }
    for unit in ["by epoch", "by step", "by seconds of training"] {
        harness.click(unit);
        let name = format!("Training loss per step {unit}");
        let plot = harness.get_by_label(&name);
        assert_eq!(
            plot.value().as_deref(),
            Some("A 0.5"),
            "{unit}: only steps of completed epochs have a place on every axis"
        );
    }
    harness.get_by_label("The steps of B are not known.");
}

#[test]
fn the_test_set_is_asked_for_where_the_data_differ() {
    let mut harness = comparing([1280.0, 900.0], 3);
    let one = title(&harness, 1);
    tick(&mut harness, &one);
    let list = harness.get_by_role_and_label(Role::ComboBox, "Test set");
    list.click();
    harness.run();
    harness
        .get_by_role_and_label(Role::Button, &DataSpec::builtin().label())
        .click();
    harness.run();
    harness.click("Compare accuracies");
    let heard = harness.state_mut().engine.listen();
    let spec = heard.iter().find_map(|command| match command {
        Command::Submit { job, .. } => match job.as_ref() {
            Job::CompareModels(spec) => Some(spec.clone()),
            _ => None,
        },
        _ => None,
    });
    let spec = spec.expect("a comparison");
    assert_eq!(spec.data, Some(DataSpec::builtin()));
    assert_eq!(spec.models.len(), 2);
    // It shows how far it is, and can be cancelled.
    harness.get_by_label("Comparison progress");
    harness.click("Cancel");
    assert!(
        harness
            .state_mut()
            .engine
            .listen()
            .iter()
            .any(|command| matches!(command, Command::Cancel(_)))
    );
}

#[test]
fn eight_models_are_compared_at_most_and_the_keyboard_is_enough() {
    let mut harness = comparing([900.0, 600.0], 10);
    for epochs in [1, 2, 4, 5, 6, 7, 8] {
        let title = title(&harness, epochs);
        let tick = harness.get_by_role_and_label(Role::CheckBox, &title);
        tick.focus();
        harness.run();
        harness.key(Key::Space);
    }
    assert_eq!(harness.app().models.compared_runs().len(), 8);
    harness.focus("Baseline H");
    harness.key(Key::Space);
    assert_eq!(harness.app().models.comparison_baseline(), 7);
    harness.apply(ModelsAction::ChooseCompared {
        folder: "runs/9".into(),
        chosen: true,
    });
    assert_eq!(harness.app().models.compared_runs().len(), 8);
}

#[test]
fn eight_models_fit_into_windows_of_every_size() {
    for size in [[700.0, 3000.0], [900.0, 3000.0], [1280.0, 3000.0]] {
        let mut harness = comparing(size, 10);
        for epochs in [1, 2, 4, 5, 6, 7, 8] {
            // In narrow windows some of the boxes are scrolled out of sight.
            harness.apply(ModelsAction::ChooseCompared {
                folder: format!("runs/{epochs}").into(),
                chosen: true,
            });
        }
        harness.act(ModelsAction::ChooseComparisonData(DataSpec::builtin()));
        ask(&mut harness, "Compare accuracies");
        // The heads of the tables' columns stand beside each other, and not on top of each other.
        for pair in ["A", "B", "C", "D", "E", "F", "G", "H"].windows(2) {
            for (left, right) in heads(&harness, pair[0])
                .iter()
                .zip(heads(&harness, pair[1]))
            {
                assert!(left.right() < right.left(), "{size:?}: {pair:?}");
            }
        }
        for toggle in [
            "Baseline A",
            "Baseline H",
            "Training loss per step",
            "by seconds of training",
        ] {
            let place = harness.rect(toggle);
            assert!(
                place.left() >= 0.0 && place.right() <= size[0],
                "{size:?}: {toggle} at {place:?}"
            );
        }
        // Tables that are wider than the window are scrolled.
        let last = heads(&harness, "H").pop().unwrap();
        if last.right() > size[0] {
            harness.hover_at(pos2(size[0] - 200.0, last.center().y));
            harness.run();
            let (unit, phase, source) = (
                MouseWheelUnit::Point,
                TouchPhase::Move,
                MouseWheelSource::Unknown,
            );
            harness.event(Event::MouseWheel {
                unit,
                delta: vec2(-3000.0, 0.0),
                phase,
                source,
                modifiers: Modifiers::NONE,
            });
            harness.run_steps(30);
            let last = heads(&harness, "H").pop().unwrap();
            assert!(last.right() <= size[0], "{size:?}: {last:?}");
        }
    }
}

/// Where the heads of this model's columns are, in the order of the tables.
fn heads(harness: &Staged, letter: &str) -> Vec<Rect> {
    harness
        .query_all_by_label(letter)
        .map(|head| head.rect())
        .collect()
}
