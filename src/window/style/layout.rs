//! Frames, rows, columns and dialogs: where things are on a screen.

use eframe::egui::{
    Align, Frame, Id, InnerResponse, Layout, Margin, Modal, ModalResponse, Rect, ScrollArea, Sense,
    Stroke, Ui, Vec2, vec2,
};

use super::icons::Icon;
use super::paint::picture;
use super::{GAP, RADIUS, SCREEN_MARGIN, TEXT_WIDTH, palette, radius};

pub fn side_frame(ui: &Ui) -> Frame {
    Frame::new()
        .fill(palette(ui).surface)
        .inner_margin(Margin::symmetric(16, 14))
}

/// The frame of a screen. Without a fill: the window is cleared to the background's color before
/// it is painted.
pub fn screen_frame() -> Frame {
    Frame::new().inner_margin(Margin::symmetric(
        SCREEN_MARGIN.x as i8,
        SCREEN_MARGIN.y as i8,
    ))
}

/// The frame of a bar along the top or bottom edge.
pub fn bar_frame(ui: &Ui) -> Frame {
    Frame::new()
        .fill(palette(ui).surface)
        .inner_margin(Margin::symmetric(14, 6))
}

pub fn card(ui: &Ui) -> Frame {
    let p = palette(ui);
    Frame::new()
        .fill(p.card)
        .stroke(Stroke::new(1.0, p.line))
        .corner_radius(radius(RADIUS))
        .inner_margin(Margin::same(14))
}

/// A card as wide as there is room.
pub fn full_card<T>(ui: &mut Ui, fill: impl FnOnce(&mut Ui) -> T) -> T {
    let shown = card(ui).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        fill(ui)
    });
    shown.inner
}

pub fn dialog_frame(ui: &Ui) -> Frame {
    let p = palette(ui);
    Frame::new()
        .fill(p.raised)
        .stroke(Stroke::new(1.0, p.line))
        .corner_radius(radius(RADIUS))
        .shadow(ui.visuals().window_shadow)
        .inner_margin(Margin::same(20))
}

/// A dialog with this content, at most so wide and never wider than the window.
pub fn dialog<T>(
    ui: &Ui,
    id: &str,
    width: f32,
    content: impl FnOnce(&mut Ui) -> T,
) -> ModalResponse<T> {
    let width = width.min(ui.ctx().content_rect().width() - 80.0);
    let modal = Modal::new(Id::unique(id)).frame(dialog_frame(ui));
    modal.show(ui.ctx(), |ui| {
        ui.set_width(width);
        content(ui)
    })
}

/// Content of this size, from the top down.
pub fn column<T>(ui: &mut Ui, size: Vec2, fill: impl FnOnce(&mut Ui) -> T) -> InnerResponse<T> {
    ui.allocate_ui_with_layout(size, Layout::top_down(Align::Min), fill)
}

/// The same, as wide as that whatever is in it.
pub fn wide_column(ui: &mut Ui, size: Vec2, fill: impl FnOnce(&mut Ui)) {
    column(ui, size, |ui| {
        ui.set_width(size.x);
        fill(ui);
    });
}

/// Content in room of this height, so that nothing moves when it changes.
pub fn room(ui: &mut Ui, height: f32, fill: impl FnOnce(&mut Ui)) {
    ui.allocate_ui(vec2(ui.available_width(), height), |ui| {
        ui.set_min_height(height);
        fill(ui);
    });
}

/// Content of this size, from left to right.
pub fn row<T>(ui: &mut Ui, size: Vec2, fill: impl FnOnce(&mut Ui) -> T) -> InnerResponse<T> {
    ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), fill)
}

/// Content that scrolls up and down in what is left of the room.
pub fn scroll<T>(
    ui: &mut Ui,
    id: impl std::hash::Hash + std::fmt::Debug,
    fill: impl FnOnce(&mut Ui) -> T,
) -> T {
    let area = ScrollArea::vertical().id_salt(id).auto_shrink(false);
    area.show(ui, fill).inner
}

/// The content of an empty screen: what it is for and what to do next, with one `button` for that.
pub fn empty_state(ui: &mut Ui, icon: Icon, title: &str, body: &str, button: impl FnOnce(&mut Ui)) {
    let height = ui.available_height();
    ui.vertical_centered(|ui| {
        ui.add_space((height * 0.2).min(160.0));
        ui.set_max_width(TEXT_WIDTH.min(ui.available_width()));
        picture(ui, icon, 88.0);
        ui.add_space(GAP);
        ui.heading(title);
        ui.add_space(GAP / 3.0);
        ui.weak(body);
        ui.add_space(GAP);
        button(ui);
    });
}

/// A row for a verdict in large type of this `size`, with the text in it laid out by `fill`.
pub fn verdict_row(ui: &mut Ui, size: f32, fill: impl FnOnce(&mut Ui)) -> Rect {
    let room = vec2(ui.available_width(), size * 1.25);
    let shown = row(ui, room, |ui| {
        ui.set_min_height(size * 1.25);
        ui.spacing_mut().item_spacing.x = size * 0.2;
        fill(ui);
    });
    shown.response.rect
}

/// A thin vertical line between groups of controls in a row.
pub fn divider(ui: &mut Ui) {
    let (rect, _) = ui.allocate_exact_size(
        vec2(9.0, ui.spacing().interact_size.y * 0.7),
        Sense::hover(),
    );
    ui.painter().vline(
        rect.center().x,
        rect.y_range(),
        Stroke::new(1.0, palette(ui).line),
    );
}
