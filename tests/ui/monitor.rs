//! The monitor: shown and hidden by pointer and key, with the figures there are.

use eframe::egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};
use inkling::hardware::LoadSample;
use inkling::window::Inkling;

use super::window::{sized, until, usual};
use crate::fake_engine::{FakeEngine, busy, gpu};

fn script(engine: &FakeEngine, readings: impl IntoIterator<Item = LoadSample>) {
    engine.live.lock().unwrap().script = readings.into_iter().collect();
}

fn shown(window: &mut Harness<'static, Inkling>) {
    window.get_by_label("Monitor").click();
    window.run_steps(2);
    until(window, "the first reading", |app| {
        app.machine.monitor.newest().is_some()
    });
}

fn figure(window: &Harness<'static, Inkling>, name: &str) -> String {
    window
        .get_by_label(&format!("{name}, current value"))
        .value()
        .unwrap()
}

#[test]
fn it_shows_processor_and_memory() {
    let (mut window, engine) = usual();
    script(&engine, [busy(0.43)]);
    assert_eq!(
        window
            .query_all_by_label_contains(", current value")
            .count(),
        0,
        "closed at first"
    );
    shown(&mut window);
    assert_eq!(figure(&window, "CPU"), "43 %");
    assert_eq!(figure(&window, "Inkling's memory"), "300 MiB");
    assert_eq!(figure(&window, "Free memory"), "4.0 GiB");
    assert_eq!(
        window
            .query_all_by_label_contains(", current value")
            .count(),
        3,
        "nothing about GPUs where there is none"
    );
}

#[test]
fn gpus_have_figures_of_their_own_and_what_they_do_not_tell_is_left_out() {
    let (mut window, engine) = usual();
    let quiet = inkling::hardware::Gpu {
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
    assert_eq!(figure(&window, "GPU"), "87 %");
    assert_eq!(figure(&window, "GPU memory"), "3.0 GiB of 12.0 GiB");
    assert_eq!(figure(&window, "GPU temperature, power"), "61 °C, 144 W");
    until(&mut window, "the next reading", |app| {
        app.machine.monitor.samples().len() == 2
    });
    assert_eq!(figure(&window, "GPU 1"), "87 %");
    assert_eq!(figure(&window, "GPU 2 memory"), "3.0 GiB of 12.0 GiB");
    assert!(
        window.query_by_label("GPU 2, current value").is_none()
            && window
                .query_by_label("GPU 2 temperature, power, current value")
                .is_none()
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
    assert_eq!(figure(&window, "CPU"), "100 %");
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
        window.get_by_label(tab).click();
        window.run_steps(3);
        let bar = window.get_by_label("Monitor").rect().top();
        let inside = |node: &egui_kittest::Node<'_>| {
            let place = node.rect();
            place.left() >= 0.0 && place.right() <= 900.0 && place.bottom() <= bar
        };
        let figures: Vec<_> = window
            .query_all_by_label_contains(", current value")
            .collect();
        assert!(figures.len() == 6 && figures.iter().all(inside), "{tab}");
    }
    assert!(!window.get_by_label("Start").accesskit_node().is_disabled());
}

#[test]
fn a_key_shows_and_hides_it_and_hidden_it_asks_for_no_frames() {
    let (mut window, engine) = usual();
    script(&engine, [busy(0.43)]);
    until(&mut window, "looking around is over", |app| {
        app.ctx.hardware.is_some() && app.train.found.is_some() && app.models.runs.is_some()
    });
    for _ in 0..2 {
        window.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, Key::M);
        window.run_steps(2);
        until(&mut window, "a reading", |app| {
            app.machine.monitor.newest().is_some()
        });
        window.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, Key::M);
        window.run_steps(3);
        assert!(window.query_by_label("CPU, current value").is_none());
    }
    // The reading that is under way may still come; none follows it.
    std::thread::sleep(std::time::Duration::from_millis(1500));
    assert!(
        window.try_run().is_ok(),
        "the window went on asking for frames"
    );
    let asked = engine.live.lock().unwrap().asked.len();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    assert!(
        window.try_run().is_ok(),
        "the window went on asking for frames"
    );
    assert_eq!(engine.live.lock().unwrap().asked.len(), asked);
}
