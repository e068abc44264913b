//! The monitor: live readings, one a second while somebody looks, none otherwise, and never waited
//! for.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use eframe::egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use inkling::hardware::{Gpu, Hardware, LoadSample, Watched};
use inkling::window::{Action, App, WizardStep};

use crate::fake_engine::{FakeEngine, app, busy, gpu};
use crate::window::stage::{Driven, Seen, Window, sized, usual};

fn script(engine: &FakeEngine, readings: impl IntoIterator<Item = LoadSample>) {
    engine.live.lock().unwrap().script = readings.into_iter().collect();
}

fn shown(window: &mut Window) {
    window.click("Monitor");
    window.until(|app| app.machine.monitor.newest().is_some());
}

fn figure(window: &Window, name: &str) -> String {
    window.value(&format!("{name}, current value"))
}

fn figures(window: &Window) -> usize {
    let figures = window.query_all_by_label_contains(", current value");
    figures.count()
}

#[test]
fn it_shows_processor_and_memory() {
    let (mut window, engine) = usual();
    script(&engine, [busy(0.43)]);
    assert_eq!(figures(&window), 0, "closed at first");
    shown(&mut window);
    assert_eq!(figure(&window, "CPU"), "43%");
    assert_eq!(figure(&window, "Inkling's memory"), "300 MiB");
    assert_eq!(figure(&window, "Free memory"), "4.0 GiB");
    assert_eq!(
        figures(&window),
        3,
        "nothing about GPUs where there is none"
    );
}

#[test]
fn gpus_have_figures_of_their_own_and_what_they_do_not_tell_is_left_out() {
    let (mut window, engine) = usual();
    let quiet = Gpu {
        utilization: None,
        temperature: None,
        power: None,
        ..gpu()
    };
    script(
        &engine,
        [
            LoadSample {
                gpus: vec![gpu()],
                ..busy(0.43)
            },
            LoadSample {
                gpus: vec![gpu(), quiet],
                ..busy(0.1)
            },
        ],
    );
    shown(&mut window);
    assert_eq!(figure(&window, "GPU"), "87%");
    assert_eq!(figure(&window, "GPU memory"), "3.0 GiB of 12.0 GiB");
    assert_eq!(figure(&window, "GPU temperature, power"), "61 °C, 144 W");
    window.until(|app| app.machine.monitor.samples().len() == 2);
    assert_eq!(figure(&window, "GPU 1"), "87%");
    assert_eq!(figure(&window, "GPU 2 memory"), "3.0 GiB of 12.0 GiB");
    assert!(
        !window.has("GPU 2, current value")
            && !window.has("GPU 2 temperature, power, current value")
    );
}

#[test]
fn little_free_memory_is_said_in_words() {
    let (mut window, engine) = usual();
    script(
        &engine,
        [LoadSample {
            memory_available: 400 << 20,
            process_memory: None,
            ..busy(1.0)
        }],
    );
    shown(&mut window);
    assert_eq!(figure(&window, "Free memory"), "400 MiB, low");
    assert_eq!(figure(&window, "Inkling's memory"), "–");
    assert_eq!(figure(&window, "CPU"), "100%");
}

#[test]
fn a_small_window_has_room_for_it_on_every_screen() {
    let (mut window, engine) = sized([900.0, 600.0]);
    script(
        &engine,
        [LoadSample {
            gpus: vec![gpu()],
            ..busy(0.43)
        }],
    );
    shown(&mut window);
    for tab in ["Draw", "Models", "Results", "Hardware", "Train"] {
        window.click(tab);
        let bar = window.rect("Monitor").top();
        let inside = |node: &egui_kittest::Node<'_>| {
            let place = node.rect();
            place.left() >= 0.0 && place.right() <= 900.0 && place.bottom() <= bar
        };
        let figures: Vec<_> = window
            .query_all_by_label_contains(", current value")
            .collect();
        assert!(figures.len() == 6 && figures.iter().all(inside), "{tab}");
    }
    assert!(!window.is_disabled("Start"));
}

#[test]
fn a_key_shows_and_hides_it_and_hidden_it_reads_nothing_and_asks_for_no_frames() {
    let (mut window, engine) = usual();
    script(&engine, [busy(0.43)]);
    let asked = || engine.live.lock().unwrap().asked.len();
    window.until(|app| {
        app.ctx.hardware.is_some() && app.train.found.is_some() && app.models.runs.is_some()
    });
    assert_eq!(asked(), 0, "it is closed at first");
    for _ in 0..2 {
        window.keys(Modifiers::COMMAND | Modifiers::SHIFT, Key::M);
        window.until(|app| app.machine.monitor.newest().is_some());
        let settings = &window.app().ctx.settings;
        assert!(settings.monitor, "as it will be at the next launch");
        window.act(Action::Wizard(WizardStep::Welcome));
        let newest = window.app().machine.monitor.newest();
        assert!(newest.is_none(), "old figures are not shown again");
        window.apply(Action::CloseWizard);
        window.keys(Modifiers::COMMAND | Modifiers::SHIFT, Key::M);
        assert!(!window.has("CPU, current value"));
    }
    let is_idle = |window: &mut Window| {
        std::thread::sleep(Duration::from_millis(1500));
        window.try_run().is_ok()
    };
    // The reading that is under way may still come; none follows it.
    assert!(is_idle(&mut window), "it went on asking for frames");
    let before = asked();
    assert!(is_idle(&mut window), "it went on asking for frames");
    assert_eq!(asked(), before);
    assert!(window.app().machine.monitor.newest().is_none());
}

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
fn readings_follow_each_other_a_second_apart() {
    let (mut app, engine) = app();
    script(&engine, [0.1, 0.2, 0.3].map(busy));
    app.apply(Action::ShowMonitor(true));
    let since = Instant::now();
    app.until(|app| app.machine.monitor.samples().len() == 3);
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
    app.until(|_| engine.live.lock().unwrap().asked.last() == Some(&with_gpus));
}

#[test]
fn only_the_last_two_minutes_are_kept() {
    let (mut app, engine) = app();
    script(&engine, [busy(0.5)]);
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
    app.until(|app| app.machine.monitor.newest().is_some());
}
