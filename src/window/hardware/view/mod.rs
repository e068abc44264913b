//! The Hardware screen: what this machine has, whether it computes correctly, and how fast it is.

use eframe::egui::{
    Align, Button, FontSelection, Label, Layout, RichText, ScrollArea, TextWrapMode, Ui,
    WidgetText, vec2,
};

use crate::device::HAS_CUDA;
use crate::hardware::{Line, lines};
use crate::text::visible;
use crate::window::shell::help::{self, Topic};
use crate::window::style::SemiBold as _;
use crate::window::{Action, App, MachineAction, Pushes as _, style};

mod checks;
pub mod monitor;
pub mod other_machine;

/// Below this width, in points, there is a single column.
const TWO_COLUMNS: f32 = 1000.0;
/// The width of the hardware column, in points, and its fraction of a wide window.
const HARDWARE_WIDTH: std::ops::RangeInclusive<f32> = 360.0..=520.0;
const HARDWARE_SHARE: f32 = 0.19;
/// The greatest width of the self-test, in points.
const TEXT_WIDTH: f32 = 1000.0;

pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if ui.available_width() < TWO_COLUMNS {
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            ui.set_max_width(ui.available_width() - style::GAP);
            machine_in_use(ui, app, actions);
            ui.add_space(style::GAP);
            checks::self_test(ui, app, actions);
            ui.add_space(style::GAP);
            checks::benchmark(ui, app, actions);
            ui.add_space(style::GAP * 2.0);
            parts(ui, app, actions);
        });
        return;
    }
    let height = ui.available_height();
    let width = (ui.available_width() * HARDWARE_SHARE)
        .clamp(*HARDWARE_WIDTH.start(), *HARDWARE_WIDTH.end());
    ui.horizontal_top(|ui| {
        style::column(ui, vec2(width, height), |ui| {
            ui.scope(|ui| {
                ui.set_max_width(ui.available_width() - style::GAP);
                machine_in_use(ui, app, actions);
            });
            style::scroll(ui, "findings", |ui| {
                ui.set_max_width(ui.available_width() - style::GAP);
                parts(ui, app, actions);
            });
        });
        ui.add_space(style::GAP);
        ui.vertical(|ui| {
            style::scroll(ui, "benchmark", |ui| {
                ui.set_max_width(ui.available_width() - style::GAP);
                ui.scope(|ui| {
                    ui.set_max_width(ui.available_width().min(TEXT_WIDTH));
                    checks::self_test(ui, app, actions);
                });
                ui.add_space(style::GAP);
                checks::benchmark(ui, app, actions);
            });
        });
    });
}

/// The self-test and the hardware, as the wizard shows them.
pub fn summary(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    checks::self_test(ui, app, actions);
    cards(ui, app);
}

/// The machine that is trained on, and the button for another one: above what scrolls, where it is
/// always in view.
fn machine_in_use(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let other = app.ctx.other_machine.as_ref();
    let title = other.map_or("This machine".to_owned(), |machine| {
        format!("Training on {}", visible::label(machine.host.name()))
    });
    help::beside(ui, Topic::Hardware, |ui| _ = ui.heading(title));
    let (name, action) = match other {
        Some(machine) => {
            other_machine::facts(ui, machine);
            ("Train on this machine again", MachineAction::UseThis)
        }
        None => ("Train on another machine…", MachineAction::Ask(None)),
    };
    let why_not = app.ctx.why_not_move();
    style::ask(ui, style::secondary_button(name), why_not, "").pushes(actions, || action);
}

/// The bundles on the other machine, if one is in use, and this machine's hardware.
fn parts(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if let Some(machine) = app.ctx.other_machine.as_ref() {
        other_machine::sent(ui, app, machine.host.name(), actions);
        ui.add_space(style::GAP);
        ui.heading("This machine");
    }
    cards(ui, app);
    libraries(ui, app, actions);
}

