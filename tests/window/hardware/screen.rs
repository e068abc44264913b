//! The hardware screen: what was found, and the benchmark from start to table.

use eframe::egui;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use inkling::device::HAS_CUDA;
use inkling::protocol::Job;
use inkling::records::benchmark::Effort;
use inkling::settings::Settings;
use inkling::window::hardware::view as hardware;
use inkling::window::{Action, App, style};

use crate::fake_engine::{Answers, app_with, past_wizard};
use crate::jobs::submitted;
use crate::window::stage::{Driven, Seen, Window, sized, usual};

fn open(window: &mut Window) {
    window.click("Hardware");
}

#[test]
fn a_machine_that_was_never_measured_says_what_to_do() {
    let (mut window, _engine) = usual();
    open(&mut window);
    window.get_by_label_contains("No benchmark has been run");
    window.get_by_label("Run benchmark");
}

#[test]
fn a_benchmark_shows_figures_as_they_come_and_then_the_table() {
    let (mut window, mut engine) = usual();
    open(&mut window);
    window.click("Run benchmark");
    window.serve(&mut engine);
    assert!(matches!(
        engine.heard.last().and_then(submitted),
        Some((_, Job::Benchmark(Effort::Full)))
    ));
    window.get_by_label_contains("Matrix multiplication, 30 s left");
    window.get_by_label("Benchmark progress");
    window.get_by_label("100 GFLOP/s");
    assert_eq!(
        window.query_all_by_label("200 GFLOP/s").count(),
        0,
        "not found yet"
    );
    engine.finish_benchmark();
    window.run_steps(3);
    window.get_by_label("200 GFLOP/s");
    window.get_by_label_contains("Measured on 21 Nov 2026");
    window.get_by_label_contains("A processor");
    window.get_by_label("Copy as text").click();
    window.step();
    let copied = window
        .output()
        .platform_output
        .commands
        .iter()
        .any(|command| format!("{command:?}").contains("GFLOP/s"));
    assert!(copied, "{:?}", window.output().platform_output.commands);
}

#[test]
fn figures_stand_right_aligned_beside_bars_and_tables_beside_each_other_where_there_is_room() {
    let (mut window, mut engine) = sized([2560.0, 1440.0]);
    open(&mut window);
    window.click("Run benchmark");
    engine.serve();
    engine.finish_benchmark();
    window.run_steps(3);
    let [peak, training] =
        ["Peak rates of this machine", "Training"].map(|title| window.rect(title));
    assert!(
        training.left() > peak.right() && training.top() == peak.top(),
        "{peak:?} {training:?}"
    );
    let [one, two] = ["100 GFLOP/s", "200 GFLOP/s"].map(|figure| window.rect(figure));
    assert!(
        two.left() - one.right() > 60.0,
        "room for a bar: {one:?} {two:?}"
    );
    let heading = window.rect("2 threads");
    assert!(
        (heading.right() - two.right()).abs() < 1.5,
        "{heading:?} {two:?}"
    );
    window.get_by_label("Bars: relative to the fastest multiplication and the fastest copy.");
}

#[test]
fn a_benchmark_can_be_cancelled_and_the_last_one_stays() {
    let (mut window, mut engine) = sized([900.0, 600.0]);
    open(&mut window);
    window.click("Quick benchmark");
    engine.serve();
    assert!(matches!(
        engine.heard.last().and_then(submitted),
        Some((_, Job::Benchmark(Effort::Quick)))
    ));
    engine.finish_benchmark();
    window.run_steps(3);
    window.click("Run benchmark");
    window.serve(&mut engine);
    window.click("Cancel");
    assert!(window.is_disabled("Cancel"), "once is enough");
    window.serve(&mut engine);
    window.get_by_label("Run benchmark");
    window.get_by_label("200 GFLOP/s");
}

#[test]
fn while_training_the_benchmark_waits_and_says_so() {
    let (mut window, mut engine) = usual();
    window.click("Start");
    engine.serve();
    open(&mut window);
    assert!(window.is_disabled("Run benchmark"));
    window.get_by_label_contains("Unavailable while training or another benchmark is running");
}

#[test]
fn an_engine_that_breaks_leaves_no_benchmark_behind() {
    let (mut window, mut engine) = usual();
    open(&mut window);
    window.click("Run benchmark");
    engine.serve();
    engine.die();
    window.run_steps(3);
    window.get_by_label("Run benchmark");
}

#[test]
fn a_check_of_the_machine_shows_its_verdict_and_each_check() {
    let (mut window, _engine) = usual();
    open(&mut window);
    window.get_by_label("Not run yet");
    window.get_by_label("Run self-test").click();
    for _ in 0..500 {
        window.step();
        if window.shows("checks passed") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    window.get_by_label_contains("All 3 checks passed in 1.0 s");
    window.get_by_label("All checks").click();
    window.run_steps(20);
    window.get_by_label("Short training run");
    window.get_by_label("Run again");
}

/// The card on its own: in a window, only a version that computes on NVIDIA GPUs shows it.
#[test]
fn the_folder_of_nvidias_libraries_can_be_chosen_and_given_up() {
    let answers = Answers::folder("some/where");
    let (app, _engine) = app_with(past_wizard(), answers);
    let draw = |ui: &mut egui::Ui, app: &mut App| {
        app.poll();
        let mut actions: Vec<Action> = Vec::new();
        hardware::libraries_card(ui, app, &mut actions);
        actions.into_iter().for_each(|action| app.apply(action));
    };
    let mut panel = Harness::builder()
        .with_size([360.0, 300.0])
        .with_context_setup(style::apply)
        .build_ui_state(draw, app);
    panel.run();
    panel.get_by_label("Standard locations");
    assert!(panel.query_by_label("Use standard locations").is_none());
    panel.get_by_label("Choose a folder…").click();
    for _ in 0..500 {
        panel.step();
        if panel.query_by_label("some/where").is_some()
            && panel.query_by_label("Searching…").is_none()
        {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panel.get_by_label("some/where");
    panel.get_by_label("Searched first, then the standard locations.");
    panel.get_by_label("Use standard locations").click();
    panel.step();
    panel.run_steps(2);
    panel.get_by_label("Standard locations");
}

#[test]
fn where_there_is_no_cuda_there_is_no_folder_for_it() {
    let settings = Settings {
        wizard_done: true,
        cuda_folder: Some("some/where".into()),
        ..Settings::default()
    };
    let (app, _engine) = app_with(settings, Answers::default());
    let mut window = crate::window::stage::open(app, [1280.0, 800.0]);
    open(&mut window);
    assert_eq!(window.has("NVIDIA libraries"), HAS_CUDA);
}

#[test]
fn the_button_for_another_machine_is_in_view_in_windows_of_every_size() {
    for size in [
        [900.0, 600.0],
        [960.0, 640.0],
        [1280.0, 800.0],
        [1920.0, 1080.0],
    ] {
        for monitor in [false, true] {
            let (mut window, _engine) = sized(size);
            window.apply(Action::ShowMonitor(monitor));
            window.until(|app| app.ctx.hardware.is_some());
            open(&mut window);
            let button = window.rect("Train on another machine…");
            let below = if monitor {
                window.rect("Memory")
            } else {
                window.rect("Monitor")
            };
            assert!(
                button.top() > 40.0 && button.bottom() < below.top(),
                "{size:?}, monitor {monitor}: {button:?} {below:?}"
            );
        }
    }
}
