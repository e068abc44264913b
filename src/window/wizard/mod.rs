//! The setup wizard: its frame, the list of its pages, and moving between them by pointer and
//! keyboard.

mod pages;

use eframe::egui::{
    Align, Button, CentralPanel, Frame, Id, Key, Layout, Margin, Memory, Modifiers, Panel, Rect,
    Response, RichText, Sense, Stroke, Ui, Vec2, vec2,
};

use crate::window::draw::view::DrawView;
use crate::window::style::SemiBold as _;
use crate::window::style::icons::Icon;
use crate::window::style::{self, icons};
use crate::window::{Action, App, Pushes as _, TrainAction, WizardStep};

/// A page with the buttons below it, in points.
const PAGE: Vec2 = vec2(900.0, 800.0);
/// Space to the left and the right of a page, in points.
const MARGIN: i8 = 36;
/// The width of a scroll bar, in points.
const BAR: f32 = 10.0;

pub fn show(
    ui: &mut Ui,
    app: &App,
    step: WizardStep,
    drawing: &mut DrawView,
    actions: &mut Vec<Action>,
) {
    steps(ui, step, actions);
    // In a large window the page is in the middle.
    let room = ui.available_size() - vec2(2.0 * f32::from(MARGIN), 0.0);
    let around = (room - PAGE).max(Vec2::ZERO) / 2.0;
    let [beside, above] = [around.x, around.y].map(f32::floor);
    let width = PAGE.x.min(room.x - BAR);
    let frame = Frame::new()
        .fill(style::palette(ui).background)
        .inner_margin(Margin::symmetric(MARGIN, 18));
    Panel::bottom("wizard foot")
        .frame(frame)
        .show_separator_line(false)
        .show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.add_space(beside);
                style::wide_column(ui, vec2(width, 0.0), |ui| foot(ui, app, step, actions));
            });
            ui.add_space(above);
        });
    let frame = Frame::new()
        .fill(style::palette(ui).background)
        .inner_margin(Margin {
            left: MARGIN,
            right: MARGIN,
            top: 34,
            bottom: 0,
        });
    CentralPanel::no_frame().frame(frame).show(ui, |ui| {
        ui.add_space(above);
        style::scroll(ui, step, |ui| {
            ui.horizontal_top(|ui| {
                ui.add_space(beside);
                style::wide_column(ui, vec2(width, 0.0), |ui| {
                    ui.label(RichText::new(title(step)).size(27.0).semibold());
                    ui.add_space(style::GAP / 2.0);
                    pages::show(ui, app, step, drawing, actions);
                });
            });
        });
    });
    keys(ui, app, step, actions);
    remember_arrows(ui);
}

/// Notes whether an arrow key was pressed: it moves the keyboard's focus when the frame ends.
fn remember_arrows(ui: &Ui) {
    let pressed = ui.input(|input| {
        [
            Key::ArrowUp,
            Key::ArrowDown,
            Key::ArrowLeft,
            Key::ArrowRight,
        ]
        .into_iter()
        .any(|key| input.key_pressed(key))
    });
    ui.data_mut(|data| data.insert_temp(arrows(), pressed));
}

/// True if an arrow key has just moved the keyboard's focus.
fn came_by_arrow(ui: &Ui) -> bool {
    ui.data(|data| data.get_temp(arrows())).unwrap_or(false)
}

fn arrows() -> Id {
    Id::unique("an arrow key moved the focus")
}

/// Notes that this radio button has the keyboard's focus: Enter moves on from it, as Space chooses
/// it.
fn note_focus(radio: &Response) {
    if radio.has_focus() {
        radio
            .ctx
            .data_mut(|data| data.insert_temp(radio_with_focus(), radio.id));
    }
}

/// True if Enter means the page and not what has the keyboard's focus.
fn enter_moves_on(ui: &Ui) -> bool {
    let radio = ui.data(|data| data.get_temp::<Id>(radio_with_focus()));
    ui.memory(Memory::focused)
        .is_none_or(|focused| Some(focused) == radio)
}

fn radio_with_focus() -> Id {
    Id::unique("the radio button with the keyboard")
}

/// The buttons Back, Skip and Next; Next has the focus at first.
fn foot(ui: &mut Ui, app: &App, step: WizardStep, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        if let Some(before) = neighbor(step, -1)
            && ui
                .add(style::secondary_button("Back"))
                .on_hover_text("Backspace, Alt+Left")
                .clicked()
        {
            actions.push(Action::Wizard(before));
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let (label, next) = onward(app, step);
            let response = ui.add(style::primary_button(label)).on_hover_text("Enter");
            if response.clicked() {
                actions.extend(next);
            }
            // Also after a page change, so that Enter alone leads through the wizard.
            let arrived = Id::unique("the wizard's page with the keyboard");
            if ui.data(|data| data.get_temp(arrived)) != Some(step) {
                ui.data_mut(|data| data.insert_temp(arrived, step));
                response.request_focus();
            }
            if let Some(next) = neighbor(step, 1) {
                if label == START {
                    let about = "Choose the data and a preset first, and see what this machine has";
                    ui.add(style::secondary_button("Set up step by step"))
                        .on_hover_text(about)
                        .pushes(actions, || Action::Wizard(next));
                }
                let skip = ui
                    .add(
                        style::quiet_button("Skip setup").min_size(vec2(0.0, style::BUTTON_HEIGHT)),
                    )
                    .on_hover_text("Escape. Choices made so far are saved");
                skip.pushes(actions, || Action::CloseWizard);
            } else if label != OPEN
                && ui
                    .add(style::secondary_button(OPEN))
                    .on_hover_text("Train later")
                    .clicked()
            {
                actions.push(Action::CloseWizard);
            }
        });
    });
}

