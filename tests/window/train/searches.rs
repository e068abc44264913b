//! The dialogs that search for a learning rate or a batch size, or record a step.

use eframe::egui::Key;
use eframe::egui::accesskit::Role;
use egui_kittest::kittest::{NodeT, Queryable};
use inkling::protocol::{Command, EngineError, Event, Job};
use inkling::records::benchmark::StepConfig;
use inkling::records::{
    JobId, LearningRateFinding, LearningRateSuggestion, Profile, ProfileRow, SearchEnd, Span,
    SpanKind,
};
use inkling::run_config::{DeviceChoice, Precision, RunConfig, Setting};
use inkling::window::{
    Action, Activity, App, Search, SearchAction, SearchKind, SearchState, TrainAction,
};

use crate::fake_engine::app;
use crate::jobs::{cancelled, failed};
use crate::window::stage::{Driven, Seen, Window, open_more, place_within, sized};

fn search(app: &App) -> &Search {
    app.train.search.as_ref().expect("the dialog is open")
}

fn search_job(app: &App) -> JobId {
    let SearchState::Running(id) = search(app).state else {
        panic!("{:?}", search(app).state)
    };
    id
}

const FOUND: LearningRateFinding = LearningRateFinding {
    suggestion: Some(LearningRateSuggestion {
        rate: 0.0031,
        steepest: 0.0008,
        lowest: 0.04,
    }),
    end: SearchEnd::Risen,
    steps: 150,
};

#[test]
fn the_suggestion_goes_into_the_field_in_every_size_and_nothing_moves_when_it_comes() {
    for size in [[900.0, 600.0], [1280.0, 800.0]] {
        let (mut window, mut engine) = sized(size);
        open_more(&mut window);
        window.activate("Find a learning rate…");
        window.serve(&mut engine);
        let model = window.app().ctx.config.model;
        let Some((_, Job::FindLearningRate(config))) = engine.asked().last() else {
            panic!("{:?}", engine.heard)
        };
        assert_eq!(config.model, model);
        window.get_by_label("Search progress");
        let figure = window.get_by_role_and_label(Role::Figure, "Loss by learning rate");
        let told = figure.value().unwrap();
        assert!(told.contains("learning rate"), "{told}");
        assert!(window.is_disabled("Use"));
        let steps = |window: &Window| search(window.app()).steps.points().len();
        assert_eq!(steps(&window), 100);
        let cancel = place_within(&window, "Cancel", size);
        engine.finish_search(FOUND);
        window.settle();
        assert_eq!(window.rect("Close").min, cancel.min, "{size:?}");
        assert_eq!(steps(&window), 150);
        window.get_by_label_contains("The loss falls fastest at");
        let preset = window.app().ctx.config.preset;
        assert!(
            preset.is_some(),
            "nothing is changed before it is asked for"
        );
        window.click("Use 0.0031");
        let app = window.app();
        assert!(app.train.search.is_none());
        let RunConfig {
            learning_rate,
            preset,
            ..
        } = app.ctx.config;
        assert_eq!((learning_rate, preset), (0.0031, None));
        assert_eq!(window.field("Learning rate"), "0.0031");
    }
}

#[test]
fn for_a_search_for_a_rate_the_keyboard_suffices_and_what_comes_after_escape_is_dropped() {
    let (mut window, mut engine) = sized([1280.0, 800.0]);
    open_more(&mut window);
    window.focus("Find a learning rate…");
    window.key(Key::Enter);
    window.serve(&mut engine);
    let id = search_job(window.app());
    window.key(Key::Escape);
    assert!(engine.listen().contains(&Command::Cancel(id)));
    engine.finish_search(FOUND);
    window.settle();
    let app = window.app();
    assert!(app.train.search.is_none() && app.ctx.jobs.is_empty() && app.ctx.notices.is_empty());
}

#[test]
fn a_search_that_fails_says_so_in_its_dialog_alone() {
    let (mut app, mut engine) = app();
    app.apply(SearchAction::Open(SearchKind::LearningRate));
    app.serve(&mut engine);
    engine.send(failed(search_job(&app), EngineError::NoSuchRun));
    app.poll();
    assert!(matches!(search(&app).state, SearchState::Failed(_)));
    app.apply(SearchAction::Close);
    app.apply(SearchAction::Open(SearchKind::BatchSize));
    app.apply(SearchAction::Start);
    app.serve(&mut engine);
    engine.send(failed(search_job(&app), EngineError::NoSuchRun));
    app.poll();
    let state = &search(&app).state;
    assert!(matches!(state, SearchState::Failed(_)));
    assert!(app.ctx.notices.is_empty());
}

