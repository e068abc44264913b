//! The look: the only file with colours, spacings, fonts and radii, and the few widgets that all panels share.

use eframe::egui::{
    Button, Color32, Context, CornerRadius, FontFamily, FontId, Frame, Label, Margin, Memory, Painter, ProgressBar, Rect, Response,
    RichText, Sense, Shadow, Stroke, StrokeKind, TextStyle, Theme, Ui, Vec2, Visuals, WidgetText, style::WidgetVisuals, vec2,
};

use super::icons::{Icon, icon};

/// The basic distance of the layout, in points.
pub const GAP: f32 = 12.0;
/// The distance of a screen's content from its edges, in points.
pub const SCREEN_MARGIN: Vec2 = vec2(18.0, 14.0);
/// Corners of cards and the canvas.
pub const RADIUS: f32 = 10.0;
/// Corners of bars, fields and buttons.
pub const RADIUS_SMALL: f32 = 6.0;
/// Space for the numbers beside a plot, enough for the longest, so that plots above each other line up to the pixel.
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
/// Height of both with their names, in points.
pub const HEADLINE_HEIGHT: f32 = 54.0;
/// The greatest width of running text, in points.
pub const TEXT_WIDTH: f32 = 560.0;
/// The width of a help popup, in points.
pub const HELP_WIDTH: f32 = 340.0;

/// Colours by purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    /// Primary buttons, selection and focus.
    pub accent: Color32,
    /// Text on `accent`.
    pub on_accent: Color32,
    /// Text and ink.
    pub ink: Color32,
    /// Secondary text.
    pub faded: Color32,
    /// Canvas, plots and fields.
    pub paper: Color32,
    /// The window's background.
    pub background: Color32,
    /// Cards and side panels.
    pub surface: Color32,
    /// Buttons that are not hovered.
    pub control: Color32,
    /// Outlines and separators.
    pub line: Color32,
    /// Success.
    pub good: Color32,
    /// Errors.
    pub bad: Color32,
    /// Training curves.
    pub train: Color32,
    /// Validation curves.
    pub validation: Color32,
    /// Throughput and memory curves.
    pub machine: Color32,
    /// Grid lines of plots.
    pub grid: Color32,
    /// The crosshair in plots.
    pub crosshair: Color32,
    /// The track of a bar.
    pub groove: Color32,
    /// Bars that are not highlighted.
    pub bar: Color32,
}

/// Blue-black ink on warm paper.
const LIGHT: Palette = Palette {
    accent: Color32::from_rgb(0x2B, 0x46, 0xB8),
    on_accent: Color32::from_rgb(0xFF, 0xFF, 0xFF),
    ink: Color32::from_rgb(0x1B, 0x20, 0x33),
    faded: Color32::from_rgb(0x5A, 0x5F, 0x70),
    paper: Color32::from_rgb(0xFF, 0xFE, 0xFA),
    background: Color32::from_rgb(0xF6, 0xF2, 0xE9),
    surface: Color32::from_rgb(0xEE, 0xE8, 0xDB),
    control: Color32::from_rgb(0xFB, 0xF8, 0xF1),
    line: Color32::from_rgb(0xCF, 0xC7, 0xB6),
    good: Color32::from_rgb(0x1F, 0x7A, 0x4D),
    bad: Color32::from_rgb(0xB3, 0x2D, 0x22),
    train: Color32::from_rgb(0x2B, 0x46, 0xB8),
    validation: Color32::from_rgb(0xC6, 0x52, 0x14),
    machine: Color32::from_rgb(0x16, 0x7C, 0x80),
    grid: Color32::from_rgb(0xE4, 0xDD, 0xCF),
    crosshair: Color32::from_rgb(0x8A, 0x84, 0x77),
    groove: Color32::from_rgb(0xE2, 0xDB, 0xCB),
    bar: Color32::from_rgb(0x9A, 0x9C, 0xA8),
};

