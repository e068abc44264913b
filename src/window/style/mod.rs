//! The look: the only folder with colors, spacings, fonts and radii, and the few widgets that all
//! panels share.

use std::sync::Arc;

use eframe::egui::{
    Align, Align2, Button, Color32, ComboBox, Context, CornerRadius, FontId, FontSelection, Frame,
    Grid, Id, InnerResponse, Key, Label, Layout, Margin, Memory, Mesh, Modal, ModalResponse,
    Modifiers, Painter, Pos2, ProgressBar, Rect, Response, RichText, Role, ScrollArea, Sense,
    Shape, Stroke, StrokeKind, TextStyle, Ui, Vec2, Widget, WidgetInfo, WidgetText, accesskit,
    pos2, vec2,
};

use self::icons::{Icon, icon};
use crate::window::Action;

mod button;
pub mod fonts;
pub mod icons;
pub mod image_sheet;
mod palette;
pub mod table;
mod tokens;

pub use self::button::{
    danger_button, icon_button, labeled, primary_button, quiet_button, secondary_button,
    small_button, small_quiet_button, toggle,
};
pub use self::fonts::SemiBold;
pub use self::palette::apply;
#[cfg(debug_assertions)]
pub(super) use self::tokens::reload;
pub use self::tokens::{Motion, Palette, allow_motion, motion, on_white, palette, readable_on};

/// The basic distance of the layout, in points.
pub const GAP: f32 = 12.0;
/// The distance of a screen's content from its edges, in points.
pub const SCREEN_MARGIN: Vec2 = vec2(18.0, 14.0);
pub const RADIUS: f32 = 10.0;
pub const RADIUS_SMALL: f32 = 6.0;
/// Space for the numbers beside a plot, enough for the longest, so that plots above each other line
/// up to the pixel.
pub const PLOT_AXIS_WIDTH: f32 = 58.0;
/// The smallest useful height of a plot, in points.
pub const PLOT_MIN_HEIGHT: f32 = 150.0;
/// Type size of the verdict on the Draw screen, from a low window to a large one.
pub const VERDICT_LARGE: std::ops::RangeInclusive<f32> = 76.0..=220.0;
/// Type size of the verdict beside the plots.
pub const VERDICT_SMALL: f32 = 44.0;
/// Type size of the accuracy above the plots.
pub const HEADLINE: f32 = 32.0;
/// Type size of what stands beside it.
pub const HEADLINE_BESIDE: f32 = 17.0;
/// Height of both, in points.
pub const HEADLINE_HEIGHT: f32 = 40.0;
/// The greatest width of running text, in points.
pub const TEXT_WIDTH: f32 = 560.0;
/// The height of main buttons and those beside them, in points.
pub const BUTTON_HEIGHT: f32 = 34.0;
/// The width of a help popup, in points.
pub const HELP_WIDTH: f32 = 340.0;

const fn radius(points: f32) -> CornerRadius {
    CornerRadius::same(points as u8)
}

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

/// A control that says what it does, or why it cannot be used now.
pub fn ask(ui: &mut Ui, control: impl Widget, why_not: Option<&str>, about: &str) -> Response {
    let control = ui.add_enabled(why_not.is_none(), control);
    let control = control.on_disabled_hover_text(why_not.unwrap_or_default());
    if about.is_empty() {
        control
    } else {
        control.on_hover_text(about)
    }
}

/// What can be chosen in a drop-down list of this width, with what chooses it.
pub fn drop_down<T>(
    ui: &mut Ui,
    id: &str,
    width: f32,
    shown: &str,
    entries: impl FnOnce(&mut Ui) -> T,
) -> Response {
    let list = ComboBox::from_id_salt(id).width(width).truncate();
    list.selected_text(shown).show_ui(ui, entries).response
}

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

/// A bar with a name to its left and one or two lines of text in it.
pub struct NamedBar<'a> {
    /// Where it starts, after its name, in points.
    pub left: f32,
    pub name: &'a str,
    pub share: f32,
    /// How strongly it is filled, from 0 to 1.
    pub strength: f32,
    /// Its text, and a second line, which may be empty.
    pub lines: [&'a str; 2],
    /// The distance of texts from its edge, in points, and where the second line stands.
    pub margin: f32,
    pub second: f32,
    /// The fonts of the name with the first line, and of the second line.
    pub fonts: [TextStyle; 2],
}

