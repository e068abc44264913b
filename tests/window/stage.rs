//! Owns the window, or a panel of it, on a fake engine, and what a test does to them.

use eframe::egui::{self, Event, Modifiers, PointerButton, Pos2, Ui, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use inkling::window::draw::view as draw;
use inkling::window::models::view as models;
use inkling::window::results::view as results;
use inkling::window::{Action, App, Inkling, Settings, plots, style};

use crate::fake_engine::{Answers, FakeEngine, app_with};

/// Which panel is shown.
#[derive(Clone, Copy, Debug)]
pub enum Panel {
    Plots,
    Draw,
    Compact,
    Models,
    Results,
}

/// App, engine and everything seen.
pub struct Stage {
    pub app: App,
    pub engine: FakeEngine,
    /// Every action the panel returned.
    pub done: Vec<Action>,
    panel: Panel,
    plots: plots::PlotsView,
    draw: draw::DrawView,
    models: models::ModelsView,
    results: results::ResultsScreen,
}

/// A panel in a window of this size.
pub fn stage(panel: Panel, size: [f32; 2]) -> Harness<'static, Stage> {
    stage_with(panel, size, Answers::default())
}

/// The same, with answers for dialogs.
pub fn stage_with(panel: Panel, size: [f32; 2], answers: Answers) -> Harness<'static, Stage> {
    let (app, engine) = app_with(
        Settings {
            wizard_done: true,
            ..Settings::default()
        },
        answers,
    );
    let stage = Stage {
        app,
        engine,
        done: Vec::new(),
        panel,
        plots: plots::PlotsView::default(),
        draw: draw::DrawView::default(),
        models: models::ModelsView::default(),
        results: results::ResultsScreen::default(),
    };
    let mut harness = Harness::builder()
        .with_size(Vec2::from(size))
        .with_context_setup(style::apply)
        .build_ui_state(|ui, stage: &mut Stage| stage.frame(ui), stage);
    harness.run();
    harness
}

impl Stage {
    fn frame(&mut self, ui: &mut Ui) {
        let mut actions = Vec::new();
        self.draw.follow_pointer(ui.ctx(), &self.app, &mut actions);
        for action in actions.drain(..) {
            self.done.push(action.clone());
            self.app.apply(action);
        }
        self.app.poll();
        match self.panel {
            Panel::Plots => plots::show(ui, &self.app, &mut self.plots, &mut actions),
            Panel::Draw => draw::show(ui, &self.app, &mut self.draw, &mut actions),
            Panel::Compact => {
                draw::show_compact(ui, &self.app, &mut self.draw, 600.0, 0.0, &mut actions)
            }
            Panel::Models => models::show(ui, &self.app, &mut self.models, &mut actions),
            Panel::Results => results::show(ui, &self.app, &mut self.results, &mut actions),
        }
        for action in actions {
            self.done.push(action.clone());
            self.app.apply(action);
        }
    }
}

/// What the engine answers reaches the screen.
pub fn serve(harness: &mut Harness<'static, Stage>) {
    harness.step();
    harness.state_mut().engine.serve();
    harness.run();
    harness.state_mut().engine.serve();
    harness.run();
}

/// The value a node tells assistive technology.
pub fn value(harness: &Harness<'static, Stage>, label: &str) -> String {
    harness.get_by_label(label).value().unwrap_or_default()
}

/// Presses, moves along the points and lets go, all within one frame when `at_once`.
pub fn stroke(harness: &mut Harness<'static, Stage>, points: &[Pos2], at_once: bool) {
    let button = |pos, pressed| Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    let first = points[0];
    let last = points[points.len() - 1];
    let mut events = vec![Event::PointerMoved(first), button(first, true)];
    events.extend(
        points
            .iter()
            .skip(1)
            .map(|&point| Event::PointerMoved(point)),
    );
    events.push(button(last, false));
    if at_once {
        harness.input_mut().events.extend(events);
        harness.step();
    } else {
        for event in events {
            harness.input_mut().events.push(event);
            harness.step();
        }
    }
}

/// Presses a key as often as said, a frame each.
pub fn press(harness: &mut Harness<'static, Stage>, key: egui::Key, times: usize) {
    for _ in 0..times {
        harness.key_press(key);
        harness.step();
    }
}

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

/// Polls until that is so.
pub fn wait_for(app: &mut App, until: impl Fn(&App) -> bool) {
    for _ in 0..2000 {
        app.poll();
        if until(app) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("it did not come");
}
