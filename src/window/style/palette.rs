//! The colors, light and dark, and the look of egui's own widgets by them.

use eframe::egui::style::WidgetVisuals;
use eframe::egui::{
    Color32, Context, FontFamily, FontId, Margin, Rgba, Shadow, Stroke, TextStyle, Theme, Ui,
    Visuals, vec2,
};

use super::{RADIUS, RADIUS_SMALL, radius};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    pub accent: Color32,
    /// Text on `accent`.
    pub on_accent: Color32,
    pub ink: Color32,
    pub faded: Color32,
    /// Canvas, plots and fields: the lowest.
    pub paper: Color32,
    pub background: Color32,
    /// Bars and side panels, above the background.
    pub surface: Color32,
    /// Cards, above the background and side panels.
    pub card: Color32,
    pub raised: Color32,
    /// Buttons that are not hovered.
    pub control: Color32,
    /// Separators and outlines of what cannot be clicked.
    pub line: Color32,
    pub edge: Color32,
    pub good: Color32,
    pub bad: Color32,
    pub train: Color32,
    pub validation: Color32,
    pub machine: Color32,
    pub grid: Color32,
    pub crosshair: Color32,
    pub groove: Color32,
    /// Bars that are not highlighted.
    pub bar: Color32,
}

pub(super) const LIGHT: Palette = Palette {
    accent: Color32::from_rgb(0x2B, 0x46, 0xB8),
    on_accent: Color32::from_rgb(0xFF, 0xFF, 0xFF),
    ink: Color32::from_rgb(0x1B, 0x20, 0x33),
    faded: Color32::from_rgb(0x5A, 0x5F, 0x70),
    paper: Color32::from_rgb(0xFF, 0xFE, 0xFA),
    background: Color32::from_rgb(0xF4, 0xEF, 0xE5),
    surface: Color32::from_rgb(0xEB, 0xE4, 0xD5),
    card: Color32::from_rgb(0xFF, 0xFE, 0xFA),
    raised: Color32::from_rgb(0xFF, 0xFF, 0xFF),
    control: Color32::from_rgb(0xFB, 0xF8, 0xF1),
    line: Color32::from_rgb(0xCF, 0xC7, 0xB6),
    edge: Color32::from_rgb(0x84, 0x7D, 0x6F),
    good: Color32::from_rgb(0x1C, 0x70, 0x46),
    bad: Color32::from_rgb(0xB3, 0x2D, 0x22),
    train: Color32::from_rgb(0x2B, 0x46, 0xB8),
    validation: Color32::from_rgb(0xC6, 0x52, 0x14),
    machine: Color32::from_rgb(0x16, 0x7C, 0x80),
    grid: Color32::from_rgb(0xE4, 0xDD, 0xCF),
    crosshair: Color32::from_rgb(0x8A, 0x84, 0x77),
    groove: Color32::from_rgb(0xE2, 0xDB, 0xCB),
    bar: Color32::from_rgb(0x75, 0x78, 0x8A),
};

pub(super) const DARK: Palette = Palette {
    accent: Color32::from_rgb(0x9D, 0xB1, 0xFF),
    on_accent: Color32::from_rgb(0x10, 0x14, 0x24),
    ink: Color32::from_rgb(0xE9, 0xE6, 0xDC),
    faded: Color32::from_rgb(0xAB, 0xAF, 0xBD),
    paper: Color32::from_rgb(0x08, 0x0A, 0x11),
    background: Color32::from_rgb(0x10, 0x14, 0x1F),
    surface: Color32::from_rgb(0x1A, 0x21, 0x31),
    card: Color32::from_rgb(0x22, 0x2A, 0x3D),
    raised: Color32::from_rgb(0x2A, 0x34, 0x4A),
    control: Color32::from_rgb(0x34, 0x3F, 0x59),
    line: Color32::from_rgb(0x3D, 0x48, 0x62),
    edge: Color32::from_rgb(0x78, 0x83, 0x9F),
    good: Color32::from_rgb(0x6C, 0xCB, 0x98),
    bad: Color32::from_rgb(0xFF, 0x8F, 0x80),
    train: Color32::from_rgb(0x8F, 0xA6, 0xFF),
    validation: Color32::from_rgb(0xFF, 0xA4, 0x63),
    machine: Color32::from_rgb(0x5F, 0xC9, 0xC6),
    grid: Color32::from_rgb(0x23, 0x2A, 0x3A),
    crosshair: Color32::from_rgb(0x86, 0x8D, 0xA4),
    groove: Color32::from_rgb(0x2B, 0x34, 0x49),
    bar: Color32::from_rgb(0x80, 0x89, 0xA3),
};

