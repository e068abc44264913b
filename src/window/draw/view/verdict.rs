//! The verdict in large type, the image the model saw, and the choice of the model and of the
//! device that recognizes drawings. The text comes from `draw::verdict`.

use eframe::egui::emath::GuiRounding as _;
use eframe::egui::{
    self, Align, ComboBox, Grid, Label, Layout, Popup, PopupCloseBehavior, Rect, RichText, Role,
    Sense, Ui, vec2,
};

use crate::ink::Image;
use crate::notices::verdict::{Verdict, uncertainty_explanation, uncertainty_sentence};
use crate::records::Prediction;
use crate::run_config::{Classes, InferenceChoice};
use crate::text::format::{capitalized, milliseconds};
use crate::window::shell::help::{self, Topic};
use crate::window::style::SemiBold as _;
use crate::window::style::icons;
use crate::window::style::image_sheet::Cached;
use crate::window::verdict::model_facts;
use crate::window::{
    Action, App, DrawAction, Pushes as _, Screen, about_inference_comparison, inference_row, style,
};

/// The greatest width of the list of models, in points.
const MODEL_WIDTH: f32 = 420.0;

/// The width of a letter of a class's name, relative to its height.
const LETTER: f32 = 0.58;
/// The width that is left beside a name, relative to the whole.
const BESIDE: f32 = 0.36;

/// The verdict on a drawing of one of these classes in type of this `size`, or smaller if its
/// name is long; screen readers announce its changes.
pub fn verdict(ui: &mut Ui, reading: Option<&Prediction>, classes: &Classes, size: f32) {
    let verdict = reading.map(Verdict::of);
    let palette = style::palette(ui);
    let place = style::verdict_row(ui, size, |ui| match &verdict {
        None => {
            ui.label(RichText::new("?").size(size).color(palette.faded));
            let waiting = format!("Draw {} to see it recognized", classes.one());
            ui.label(RichText::new(waiting).weak());
        }
        Some(verdict) if verdict.digits.is_empty() => {
            let title = RichText::new(verdict.title()).size(size);
            ui.label(title.color(palette.faded));
            labels(ui, size, &capitalized(&verdict.confidence), &verdict.detail);
        }
        Some(verdict) => {
            let title = verdict.title();
            let fitting = match verdict.classes.are_digits() {
                true if verdict.digits.len() > 1 => size * 0.62,
                true => size,
                false => {
                    let width = ui.available_width() * (1.0 - BESIDE);
                    width / (LETTER * title.chars().count() as f32)
                }
            };
            let title = RichText::new(title).size(size.min(fitting));
            ui.label(title.color(palette.accent).semibold());
            labels(ui, size, &verdict.confidence, &verdict.detail);
        }
    });
    let sentence = verdict.map_or_else(
        || "nothing drawn yet".to_owned(),
        |verdict| verdict.sentence,
    );
    style::announce_verdict(ui, place, "verdict", Sense::hover(), &sentence);
}

fn labels(ui: &mut Ui, size: f32, confidence: &str, detail: &str) {
    ui.with_layout(Layout::top_down(Align::Min), |ui| {
        let lines = if detail.is_empty() { 1.0 } else { 2.0 };
        ui.add_space(((ui.available_height() - lines * (size * 0.17).max(22.0)) / 2.0).max(0.0));
        ui.label(RichText::new(confidence).size((size * 0.17).max(22.0)));
        if !detail.is_empty() {
            ui.label(RichText::new(detail).weak());
        }
    });
}

/// The image the model saw, each of its 28x28 pixels a square.
pub fn model_input(
    ui: &mut Ui,
    shown: &mut Cached<Vec<Image>>,
    reading: Option<&Prediction>,
    side: f32,
) {
    let image = reading.map_or(&Image::BLANK, |reading| &reading.image);
    let sheet = shown.of_images(ui, "what the model sees", std::iter::once(image));
    // A whole number of screen pixels per image pixel keeps all squares equal.
    let scale = ui.pixels_per_point();
    let side = ((side * scale / 28.0).floor().max(1.0) * 28.0) / scale;
    let (rect, response) = ui.allocate_exact_size(egui::Vec2::splat(side), Sense::hover());
    let palette = style::palette(ui);
    let at = Rect::from_min_size(rect.min.round_to_pixels(ui.pixels_per_point()), rect.size());
    sheet.paint(ui.painter(), 0, at, palette);
    style::outline(ui.painter(), at.expand(1.0), 1.0, palette.line);
    let ink = image.pixels().iter().filter(|&&pixel| pixel > 0).count();
    let seen = match reading {
        None => "blank".to_owned(),
        Some(reading) => format!(
            "{ink} of 784 pixels contain ink, recognized in {}",
            milliseconds(reading.micros as f32)
        ),
    };
    style::describe(&response, Role::Image, "The image the model sees", &seen);
    response.on_hover_text(format!(
        "Your drawing, centered and scaled to 28 × 28 pixels as in the MNIST data set: this is all the model sees ({seen})"
    ));
}

