//! The look of egui's own widgets, by these colours.

use eframe::egui::{
    Color32, Context, FontFamily, FontId, Margin, Shadow, Stroke, TextStyle, Theme, Visuals,
    style::WidgetVisuals, vec2,
};

use super::palette::{DARK, LIGHT, Palette};
use super::{RADIUS, RADIUS_SMALL, radius};

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