/// The first and the last page's button that trains.
const START: &str = "Start training";
/// The last page's button that does not train.
const OPEN: &str = "Open Inkling";

/// The main button: its name, and what it does.
fn onward(app: &App, step: WizardStep) -> (&'static str, Vec<Action>) {
    let can_train = app.validation_errors().is_empty();
    match (step, neighbor(step, 1)) {
        (WizardStep::Welcome | WizardStep::Done, _) if can_train => (
            START,
            vec![Action::CloseWizard, Action::Train(TrainAction::Start)],
        ),
        (_, Some(next)) => ("Next", vec![Action::Wizard(next)]),
        (_, None) => (OPEN, vec![Action::CloseWizard]),
    }
}

fn keys(ui: &Ui, app: &App, step: WizardStep, actions: &mut Vec<Action>) {
    let moves_on = enter_moves_on(ui);
    let (next, back, skip) = ui.input_mut(|input| {
        let back = input.consume_key(Modifiers::ALT, Key::ArrowLeft)
            || input.consume_key(Modifiers::NONE, Key::Backspace);
        (
            moves_on && input.consume_key(Modifiers::NONE, Key::Enter),
            back,
            input.consume_key(Modifiers::NONE, Key::Escape),
        )
    });
    if skip {
        actions.push(Action::CloseWizard);
    } else if back && let Some(before) = neighbor(step, -1) {
        actions.push(Action::Wizard(before));
    } else if next {
        actions.extend(onward(app, step).1);
    }
}

fn neighbor(step: WizardStep, by: isize) -> Option<WizardStep> {
    let here = WizardStep::ALL.iter().position(|&other| other == step)?;
    here.checked_add_signed(by)
        .and_then(|there| WizardStep::ALL.get(there))
        .copied()
}

pub fn steps(ui: &mut Ui, step: WizardStep, actions: &mut Vec<Action>) {
    let frame = Frame::new()
        .fill(style::palette(ui).surface)
        .inner_margin(Margin::symmetric(22, 30));
    Panel::left("wizard steps")
        .frame(frame)
        .exact_size(220.0)
        .resizable(false)
        .show(ui, |ui| {
            let palette = style::palette(ui);
            ui.horizontal(|ui| {
                let (rect, _) = ui.allocate_exact_size(vec2(28.0, 40.0), Sense::hover());
                icons::drop(ui.painter(), rect.center(), 34.0, palette.accent);
                ui.label(RichText::new("Inkling").size(24.0).semibold());
            });
            ui.add_space(style::GAP * 2.0);
            let here = WizardStep::ALL
                .iter()
                .position(|&other| other == step)
                .unwrap_or_default();
            for (index, &page) in WizardStep::ALL.iter().enumerate() {
                entry(ui, index, here, page, actions);
            }
        });
}

fn entry(ui: &mut Ui, index: usize, here: usize, page: WizardStep, actions: &mut Vec<Action>) {
    let palette = style::palette(ui);
    ui.horizontal(|ui| {
        let (rect, _) = ui.allocate_exact_size(vec2(22.0, 30.0), Sense::hover());
        let place = Rect::from_center_size(rect.center(), vec2(18.0, 18.0));
        if index < here {
            Icon::Done.paint(ui.painter(), place, palette.good);
        } else {
            let color = if index == here {
                palette.accent
            } else {
                palette.line
            };
            ui.painter()
                .circle_stroke(place.center(), 7.0, Stroke::new(2.0, color));
            if index == here {
                ui.painter().circle_filled(place.center(), 3.5, color);
            }
        }
        let text = RichText::new(short(page));
        let text = if index == here {
            text.semibold().color(palette.accent)
        } else {
            text
        };
        ui.add(Button::selectable(index == here, text).frame(false))
            .pushes(actions, || Action::Wizard(page));
    });
}

const fn short(step: WizardStep) -> &'static str {
    match step {
        WizardStep::Welcome => "Welcome",
        WizardStep::Hardware => "Hardware",
        WizardStep::Data => "Data",
        WizardStep::Settings => "Preset",
        WizardStep::Done => "Ready",
    }
}

pub const fn title(step: WizardStep) -> &'static str {
    match step {
        WizardStep::Welcome => "Teach your computer to recognize digits",
        WizardStep::Hardware => "Your hardware",
        WizardStep::Data => "Choose the training data",
        WizardStep::Settings => "Choose a preset",
        WizardStep::Done => "Ready to train",
    }
}