/// The model in use in a list to choose another, and below it what its name does not say.
pub fn model_choice(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    help::beside(ui, Topic::Draw, |ui| {
        let label = ui.label("Model");
        let current = app
            .ctx
            .model_in_use
            .as_ref()
            .map(|reader| &reader.reference);
        let shown = current.map_or_else(
            || "Loading…".to_owned(),
            |reference| app.model_name(reference),
        );
        let list = ComboBox::from_id_salt("model")
            .width(ui.available_width().min(MODEL_WIDTH))
            .truncate()
            .selected_text(&shown);
        let choice = list.show_ui(ui, |ui| {
            for reference in app.models(8) {
                ui.selectable_label(current == Some(&reference), app.model_name(&reference))
                    .pushes(actions, || DrawAction::UseModel(reference));
            }
            ui.separator();
            ui.button("All models…")
                .pushes(actions, || Action::Show(Screen::Models));
        });
        style::explain_list(choice.response.labelled_by(label.id), &shown, "");
    });
    let facts = app
        .ctx
        .model_in_use
        .as_ref()
        .map_or_else(String::new, |reader| {
            model_facts(
                reader,
                &app.model_name(&reader.reference),
                app.train.run.as_ref(),
            )
        });
    // Its line stays when there is nothing to say, so that nothing moves.
    ui.add(
        Label::new(RichText::new(if facts.is_empty() { " " } else { &facts }).weak()).truncate(),
    );
}

/// How unsure an ensemble is; its line stays while nothing is drawn, so that nothing moves.
pub fn uncertainty(ui: &mut Ui, reading: Option<&Prediction>) {
    match reading.and_then(|reading| reading.uncertainty.as_ref()) {
        Some(uncertainty) => {
            let line = ui.add(Label::new(uncertainty_sentence(uncertainty)).truncate());
            line.on_hover_text(uncertainty_explanation(uncertainty));
        }
        None => {
            ui.label(" ");
        }
    }
}

/// The popup's width, enough for the table of measurements.
const DEVICE_WIDTH: f32 = 400.0;

pub fn device(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let flawed = !app.draw.inference_rejections(&app.ctx).is_empty();
    ui.horizontal(|ui| {
        if flawed {
            icons::icon(ui, icons::Icon::Problem);
        } else {
            // Its text is in line with those above and below.
            ui.spacing_mut().button_padding.x = 0.0;
        }
        let line = RichText::new(app.device_summary()).weak();
        let response = ui.add(style::small_quiet_button(line)).on_hover_text(
            "The device that recognizes drawings. Click for measurements and to choose another",
        );
        // Not a menu popup: that has no focus rings around radio buttons and justifies text.
        let popup = Popup::from_toggle_button_response(&response);
        popup
            .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
            .width(DEVICE_WIDTH)
            .show(|ui| {
                ui.set_width(DEVICE_WIDTH);
                device_choice(ui, app, actions);
                device_figures(ui, app);
            });
    });
}

fn device_choice(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    ui.label(RichText::new("Device for recognition").semibold());
    for &choice in InferenceChoice::ALL {
        let chosen = app.ctx.settings.inference_device == choice;
        if !chosen
            && choice
                .device()
                .is_some_and(|device| !app.ctx.can_exist(device))
        {
            continue;
        }
        let why_not = app.why_not_inference(choice);
        ui.add_enabled_ui(why_not.is_none(), |ui| {
            if ui.radio(chosen, choice.label()).clicked() && !chosen {
                actions.push(DrawAction::ChooseInferenceDevice(choice).into());
            }
        });
        if let Some(reason) = why_not {
            ui.horizontal(|ui| {
                ui.add_space(ui.spacing().icon_width + ui.spacing().icon_spacing);
                style::note(ui, reason);
            });
        }
    }
}

fn device_figures(ui: &mut Ui, app: &App) {
    ui.separator();
    let Some(report) = app.draw.inference_report(&app.ctx) else {
        style::note(
            ui,
            "The current model is measured on every available device as soon as nothing else is running.",
        );
        return;
    };
    Grid::new("inference measurements")
        .num_columns(5)
        .spacing(vec2(style::GAP * 1.2, 4.0))
        .show(ui, |ui| {
            for head in [
                "Device",
                "Median",
                "99th percentile",
                "Max. diff.",
                "Agreement",
            ] {
                ui.label(style::hint(head));
            }
            ui.end_row();
            for trial in &report.trials {
                let Ok(figures) = &trial.outcome else {
                    continue;
                };
                for text in inference_row(trial.device, figures) {
                    ui.label(text);
                }
                ui.end_row();
            }
        });
    for flaw in app.draw.inference_rejections(&app.ctx) {
        style::invalid(ui, &flaw);
    }
    style::note(ui, about_inference_comparison());
}
