//! The line that says which device recognises drawings and how fast; clicking it opens the choice
//! of device and the measurements.

use eframe::egui::{Grid, Label, Popup, PopupCloseBehavior, RichText, Ui, vec2};

use crate::run_config::InferenceChoice;
use crate::window::style;
use crate::window::style::icons;
use crate::window::{Action, App, about_inference_comparison, inference_row};

/// The popup's width, enough for the table of measurements.
const WIDTH: f32 = 400.0;

pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let flawed = !app.inference_rejections().is_empty();
    ui.horizontal(|ui| {
        if flawed {
            icons::icon(ui, icons::Icon::Problem);
        }
        let line = RichText::new(app.device_summary());
        let response = ui.add(style::small_button(line).truncate()).on_hover_text(
            "The device that recognises drawings. Click for measurements and to choose another",
        );
        // Not a menu popup: that has no focus rings around radio buttons and justifies text.
        let popup = Popup::from_toggle_button_response(&response);
        popup
            .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
            .width(WIDTH)
            .show(|ui| {
                ui.set_width(WIDTH);
                choice(ui, app, actions);
                figures(ui, app);
            });
    });
}

fn choice(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    ui.label(RichText::new("Device for recognition").strong());
    for &choice in InferenceChoice::ALL {
        let chosen = app.ctx.settings.inference_device == choice;
        if !chosen && choice.device().is_some_and(|device| !app.can_exist(device)) {
            continue;
        }
        let why_not = app.why_not_inference(choice);
        ui.add_enabled_ui(why_not.is_none(), |ui| {
            if ui.radio(chosen, choice.label()).clicked() && !chosen {
                actions.push(Action::ChooseInferenceDevice(choice));
            }
        });
        if let Some(reason) = why_not {
            ui.horizontal(|ui| {
                ui.add_space(ui.spacing().icon_width + ui.spacing().icon_spacing);
                ui.add(Label::new(style::hint(reason)).wrap());
            });
        }
    }
}

fn figures(ui: &mut Ui, app: &App) {
    ui.separator();
    let Some(report) = app.inference_report() else {
        ui.add(
            Label::new(style::hint("The current model is measured on every available device as soon as nothing else is running.")).wrap(),
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
    for flaw in app.inference_rejections() {
        style::invalid(ui, &flaw);
    }
    ui.add(Label::new(style::hint(about_inference_comparison())).wrap());
}