impl NamedBar<'_> {
    pub fn paint(self, ui: &Ui, rect: Rect) {
        let margin = self.margin;
        let color = ui.visuals().text_color();
        let [font, small] = self.fonts.map(|font| font.resolve(ui.style()));
        let full = rect.with_min_x(rect.left() + self.left);
        let full = full.shrink2(vec2(0.0, 2.0));
        let filled = Rect::from_min_size(full.min, vec2(full.width() * self.share, full.height()));
        let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
        let at = pos2(full.left() - margin, rect.center().y);
        painter.text(at, Align2::RIGHT_CENTER, self.name, font.clone(), color);
        let fill = palette(ui).accent.gamma_multiply(self.strength);
        painter.rect_filled(filled, 3.0, fill);
        let [text, below] = self.lines;
        let first = if below.is_empty() { 0.5 } else { 0.31 };
        let weak = ui.visuals().weak_text_color();
        let rows = [
            (text, first, font, color),
            (below, self.second, small, weak),
        ];
        for (text, y, font, color) in rows {
            let at = pos2(full.left() + margin, rect.top() + rect.height() * y);
            painter.text(at, Align2::LEFT_CENTER, text, font, color);
        }
    }
}

/// A progress bar; `fraction` goes from 0 to 1.
pub fn progress_bar(ui: &Ui, fraction: f32) -> ProgressBar {
    ProgressBar::new(fraction)
        .fill(palette(ui).accent)
        .corner_radius(RADIUS_SMALL)
}

/// A sign that something is at work.
pub fn spinner(ui: &mut Ui) {
    if motion(ui).calm > 0.0 {
        ui.spinner();
    } else {
        icon(ui, Icon::More);
    }
}

/// What a click on a control asks for.
pub trait Pushes {
    fn pushes<A: Into<Action>>(&self, actions: &mut Vec<Action>, action: impl FnOnce() -> A);
}

impl Pushes for Response {
    fn pushes<A: Into<Action>>(&self, actions: &mut Vec<Action>, action: impl FnOnce() -> A) {
        if self.clicked() {
            actions.push(action().into());
        }
    }
}

/// What screen readers call something that is painted.
pub fn name(painted: &Response, role: Role, name: &str) {
    painted.widget_info(|| WidgetInfo::labeled(role, true, name));
}

/// What screen readers call something that is painted, and what they say of it.
pub fn describe(painted: &Response, role: Role, name: &str, value: &str) {
    painted.widget_info(|| WidgetInfo {
        current_text_value: Some(value.to_owned()),
        ..WidgetInfo::labeled(role, true, name)
    });
}

/// Running text.
pub fn wrapped(ui: &mut Ui, text: impl Into<String>) -> Response {
    ui.add(Label::new(text.into()).wrap())
}

/// Running text that explains.
pub fn weak(ui: &mut Ui, text: impl Into<String>) -> Response {
    ui.add(Label::new(RichText::new(text).weak()).wrap())
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
    let text = RichText::new(reason).small().color(color);
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

/// True once Escape was pressed in this dialog. Unlike [`ModalResponse::should_close`] it is false
/// for a click beside the dialog.
pub fn escaped<T>(dialog: &ModalResponse<T>) -> bool {
    let takes_keys = dialog.is_top_modal && !dialog.any_popup_open;
    takes_keys
        && dialog
            .response
            .ctx
            .input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape))
}

/// Whoever opened a dialog by keyboard goes on in it, at this control.
pub fn focus_first(ui: &Ui, control: &Response) {
    if ui.memory(|memory| memory.focused().is_none()) {
        control.request_focus();
    }
}

/// True once Enter was pressed in this field; it has the keyboard's focus while nothing else has.
pub fn entered(ui: &Ui, field: &Response) -> bool {
    // Enter takes the focus from the field.
    let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    if !entered {
        focus_first(ui, field);
    }
    entered
}

/// Explains a drop-down list, if there is more to say than its value. Screen readers hear the
/// value with that: they do not say it otherwise.
pub fn explain_list(list: Response, value: &str, about: &str) -> Response {
    let description = if about.is_empty() {
        value.to_owned()
    } else {
        format!("{value}. {about}")
    };
    list.ctx
        .accesskit_node_builder(list.id, |node| node.set_description(description));
    if about.is_empty() {
        list
    } else {
        list.on_hover_text(about)
    }
}