/// Pale ink on blue-black.
const DARK: Palette = Palette {
    accent: Color32::from_rgb(0x8F, 0xA6, 0xFF),
    on_accent: Color32::from_rgb(0x10, 0x14, 0x24),
    ink: Color32::from_rgb(0xE9, 0xE6, 0xDC),
    faded: Color32::from_rgb(0xA3, 0xA6, 0xB4),
    paper: Color32::from_rgb(0x0E, 0x11, 0x1B),
    background: Color32::from_rgb(0x14, 0x18, 0x24),
    surface: Color32::from_rgb(0x1B, 0x20, 0x2F),
    control: Color32::from_rgb(0x27, 0x2D, 0x40),
    line: Color32::from_rgb(0x3A, 0x42, 0x5A),
    good: Color32::from_rgb(0x6C, 0xCB, 0x98),
    bad: Color32::from_rgb(0xFF, 0x8A, 0x7A),
    train: Color32::from_rgb(0x8F, 0xA6, 0xFF),
    validation: Color32::from_rgb(0xFF, 0xA4, 0x63),
    machine: Color32::from_rgb(0x5F, 0xC9, 0xC6),
    grid: Color32::from_rgb(0x26, 0x2C, 0x3D),
    crosshair: Color32::from_rgb(0x7C, 0x83, 0x99),
    groove: Color32::from_rgb(0x25, 0x2B, 0x3D),
    bar: Color32::from_rgb(0x6B, 0x72, 0x8A),
};

/// The current theme's colours.
pub fn palette(ui: &Ui) -> Palette {
    of(ui.visuals().dark_mode)
}

/// The colours of what is saved on white, whatever the window's theme.
pub const fn on_white() -> Palette {
    Palette { paper: Color32::WHITE, ..LIGHT }
}

const fn of(dark: bool) -> Palette {
    if dark { DARK } else { LIGHT }
}

/// Applies the look to the whole window, in light and dark.
pub fn apply(ctx: &Context) {
    ctx.set_visuals_of(Theme::Light, visuals(LIGHT, Visuals::light()));
    ctx.set_visuals_of(Theme::Dark, visuals(DARK, Visuals::dark()));
    ctx.all_styles_mut(|style| {
        let proportional = |size| FontId::new(size, FontFamily::Proportional);
        style.text_styles = [
            (TextStyle::Small, proportional(12.5)),
            (TextStyle::Body, proportional(14.5)),
            (TextStyle::Button, proportional(14.5)),
            (TextStyle::Heading, proportional(22.0)),
            (TextStyle::Monospace, FontId::new(13.5, FontFamily::Monospace)),
        ]
        .into();
        let spacing = &mut style.spacing;
        spacing.item_spacing = vec2(8.0, 7.0);
        spacing.button_padding = vec2(11.0, 5.0);
        spacing.interact_size = vec2(40.0, 28.0);
        spacing.icon_width = 18.0;
        spacing.icon_width_inner = 10.0;
        spacing.icon_spacing = 7.0;
        spacing.slider_width = 130.0;
        spacing.combo_width = 120.0;
        spacing.combo_height = 320.0;
        spacing.tooltip_width = 360.0;
        spacing.menu_width = 280.0;
        spacing.menu_margin = Margin::same(6);
        spacing.window_margin = Margin::same(18);
        spacing.scroll.bar_width = 8.0;
        style.interaction.tooltip_delay = 0.35;
        style.interaction.selectable_labels = false;
        style.animation_time = 0.12;
    });
}

fn visuals(p: Palette, base: Visuals) -> Visuals {
    let dark = base.dark_mode;
    let widget = |fill, outline: Stroke, text| WidgetVisuals {
        bg_fill: fill,
        weak_bg_fill: fill,
        bg_stroke: outline,
        corner_radius: radius(RADIUS_SMALL),
        fg_stroke: Stroke::new(1.4, text),
        expansion: 0.0,
    };
    let outline = Stroke::new(1.0, p.line);
    let shadow = Shadow { offset: [0, 6], blur: 24, spread: 0, color: Color32::from_black_alpha(if dark { 110 } else { 38 }) };
    let mut visuals = base;
    visuals.widgets.noninteractive = widget(p.surface, outline, p.ink);
    visuals.widgets.inactive = widget(p.control, outline, p.ink);
    visuals.widgets.hovered = widget(p.control.lerp_to_gamma(p.accent, 0.12), Stroke::new(1.0, p.accent), p.ink);
    // Also used for the focused widget, whose outline must stand out.
    visuals.widgets.active = widget(p.control.lerp_to_gamma(p.accent, 0.18), Stroke::new(2.0, p.accent), p.ink);
    visuals.widgets.open = widget(p.control.lerp_to_gamma(p.accent, 0.10), Stroke::new(1.0, p.accent), p.ink);
    visuals.selection.bg_fill = p.control.lerp_to_gamma(p.accent, if dark { 0.35 } else { 0.20 });
    visuals.selection.stroke = Stroke::new(2.0, p.accent);
    visuals.weak_text_color = Some(p.faded);
    visuals.hyperlink_color = p.accent;
    visuals.warn_fg_color = p.validation;
    visuals.error_fg_color = p.bad;
    visuals.panel_fill = p.background;
    visuals.window_fill = p.background;
    visuals.window_stroke = outline;
    visuals.window_corner_radius = radius(RADIUS);
    visuals.menu_corner_radius = radius(RADIUS_SMALL);
    visuals.window_shadow = shadow;
    visuals.popup_shadow = shadow;
    visuals.extreme_bg_color = p.paper;
    visuals.text_edit_bg_color = Some(p.paper);
    visuals.code_bg_color = p.surface;
    visuals.faint_bg_color = p.surface.gamma_multiply(0.6);
    visuals.slider_trailing_fill = true;
    visuals.indent_has_left_vline = false;
    visuals.disabled_alpha = 0.55;
    visuals
}