#[test]
fn there_is_no_search_during_training_or_with_invalid_settings_but_with_an_invalid_rate() {
    let (mut app, mut engine) = app();
    app.apply(TrainAction::Type(Setting::Epochs, "0".to_owned()));
    assert!(app.why_not_search(SearchKind::LearningRate).is_some());
    app.apply(TrainAction::Type(Setting::Epochs, "3".to_owned()));
    app.apply(TrainAction::Type(Setting::LearningRate, "many".to_owned()));
    assert_eq!(app.why_not_search(SearchKind::LearningRate), None);
    app.apply(TrainAction::Type(Setting::LearningRate, "0.01".to_owned()));
    app.start(&mut engine);
    app.apply(SearchAction::Open(SearchKind::LearningRate));
    assert!(app.why_not_search(SearchKind::LearningRate).is_some() && app.train.search.is_none());
}

#[test]
fn the_recommended_size_goes_into_the_field_in_every_size_and_nothing_moves_when_it_comes() {
    for size in [[900.0, 600.0], [1280.0, 800.0]] {
        let (mut window, mut engine) = sized(size);
        window.activate("Find a batch size…");
        let start = place_within(&window, "Start search", size);
        let view = search(window.app());
        assert_eq!((view.accuracy(), view.batch_sizes().len()), (Some(0.95), 6));
        window.act(SearchAction::TypeAccuracy("98,5%".to_owned()));
        window.click("Start search");
        window.serve(&mut engine);
        let Some((_, Job::FindBatchSize(asked))) = engine.asked().last() else {
            panic!("{:?}", engine.heard)
        };
        assert!((asked.accuracy - 0.985).abs() < 1e-9);
        window.get_by_label("Search progress");
        window.get_by_label("Batch size 1024: not timed yet");
        assert_eq!(search(window.app()).recommended(), None);
        assert_eq!(window.rect("Cancel").min, start.min, "{size:?}");
        let config = window.app().ctx.config.clone();
        engine.finish_batch_size_search(&config);
        window.settle();
        window.get_by_label_contains("Gradient noise scale: about 310 images");
        window.get_by_label_contains("Batch size 512: not reached in");
        window.get_by_label_contains("Batch size 1024: diverged after");
        assert_eq!(window.rect("Use 256").min, start.min, "{size:?}");
        let view = search(window.app());
        assert_eq!((view.rows.len(), view.next()), (6, None));
        let found = view.rows.iter().find(|row| row.batch_size == 256);
        let learning_rate = found.unwrap().learning_rate;
        let preset = window.app().ctx.config.preset;
        assert!(
            preset.is_some(),
            "nothing is changed before it is asked for"
        );
        window.click("Use 256");
        let app = window.app();
        assert!(app.train.search.is_none());
        let now = &app.ctx.config;
        assert_eq!((now.batch_size, now.preset), (256, None));
        assert_eq!(now.learning_rate, learning_rate);
        assert_eq!(window.field("Batch size"), "256");
    }
}

#[test]
fn for_a_search_for_a_batch_size_the_keyboard_suffices() {
    let (mut window, mut engine) = sized([1280.0, 800.0]);
    window.focus("Find a batch size…");
    window.key(Key::Enter);
    assert!(
        window
            .get_by_label("Start search")
            .accesskit_node()
            .is_focused()
    );
    window.key(Key::Enter);
    window.serve(&mut engine);
    window.get_by_label("Search progress");
    window.key(Key::Escape);
    window.serve(&mut engine);
    assert!(window.app().train.search.is_none() && window.app().ctx.jobs.is_empty());
}

#[test]
fn what_was_found_outlives_the_engine_and_what_is_searched_for_does_not() {
    let (mut app, mut engine) = app();
    let open = Action::Search(SearchAction::Open(SearchKind::LearningRate));
    app.apply(open.clone());
    app.serve(&mut engine);
    engine.finish_search(FOUND);
    engine.send(Event::Restarted);
    app.poll();
    assert_eq!(search(&app).suggested(), Some(0.0031));
    app.apply(open);
    app.serve(&mut engine);
    assert!(search(&app).is_running());
    engine.send(Event::Restarted);
    app.poll();
    assert!(app.train.search.is_none() && app.ctx.jobs.is_empty());
}

#[test]
fn an_accuracy_that_cannot_be_starts_nothing() {
    let (mut app, mut engine) = app();
    app.apply(SearchAction::Open(SearchKind::BatchSize));
    for text in ["", "high", "100", "19", "nan"] {
        app.apply(SearchAction::TypeAccuracy(text.to_owned()));
        assert_eq!(search(&app).accuracy(), None, "{text}");
        app.apply(SearchAction::Start);
        assert_eq!(search(&app).state, SearchState::Ready);
    }
    engine.serve();
    assert_eq!(engine.asked().count(), 0);
}

