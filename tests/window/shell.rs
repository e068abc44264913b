//! What surrounds every screen: tabs, menu, notices, status bar, shortcuts.

use eframe::egui::{Event, Key, Modifiers, Theme as Shade, ViewportCommand, ViewportId};
use egui_kittest::kittest::Queryable;
use inkling::settings::Theme;

use inkling::protocol;
use inkling::protocol::EngineError;
use inkling::records::benchmark::Effort;
use inkling::records::{Divergence, Intervention};
use inkling::train::TrainError;
use inkling::window::{Action, DrawAction, MachineAction, Phase, Screen, TrainAction};

use crate::window::stage::{Driven, Seen, Window, sized, usual};

#[test]
fn tabs_and_shortcuts_lead_to_every_screen() {
    let (mut window, _engine) = usual();
    let tabs = [
        ("Draw", Screen::Draw),
        ("Inside", Screen::Inside),
        ("Models", Screen::Models),
        ("Results", Screen::Results),
        ("Train", Screen::Train),
    ];
    for (name, screen) in tabs {
        window.click(name);
        assert_eq!(window.app().ctx.screen, screen);
    }
    for (key, screen) in [Key::Num2, Key::Num3, Key::Num5, Key::Num4, Key::Num1]
        .into_iter()
        .zip(tabs.map(|(_, screen)| screen))
    {
        window.keys(Modifiers::COMMAND, key);
        assert_eq!(window.app().ctx.screen, screen);
    }
}

#[test]
fn one_shortcut_starts_holds_and_goes_on_and_another_stops() {
    let (mut window, mut engine) = usual();
    for phase in [Phase::Training, Phase::Paused, Phase::Training] {
        window.keys(Modifiers::COMMAND, Key::Enter);
        window.serve(&mut engine);
        assert_eq!(window.the_run().phase, phase);
    }
    window.key(Key::Escape);
    assert!(window.app().ctx.is_training(), "no single key ends a run");
    window.keys(Modifiers::COMMAND | Modifiers::SHIFT, Key::Enter);
    window.serve(&mut engine);
    assert!(!window.app().ctx.is_training());
}

#[test]
fn the_overview_opens_and_closes_by_key() {
    let (mut window, _engine) = sized([900.0, 600.0]);
    for open in [Key::F1, Key::Questionmark] {
        if open == Key::F1 {
            window.key_press(Key::F1);
        } else {
            window.event(Event::Text("?".to_owned()));
        }
        window.run_steps(3);
        window.get_by_label("Keyboard shortcuts");
        window.get_by_label("Undo the last change to the drawing");
        window.key(Key::Escape);
        assert!(!window.has("Keyboard shortcuts"));
    }
}

#[test]
fn colors_follow_the_choice_in_the_menu() {
    let (mut window, _engine) = usual();
    for (name, theme, shade) in [
        ("Light", Theme::Light, Shade::Light),
        ("Dark", Theme::Dark, Shade::Dark),
    ] {
        window.click("Menu");
        window.click(name);
        window.key(Key::Escape);
        assert_eq!(window.app().ctx.settings.theme, theme);
        assert_eq!(window.ctx.theme(), shade);
    }
}

#[test]
fn a_problem_is_a_notice_that_can_be_dismissed() {
    let (mut window, mut engine) = usual();
    window.start(&mut engine);
    engine.fail(TrainError::Diverged {
        step: 417,
        cause: Divergence::NotFinite,
    });
    window.run_steps(3);
    window.get_by_label_contains("at step 417");
    window.get_by_label_contains("Lower the learning rate");
    window
        .get_all_by_label("Failed")
        .next()
        .expect("the state of the run");
    window.click("Dismiss");
    assert!(!window.shows("at step 417"));
    // Said three times, it is one notice.
    for _ in 0..3 {
        engine.send(protocol::Event::Failed(EngineError::NoSuchRun.into()));
    }
    window.settle();
    assert_eq!(window.app().ctx.notices.len(), 1);
}

#[test]
fn a_notice_moves_nothing_that_somebody_draws_on() {
    let (mut window, mut engine) = sized([1400.0, 900.0]);
    window.start(&mut engine);
    let places = |window: &Window| ["Drawing canvas", "Stop"].map(|name| window.rect(name));
    let before = places(&window);
    let run = window.the_run().id;
    engine.send(protocol::Event::Intervened {
        run,
        intervention: Intervention::SkippedStep {
            step: 3,
            loss_scale: 1024.0,
        },
    });
    window.run_steps(3);
    window.get_by_label_contains("Step 3 was skipped");
    assert_eq!(places(&window), before);
}

