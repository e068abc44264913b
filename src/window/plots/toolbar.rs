//! The row of controls above the charts, which is also their legend.

use eframe::egui::containers::menu::{MenuButton, MenuConfig};
use eframe::egui::{
    self, PopupCloseBehavior, Role, Sense, Slider, Stroke, Ui, WidgetInfo, pos2, vec2,
};

use super::chart::Look;
use super::range::Gesture;
use super::scale::XUnit;
use super::{FigureFormat, PlotsView, VisibleTraces};
use crate::window::{Action, App, Pushes as _, TrainAction, style};

/// Below this width, in points, the toggle of the machine's plots moves into the menu.
const NARROW: f32 = 600.0;

/// Draws the controls. Returns the format if a figure is to be saved.
pub fn show(
    ui: &mut Ui,
    app: &App,
    view: &mut PlotsView,
    actions: &mut Vec<Action>,
) -> Option<FigureFormat> {
    let mut figure = None;
    let mut settings = app.ctx.settings.clone();
    let narrow = ui.available_width() < NARROW;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        legend(ui, &mut view.visible);
        let whole = view.range.is_whole();
        let fit = ui.add_enabled(!whole, style::quiet_button("Fit"));
        if fit.on_hover_text("Show the whole run (or double-click a plot)").on_disabled_hover_text("The whole run is in view").clicked() {
            view.range.follow(Gesture::Fit, view.curves.last_step());
        }
        let menu = |name| MenuButton::from_button(style::quiet_button(name)).config(MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside));
        menu("View").ui(ui, |ui| {
            horizontal_unit(ui, view);
            ui.horizontal(|ui| {
                let label = ui.label("Smoothing");
                let slider = Slider::new(&mut settings.smoothing, 0.0..=0.99).fixed_decimals(2).step_by(0.01);
                let about = "Smoothing factor of the exponential moving average; 0 shows raw values";
                ui.add(slider).labelled_by(label.id).on_hover_text(about);
            });
            let about = "Logarithmic axis for the loss, which makes small differences late in training visible";
            ui.checkbox(&mut settings.log_loss, "Logarithmic loss").on_hover_text(about);
            if narrow {
                ui.checkbox(&mut settings.speed_and_memory, SPEED_AND_MEMORY).on_hover_text(ABOUT_SPEED_AND_MEMORY);
            }
        });
        MenuButton::from_button(style::quiet_button("Save")).ui(ui, |ui| {
            for (format, name) in [(FigureFormat::Png, "Figure (PNG)"), (FigureFormat::Svg, "Figure (SVG)")] {
                if ui.button(name).on_hover_text("Loss and accuracy as they are shown, with title, legend and axes").clicked() {
                    figure = Some(format);
                }
            }
            ui.button("Data (CSV)").pushes(actions, || TrainAction::SaveCurves);
        });
        if !narrow {
            let shown = &mut settings.speed_and_memory;
            let toggle = ui.add(style::toggle(SPEED_AND_MEMORY, *shown));
            *shown ^= toggle.on_hover_text(ABOUT_SPEED_AND_MEMORY).clicked();
        }
    });
    if settings != app.ctx.settings {
        actions.push(Action::ChangeSettings(Box::new(settings)));
    }
    figure
}

const SPEED_AND_MEMORY: &str = "Speed and memory";
const ABOUT_SPEED_AND_MEMORY: &str = "Plot throughput and memory below loss and accuracy";

fn horizontal_unit(ui: &mut Ui, view: &mut PlotsView) {
    ui.horizontal(|ui| {
        let label = ui.label("X axis");
        for (unit, name) in [(XUnit::Step, "Step"), (XUnit::Epoch, "Epoch")] {
            let value = ui.selectable_value(&mut view.unit, unit, name);
            value
                .labelled_by(label.id)
                .accessible_name(format!("X axis by {}", name.to_lowercase()));
        }
    });
}

fn legend(ui: &mut Ui, visible: &mut VisibleTraces) {
    let style::Palette {
        train, validation, ..
    } = style::palette(ui);
    legend_toggle(ui, "Training", Look::Solid, train, &mut visible.smooth);
    legend_toggle(ui, "Raw", Look::Faint, train, &mut visible.raw);
    let shown = &mut visible.validation;
    legend_toggle(ui, "Validation", Look::Marked, validation, shown);
}

/// A sample of the trace with its name; clicking it hides or shows the trace.
fn legend_toggle(ui: &mut Ui, name: &str, look: Look, color: egui::Color32, shown: &mut bool) {
    let galley = ui.painter().layout_no_wrap(
        name.to_owned(),
        egui::TextStyle::Body.resolve(ui.style()),
        egui::Color32::PLACEHOLDER,
    );
    let sample = 26.0;
    let size = vec2(
        sample + 6.0 + galley.size().x + 8.0,
        ui.spacing().interact_size.y,
    );
    let (rect, mut response) = ui.allocate_exact_size(size, Sense::click());
    if response.clicked() {
        *shown = !*shown;
        response.mark_changed();
    }
    let painter = ui.painter();
    if response.hovered() {
        painter.rect_filled(
            rect,
            style::RADIUS_SMALL,
            ui.visuals().widgets.hovered.weak_bg_fill,
        );
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
            let zigzag = (0u8..7).map(|i| {
                pos2(
                    egui::lerp(from..=to, f32::from(i) / 6.0),
                    middle.y + if i % 2 == 0 { 3.5 } else { -3.5 },
                )
            });
            painter.line(
                zigzag.collect(),
                Stroke::new(1.0, color.gamma_multiply(0.8)),
            );
        }
        Look::Marked => {
            painter.hline(from..=middle.x - 7.0, middle.y, Stroke::new(1.5, color));
            painter.hline(middle.x + 7.0..=to, middle.y, Stroke::new(1.5, color));
            let diamond = [
                vec2(0.0, -5.0),
                vec2(5.0, 0.0),
                vec2(0.0, 5.0),
                vec2(-5.0, 0.0),
            ]
            .map(|offset| middle + offset);
            painter.add(egui::Shape::convex_polygon(
                diamond.to_vec(),
                color,
                Stroke::NONE,
            ));
        }
    }
    let text_color = if *shown {
        ui.visuals().text_color()
    } else {
        ui.visuals().weak_text_color()
    };
    let text = pos2(
        rect.left() + sample + 6.0,
        rect.center().y - galley.size().y / 2.0,
    );
    painter.galley_with_override_text_color(text, galley.clone(), text_color);
    if !*shown {
        // Struck through, so that a hidden trace is not marked by paleness alone.
        painter.hline(
            text.x..=text.x + galley.size().x,
            rect.center().y,
            Stroke::new(1.0, text_color),
        );
    }
    let (on, enabled) = (*shown, ui.is_enabled());
    response.widget_info(|| {
        WidgetInfo::selected(
            Role::CheckBox,
            enabled,
            on,
            format!("Show {}", name.to_lowercase()),
        )
    });
    response.on_hover_text(if on { "Click to hide" } else { "Click to show" });
}
