//! Buttons. A screen has one that is filled, the primary one; the others are tinted, or have no
//! fill until the pointer is over them.

use eframe::egui::class::{ClassName, HasClasses as _};
use eframe::egui::theme::{DefaultStyle, StyleProvider};
use eframe::egui::widget_style::{ButtonStyle, StyleArgs, WidgetState};
use eframe::egui::{
    Button, Color32, ComboBox, Context, DragValue, FontSelection, Stroke, TextStyle, WidgetText,
    vec2,
};

use super::icons::Icon;
use super::{BUTTON_HEIGHT, tokens};

const PRIMARY: ClassName = ClassName::from_static("inkling::primary");
const QUIET: ClassName = ClassName::from_static("inkling::quiet");
const DANGER: ClassName = ClassName::from_static("inkling::danger");

/// The side of a button that is an icon, in points.
const ICON_BUTTON: f32 = 30.0;
/// The size of icons in buttons, in points.
const ICON: f32 = 18.0;

/// The action that most people will want on this screen.
pub fn primary_button(text: impl Into<WidgetText>) -> Button<'static> {
    Button::new(text.into())
        .with_class(PRIMARY)
        .min_size(vec2(96.0, BUTTON_HEIGHT))
}

pub fn secondary_button(text: impl Into<WidgetText>) -> Button<'static> {
    Button::new(text.into()).min_size(vec2(76.0, BUTTON_HEIGHT))
}

/// A low button within other content, but no smaller than the minimum target size (WCAG 2.2,
/// 2.5.8).
pub fn small_button(text: impl Into<WidgetText>) -> Button<'static> {
    Button::new(text.into()).small().min_size(vec2(24.0, 24.0))
}

/// A button without a fill until the pointer is over it.
pub fn quiet_button(text: impl Into<WidgetText>) -> Button<'static> {
    Button::new(text.into()).with_class(QUIET)
}

/// The same within other content, as low as `small_button`; a text that is too long is cut.
pub fn small_quiet_button(text: impl Into<WidgetText>) -> Button<'static> {
    small_button(text).truncate().with_class(QUIET)
}

pub fn danger_button(text: impl Into<WidgetText>) -> Button<'static> {
    Button::new(text.into())
        .with_class(DANGER)
        .min_size(vec2(76.0, BUTTON_HEIGHT))
}

/// A tool with an icon instead of a text. Whoever adds it gives it an accessible name and a
/// tooltip.
pub fn icon_button(icon: Icon) -> Button<'static> {
    Button::new(icon.text(ICON))
        .with_class(QUIET)
        .min_size(vec2(ICON_BUTTON, ICON_BUTTON))
}

/// A quiet button with an icon before its text. Whoever adds it gives it the text as its accessible
/// name.
pub fn labeled(icon: Icon, text: &str) -> Button<'static> {
    Button::new((icon.text(ICON - 1.0), text.to_owned())).with_class(QUIET)
}

/// A button of a group of which one is chosen.
pub fn toggle(text: impl Into<WidgetText>, chosen: bool) -> Button<'static> {
    Button::new(text.into()).selected(chosen)
}

struct Look;

impl StyleProvider<ButtonStyle> for Look {
    fn style(&mut self, args: &StyleArgs<'_>) -> ButtonStyle {
        let mut style: ButtonStyle = DefaultStyle.style(args);
        let layout = &mut style.atom_layout;
        let classes = args.classes;
        let palette = tokens::of(args.style.visuals.dark_mode);
        // They look like the fields they stand among.
        if classes.has_class(&ComboBox::CLASS) || classes.has_class(&DragValue::CLASS) {
            layout.frame.fill = palette.control;
            return style;
        }
        layout.text_style.font_id = FontSelection::from(TextStyle::Button).resolve(args.style);
        let (hovered, pressed) = match args.state {
            WidgetState::Hovered => (true, false),
            WidgetState::Active => (true, true),
            WidgetState::Noninteractive | WidgetState::Inactive => (false, false),
        };
        let frame = &mut layout.frame;
        // Whatever its state, a button keeps its size.
        frame.inner_margin += frame.stroke.width.round() as i8;
        frame.stroke = Stroke::NONE;
        if classes.has_class(&PRIMARY) {
            let away = if pressed { 0.22 } else { 0.12 };
            frame.fill = if hovered {
                palette.accent.lerp_to_gamma(palette.ink, away)
            } else {
                palette.accent
            };
            layout.text_style.color = palette.on_accent;
        } else if classes.has_class(&Button::CLASS_SELECTED) {
            if !classes.has_class(&Button::CLASS_NO_FRAME) {
                let strength = if hovered { 0.26 } else { 0.2 };
                frame.fill = palette.accent.gamma_multiply(strength);
            }
            layout.text_style.color = palette.accent;
        } else if classes.has_class(&DANGER) {
            frame.fill = palette
                .bad
                .gamma_multiply(if hovered { 0.28 } else { 0.16 });
            layout.text_style.color = palette.bad;
        } else if classes.has_class(&QUIET) && !hovered {
            frame.fill = Color32::TRANSPARENT;
        }
        style
    }
}

pub(super) fn install(ctx: &Context) {
    ctx.add_widget_theme::<ButtonStyle>(Look);
}
