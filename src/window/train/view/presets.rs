//! The presets as cards: what each is, the accuracy to expect on the chosen data, and the time on
//! this machine.

use eframe::egui::{
    Align2, FontId, Rect, Response, Role, Sense, Stroke, StrokeKind, TextStyle, Ui, WidgetInfo,
    pos2, vec2,
};

use super::descriptions;
use crate::notices::harder_data_note;
use crate::run_config::{Preset, RunConfig};
use crate::text::format::{count, memory};
use crate::window::style::icons::Icon;
use crate::window::{Action, App, Pushes as _, TrainAction, expected_accuracy, style};

/// The height of a card, and the distance between two, in points.
const HEIGHT: f32 = 46.0;
const DISTANCE: f32 = 5.0;

/// Draws them, and below them what the settings need.
pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = DISTANCE;
        for &preset in Preset::ALL {
            card(ui, app, preset).pushes(actions, || TrainAction::ApplyPreset(preset));
        }
    });
    // In a separate scope, so that lines that come and go do not move the keyboard focus.
    ui.vertical(|ui| needs(ui, app));
}

fn card(ui: &mut Ui, app: &App, preset: Preset) -> Response {
    let chosen = app.ctx.config.preset == Some(preset);
    let config = app.ctx.with_preset(preset);
    let RunConfig { model, epochs, .. } = config;
    let work = format!("{}, {}", model.label(), count(u64::from(epochs), "epoch"));
    let accuracy = expected_accuracy(preset, &app.ctx.config.data)
        .map_or_else(String::new, |accuracy| format!("about {accuracy} accuracy"));
    let time = app
        .expected_time(&config)
        .map_or_else(String::new, |time| format!("about {time}"));

    let size = vec2(ui.available_width(), HEIGHT);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let palette = style::palette(ui);
    let (tint, width) = match (chosen, response.hovered()) {
        (true, _) => (0.2, 1.5),
        (false, true) => (0.14, 0.0),
        (false, false) => (0.07, 0.0),
    };
    let fill = palette.accent.gamma_multiply(tint);
    let stroke = Stroke::new(width, palette.accent);
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    painter.rect(rect, style::RADIUS_SMALL, fill, stroke, StrokeKind::Inside);
    let faded = if ui.is_enabled() { 1.0 } else { 0.5 };
    let [ink, weak] = [palette.ink, palette.faded].map(|color| color.gamma_multiply(faded));
    let small = TextStyle::Small.resolve(ui.style());
    let (left, right) = (rect.left() + 42.0, rect.right() - 10.0);
    let (first, second) = (rect.top() + HEIGHT * 0.32, rect.top() + HEIGHT * 0.72);
    let (name, color) = (preset.label(), if chosen { palette.accent } else { ink });
    let place = Rect::from_center_size(pos2(rect.left() + 22.0, rect.center().y), vec2(20.0, 20.0));
    icon(preset).paint(&painter, place, if chosen { palette.accent } else { weak });
    let font = FontId::new(14.0, style::fonts::medium());
    painter.text(pos2(left, first), Align2::LEFT_CENTER, name, font, color);
    let at = pos2(right, first);
    painter.text(at, Align2::RIGHT_CENTER, &accuracy, small.clone(), ink);
    let at = pos2(left, second);
    painter.text(at, Align2::LEFT_CENTER, &work, small.clone(), weak);
    let at = pos2(right, second);
    painter.text(at, Align2::RIGHT_CENTER, &time, small, weak);
    if response.has_focus() {
        style::focus_ring(ui, rect);
    }
    let figures = [work, accuracy, time]
        .into_iter()
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join(", ");
    response.widget_info(|| WidgetInfo {
        current_text_value: Some(figures.clone()),
        ..WidgetInfo::selected(Role::Button, ui.is_enabled(), chosen, preset.label())
    });
    let about = "The accuracy is that on the test set, measured by us; the time is estimated from earlier runs or a benchmark on this machine.";
    response.on_hover_text(format!(
        "{} {about}",
        descriptions::preset(preset, &app.ctx.config.data)
    ))
}

const fn icon(preset: Preset) -> Icon {
    match preset {
        Preset::QuickLook => Icon::QuickLook,
        Preset::OneEpoch => Icon::OneEpoch,
        Preset::Balanced => Icon::Balanced,
        Preset::Best => Icon::Best,
        Preset::Compact => Icon::Compact,
    }
}

fn needs(ui: &mut Ui, app: &App) {
    if let Some(note) = harder_data_note(&app.ctx.config.data) {
        style::note(ui, note);
    }
    if app.ctx.config.preset.is_none() {
        let time = app
            .expected_time(&app.ctx.config)
            .map_or_else(String::new, |time| {
                format!(" Training takes about {time} on this machine.")
            });
        style::note(ui, format!("Custom settings.{time}"));
    }
    if let Some((text, fits)) = app.train.expected_memory(&app.ctx) {
        let about = "Estimate: images, weights, optimizer state and activations";
        let response = if fits {
            ui.label(style::hint(text))
        } else {
            style::invalid(ui, &text)
        };
        response.on_hover_text(about);
    } else if let Some(bytes) = app.train.memory_needed(&app.ctx, &app.ctx.config) {
        // Shown from the first frame, so that nothing moves once the hardware has been detected.
        ui.label(style::hint(format!(
            "Needs about {} of memory.",
            memory(bytes)
        )));
    }
}
