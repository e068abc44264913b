//! The look of egui's own widgets, by the tokens.

use eframe::egui::style::WidgetVisuals;
use eframe::egui::{
    Color32, Context, FontFamily, FontId, Margin, Shadow, Stroke, TextStyle, Theme, Visuals, vec2,
};

use super::tokens::{self, Palette, tokens};
use super::{RADIUS, RADIUS_SMALL, button, fonts, radius};

/// Applies the look to the whole window, in light and dark.
pub fn apply(ctx: &Context) {
    ctx.set_visuals_of(Theme::Light, visuals(tokens::of(false), Visuals::light()));
    ctx.set_visuals_of(Theme::Dark, visuals(tokens::of(true), Visuals::dark()));
    button::install(ctx);
    fonts::install(ctx);
    let (text, motion) = (tokens().text, tokens().motion);
    ctx.all_styles_mut(|style| {
        style.text_styles = [
            (
                TextStyle::Small,
                FontId::new(text.small, FontFamily::Proportional),
            ),
            (
                TextStyle::Body,
                FontId::new(text.body, FontFamily::Proportional),
            ),
            (TextStyle::Button, FontId::new(text.body, fonts::medium())),
            (
                TextStyle::Heading,
                FontId::new(text.title, fonts::semibold()),
            ),
            (
                TextStyle::Monospace,
                FontId::new(text.monospace, FontFamily::Monospace),
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
        style.animation_time = motion.quick;
    });
}

fn visuals(p: Palette, base: Visuals) -> Visuals {
    let dark = base.dark_mode;
    // `bg_fill` is for checkboxes, radio buttons and sliders, `weak_bg_fill` for buttons: a tint of
    // whatever lies below them.
    let tint = |strength: f32| {
        p.accent
            .gamma_multiply(if dark { strength } else { strength * 0.7 })
    };
    let widget = |fill, tint, outline: Stroke| WidgetVisuals {
        bg_fill: fill,
        weak_bg_fill: tint,
        bg_stroke: outline,
        corner_radius: radius(RADIUS_SMALL),
        fg_stroke: Stroke::new(1.4, p.ink),
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
    let chosen = Stroke::new(1.0, p.accent);
    visuals.widgets.noninteractive = widget(p.card, p.card, outline);
    visuals.widgets.inactive = widget(p.control, tint(0.15), Stroke::new(1.0, p.edge));
    let hovered = p.control.lerp_to_gamma(p.accent, 0.12);
    visuals.widgets.hovered = widget(hovered, tint(0.26), chosen);
    // Also used for the focused widget, whose outline must stand out.
    let pressed = p.control.lerp_to_gamma(p.accent, 0.18);
    visuals.widgets.active = widget(pressed, tint(0.36), Stroke::new(2.0, p.accent));
    visuals.widgets.open = widget(hovered, tint(0.26), chosen);
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
