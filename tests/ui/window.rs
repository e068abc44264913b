//! Owns the whole window on a fake engine, for the tests of this folder.

use eframe::egui::Vec2;
use egui_kittest::Harness;
use inkling::window::Inkling;
use inkling::window::{App, Settings};

use crate::fake_engine::{Answers, FakeEngine, app_with};

/// The window with its engine, in this size.
pub fn open(app: App, size: [f32; 2]) -> Harness<'static, Inkling> {
    let mut harness = Harness::builder()
        .with_size(Vec2::from(size))
        .with_max_steps(40)
        .build_eframe(|cc| Inkling::new(app, &cc.egui_ctx));
    harness.run_steps(3);
    harness
}

/// The window past the wizard.
pub fn usual() -> (Harness<'static, Inkling>, FakeEngine) {
    sized([1280.0, 800.0])
}

/// The window past the wizard, in this size.
pub fn sized(size: [f32; 2]) -> (Harness<'static, Inkling>, FakeEngine) {
    let (app, engine) = app_with(
        Settings {
            wizard_done: true,
            ..Settings::default()
        },
        Answers::default(),
    );
    (open(app, size), engine)
}

/// The window at its first launch.
pub fn first_launch(answers: Answers) -> (Harness<'static, Inkling>, FakeEngine) {
    let (app, engine) = app_with(Settings::default(), answers);
    (open(app, [900.0, 600.0]), engine)
}

/// Draws frames until `done` says so, giving background jobs the time they need.
pub fn until(harness: &mut Harness<'static, Inkling>, what: &str, done: impl Fn(&App) -> bool) {
    let start = std::time::Instant::now();
    while !done(harness.state().app()) {
        assert!(start.elapsed().as_secs() < 30, "never happened: {what}");
        std::thread::sleep(std::time::Duration::from_millis(5));
        harness.run_steps(1);
    }
    harness.run_steps(2);
}
