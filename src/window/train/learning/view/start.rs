//! What the statistics of the training images gave the network to start from: principal components,
//! their shares of the variance, and the variance after every layer.

use eframe::egui::{
    Align, Grid, Label, Layout, Rect, RichText, Role, ScrollArea, Sense, Ui, WidgetInfo, vec2,
};

use super::filters;
use super::filters::LayerSheet;
use crate::records::{Components, InitializationReport, JobId};
use crate::window::style;

/// The height of the components' images, and of the bars below them, in points.
const IMAGES: f32 = 110.0;
const BARS: f32 = 44.0;
const MAX_BARS: usize = 32;

/// Draws it, no higher than `height`.
pub fn show(
    ui: &mut Ui,
    report: &InitializationReport,
    run: JobId,
    sheet: &mut Option<LayerSheet>,
    height: f32,
) {
    ui.allocate_ui(vec2(ui.available_width(), height), |ui| {
        ui.set_min_height(height);
        ScrollArea::vertical()
            .id_salt("initialisation")
            .auto_shrink(false)
            .max_height(height)
            .show(ui, |ui| {
                if let Some(components) = &report.components {
                    ui.add(
                        Label::new(RichText::new("Principal components").small().strong())
                            .truncate(),
                    );
                    let (area, response) =
                        ui.allocate_exact_size(vec2(ui.available_width(), IMAGES), Sense::hover());
                    response.widget_info(|| {
                        WidgetInfo::labeled(Role::Image, true, "Principal components")
                    });
                    filters::paint(ui, area, &components.images, (run, 0), sheet);
                    ui.add(
                        Label::new(RichText::new("Variance explained by each").small().strong())
                            .truncate(),
                    );
                    bars(ui, components);
                }
                layers(ui, report);
            });
    });
}

/// A bar for the share of each component.
fn bars(ui: &mut Ui, components: &Components) {
    let (area, response) = ui.allocate_exact_size(vec2(ui.available_width(), BARS), Sense::hover());
    response.widget_info(|| WidgetInfo {
        current_text_value: Some(components.sentence()),
        ..WidgetInfo::labeled(Role::Image, true, "Variance explained by each component")
    });
    response.on_hover_text(components.sentence());
    let shown: Vec<f32> = components
        .explained
        .iter()
        .copied()
        .take(MAX_BARS)
        .collect();
    let greatest = shown.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    let width = area.width() / shown.len().max(1) as f32;
    let palette = style::palette(ui);
    for (index, share) in shown.iter().enumerate() {
        let size = vec2(
            (width - 1.0).max(1.0),
            (share / greatest * area.height()).max(1.0),
        );
        let left = area.left() + index as f32 * width;
        ui.painter().rect_filled(
            Rect::from_min_size(area.left_bottom() + vec2(left - area.left(), -size.y), size),
            0.0,
            palette.train,
        );
    }
}

fn layers(ui: &mut Ui, report: &InitializationReport) {
    let small = |text: String| Label::new(RichText::new(text).small()).truncate();
    ui.add(
        Label::new(
            RichText::new("Variance of each layer's output")
                .small()
                .strong(),
        )
        .truncate(),
    );
    Grid::new("variances")
        .num_columns(3)
        .spacing(vec2(style::GAP, 2.0))
        .show(ui, |ui| {
            let figure = |ui: &mut Ui, text: String| {
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    ui.add(small(text))
                });
            };
            ui.add(small("Layer".to_owned()));
            figure(ui, "random weights".to_owned());
            figure(
                ui,
                report
                    .method
                    .label()
                    .split(' ')
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
            );
            ui.end_row();
            for layer in &report.layers {
                ui.add(small(layer.layer.clone()));
                figure(ui, format!("{:.3}", layer.before));
                figure(ui, format!("{:.3}", layer.after));
                ui.end_row();
            }
        });
}
