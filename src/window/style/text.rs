//! Running text, hints and problems in the type sizes that all screens share.

use eframe::egui::text::LayoutJob;
use eframe::egui::{
    Align, Button, Color32, FontId, FontSelection, Grid, Label, Response, RichText, Ui, Vec2,
    Widget, WidgetText, vec2,
};

use super::fonts::SemiBold as _;
use super::icons::{Icon, icon};
use super::layout::column;
use super::{GAP, palette, tokens};

pub fn text_size(ui: &Ui, text: RichText) -> Vec2 {
    let line = WidgetText::from(text);
    let line = line.into_galley(ui, None, f32::INFINITY, FontSelection::Default);
    line.size()
}

/// Names with their values, in two columns.
pub fn facts(ui: &mut Ui, id: &str, fill: impl FnOnce(&mut dyn FnMut(&str, String))) {
    let grid = Grid::new(id).num_columns(2).spacing(vec2(GAP, 4.0));
    grid.show(ui, |ui| {
        fill(&mut |name: &str, value: String| {
            ui.weak(name);
            ui.add(Label::new(value).wrap());
            ui.end_row();
        });
    });
}

/// A text in which commands, between backticks, are monospaced.
pub fn with_commands(ui: &Ui, text: &str, look: impl Fn(RichText) -> RichText) -> WidgetText {
    let mut job = LayoutJob::default();
    for (index, part) in text.split('`').enumerate() {
        let is_command = index % 2 == 1;
        let part = look(RichText::new(part));
        let part = if is_command { part.monospace() } else { part };
        part.append_to(&mut job, ui.style(), FontSelection::Default, Align::BOTTOM);
    }
    job.into()
}

/// Running text.
pub fn wrapped(ui: &mut Ui, text: impl Into<String>) -> Response {
    ui.add(Label::new(text.into()).wrap())
}

/// Running text that explains.
pub fn weak(ui: &mut Ui, text: impl Into<String>) -> Response {
    let text = with_commands(ui, &text.into(), RichText::weak);
    ui.add(Label::new(text).wrap())
}

pub fn semibold(ui: &mut Ui, text: impl Into<String>) -> Response {
    ui.label(RichText::new(text).semibold())
}

/// Running text that stands out.
pub fn strong(ui: &mut Ui, text: impl Into<String>) -> Response {
    ui.add(Label::new(RichText::new(text).semibold()).wrap())
}

/// The same in one line, cut if there is no room.
pub fn strong_line(ui: &mut Ui, text: impl Into<String>) -> Response {
    ui.add(Label::new(RichText::new(text).semibold()).truncate())
}

/// Small running text that explains.
pub fn note(ui: &mut Ui, text: impl Into<String>) -> Response {
    ui.add(Label::new(hint(text)).wrap())
}

pub fn note_with_icon(ui: &mut Ui, text: impl Into<String>) -> Response {
    let row = ui.horizontal_top(|ui| {
        icon(ui, Icon::Note);
        note(ui, text)
    });
    row.inner
}

pub fn hint(text: impl Into<String>) -> RichText {
    RichText::new(text).weak().small()
}

/// The reason why a value is invalid, with an icon as well as a color.
pub fn invalid(ui: &mut Ui, reason: &str) -> Response {
    let color = palette(ui).bad;
    let text = with_commands(ui, reason, |part| part.small().color(color));
    beside_problem_icon(ui, Label::new(text).wrap())
}

/// The same as a link, to where the value can be changed.
pub fn invalid_link(ui: &mut Ui, reason: &str) -> Response {
    let color = palette(ui).bad;
    let text = RichText::new(reason).small().color(color).underline();
    let link = Button::new(text).frame(false).wrap();
    beside_problem_icon(ui, link.min_size(Vec2::ZERO))
}

/// Something to be careful about, with an icon.
pub fn caution(ui: &mut Ui, sentence: &str) -> Response {
    beside_problem_icon(ui, Label::new(sentence).wrap())
}

fn beside_problem_icon(ui: &mut Ui, text: impl Widget) -> Response {
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = GAP / 2.0;
        icon(ui, Icon::Problem);
        ui.add(text)
    })
    .inner
}

/// The heading of a group of controls.
pub fn section(ui: &mut Ui, title: &str) -> Response {
    if ui.layout().is_vertical() {
        ui.add_space(GAP / 3.0);
    }
    ui.label(
        RichText::new(title)
            .semibold()
            .size(tokens::tokens().text.section),
    )
}

/// The title of something that is drawn, and how to read it.
pub fn caption(ui: &mut Ui, title: &str, how: &str) {
    ui.horizontal_wrapped(|ui| {
        semibold(ui, title);
        ui.label(hint(how));
    });
}

/// The width of a text in one line, in points.
pub fn text_width(ui: &Ui, text: impl Into<String>, font: &FontId) -> f32 {
    let text = text.into();
    let line = ui
        .painter()
        .layout_no_wrap(text, font.clone(), Color32::PLACEHOLDER);
    line.size().x
}

/// A key figure: its name, its value in large type, and a short explanation. In a row that wraps it
/// stays whole.
pub fn figure(ui: &mut Ui, name: &str, value: &str, about: &str) -> Response {
    let lines = [
        RichText::new(name).weak(),
        RichText::new(value).size(26.0).semibold(),
        hint(about),
    ];
    let sizes = lines.clone().map(|line| text_size(ui, line));
    let width = sizes.iter().map(|size| size.x).fold(0.0, f32::max).ceil();
    let height = sizes.iter().map(|size| size.y + 1.0).sum();
    let shown = column(ui, vec2(width, height), |ui| {
        ui.spacing_mut().item_spacing.y = 1.0;
        for line in lines {
            ui.add(Label::new(line).extend());
        }
    });
    shown.response
}
