//! What the app does while nobody looks: the machine stays awake as long as a run works, and its
//! end is said.

use std::sync::atomic::Ordering;

use inkling::problem::Problem;
use inkling::records::Divergence;
use inkling::window::{Action, App, WindowRequest};

use super::wait_for;
use crate::fake_engine::{FakeEngine, app};

fn started() -> (App, FakeEngine) {
    let (mut app, mut engine) = app();
    app.apply(Action::Start);
    engine.serve();
    engine.train(10);
    app.poll();
    (app, engine)
}

#[test]
fn the_machine_stays_awake_while_a_run_works() {
    let (mut app, mut engine) = started();
    let keepers = std::sync::Arc::clone(&engine.desktop.keepers);
    let kept = |app: &App| (keepers.load(Ordering::Relaxed), app.stays_awake());
    wait_for(&mut app, |app| kept(app) == (1, true));
    app.apply(Action::Pause);
    engine.serve();
    wait_for(&mut app, |app| kept(app) == (0, false));
    app.apply(Action::Resume);
    engine.serve();
    wait_for(&mut app, |app| kept(app) == (1, true));
    engine.finish();
    wait_for(&mut app, |app| kept(app) == (0, false));
}

#[test]
fn the_end_of_a_run_is_told_to_somebody_who_looks_elsewhere() {
    let (mut app, mut engine) = started();
    app.ctx.focused = false;
    engine.finish();
    app.poll();
    assert_eq!(app.take_window_request(), Some(WindowRequest::Attention));
    // Whoever goes for the notification gets the window.
    wait_for(&mut app, |app| {
        !engine.desktop.shown.lock().unwrap().is_empty() && app.train.run.is_some()
    });
    let mut wants = None;
    for _ in 0..2000 {
        app.poll();
        wants = app.take_window_request();
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
    engine.fail(Problem::Diverged {
        step: 3,
        cause: Divergence::NotFinite,
    });
    app.poll();
    wait_for(&mut app, |_| {
        !engine.desktop.shown.lock().unwrap().is_empty()
    });
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
    assert_eq!(app.take_window_request(), None);
    assert!(engine.desktop.shown.lock().unwrap().is_empty());
}

#[test]
fn a_folder_is_shown_by_the_desktop() {
    let (mut app, engine) = app();
    app.apply(Action::OpenFolder("runs/one".into()));
    wait_for(&mut app, |_| {
        *engine.desktop.folders.lock().unwrap() == [std::path::PathBuf::from("runs/one")]
    });
}