const fn radius(points: f32) -> CornerRadius {
    CornerRadius::same(points as u8)
}

/// The frame of a side panel.
pub fn side_frame(ui: &Ui) -> Frame {
    Frame::new().fill(palette(ui).surface).inner_margin(Margin::symmetric(16, 14))
}

/// The frame of a screen.
pub fn screen_frame(ui: &Ui) -> Frame {
    Frame::new().fill(palette(ui).background).inner_margin(Margin::symmetric(SCREEN_MARGIN.x as i8, SCREEN_MARGIN.y as i8))
}

/// The frame of a bar along the top or bottom edge.
pub fn bar_frame(ui: &Ui) -> Frame {
    Frame::new().fill(palette(ui).surface).inner_margin(Margin::symmetric(14, 6))
}

/// The frame of a card.
pub fn card(ui: &Ui) -> Frame {
    let p = palette(ui);
    Frame::new().fill(p.paper).stroke(Stroke::new(1.0, p.line)).corner_radius(radius(RADIUS)).inner_margin(Margin::same(14))
}

/// The main button of a panel.
pub fn primary_button(ui: &Ui, text: impl Into<String>) -> Button<'static> {
    let p = palette(ui);
    Button::new(RichText::new(text).color(p.on_accent).strong()).fill(p.accent).min_size(vec2(96.0, 34.0))
}

/// A button beside the main one.
pub fn secondary_button(text: impl Into<WidgetText>) -> Button<'static> {
    Button::new(text.into()).min_size(vec2(76.0, 34.0))
}

/// A low button within other content, but no smaller than the minimum target size (WCAG 2.2, 2.5.8).
pub fn small_button(text: impl Into<WidgetText>) -> Button<'static> {
    Button::new(text.into()).small().min_size(vec2(24.0, 24.0))
}

/// A progress bar; `fraction` goes from 0 to 1.
pub fn progress_bar(ui: &Ui, fraction: f32) -> ProgressBar {
    ProgressBar::new(fraction).fill(palette(ui).accent).corner_radius(RADIUS_SMALL)
}

/// Small explanatory text.
pub fn hint(text: impl Into<String>) -> RichText {
    RichText::new(text).weak().small()
}

/// The reason why a value is invalid, with an icon as well as a colour.
pub fn invalid(ui: &mut Ui, reason: &str) -> Response {
    let color = palette(ui).bad;
    beside_problem_icon(ui, RichText::new(reason).small().color(color))
}

/// Something to be careful about, with an icon.
pub fn caution(ui: &mut Ui, sentence: &str) -> Response {
    beside_problem_icon(ui, RichText::new(sentence))
}

fn beside_problem_icon(ui: &mut Ui, text: RichText) -> Response {
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = GAP / 2.0;
        icon(ui, Icon::Problem);
        ui.add(Label::new(text).wrap())
    })
    .inner
}

/// The same as a link, to where the value can be changed.
pub fn invalid_link(ui: &mut Ui, reason: &str) -> Response {
    let color = palette(ui).bad;
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = GAP / 2.0;
        icon(ui, Icon::Problem);
        let text = RichText::new(reason).small().color(color).underline();
        ui.add(Button::new(text).frame(false).wrap().min_size(vec2(0.0, 0.0)))
    })
    .inner
}

/// Explains a drop-down list, where there is more to say than its value. Screen readers hear the value with that: they do not say it
/// otherwise.
pub fn explain_list(list: Response, value: &str, about: &str) -> Response {
    let description = if about.is_empty() { value.to_owned() } else { format!("{value}. {about}") };
    list.ctx.accesskit_node_builder(list.id, |node| node.set_description(description));
    if about.is_empty() { list } else { list.on_hover_text(about) }
}

