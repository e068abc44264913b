//! Owns the comparison of batch sizes in the run panel: asking for it, how far it is, and a bar for each size.
//! Must not measure; it returns actions.

use eframe::egui::{Align2, Rect, Role, Sense, TextStyle, Ui, WidgetInfo, pos2, vec2};

use crate::app::{Action, App, BatchSizes};
use crate::bench::{rates, sweet_spot};
use crate::figures::{grouped, memory, remaining};
use crate::ui::style;

/// A bar's height, with the room around it.
const HEIGHT: f32 = 24.0;
/// Where bars begin: after the widest size.
const LEFT: f32 = 44.0;

/// Draws it.
pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if let Some(under_way) = app.benchmark.under_way.as_ref().filter(|under_way| under_way.comparing.is_some()) {
        ui.horizontal(|ui| {
            if ui.add_enabled(!under_way.stopping, style::secondary_button("Cancel")).clicked() {
                actions.push(Action::CancelBenchmark);
            }
            ui.vertical(|ui| {
                ui.label(style::hint(format!("Comparing batch sizes, {} left", remaining(under_way.remaining_seconds))));
                ui.add(style::progress_bar(ui, under_way.fraction).desired_height(8.0)).accessible_name("Progress of the comparison");
            });
        });
        return;
    }
    let found = app.benchmark.batch_sizes.as_ref().filter(|sizes| sizes.hold_for(&app.config));
    if let Some(found) = found {
        bars(ui, app, found, actions);
    }
    let text = if found.is_some() { "Compare again" } else { "Compare batch sizes" };
    let about = "Measures how many pictures a second each size learns from, with the settings as they stand; some fifteen seconds";
    let can = app.benchmark.under_way.is_none() && app.obstacles().is_empty();
    let response = ui.add_enabled(can, eframe::egui::Button::new(text).small());
    if response.on_hover_text(about).on_disabled_hover_text("A benchmark is under way, or a setting cannot be").clicked() {
        actions.push(Action::CompareBatchSizes);
    }
}

/// A bar for each size, as long as it is fast; a click takes the size. The one that is enough says so.
fn bars(ui: &mut Ui, app: &App, found: &BatchSizes, actions: &mut Vec<Action>) {
    let highest = rates(&found.rows).map(|(_, rate)| rate).fold(1.0, f64::max);
    let spot = sweet_spot(&found.rows);
    for (batch_size, rate) in rates(&found.rows) {
        let enough = spot == Some(batch_size);
        let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), Sense::click());
        let config = crate::run_config::RunConfig { batch_size, ..app.config.clone() };
        let memory = app.memory_needed(&config).map_or_else(String::new, |bytes| format!(", {}", memory(bytes)));
        let words = format!("{} images/s{memory}{}", grouped(rate.round() as u64), if enough { ", enough" } else { "" });
        bar(ui, rect, batch_size, (rate / highest) as f32, &words, enough);
        if response.has_focus() {
            style::focus_ring(ui, rect);
        }
        response.widget_info(|| {
            WidgetInfo::selected(Role::Button, true, app.config.batch_size == batch_size, format!("Batch size {batch_size}: {words}"))
        });
        let about = if enough {
            "The smallest size that is as fast as any: larger ones only correct the weights less often. Click to use it."
        } else {
            "Click to use it."
        };
        if response.on_hover_text(about).clicked() {
            actions.push(Action::Configure(Box::new(config)));
        }
    }
}

fn bar(ui: &Ui, rect: Rect, batch_size: u32, share: f32, words: &str, enough: bool) {
    let palette = style::palette(ui);
    let font = TextStyle::Small.resolve(ui.style());
    let color = ui.visuals().text_color();
    let left = rect.left() + LEFT;
    let full = Rect::from_min_max(pos2(left, rect.top() + 2.0), pos2(rect.right(), rect.bottom() - 2.0));
    let filled = Rect::from_min_size(full.min, vec2(full.width() * share, full.height()));
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    painter.text(pos2(left - 6.0, rect.center().y), Align2::RIGHT_CENTER, batch_size.to_string(), font.clone(), color);
    painter.rect_filled(filled, 3.0, palette.accent.gamma_multiply(if enough { 0.38 } else { 0.18 }));
    painter.text(pos2(left + 6.0, rect.center().y), Align2::LEFT_CENTER, words, font, color);
}
