//! What goes on while nobody looks: a window that is not drawn follows its run, the machine stays
//! awake, and the end is told.

use std::sync::atomic::Ordering;

use eframe::egui::{
    LogicOutput, RawInput, ViewportCommand, ViewportEvent, ViewportId, ViewportInfo,
};
use egui_kittest::kittest::Queryable;
use inkling::records::Divergence;
use inkling::text::format::percent;
use inkling::train::TrainError;
use inkling::window::{Action, App, TrainAction, WindowRequest};

use crate::fake_engine::{FakeEngine, app};
use crate::window::stage::{Driven, Window, sized};

/// What eframe does instead of drawing a frame; gives what the window asked for.
fn update_minimized(window: &mut Window, events: Vec<ViewportEvent>) -> Vec<ViewportCommand> {
    let mut input = RawInput::default();
    input.viewports.insert(
        ViewportId::ROOT,
        ViewportInfo {
            minimized: Some(true),
            events,
            ..ViewportInfo::default()
        },
    );
    let ctx = window.ctx.clone();
    let LogicOutput {
        mut viewport_commands,
        ..
    } = ctx.run_logic(&input, |ctx| window.state_mut().update(ctx));
    viewport_commands
        .remove(&ViewportId::ROOT)
        .unwrap_or_default()
}

#[test]
fn what_the_engine_reports_is_taken_in() {
    let (mut window, mut engine) = sized([900.0, 600.0]);
    window.apply(TrainAction::Start);
    engine.serve();
    engine.train(12);
    let asked = update_minimized(&mut window, Vec::new());
    let app = window.app();
    let run = app.the_run();
    assert_eq!(run.now.step, 12);
    let title = format!("{} – Inkling", percent(run.fraction().into(), 0));
    assert!(asked.contains(&ViewportCommand::Title(title)), "{asked:?}");
}

#[test]
fn before_it_closes_during_training_it_comes_to_the_front_and_asks() {
    let (mut window, mut engine) = sized([900.0, 600.0]);
    window.apply(TrainAction::Start);
    engine.serve();
    engine.train(12);
    let asked = update_minimized(&mut window, vec![ViewportEvent::Close]);
    for command in [
        ViewportCommand::CancelClose,
        ViewportCommand::Minimized(false),
        ViewportCommand::Focus,
    ] {
        assert!(
            asked.contains(&command),
            "{command:?} is not among {asked:?}"
        );
    }
    window.run_steps(2);
    window.get_by_label("Training is in progress");
}

fn started() -> (App, FakeEngine) {
    let (mut app, mut engine) = app();
    app.train(&mut engine, 10);
    (app, engine)
}

#[test]
fn the_machine_stays_awake_while_a_run_works() {
    let (mut app, mut engine) = started();
    let keepers = std::sync::Arc::clone(&engine.desktop.keepers);
    let kept = |app: &App| (keepers.load(Ordering::Relaxed), app.shell.stays_awake());
    app.until(|app| kept(app) == (1, true));
    app.apply(TrainAction::Pause);
    engine.serve();
    app.until(|app| kept(app) == (0, false));
    app.apply(TrainAction::Resume);
    engine.serve();
    app.until(|app| kept(app) == (1, true));
    engine.finish();
    app.until(|app| kept(app) == (0, false));
}

#[test]
fn the_end_of_a_run_is_told_to_somebody_who_looks_elsewhere() {
    let (mut app, mut engine) = started();
    app.ctx.focused = false;
    engine.finish();
    app.poll();
    assert_eq!(
        app.shell.take_window_request(),
        Some(WindowRequest::Attention)
    );
    // Whoever goes for the notification gets the window.
    app.until(|app| !engine.desktop.shown.lock().unwrap().is_empty() && app.train.run.is_some());
    let mut wants = None;
    for _ in 0..2000 {
        app.poll();
        wants = app.shell.take_window_request();
        if wants.is_some() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(wants, Some(WindowRequest::Front));
    assert!(
        engine.desktop.shown.lock().unwrap()[0]
            .what
            .contains("Training finished")
    );
}

#[test]
fn a_run_that_broke_off_is_told_as_well() {
    let (mut app, mut engine) = started();
    app.ctx.focused = false;
    engine.fail(TrainError::Diverged {
        step: 3,
        cause: Divergence::NotFinite,
    });
    app.poll();
    app.until(|_| !engine.desktop.shown.lock().unwrap().is_empty());
    assert!(
        engine.desktop.shown.lock().unwrap()[0]
            .what
            .contains("interrupted")
    );
}

#[test]
fn who_looks_needs_no_notification() {
    let (mut app, mut engine) = started();
    engine.finish();
    app.poll();
    assert_eq!(app.shell.take_window_request(), None);
    assert!(engine.desktop.shown.lock().unwrap().is_empty());
}

#[test]
fn a_folder_is_shown_by_the_desktop() {
    let (mut app, engine) = app();
    app.apply(Action::OpenFolder("runs/one".into()));
    app.until(|_| {
        *engine.desktop.folders.lock().unwrap() == [std::path::PathBuf::from("runs/one")]
    });
}
