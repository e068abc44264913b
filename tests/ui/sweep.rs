//! The Sweep screen.

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use inkling::window::{App, Screen, SweepPhase};

use super::window::{sized, until};

fn is_complete(app: &App) -> bool {
    app.sweeps
        .shown
        .as_ref()
        .is_some_and(|sweep| sweep.phase == SweepPhase::Complete)
}

#[test]
fn a_sweep_is_started_by_keyboard_and_its_best_settings_are_used() {
    for size in [[900.0, 600.0], [1280.0, 800.0]] {
        let (mut window, _engine) = sized(size);
        window.key_press_modifiers(Modifiers::COMMAND, Key::Num5);
        window.run_steps(3);
        window.get_by_label("Learning rate: from");
        window.key_press_modifiers(Modifiers::COMMAND, Key::Enter);
        until(&mut window, "the end of the sweep", is_complete);
        let best = window
            .state()
            .app()
            .sweeps
            .shown
            .as_ref()
            .unwrap()
            .best()
            .unwrap()
            .clone();
        window.get_by_label("Sweep progress");
        window.get_by_label_contains("Best: 9");
        if size[0] < 1000.0 {
            window.get_by_label("Progress and importance").click();
            window.run_steps(3);
        }
        window.get_by_role_and_label(Role::Figure, "Best so far");
        window.get_by_label("Importance of learning rate");
        if size[0] < 1000.0 {
            window.get_by_label("Parallel coordinates").click();
            window.run_steps(3);
            window.get_by_label("Table").click();
            window.run_steps(3);
        }
        window.get_by_label("Use these settings").click();
        window.run_steps(3);
        assert_eq!(
            (
                window.state().app().shell.screen,
                &window.state().app().ctx.config
            ),
            (Screen::Train, &best.config)
        );
    }
}

#[test]
fn the_table_is_sorted_and_a_selected_trial_is_used() {
    let (mut window, _engine) = sized([1280.0, 800.0]);
    window.key_press_modifiers(Modifiers::COMMAND, Key::Num5);
    window.run_steps(3);
    window.get_by_label("Start the sweep").click();
    until(&mut window, "the end of the sweep", is_complete);
    window.get_by_label("Sort by trial").click();
    window.run_steps(3);
    let first = window.get_by_label_contains("Trial 1:");
    first.focus();
    window.run_steps(2);
    window.key_press(Key::Enter);
    window.run_steps(3);
    assert_eq!(
        window.state().app().sweeps.shown.as_ref().unwrap().selected,
        Some(1)
    );
    window.key_press(Key::ArrowDown);
    window.run_steps(3);
    assert_eq!(
        window.state().app().sweeps.shown.as_ref().unwrap().selected,
        Some(2)
    );
    let second = window
        .state()
        .app()
        .sweeps
        .shown
        .as_ref()
        .unwrap()
        .trial(2)
        .unwrap()
        .config
        .clone();
    window.get_by_label("Use these settings").click();
    window.run_steps(3);
    assert_eq!(window.state().app().ctx.config, second);
}