pub fn palette(ui: &Ui) -> Palette {
    of(ui.visuals().dark_mode)
}

/// The colors of what is saved on white, whatever the window's theme.
pub const fn on_white() -> Palette {
    Palette {
        paper: Color32::WHITE,
        ..LIGHT
    }
}

pub(super) const fn of(dark: bool) -> Palette {
    if dark { DARK } else { LIGHT }
}

/// The text color, dark or light, with more contrast on this background (relative luminance as in
/// WCAG 2.2).
pub fn readable_on(ground: Color32) -> Color32 {
    let [red, green, blue, _] = Rgba::from(ground).to_array();
    let luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    // At this luminance the contrast with black equals that with white.
    if luminance > 0.179 {
        LIGHT.ink
    } else {
        DARK.ink
    }
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
            (
                TextStyle::Monospace,
                FontId::new(13.5, FontFamily::Monospace),
            ),
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
        // That there is more to see must not show only under the pointer.
        spacing.scroll.dormant_handle_opacity = 0.35;
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
    let shadow = Shadow {
        offset: [0, 6],
        blur: 24,
        spread: 0,
        color: Color32::from_black_alpha(if dark { 110 } else { 38 }),
    };
    let mut visuals = base;
    visuals.widgets.noninteractive = widget(p.card, outline, p.ink);
    visuals.widgets.inactive = widget(p.control, Stroke::new(1.0, p.edge), p.ink);
    visuals.widgets.hovered = widget(
        p.control.lerp_to_gamma(p.accent, 0.12),
        Stroke::new(1.0, p.accent),
        p.ink,
    );
    // Also used for the focused widget, whose outline must stand out.
    visuals.widgets.active = widget(
        p.control.lerp_to_gamma(p.accent, 0.18),
        Stroke::new(2.0, p.accent),
        p.ink,
    );
    visuals.widgets.open = widget(
        p.control.lerp_to_gamma(p.accent, 0.10),
        Stroke::new(1.0, p.accent),
        p.ink,
    );
    visuals.selection.bg_fill = p
        .control
        .lerp_to_gamma(p.accent, if dark { 0.35 } else { 0.20 });
    visuals.selection.stroke = Stroke::new(2.0, p.accent);
    visuals.weak_text_color = Some(p.faded);
    visuals.hyperlink_color = p.accent;
    visuals.warn_fg_color = p.validation;
    visuals.error_fg_color = p.bad;
    visuals.panel_fill = p.background;
    visuals.window_fill = p.raised;
    visuals.window_stroke = outline;
    visuals.window_corner_radius = radius(RADIUS);
    visuals.menu_corner_radius = radius(RADIUS_SMALL);
    visuals.window_shadow = shadow;
    visuals.popup_shadow = shadow;
    visuals.extreme_bg_color = p.paper;
    visuals.text_edit_bg_color = Some(p.paper);
    visuals.code_bg_color = p.surface;
    visuals.faint_bg_color = p.card.gamma_multiply(0.6);
    visuals.slider_trailing_fill = true;
    visuals.indent_has_left_vline = false;
    visuals.disabled_alpha = 0.55;
    visuals
}
