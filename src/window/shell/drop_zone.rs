//! Files dragged onto the window: an overlay while they hover, and an action when they are dropped.

use std::path::PathBuf;

use eframe::egui::{Align2, Id, LayerId, Order, Stroke, StrokeKind, TextStyle, Ui};

use crate::text::visible;
use crate::window::style;
use crate::window::{Action, App, Dropped};

/// Returns dropped files as an action, and draws an overlay that announces what dropping will do
/// while files hover.
pub fn show(ui: &Ui, app: &App, actions: &mut Vec<Action>) {
    let ctx = ui.ctx();
    let (hovering, dropped) = ctx.input(|input| {
        let hovering: Vec<Option<PathBuf>> = input
            .raw
            .hovered_files
            .iter()
            .map(|file| file.path.clone())
            .collect();
        let dropped: Vec<PathBuf> = input
            .raw
            .dropped_files
            .iter()
            .map(|file| file.path().to_owned())
            .collect();
        (hovering, dropped)
    });
    if !dropped.is_empty() {
        actions.push(Action::Drop(dropped));
    }
    let Some(first) = hovering.first() else {
        return;
    };
    let palette = style::palette(ui);
    let painter = ctx.layer_painter(LayerId::new(Order::Foreground, Id::unique("drop zone")));
    let area = ctx.content_rect();
    painter.rect_filled(area, 0.0, palette.paper.gamma_multiply(0.92));
    painter.rect_stroke(
        area.shrink(16.0),
        style::RADIUS,
        Stroke::new(2.5, palette.accent),
        StrokeKind::Inside,
    );
    let text = ui.visuals().strong_text_color();
    painter.text(
        area.center(),
        Align2::CENTER_CENTER,
        announcement(app, first.as_ref(), hovering.len()),
        TextStyle::Heading.resolve(ui.style()),
        text,
    );
}

/// What dropping will do. Some systems reveal the file's name only then.
fn announcement(app: &App, first: Option<&PathBuf>, count: usize) -> String {
    let Some(path) = first else {
        return "Drop to open".to_owned();
    };
    let dropped = Dropped::of(path);
    if dropped == Dropped::Weights && app.is_training() {
        return "Training is in progress: models can be imported when it has finished".to_owned();
    }
    let name = visible::label(
        &path
            .file_name()
            .unwrap_or(path.as_os_str())
            .to_string_lossy(),
    );
    let more = if count > 1 {
        format!(" and {} more", count - 1)
    } else {
        String::new()
    };
    format!("{}: {name}{more}", dropped.sentence())
}
