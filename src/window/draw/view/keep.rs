//! Keeping the drawing: with the digit that was recognized, or with the one that it is; the guided
//! collection; and the drawings that were cleared from the canvas, of which a click brings one
//! back.

use eframe::egui::containers::menu::MenuButton;
use eframe::egui::{
    Align, Button, Event, Key, Layout, Modifiers, Popup, RichText, Sense, Ui, Vec2, vec2,
};

use crate::ink::Image;
use crate::notices::verdict::Verdict;
use crate::records::Prediction;
use crate::window::shell::shortcuts::UNDO;
use crate::window::style::SemiBold as _;
use crate::window::style::image_sheet::{self, Cached};
use crate::window::{
    Action, App, Collection, DrawAction, MyDigitsAction, Pushes as _, Screen, style,
};

/// Turns Enter, the digits and, during the guided collection, Escape into actions, unless they are
/// meant for something else: `canvas_focused` is true while the canvas has the focus.
pub fn shortcuts(ui: &Ui, app: &App, canvas_focused: bool, actions: &mut Vec<Action>) {
    let ctx = ui.ctx();
    if ctx.text_edit_focused() {
        return;
    }
    if app.ctx.collection.is_some()
        && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape))
    {
        return actions.push(MyDigitsAction::StopCollecting.into());
    }
    if !app.draw.can_keep(&app.ctx) {
        return;
    }
    // Enter presses the button that has the focus.
    let free = canvas_focused || ctx.memory(|memory| memory.focused().is_none());
    if free && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter)) {
        return actions.push(MyDigitsAction::Keep(None).into());
    }
    let typed = ui.input(|input| {
        input.events.iter().find_map(|event| {
            if let Event::Text(text) = event {
                text.parse::<u8>().ok().filter(|digit| *digit < 10)
            } else {
                None
            }
        })
    });
    if let Some(digit) = typed {
        actions.push(MyDigitsAction::Keep(Some(digit)).into());
    }
}

/// The buttons below the verdict, and how many drawings are kept.
pub fn row(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if let Some(collection) = &app.ctx.collection {
        return collection_row(ui, app, collection, actions);
    }
    ui.horizontal(|ui| {
        let digit = app.draw.digit_to_keep(&app.ctx);
        let name = digit.map_or_else(|| "Keep".to_owned(), |digit| format!("Keep as {digit}"));
        let about = "Recognized correctly: keep the drawing with this digit, to fine-tune the model on it (Enter)";
        let keep = ui.add_enabled(digit.is_some(), Button::new(name).min_size(vec2(86.0, 0.0)));
        keep.on_hover_text(about).on_disabled_hover_text("Draw a digit first").pushes(actions, || MyDigitsAction::Keep(None));
        ui.add_enabled_ui(app.draw.can_keep(&app.ctx), |ui| {
            let (menu, _) = MenuButton::new("It is…").ui(ui, |ui| digits(ui, None, |digit| actions.push(MyDigitsAction::Keep(Some(digit)).into())));
            // It belongs to the drawing that was there when it was opened.
            if !app.draw.can_keep(&app.ctx) {
                Popup::close_id(ui.ctx(), Popup::default_response_id(&menu));
            }
            let about = "Recognized wrongly: keep the drawing with the digit that it is (or type that digit)";
            menu.on_hover_text(about).on_disabled_hover_text("Draw a digit first");
        });
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let count = app.my_digits.drawings().len();
            let text = RichText::new(format!("My digits ({count})"));
            ui.add(style::quiet_button(text)).on_hover_text("See the drawings you have kept").pushes(actions, || Action::Show(Screen::MyDigits));
        });
    });
}

/// A button for each digit but this one, in two rows.
pub fn digits(ui: &mut Ui, without: Option<u8>, mut chosen: impl FnMut(u8)) {
    for row in [0..5_u8, 5..10] {
        ui.horizontal(|ui| {
            for digit in row {
                let button = Button::new(RichText::new(digit.to_string()).semibold())
                    .min_size(vec2(30.0, 30.0));
                if ui.add_enabled(without != Some(digit), button).clicked() {
                    chosen(digit);
                    ui.close();
                }
            }
        });
    }
}

