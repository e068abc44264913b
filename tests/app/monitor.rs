//! Live readings: one a second while somebody looks, none otherwise, and never waited for.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use inkling::hardware::{Hardware, Watched};
use inkling::window::{Action, App, WizardStep};

use super::wait_for;
use crate::fake_engine::{app, busy, gpu};

/// Polls for that long, as a window does that draws all the time.
fn poll_for(app: &mut App, time: Duration) {
    let since = Instant::now();
    while since.elapsed() < time {
        app.poll();
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn processors(app: &App) -> Vec<f32> {
    app.machine
        .monitor
        .samples()
        .iter()
        .map(|sample| sample.processor)
        .collect()
}

#[test]
fn nothing_is_read_unless_somebody_looks() {
    let (mut app, engine) = app();
    let asked = || engine.live.lock().unwrap().asked.len();
    engine.live.lock().unwrap().script = [busy(0.5)].into();
    poll_for(&mut app, Duration::from_millis(50));
    assert_eq!(asked(), 0, "it is closed at first");
    app.apply(Action::ShowMonitor(true));
    wait_for(&mut app, |app| app.machine.monitor.newest().is_some());
    assert!(app.ctx.settings.monitor, "as it will be at the next launch");
    app.apply(Action::Wizard(WizardStep::Welcome));
    app.poll();
    assert!(
        app.machine.monitor.newest().is_none(),
        "old figures are not shown again"
    );
    // The one that is under way comes to its end, and none follows.
    poll_for(&mut app, Duration::from_millis(1500));
    let before = asked();
    app.apply(Action::CloseWizard);
    app.apply(Action::ShowMonitor(false));
    poll_for(&mut app, Duration::from_millis(1500));
    assert!(before <= 2 && asked() == before, "{before}");
    assert!(app.machine.monitor.newest().is_none());
    assert_eq!(app.poll(), None, "nothing wakes the window");
}

#[test]
fn readings_follow_each_other_a_second_apart() {
    let (mut app, engine) = app();
    engine.live.lock().unwrap().script = [0.1, 0.2, 0.3].map(busy).into();
    app.apply(Action::ShowMonitor(true));
    let since = Instant::now();
    wait_for(&mut app, |app| app.machine.monitor.samples().len() == 3);
    assert!(since.elapsed() >= Duration::from_secs(2));
    assert_eq!(processors(&app), [0.1, 0.2, 0.3]);
    let own = Watched {
        processes: vec![std::process::id()],
        gpus: false,
    };
    assert_eq!(
        engine.live.lock().unwrap().asked[..3],
        [own.clone(), own.clone(), own.clone()],
        "no GPU was found"
    );
    app.ctx.hardware = Some(Hardware {
        gpus: vec![gpu()],
        ..Hardware::default()
    });
    let with_gpus = Watched { gpus: true, ..own };
    wait_for(&mut app, |_| {
        engine.live.lock().unwrap().asked.last() == Some(&with_gpus)
    });
}

#[test]
fn only_the_last_two_minutes_are_kept() {
    let (mut app, engine) = app();
    engine.live.lock().unwrap().script = [busy(0.5)].into();
    app.apply(Action::ShowMonitor(true));
    for number in 0..150_u16 {
        app.machine.monitor.take(busy(f32::from(number) / 150.0));
    }
    assert_eq!(app.machine.monitor.samples().len(), 120);
    assert_eq!(processors(&app)[119], 149.0 / 150.0);
}

#[test]
fn a_reading_that_hangs_costs_the_figures_and_nothing_else() {
    let (release, held) = channel::<()>();
    let held = Mutex::new(held);
    let asked = Arc::new(Mutex::new(0));
    let count = Arc::clone(&asked);
    let (mut app, _engine) = crate::fake_engine::app_sampling_load(Arc::new(move |_| {
        *count.lock().unwrap() += 1;
        // As a driver that does not answer; the test lets go of it in the end.
        let _ = held.lock().unwrap().recv();
        busy(0.5)
    }));
    app.apply(Action::ShowMonitor(true));
    let since = Instant::now();
    app.poll();
    app.poll();
    assert!(
        since.elapsed() < Duration::from_millis(500),
        "nobody waits for it"
    );
    poll_for(&mut app, Duration::from_millis(2500));
    assert_eq!(*asked.lock().unwrap(), 1, "and it is not asked again");
    assert!(app.machine.monitor.newest().is_none());
    drop(release);
    wait_for(&mut app, |app| app.machine.monitor.newest().is_some());
}
