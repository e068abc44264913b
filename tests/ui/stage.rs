//! Owns a panel on its own, with an app and a fake engine behind it, as kittest drives it.

use eframe::egui::{self, Event, Modifiers, PointerButton, Pos2, Ui, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use inkling::window::draw::view as draw;
use inkling::window::models::view as models;
use inkling::window::results::view as results;
use inkling::window::{Action, App, Settings};
use inkling::window::{plots, style};

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