/// A button of a group: this option, which a click chooses.
pub fn choose<T: PartialEq>(ui: &mut Ui, chosen: &mut T, option: T, text: &str) {
    if ui.add(toggle(text, *chosen == option)).clicked() {
        *chosen = option;
    }
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

/// The picture of a thing: its icon on a tinted square with this side.
pub fn picture(ui: &mut Ui, picture: Icon, side: f32) {
    let (rect, _) = ui.allocate_exact_size(Vec2::splat(side), Sense::hover());
    let accent = palette(ui).accent;
    let ground = accent.gamma_multiply(0.12);
    ui.painter().rect_filled(rect, side * 0.25, ground);
    picture.paint(ui.painter(), rect.shrink(side * 0.24), accent);
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

/// Has screen readers announce changes of the verdict in this place. One accessibility node stands
/// for the whole row; otherwise they would announce its parts twice.
pub fn announce_verdict(ui: &Ui, place: Rect, id: &str, sense: Sense, sentence: &str) {
    let response = ui.interact(place, ui.scope_id().with(id), sense);
    describe(&response, Role::Status, "Verdict", sentence);
    ui.ctx()
        .accesskit_node_builder(response.id, |node| node.set_live(accesskit::Live::Polite));
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

/// A focus ring for widgets that we paint ourselves.
pub fn focus_ring(ui: &Ui, rect: Rect) {
    ui.painter().rect_stroke(
        rect.expand(2.0),
        RADIUS_SMALL,
        Stroke::new(2.0, palette(ui).accent),
        StrokeKind::Outside,
    );
}

/// Paints a ring around the focused widget, whatever it is.
pub fn ring_around_focus(ctx: &Context) {
    let Some(id) = ctx.memory(Memory::focused) else {
        return;
    };
    if let Some(response) = ctx
        .read_response(id)
        .filter(|response| response.interact_rect.is_positive())
    {
        let p = tokens::of(ctx.global_style().visuals.dark_mode);
        let painter = ctx.layer_painter(response.layer_id);
        painter.rect_stroke(
            response.interact_rect.expand(1.5),
            RADIUS_SMALL,
            Stroke::new(2.0, p.accent),
            StrokeKind::Outside,
        );
    }
}

/// An outline within a rectangle.
pub fn outline(painter: &Painter, rect: Rect, width: f32, color: Color32) {
    painter.rect_stroke(rect, 0.0, Stroke::new(width, color), StrokeKind::Inside);
}

/// An outline around a rectangle.
pub fn outline_outside(painter: &Painter, rect: Rect, width: f32, color: Color32) {
    painter.rect_stroke(rect, 0.0, Stroke::new(width, color), StrokeKind::Outside);
}

/// Paper with a thin outline.
pub fn paper(painter: &Painter, rect: Rect, radius: f32, palette: Palette) {
    let outline = Stroke::new(1.0, palette.line);
    painter.rect(rect, radius, palette.paper, outline, StrokeKind::Inside);
}

/// The width of a text in one line, in points.
pub fn text_width(ui: &Ui, text: impl Into<String>, font: &FontId) -> f32 {
    let text = text.into();
    let line = ui
        .painter()
        .layout_no_wrap(text, font.clone(), Color32::PLACEHOLDER);
    line.size().x
}

/// Paints a text over lines: around its letters they are hidden by the background.
pub fn text_with_halo(
    painter: &Painter,
    at: Pos2,
    anchor: Align2,
    text: String,
    font: FontId,
    color: Color32,
    palette: Palette,
) {
    const WIDTH: f32 = 2.0;
    let galley = painter.layout_no_wrap(text, font, color);
    let place = anchor.anchor_size(at, galley.size()).min;
    for eighth in 0..8_u8 {
        let around = Vec2::angled(f32::from(eighth) * std::f32::consts::FRAC_PI_4) * WIDTH;
        let galley = Arc::clone(&galley);
        painter.galley_with_override_text_color(place + around, galley, palette.background);
    }
    painter.galley(place, galley, color);
}

/// Colors side by side, from the left edge to the right one.
pub fn gradient(painter: &Painter, rect: Rect, colors: &[Color32]) {
    let width = rect.width() / colors.len().max(1) as f32;
    let mut mesh = Mesh::default();
    for (index, color) in colors.iter().enumerate() {
        let left = rect.left() + width * index as f32;
        let part = Rect::from_x_y_ranges(left..=left + width, rect.y_range());
        mesh.add_colored_rect(part, *color);
    }
    painter.add(Shape::mesh(mesh));
}

/// The background of a box that floats over a plot.
pub fn floating_box(painter: &Painter, rect: Rect, palette: Palette) {
    painter.rect(
        rect,
        RADIUS_SMALL,
        palette.raised.gamma_multiply(0.95),
        Stroke::new(1.0, palette.line),
        StrokeKind::Inside,
    );
}

/// A bar of this share of its track, from 0 to 1; at 0 there is only the track.
pub fn bar(painter: &Painter, track: Rect, share: f32, color: Color32, palette: Palette) {
    painter.rect_filled(track, RADIUS_SMALL, palette.groove);
    if share > 0.0 {
        let filled = Rect::from_min_size(
            track.min,
            vec2((track.width() * share.min(1.0)).max(2.0), track.height()),
        );
        painter.rect_filled(filled, RADIUS_SMALL, color);
    }
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