/// A button of a group of which one is chosen.
pub fn toggle(ui: &Ui, text: &str, chosen: bool) -> Button<'static> {
    let p = palette(ui);
    let text = RichText::new(text);
    if chosen {
        Button::selectable(true, text.color(p.accent).strong())
            .fill(p.control.lerp_to_gamma(p.accent, 0.14))
            .stroke(Stroke::new(1.5, p.accent))
            .frame(true)
    } else {
        Button::selectable(false, text).fill(p.control).stroke(Stroke::new(1.0, p.line)).frame_when_inactive(true)
    }
}

/// The frame of a modal dialog.
pub fn dialog_frame(ui: &Ui) -> Frame {
    let p = palette(ui);
    Frame::new()
        .fill(p.background)
        .stroke(Stroke::new(1.0, p.line))
        .corner_radius(radius(RADIUS))
        .shadow(ui.visuals().window_shadow)
        .inner_margin(Margin::same(20))
}

/// The heading of a group of controls.
pub fn section(ui: &mut Ui, title: &str) {
    if ui.layout().is_vertical() {
        ui.add_space(GAP / 3.0);
    }
    ui.label(RichText::new(title).strong().size(15.5));
}

/// The content of an empty screen: what it is for and what to do next.
pub fn empty_state(ui: &mut Ui, title: &str, body: &str) {
    let height = ui.available_height();
    ui.vertical_centered(|ui| {
        ui.add_space((height * 0.30).min(220.0));
        ui.set_max_width(TEXT_WIDTH.min(ui.available_width()));
        ui.label(RichText::new(title).heading());
        ui.add_space(GAP / 3.0);
        ui.label(RichText::new(body).weak());
        ui.add_space(GAP);
    });
}

/// A thin vertical line between groups of controls in a row.
pub fn divider(ui: &mut Ui) {
    let (rect, _) = ui.allocate_exact_size(vec2(9.0, ui.spacing().interact_size.y * 0.7), Sense::hover());
    ui.painter().vline(rect.center().x, rect.y_range(), Stroke::new(1.0, palette(ui).line));
}

/// A focus ring for widgets that we paint ourselves.
pub fn focus_ring(ui: &Ui, rect: Rect) {
    ui.painter().rect_stroke(rect.expand(2.0), RADIUS_SMALL, Stroke::new(2.0, palette(ui).accent), StrokeKind::Outside);
}

/// Paints a ring around the focused widget, whatever it is.
pub fn ring_around_focus(ctx: &Context) {
    let Some(id) = ctx.memory(Memory::focused) else { return };
    if let Some(response) = ctx.read_response(id).filter(|response| response.interact_rect.is_positive()) {
        let p = of(ctx.global_style().visuals.dark_mode);
        let painter = ctx.layer_painter(response.layer_id);
        painter.rect_stroke(response.interact_rect.expand(1.5), RADIUS_SMALL, Stroke::new(2.0, p.accent), StrokeKind::Outside);
    }
}

/// The background of a box that floats over a plot.
pub fn floating_box(painter: &Painter, rect: Rect, palette: Palette) {
    painter.rect(rect, RADIUS_SMALL, palette.paper.gamma_multiply(0.95), Stroke::new(1.0, palette.line), StrokeKind::Inside);
}

/// A bar of this share of its track, from 0 to 1; at 0 there is only the track.
pub fn bar(painter: &Painter, track: Rect, share: f32, color: Color32, palette: Palette) {
    painter.rect_filled(track, RADIUS_SMALL, palette.groove);
    if share > 0.0 {
        let filled = Rect::from_min_size(track.min, vec2((track.width() * share.min(1.0)).max(2.0), track.height()));
        painter.rect_filled(filled, RADIUS_SMALL, color);
    }
}

/// A key figure: its name, its value in large type, and a short explanation.
pub fn figure(ui: &mut Ui, name: &str, value: &str, about: &str) -> Response {
    ui.vertical(|ui| {
        ui.spacing_mut().item_spacing.y = 1.0;
        ui.label(RichText::new(name).weak());
        ui.label(RichText::new(value).size(28.0).strong());
        ui.label(hint(about));
    })
    .response
}

/// The text colour, dark or light, with more contrast on this background (relative luminance as in WCAG 2.2).
pub fn readable_on(ground: Color32) -> Color32 {
    let [red, green, blue, _] = eframe::egui::Rgba::from(ground).to_array();
    let luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    // At this luminance the contrast with black equals that with white.
    if luminance > 0.179 { LIGHT.ink } else { DARK.ink }
}
