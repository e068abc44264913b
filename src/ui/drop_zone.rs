//! Owns files that are dragged onto the window: what is said while they hover, and taking them when they are let go of.
//! Must not read them; it returns actions.

use std::path::PathBuf;

use eframe::egui::{Align2, Id, LayerId, Order, Stroke, StrokeKind, TextStyle, Ui};

use super::style;
use crate::app::{Action, App, Dropped};

/// Takes what was dropped, and draws what will happen over everything while something hovers.
pub fn show(ui: &Ui, app: &App, actions: &mut Vec<Action>) {
    let ctx = ui.ctx();
    let (hovering, dropped) = ctx.input(|input| {
        let hovering: Vec<Option<PathBuf>> = input.raw.hovered_files.iter().map(|file| file.path.clone()).collect();
        let dropped: Vec<PathBuf> = input.raw.dropped_files.iter().map(|file| file.path().to_owned()).collect();
        (hovering, dropped)
    });
    if !dropped.is_empty() {
        actions.push(Action::Drop(dropped));
    }
    let Some(first) = hovering.first() else { return };
    let palette = style::palette(ui);
    let painter = ctx.layer_painter(LayerId::new(Order::Foreground, Id::unique("drop zone")));
    let area = ctx.content_rect();
    painter.rect_filled(area, 0.0, palette.paper.gamma_multiply(0.92));
    painter.rect_stroke(area.shrink(16.0), style::RADIUS, Stroke::new(2.5, palette.accent), StrokeKind::Inside);
    let text = ui.visuals().strong_text_color();
    painter.text(
        area.center(),
        Align2::CENTER_CENTER,
        words(app, first.as_ref(), hovering.len()),
        TextStyle::Heading.resolve(ui.style()),
        text,
    );
}

/// What letting go will do; some systems tell the name only then.
fn words(app: &App, first: Option<&PathBuf>, count: usize) -> String {
    let Some(path) = first else { return "Let go to bring it in".to_owned() };
    let dropped = Dropped::of(path);
    if dropped == Dropped::Weights && app.is_training() {
        return "A run is under way: models can be imported when it is over".to_owned();
    }
    let name = path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    let more = if count > 1 { format!(" and {} more", count - 1) } else { String::new() };
    format!("{}: {name}{more}", dropped.sentence())
}