#[test]
fn an_engine_that_dies_is_replaced_and_leaves_a_window_that_works() {
    let (mut window, mut engine) = usual();
    window.apply(DrawAction::PenDown([10.0, 10.0]));
    window.start(&mut engine);
    engine.die();
    window.settle();
    assert_eq!(window.the_run().phase, Phase::Failed);
    assert_eq!(engine.engines(), 2);
    window.until(|app| app.ctx.notices.len() == 1);
    window.get_by_label_contains("restarted");
    window.apply(DrawAction::PenUp);
    window.apply(DrawAction::PenDown([20.0, 10.0]));
    window.serve(&mut engine);
    assert!(
        window.app().draw.prediction().is_some(),
        "the fresh engine reads"
    );
    window.click("Start");
    window.serve(&mut engine);
    assert_eq!(window.the_run().phase, Phase::Training);
}

#[test]
fn the_run_shows_on_every_screen() {
    let (mut window, mut engine) = usual();
    window.train(&mut engine, 3);
    for screen in Screen::ALL {
        window.act(Action::Show(screen));
        // Once on each.
        window.get_by_label_contains("left,");
        window.get_by_label_contains("Run progress");
    }
}

#[test]
fn a_wide_window_has_a_canvas_beside_the_plots() {
    let canvases = |size| {
        let (window, _engine) = sized(size);
        window.query_all_by_label_contains("Clear").count()
    };
    assert_eq!(canvases([1080.0, 800.0]), 0);
    assert_eq!(canvases([1100.0, 800.0]), 1);
    assert_eq!(canvases([1400.0, 900.0]), 1);
}

#[test]
fn zoom_is_remembered() {
    let (mut window, _engine) = usual();
    window.keys(Modifiers::COMMAND, Key::Plus);
    assert_eq!(window.app().ctx.settings.zoom, 1.1);
    window.keys(Modifiers::COMMAND, Key::Num0);
    assert_eq!(window.app().ctx.settings.zoom, 1.0);
}

#[test]
fn nothing_to_do_means_no_more_frames() {
    let (mut window, _engine) = usual();
    window.until(|app| {
        app.ctx.hardware.is_some() && app.train.found.is_some() && app.models.runs.is_some()
    });
    assert!(
        window.try_run().is_ok(),
        "the window went on asking for frames"
    );
}

#[test]
fn a_job_shows_on_every_screen_where_its_screen_is_one_click_away() {
    let (mut window, mut engine) = usual();
    window.apply(TrainAction::Start);
    engine.serve();
    engine.finish();
    window.run_steps(3);
    window
        .get_all_by_label("Training finished")
        .next()
        .expect("the state of the run");
    window.apply(MachineAction::Benchmark(Effort::Full));
    engine.serve();
    for screen in Screen::ALL {
        window.act(Action::Show(screen));
        window.get_by_label("Benchmark, 25%, 30 s left");
        window.get_by_label("Job progress, in the status bar");
    }
    window.act(Action::Show(Screen::Train));
    window.get_by_label("Unavailable while a benchmark is running.");
    window.click("Benchmark, 25%, 30 s left");
    assert_eq!(window.app().ctx.screen, Screen::Hardware);
    window.click("Cancel the job");
    window.get_by_label("Benchmark, canceling…");
    window.serve(&mut engine);
    assert!(!window.has("Job progress, in the status bar"));
    window.get_by_label("Training finished");
}

#[test]
fn the_first_start_on_a_large_screen_enlarges_everything() {
    for (width, zoom) in [(1920.0, 1.0), (3840.0, 1.5)] {
        let (mut window, _engine) = usual();
        let screen = window.input_mut().viewports.entry(ViewportId::ROOT);
        screen.or_default().monitor_size = Some([width, 2160.0].into());
        window.run_steps(3);
        assert_eq!(window.ctx.zoom_factor(), zoom, "{width} points wide");
    }
}

#[test]
fn a_window_that_does_not_fit_its_screen_is_maximized() {
    for (screen, fits) in [
        ([1280.0, 800.0], false),
        ([1024.0, 768.0], false),
        ([1440.0, 900.0], true),
        ([1920.0, 1080.0], true),
    ] {
        let (mut window, _engine) = usual();
        window
            .input_mut()
            .viewports
            .entry(ViewportId::ROOT)
            .or_default()
            .monitor_size = Some(screen.into());
        let mut maximized = 0;
        for _ in 0..3 {
            window.step();
            let asked = window
                .output()
                .viewport_output
                .values()
                .flat_map(|viewport| &viewport.commands);
            maximized += asked
                .filter(|command| **command == ViewportCommand::Maximized(true))
                .count();
        }
        assert_eq!(
            maximized,
            usize::from(!fits),
            "a window of 1280 by 800 on a screen of {screen:?}"
        );
    }
}