#[test]
fn it_can_be_cancelled_and_started_again_and_closing_cancels() {
    let (mut app, mut engine) = app();
    app.apply(SearchAction::Open(SearchKind::BatchSize));
    app.apply(SearchAction::Start);
    app.serve(&mut engine);
    let first = search_job(&app);
    app.apply(SearchAction::Cancel);
    assert!(engine.listen().contains(&Command::Cancel(first)));
    engine.send(cancelled(first));
    app.poll();
    assert_eq!(search(&app).state, SearchState::Cancelled);
    app.apply(SearchAction::Start);
    app.serve(&mut engine);
    let second = search_job(&app);
    assert!(second != first && search(&app).rows.len() == 1);
    app.apply(SearchAction::Close);
    assert!(engine.listen().contains(&Command::Cancel(second)));
    let config = app.ctx.config.clone();
    engine.finish_batch_size_search(&config);
    app.poll();
    assert!(app.train.search.is_none() && app.ctx.jobs.is_empty() && app.ctx.notices.is_empty());
}

fn profile() -> Profile {
    let layer = |kind, name: &str, start: f64, length: f64| Span {
        kind,
        name: name.to_owned(),
        thread: 0,
        start,
        length,
        bytes: 4000,
    };
    let spans = vec![
        layer(SpanKind::Data, "", 0.0, 100.0),
        layer(SpanKind::Forward, "conv1", 100.0, 2000.0),
        layer(SpanKind::Loss, "loss", 2100.0, 100.0),
        layer(SpanKind::Backward, "conv1", 2200.0, 4000.0),
        layer(SpanKind::Optimizer, "", 6200.0, 800.0),
        Span {
            thread: 1,
            ..layer(SpanKind::Loading, "", 500.0, 1500.0)
        },
    ];
    let row = |span: &Span| ProfileRow {
        kind: span.kind,
        name: span.name.clone(),
        seconds: span.length / 1e6,
        bytes: span.bytes,
        flops: 1_000_000,
        threads: (span.thread == 0 && span.kind != SpanKind::Data).then_some(1.5),
    };
    Profile {
        step_config: StepConfig {
            device: DeviceChoice::Cpu,
            precision: Precision::F32,
            threads: 2,
            batch_size: 128,
        },
        steps: 1,
        step_seconds: 0.008,
        rows: spans.iter().map(row).collect(),
        machine_rate: Some(1e9),
        steps_at: vec![[0.0, 8000.0]],
        worker_spans: vec![
            layer(SpanKind::Forward, "conv1", 150.0, 1900.0),
            Span {
                thread: 1,
                ..layer(SpanKind::Forward, "conv1", 400.0, 900.0)
            },
        ],
        spans,
    }
}

#[test]
fn the_dialog_shows_steps_and_layers_in_every_size() {
    for size in [[900.0, 600.0], [1280.0, 800.0]] {
        let (mut window, mut engine) = sized(size);
        window.activate("Profile a step…");
        window.get_by_label("Recording progress");
        assert!(window.is_disabled("Save trace…"));
        let close = place_within(&window, "Cancel", size);
        engine.serve();
        engine.finish_profile(profile());
        window.run_steps(3);
        assert_eq!(
            window.rect("Close").min.y,
            close.min.y,
            "{size:?}: nothing moves"
        );
        window.get_by_label(
            "A step of 128 images takes 8.0 ms (16,000 images/s): waiting for data 1%, forward pass 25%, loss 1%, backward pass 50%, \
             optimizer 10%, other 13%.",
        );
        window.get_by_role_and_label(Role::Figure, "Flame graph of a step");
        window.get_by_label("conv1, backward");
        assert!(
            window.query_all_by_label("1.5 of 2").count() >= 2,
            "threads at work"
        );
        assert!(!window.is_disabled("Save trace…"));
        window.click("Record again");
        let app = window.app();
        assert!(search(app).is_running());
        assert!(app.ctx.jobs.doing(Activity::Search).is_some());
    }
}

#[test]
fn it_opens_and_closes_by_keyboard_and_not_during_training() {
    let (mut window, mut engine) = sized([1280.0, 800.0]);
    window.focus("Profile a step…");
    window.key(Key::Enter);
    engine.serve();
    assert!(window.app().train.search.is_some());
    window.key(Key::Escape);
    window.serve(&mut engine);
    assert!(window.app().train.search.is_none() && window.app().ctx.jobs.is_empty());
    window.train(&mut engine, 2);
    assert!(window.is_disabled("Profile a step…"));
}