/// From this width on, in points, two cards stand in a row.
const TWO_IN_A_ROW: f32 = 560.0;
/// Space between two lines of a card, in points.
const LINE_GAP: f32 = 3.0;

pub fn cards(ui: &mut Ui, app: &App) {
    let Some(hardware) = &app.ctx.hardware else {
        ui.horizontal(|ui| {
            style::spinner(ui);
            ui.label("Detecting hardware…");
        });
        return;
    };
    let is_narrow = ui.available_width() < TWO_IN_A_ROW;
    let in_a_row = if is_narrow { 1 } else { 2 };
    for row in lines(hardware).chunks(in_a_row) {
        ui.columns(in_a_row, |columns| {
            let heights = row.iter().zip(columns.iter());
            let heights = heights.map(|(line, ui)| text_height(ui, line));
            let height = heights.fold(0.0, f32::max);
            for (line, ui) in row.iter().zip(columns) {
                part_card(ui, line, height);
            }
        });
    }
}

/// One part, with the height of its text in points, at least.
fn part_card(ui: &mut Ui, line: &Line, text_height: f32) {
    style::card(ui).show(ui, |ui| {
        ui.set_min_size([ui.available_width(), text_height].into());
        // Columns justify their content; running text is left-aligned.
        ui.with_layout(Layout::top_down(Align::Min), |ui| {
            ui.spacing_mut().item_spacing.y = LINE_GAP;
            for text in texts(line) {
                ui.add(Label::new(text).wrap());
            }
        });
    });
}

/// The height of a part's text in a card as wide as there is room for, in points.
fn text_height(ui: &Ui, line: &Line) -> f32 {
    let width = ui.available_width() - style::card(ui).total_margin().sum().x;
    let height = |text: RichText| {
        WidgetText::from(text)
            .into_galley(ui, Some(TextWrapMode::Wrap), width, FontSelection::Default)
            .size()
            .y
    };
    texts(line).map(height).into_iter().sum::<f32>() + 2.0 * LINE_GAP
}

/// Its name, what was found, and what that means for training.
fn texts(line: &Line) -> [RichText; 3] {
    [
        style::hint(&line.label),
        RichText::new(&line.value).semibold(),
        RichText::new(&line.meaning).weak(),
    ]
}

/// Draws the card where it matters: in a build with CUDA, on a machine with an NVIDIA GPU.
pub fn libraries(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let hardware = app.ctx.hardware.as_ref();
    let has_gpu = hardware.is_some_and(|hardware| !hardware.gpus.is_empty());
    if HAS_CUDA && (has_gpu || app.ctx.settings.cuda_folder.is_some()) {
        libraries_card(ui, app, actions);
    }
}

pub fn libraries_card(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let chosen = app.ctx.settings.cuda_folder.as_ref();
    style::full_card(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 3.0;
        ui.label(style::hint("NVIDIA libraries"));
        let place = chosen.map(|folder| visible::path(folder));
        style::strong(ui, place.unwrap_or_else(|| "Standard locations".to_owned()));
        // In a separate scope, so that a change of text does not move the keyboard focus.
        ui.vertical(|ui| {
            let first = "Searched first, then the standard locations.";
            let usual =
                "The folders of the system, the CUDA Toolkit and Python packages are searched.";
            let status = chosen.map_or(usual, |_| first);
            let searching = app.machine.looking_for_cuda;
            style::weak(ui, if searching { "Searching…" } else { status });
        });
        ui.add_space(4.0);
        ui.horizontal_wrapped(|ui| {
            let about = "The folder that contains libcublas, libcublasLt and libcurand, if they are not in a standard location";
            style::ask(ui, Button::new("Choose a folder…"), None, about)
                .pushes(actions, || MachineAction::ChooseCudaFolder);
            if chosen.is_some() {
                ui.button("Use standard locations")
                    .pushes(actions, || MachineAction::UseCudaFolder(None));
            }
        });
    });
}
