//! The slider along the run of the network in use.

use eframe::egui::Key;
use eframe::egui::epaint::Shape;
use egui_kittest::kittest::Queryable;
use inkling::protocol::{Command, EngineError, Event};
use inkling::records::{ModelRef, RunSummary, SnapshotRecord};
use inkling::run_config::RunConfig;
use inkling::window::{Action, DrawAction, InsideAction, Level, Screen};

use crate::fake_engine::{FakeEngine, app, record, summary};
use crate::jobs::failed;
use crate::window::stage::{Driven, Seen, Window, open, painted};

/// Inside in a window of this size, with the model of a run in use that kept its network after these
/// steps.
fn inside(size: [f32; 2], steps: &[u64]) -> (Window, FakeEngine) {
    let kept = |&step| SnapshotRecord {
        step,
        accuracy: 0.1 + 0.01 * step as f32,
        images: 100,
    };
    let summary = RunSummary {
        snapshots: steps.iter().map(kept).collect(),
        ..summary(&RunConfig::default(), vec![record(1)], false)
    };
    let (app, mut engine) = app();
    let folder = engine.home.path().join("runs/one");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("model.safetensors"), "").unwrap();
    std::fs::write(
        folder.join("run.json"),
        serde_json::to_vec(&summary).unwrap(),
    )
    .unwrap();
    let mut window = open(app, size);
    window.until(|app| {
        app.models
            .runs
            .as_ref()
            .is_some_and(|runs| !runs.is_empty())
    });
    window.act(Action::Show(Screen::Inside));
    let model = run(&window).model_path.clone();
    window.act(DrawAction::UseModel(ModelRef::File(model)));
    window.serve(&mut engine);
    (window, engine)
}

fn run(window: &Window) -> RunSummary {
    let runs = window.app().models.runs.as_ref().unwrap();
    (**runs[0].summary.as_ref().unwrap()).clone()
}

/// The step whose network is in use; `None` for the model itself.
fn step(window: &Window) -> Option<u64> {
    let (run, position) = window.app().run_in_use().unwrap();
    run.snapshots.get(position).map(|record| record.step)
}

const SLIDER: &str = "Step of the run";

#[test]
fn the_slider_leads_through_the_run_and_the_early_network_is_named_everywhere() {
    for size in [[900.0, 600.0], [1280.0, 800.0], [3840.0, 2160.0]] {
        let (mut window, mut engine) = inside(size, &[0, 1, 8]);
        assert_eq!(step(&window), None);
        window.get_by_label_contains("End of the run, epoch 1");
        window.focus(SLIDER);
        window.key(Key::ArrowLeft);
        window.serve(&mut engine);
        assert_eq!(step(&window), Some(8), "{size:?}");
        window.get_by_label("Step 8: 18% of 100 validation images");
        assert_eq!(window.value(SLIDER), "Step 8: 18% of 100 validation images");
        window.get_by_label_contains("as it was at step 8");
        window.press(Key::ArrowLeft, 2);
        window.serve(&mut engine);
        window.get_by_label("Before the first step: 10% of 100 validation images");
        let in_use = &window.app().ctx.model_in_use.as_ref().unwrap().reference;
        assert!(window.app().model_name(in_use).ends_with(", step 0"));
        let last = window.app().ctx.settings.last_model.clone();
        assert_eq!(
            last,
            Some(run(&window).model_path),
            "the next start has the end"
        );
        window.act(Action::Show(Screen::Draw));
        window.get_by_label("As it was at step 0");
        window.click("Back to the end");
        window.serve(&mut engine);
        assert_eq!(step(&window), None);
        assert!(!window.has("Back to the end"));
    }
}

#[test]
fn it_plays_from_the_first_step_to_the_end_and_stops() {
    let (mut window, mut engine) = inside([1280.0, 800.0], &[0, 1, 8]);
    window.click("Play");
    window.serve(&mut engine);
    assert_eq!(step(&window), Some(0));
    let mut seen = vec![step(&window)];
    for _ in 0..600 {
        window.step();
        engine.serve();
        if *seen.last().unwrap() != step(&window) {
            seen.push(step(&window));
        }
    }
    assert_eq!(seen, [Some(0), Some(1), Some(8), None]);
    window.get_by_label("Play");
    window.click("Play");
    window.serve(&mut engine);
    window.click("Stop");
    window.run_steps(300);
    assert_eq!(step(&window), Some(0));
}

#[test]
fn a_run_that_kept_nothing_has_no_slider() {
    let (mut window, mut engine) = inside([900.0, 600.0], &[]);
    assert!(!window.has(SLIDER) && !window.has("Play"));
    window.act(DrawAction::UseModel(ModelRef::Starter));
    window.serve(&mut engine);
    assert!(!window.has(SLIDER));
    window.act(InsideAction::Open(Level::Timeline));
    assert_eq!(window.app().ctx.inside, Level::Network);
}

#[test]
fn the_table_tells_what_each_network_made_of_the_same_images() {
    for size in [[900.0, 600.0], [1280.0, 800.0]] {
        let (mut window, mut engine) = inside(size, &[0, 1, 8]);
        window.click("During training");
        for _ in 0..5 {
            window.serve(&mut engine);
        }
        // The images of the run's test are a 1, a 4 and a 7.
        assert_eq!(
            window.value("Before the first step: 10% of 100 validation images"),
            "1 taken for 8, 4 taken for 8, 7 taken for 8"
        );
        let left = window
            .rect("Before the first step: 10% of 100 validation images")
            .left();
        let labels = painted(&window)
            .into_iter()
            .filter_map(|(_, shape)| match shape {
                Shape::Text(text) if (left - 90.0..left).contains(&text.pos.x) => {
                    Some(text.galley.text().to_owned())
                }
                _ => None,
            });
        let labels: Vec<String> = labels.filter(|text| text.len() == 1).collect();
        assert_eq!(labels, ["1", "4", "7"]);
        window.get_by_label("Step 1: 11% of 100 validation images");
        let column = "Step 8: 18% of 100 validation images";
        assert_eq!(
            window.value(column),
            "1 taken for 4, 4 right, 7 taken for 4"
        );
        window.click(column);
        window.serve(&mut engine);
        assert_eq!(step(&window), Some(8));
        window.key(Key::Escape);
        assert_eq!(window.app().ctx.inside, Level::Network);
    }
}

#[test]
fn a_network_that_cannot_be_read_leaves_the_one_in_use() {
    let (mut window, mut engine) = inside([1280.0, 800.0], &[0, 1, 8]);
    window.focus(SLIDER);
    window.key(Key::ArrowLeft);
    for command in engine.listen() {
        assert!(matches!(command, Command::UseModel(_)), "{command:?}");
        engine.send(Event::Failed(EngineError::NoSuchRun.into()));
    }
    window.run_steps(200);
    assert_eq!(step(&window), None);
    window.get_by_label_contains("End of the run, epoch 1");
    // The table has no answers for it, and goes on with the next.
    window.click("During training");
    engine.listen();
    let (id, _) = engine.asked().next_back().unwrap();
    engine.send(failed(id, EngineError::NoSuchRun));
    for _ in 0..5 {
        window.serve(&mut engine);
    }
    let column = window.value("Before the first step: 10% of 100 validation images");
    assert!(column.is_empty(), "{column}");
    assert!(
        window
            .value("Step 1: 11% of 100 validation images")
            .contains("taken for")
    );
}
