//! The row of controls above the charts, which is also their legend.

use eframe::egui::{self, Role, Sense, Slider, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::chart::Look;
use super::scale::XUnit;
use super::{PlotsView, VisibleTraces};
use crate::app::{Action, App};
use crate::ui::style;

/// What the toolbar requests of the charts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked {
    /// Reset the view to the whole run.
    pub fit: bool,
    /// Save an image.
    pub image: bool,
}

/// Draws the controls.
pub fn show(ui: &mut Ui, app: &App, view: &mut PlotsView, actions: &mut Vec<Action>) -> Asked {
    let mut asked = Asked::default();
    ui.horizontal_wrapped(|ui| {
        legend(ui, &mut view.visible);
        style::divider(ui);
        asked.fit |= horizontal_unit(ui, view);
        style::divider(ui);
        let mut settings = app.settings.clone();
        let label = ui.label("Smoothing");
        let slider = Slider::new(&mut settings.smoothing, 0.0..=0.99).fixed_decimals(2).step_by(0.01);
        ui.spacing_mut().slider_width = 56.0;
        ui.add(slider).labelled_by(label.id).on_hover_text("Smoothing factor of the exponential moving average; 0 shows raw values");
        let log = ui.checkbox(&mut settings.log_loss, "Log");
        log.on_hover_text("Logarithmic axis for the loss, which makes small differences late in training visible");
        if settings != app.settings {
            asked.fit |= settings.log_loss != app.settings.log_loss;
            actions.push(Action::ChangeSettings(Box::new(settings)));
        }
        style::divider(ui);
        asked.fit |= ui.button("Reset").on_hover_text("Show the whole run (or double-click a plot)").clicked();
        ui.menu_button("Save", |ui| {
            if ui.button("Image (PNG)").clicked() {
                asked.image = true;
            }
            if ui.button("Data (CSV)").clicked() {
                actions.push(Action::SaveCurves);
            }
        });
    });
    asked
}

/// The unit of the horizontal axis; true when it changed.
fn horizontal_unit(ui: &mut Ui, view: &mut PlotsView) -> bool {
    let before = view.unit;
    let label = ui.label("X axis");
    for (unit, name) in [(XUnit::Step, "Step"), (XUnit::Epoch, "Epoch")] {
        ui.selectable_value(&mut view.unit, unit, name).labelled_by(label.id).accessible_name(format!("X axis by {}", name.to_lowercase()));
    }
    before != view.unit
}

fn legend(ui: &mut Ui, visible: &mut VisibleTraces) {
    let palette = style::palette(ui);
    legend_toggle(ui, "Training", Look::Solid, palette.train, &mut visible.smooth);
    legend_toggle(ui, "Raw", Look::Faint, palette.train, &mut visible.raw);
    legend_toggle(ui, "Validation", Look::Marked, palette.validation, &mut visible.validation);
}

/// A sample of the trace with its name; clicking it hides or shows the trace.
fn legend_toggle(ui: &mut Ui, name: &str, look: Look, color: egui::Color32, shown: &mut bool) {
    let galley = ui.painter().layout_no_wrap(name.to_owned(), egui::TextStyle::Body.resolve(ui.style()), egui::Color32::PLACEHOLDER);
    let sample = 26.0;
    let size = vec2(sample + 6.0 + galley.size().x + 8.0, ui.spacing().interact_size.y);
    let (rect, mut response) = ui.allocate_exact_size(size, Sense::click());
    if response.clicked() {
        *shown = !*shown;
        response.mark_changed();
    }
    let painter = ui.painter();
    if response.hovered() {
        painter.rect_filled(rect, style::RADIUS_SMALL, ui.visuals().widgets.hovered.weak_bg_fill);
    }
    if response.has_focus() {
        style::focus_ring(ui, rect);
    }
    let strength = if *shown { 1.0 } else { 0.35 };
    let (from, to) = (rect.left() + 4.0, rect.left() + 4.0 + sample - 4.0);
    let middle = pos2(f32::midpoint(from, to), rect.center().y);
    let color = color.gamma_multiply(strength);
    match look {
        Look::Solid => {
            painter.hline(from..=to, middle.y, Stroke::new(2.5, color));
        }
        Look::Faint => {
            let zigzag = (0u8..7).map(|i| pos2(egui::lerp(from..=to, f32::from(i) / 6.0), middle.y + if i % 2 == 0 { 3.5 } else { -3.5 }));
            painter.line(zigzag.collect(), Stroke::new(1.0, color.gamma_multiply(0.8)));
        }
        Look::Marked => {
            painter.hline(from..=middle.x - 7.0, middle.y, Stroke::new(1.5, color));
            painter.hline(middle.x + 7.0..=to, middle.y, Stroke::new(1.5, color));
            let diamond = [vec2(0.0, -5.0), vec2(5.0, 0.0), vec2(0.0, 5.0), vec2(-5.0, 0.0)].map(|offset| middle + offset);
            painter.add(egui::Shape::convex_polygon(diamond.to_vec(), color, Stroke::NONE));
        }
    }
    let text_color = if *shown { ui.visuals().text_color() } else { ui.visuals().weak_text_color() };
    let text = pos2(rect.left() + sample + 6.0, rect.center().y - galley.size().y / 2.0);
    painter.galley_with_override_text_color(text, galley.clone(), text_color);
    if !*shown {
        // Struck through, so that a hidden trace is not marked by paleness alone.
        painter.hline(text.x..=text.x + galley.size().x, rect.center().y, Stroke::new(1.0, text_color));
    }
    let (on, enabled) = (*shown, ui.is_enabled());
    response.widget_info(|| WidgetInfo::selected(Role::CheckBox, enabled, on, format!("Show {}", name.to_lowercase())));
    response.on_hover_text(if on { "Click to hide" } else { "Click to show" });
}
