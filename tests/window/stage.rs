//! Owns the window, or a panel of it, on a fake engine, and what a test does to them.

use inkling::settings::Settings;
use std::time::{Duration, Instant};

use eframe::egui::accesskit::Role;
use eframe::egui::epaint::{ClippedShape, Shape};
use eframe::egui::{Event, Key, Modifiers, PointerButton, Pos2, Rect, Ui, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};
use inkling::ink::Ink;
use inkling::problem::Message;
use inkling::protocol::{self, Answer, Command, Question};
use inkling::records::{Prediction, PredictionDetails};
use inkling::run_config::RunConfig;
use inkling::window::draw::view as draw;
use inkling::window::models::view as models;
use inkling::window::results::view as results;
use inkling::window::{Action, App, Checked, Inkling, RunView, TrainAction, plots, style};

use crate::fake_engine::{Answers, FakeEngine, app, app_with, explained, past_wizard};

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
pub fn stage(panel: Panel, size: [f32; 2]) -> Staged {
    stage_with(panel, size, Answers::default())
}

/// The same, with answers for dialogs.
pub fn stage_with(panel: Panel, size: [f32; 2], answers: Answers) -> Staged {
    let (app, engine) = app_with(past_wizard(), answers);
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
                draw::show_compact(ui, &self.app, &mut self.draw, 600.0, 0.0, &mut actions);
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
pub fn serve(harness: &mut Staged) {
    harness.step();
    harness.state_mut().engine.serve();
    harness.run();
    harness.state_mut().engine.serve();
    harness.run();
}

/// Clicks, and what the engine answers reaches the screen.
#[track_caller]
pub fn ask(harness: &mut Staged, label: &str) {
    harness.get_by_label(label).click();
    serve(harness);
}

/// The drawing that waits to be read is read as this.
pub fn read_as(harness: &mut Staged, reading: impl Fn(&Ink) -> Prediction) {
    for command in harness.state_mut().engine.listen() {
        if let Command::Read {
            request,
            what: Question::Drawing { ink, .. },
        } = command
        {
            let read = explained(reading(&ink), &ink, &PredictionDetails::default());
            let answer = Ok(Answer::Drawing(Box::new(read)));
            harness
                .state()
                .engine
                .send(protocol::Event::Read { request, answer });
        }
    }
    harness.run();
}

pub fn button(pos: Pos2, button: PointerButton, pressed: bool) -> Event {
    Event::PointerButton {
        pos,
        button,
        pressed,
        modifiers: Modifiers::NONE,
    }
}

/// Presses, moves along the points and lets go, all within one frame when `at_once`.
pub fn stroke(harness: &mut Staged, points: &[Pos2], at_once: bool) {
    let button = |pos, pressed| button(pos, PointerButton::Primary, pressed);
    let (first, last) = (points[0], points[points.len() - 1]);
    let mut events = vec![Event::PointerMoved(first), button(first, true)];
    events.extend(points[1..].iter().map(|&point| Event::PointerMoved(point)));
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

/// The window with its engine, in this size.
pub fn open(app: App, size: [f32; 2]) -> Window {
    let mut window = Harness::builder()
        .with_size(Vec2::from(size))
        .with_max_steps(40)
        .build_eframe(|cc| Inkling::new(app, &cc.egui_ctx));
    window.settle();
    window
}

/// The window past the wizard.
pub fn usual() -> (Window, FakeEngine) {
    sized([1280.0, 800.0])
}

/// The window past the wizard, in this size.
pub fn sized(size: [f32; 2]) -> (Window, FakeEngine) {
    let (app, engine) = app();
    (open(app, size), engine)
}

/// Opens or closes the section of what a learner can leave alone, over a few frames.
pub fn open_more(window: &mut Window) {
    window.activate("More settings");
    window.run_steps(20);
}

/// Checks that a button is within a window of this size, and returns where.
#[track_caller]
pub fn place_within(window: &Window, button: &str, size: [f32; 2]) -> Rect {
    let place = window.rect(button);
    let fits = place.bottom() < size[1] && place.top() > 0.0;
    assert!(fits, "{size:?}: {place:?}");
    place
}

/// The window at its first launch.
pub fn first_launch(answers: Answers) -> (Window, FakeEngine) {
    let (app, engine) = app_with(Settings::default(), answers);
    (open(app, [900.0, 600.0]), engine)
}

/// The whole window.
pub type Window = Harness<'static, Inkling>;

/// A panel of it.
pub type Staged = Harness<'static, Stage>;

/// What is painted, from the lowest to the highest, with what it is clipped to.
pub fn painted(window: &Window) -> Vec<(Rect, Shape)> {
    fn flat(clip: Rect, shape: &Shape, all: &mut Vec<(Rect, Shape)>) {
        match shape {
            Shape::Vec(shapes) => shapes.iter().for_each(|shape| flat(clip, shape, all)),
            shape => all.push((clip, shape.clone())),
        }
    }
    let mut all = Vec::new();
    for ClippedShape {
        clip_rect, shape, ..
    } in &window.output().shapes
    {
        flat(*clip_rect, shape, &mut all);
    }
    all
}

/// The app, alone or in a window, as a test drives it.
pub trait Driven {
    fn app(&self) -> &App;

    fn apply(&mut self, action: impl Into<Action>);

    /// Takes in what has come; in a window, one frame is drawn.
    fn advance(&mut self);

    /// In a window, frames are drawn until what is open is open.
    fn settle(&mut self);

    fn act(&mut self, action: impl Into<Action>) {
        self.apply(action);
        self.settle();
    }

    /// Changes the settings of the next run.
    fn configure(&mut self, change: impl FnOnce(&mut RunConfig)) {
        let mut config = self.app().ctx.config.clone();
        change(&mut config);
        self.act(TrainAction::Configure(Box::new(config)));
    }

    /// What the engine answers is taken in.
    fn serve(&mut self, engine: &mut FakeEngine) {
        engine.serve();
        self.settle();
    }

    fn start(&mut self, engine: &mut FakeEngine) {
        self.train(engine, 0);
    }

    /// Starts a run, which trains this many steps.
    fn train(&mut self, engine: &mut FakeEngine, steps: u64) {
        self.apply(TrainAction::Start);
        engine.serve();
        engine.train(steps);
        self.settle();
    }

    /// Gives other threads the time they need.
    #[track_caller]
    fn until(&mut self, done: impl Fn(&App) -> bool) {
        let start = Instant::now();
        loop {
            self.advance();
            if done(self.app()) {
                return self.settle();
            }
            assert!(start.elapsed().as_secs() < 30, "it did not come");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Gives the self-tests the time they need.
    #[track_caller]
    fn until_checked(&mut self) {
        self.until(|app| {
            let mut checks = app.ctx.checks.values();
            checks.all(|check| *check != Checked::Running)
        });
    }

    /// The run that is shown.
    #[track_caller]
    fn the_run(&self) -> &RunView {
        self.app().train.run.as_ref().expect("a run")
    }

    /// What the newest notice says.
    #[track_caller]
    fn last_notice(&self) -> &Message {
        let notice = self.app().ctx.notices.last();
        &notice.expect("a notice").message
    }

    /// True if a notice says this.
    fn said(&self, words: &str) -> bool {
        let notices = &self.app().ctx.notices;
        notices
            .iter()
            .any(|notice| notice.message.what.contains(words))
    }
}

impl Driven for App {
    fn app(&self) -> &App {
        self
    }

    fn apply(&mut self, action: impl Into<Action>) {
        self.apply(action);
    }

    fn advance(&mut self) {
        self.poll();
    }

    fn settle(&mut self) {
        self.poll();
    }
}

impl Driven for Window {
    fn app(&self) -> &App {
        self.state().app()
    }

    fn apply(&mut self, action: impl Into<Action>) {
        self.state_mut().apply(action);
    }

    fn advance(&mut self) {
        self.step();
    }

    fn settle(&mut self) {
        self.run_steps(3);
    }
}

impl Driven for Staged {
    fn app(&self) -> &App {
        &self.state().app
    }

    fn apply(&mut self, action: impl Into<Action>) {
        self.state_mut().app.apply(action);
    }

    fn advance(&mut self) {
        self.step();
    }

    fn settle(&mut self) {
        self.run();
    }
}

/// What a person sees and does, by what assistive technology is told.
pub trait Seen {
    /// True if one thing is called this.
    fn has(&self, label: &str) -> bool;
    /// True if one text contains this.
    fn shows(&self, text: &str) -> bool;
    /// True if at least one text contains this.
    fn mentions(&self, text: &str) -> bool;
    fn value(&self, label: &str) -> String;
    fn rect(&self, label: &str) -> Rect;
    fn is_disabled(&self, label: &str) -> bool;
    fn click(&mut self, label: &str);
    fn click_containing(&mut self, text: &str);
    /// As assistive technology does, also where it is scrolled out of sight.
    fn activate(&mut self, label: &str);
    /// Gives it the focus.
    fn focus(&mut self, label: &str);
    /// Types this where the focus is.
    fn write(&mut self, text: &str);
    /// What stands in a field for text.
    fn field(&self, name: &str) -> String;
    /// Replaces what stands in a field.
    fn type_into(&mut self, field: &str, text: &str);
    /// Chooses from a list, wherever it is scrolled to.
    fn choose(&mut self, list: &str, option: &str);
    fn key(&mut self, key: Key);
    fn keys(&mut self, modifiers: Modifiers, key: Key);
    /// A key as often as said, a frame each.
    fn press(&mut self, key: Key, times: usize);
}

impl<S> Seen for Harness<'static, S>
where
    Self: Driven,
{
    fn has(&self, label: &str) -> bool {
        self.query_by_label(label).is_some()
    }

    fn shows(&self, text: &str) -> bool {
        self.query_by_label_contains(text).is_some()
    }

    fn mentions(&self, text: &str) -> bool {
        self.query_all_by_label_contains(text).next().is_some()
    }

    #[track_caller]
    fn value(&self, label: &str) -> String {
        self.get_by_label(label).value().unwrap_or_default()
    }

    #[track_caller]
    fn rect(&self, label: &str) -> Rect {
        self.get_by_label(label).rect()
    }

    #[track_caller]
    fn is_disabled(&self, label: &str) -> bool {
        self.get_by_label(label).accesskit_node().is_disabled()
    }

    #[track_caller]
    fn click(&mut self, label: &str) {
        self.get_by_label(label).click();
        self.settle();
    }

    #[track_caller]
    fn click_containing(&mut self, text: &str) {
        self.get_by_label_contains(text).click();
        self.settle();
    }

    #[track_caller]
    fn activate(&mut self, label: &str) {
        self.get_by_label(label).click_accesskit();
        self.settle();
    }

    #[track_caller]
    fn focus(&mut self, label: &str) {
        self.get_by_label(label).focus();
        self.settle();
    }

    fn write(&mut self, text: &str) {
        self.event(Event::Text(text.to_owned()));
        self.settle();
    }

    #[track_caller]
    fn field(&self, name: &str) -> String {
        let field = self.get_by_role_and_label(Role::TextInput, name);
        field.value().unwrap_or_default()
    }

    fn type_into(&mut self, field: &str, text: &str) {
        self.get_by_role_and_label(Role::TextInput, field).focus();
        self.settle();
        self.keys(Modifiers::COMMAND, Key::A);
        if text.is_empty() {
            self.key(Key::Delete);
        } else {
            let field = self.get_by_role_and_label(Role::TextInput, field);
            field.type_text(text);
            self.settle();
        }
    }

    fn choose(&mut self, list: &str, option: &str) {
        let list = self.get_by_role_and_label(Role::ComboBox, list);
        list.click_accesskit();
        self.settle();
        let option = self.get_by_role_and_label(Role::Button, option);
        option.click_accesskit();
        self.settle();
    }

    fn key(&mut self, key: Key) {
        self.key_press(key);
        self.settle();
    }

    fn keys(&mut self, modifiers: Modifiers, key: Key) {
        self.key_press_modifiers(modifiers, key);
        self.settle();
    }

    fn press(&mut self, key: Key, times: usize) {
        for _ in 0..times {
            self.key_press(key);
            self.step();
        }
    }
}