/// The digit to draw next in the guided collection, in the place of the verdict, in type of this
/// `size`.
pub fn prompt(ui: &mut Ui, collection: &Collection, reading: Option<&Prediction>, size: f32) {
    style::verdict_row(ui, size, |ui| {
        let digit = RichText::new(collection.digit().to_string()).size(size);
        ui.label(digit.color(style::palette(ui).accent).semibold());
        ui.vertical(|ui| {
            ui.add_space((ui.available_height() - size * 0.6).max(0.0) / 2.0);
            let task = RichText::new(format!("Draw a {}", collection.digit()));
            ui.label(task.size((size * 0.17).max(22.0)));
            // In the place of how far it is, so that nothing moves; nothing is refused.
            let doubt =
                reading.filter(|reading| !reading.is_digit || reading.digit != collection.digit());
            ui.label(match doubt {
                Some(reading) if reading.is_digit => {
                    RichText::new(format!("Looks like a {} to the model", reading.digit)).semibold()
                }
                Some(_) => RichText::new("Does not look like a digit to the model").semibold(),
                None => {
                    let (round, rounds) = (collection.round(), Collection::ROUNDS);
                    let left = collection.left();
                    RichText::new(format!("Round {round} of {rounds}, {left} left")).weak()
                }
            });
            let bar = style::progress_bar(ui, collection.fraction()).desired_width(120.0);
            ui.add(bar.desired_height(8.0))
                .accessible_name("Collection progress");
        });
    });
}

/// Shows what the last drawing was kept as, with the way back, in the place of the verdict and in
/// type of this `size`, until something is drawn.
pub fn kept(ui: &mut Ui, digit: u8, size: f32, actions: &mut Vec<Action>) {
    let place = style::verdict_row(ui, size, |ui| {
        let line = style::palette(ui).line;
        ui.label(RichText::new(digit.to_string()).size(size).color(line));
        ui.label(RichText::new(format!("Kept as {digit}")).size((size * 0.17).max(22.0)));
        let keys = ui.ctx().format_shortcut(&UNDO);
        let about = format!("Move the drawing back to the canvas ({keys})");
        ui.add(Button::new("Undo keep"))
            .on_hover_text(about)
            .pushes(actions, || MyDigitsAction::UndoKept);
    });
    let said = format!("kept as {digit}");
    style::announce_verdict(ui, place, "kept", Sense::empty(), &said);
}

fn collection_row(ui: &mut Ui, app: &App, collection: &Collection, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        let next = ui.add_enabled(
            app.draw.can_keep(&app.ctx),
            Button::new("Next").min_size(vec2(60.0, 0.0)),
        );
        next.on_hover_text("Keep the drawing and continue (Enter)")
            .on_disabled_hover_text("Draw the digit first")
            .pushes(actions, || MyDigitsAction::Keep(None));
        ui.button("Skip")
            .on_hover_text("Continue without a drawing of this digit")
            .pushes(actions, || MyDigitsAction::SkipDigit);
        let back = ui.add_enabled(collection.can_go_back(), Button::new("Back"));
        back.on_hover_text("Draw the previous digit again")
            .pushes(actions, || MyDigitsAction::PreviousDigit);
        ui.button("Stop")
            .on_hover_text("End the collection; what you have drawn is kept (Escape)")
            .pushes(actions, || MyDigitsAction::StopCollecting);
    });
}

/// The side of an image in a narrow and in a wide column, in points: three and five to a pixel.
const SIDES: [f32; 2] = [84.0, 140.0];
const WIDE: f32 = 600.0;

/// Draws them, the newest first.
pub fn recent(ui: &mut Ui, app: &App, shown: &mut Cached<Vec<Image>>, actions: &mut Vec<Action>) {
    style::section(ui, "Recent drawings");
    let recent = &app.draw.recent;
    if recent.is_empty() {
        let about = "Drawings that you clear are kept here until you close Inkling. Click one to bring it back.";
        style::weak(ui, about);
        return;
    }
    let images = recent.iter().map(|(_, prediction)| &prediction.image);
    let sheet = shown.of_images(ui, "recent drawings", images);
    let side = if ui.available_width() < WIDE {
        SIDES[0]
    } else {
        SIDES[1]
    };
    style::scroll(ui, "recent drawings", |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = Vec2::splat(style::GAP * 0.75);
            for (index, (_, prediction)) in recent.iter().enumerate() {
                let verdict = Verdict::of(prediction);
                let [title, detail] = [&verdict.title(), &verdict.confidence];
                let spoken = format!("Recent drawing: {title}, {detail}");
                let tile = image_sheet::tile(ui, sheet, index, side, [title, detail], &spoken);
                tile.pushes(actions, || DrawAction::RestoreDrawing(index));
                Popup::context_menu(&tile).show(|ui| {
                    ui.label("Keep it as:");
                    digits(ui, None, |digit| {
                        actions.push(MyDigitsAction::KeepRecent(index, digit).into());
                    });
                });
                tile.on_hover_text(
                    "Click to bring it back, or with the right button to keep it with its digit",
                );
            }
        });
    });
}
