//! The tokens of the design: colors, type sizes and durations, from `assets/style.toml`.

use std::sync::{LazyLock, PoisonError, RwLock};

use eframe::egui::style::ScrollAnimation;
use eframe::egui::{Color32, Context, Rgba, Ui};
use serde::{Deserialize, Deserializer};

const BUILT_IN: &str = include_str!("../../../assets/style.toml");

#[expect(
    clippy::expect_used,
    reason = "built in, and read by every test of the window"
)]
static TOKENS: LazyLock<RwLock<Tokens>> =
    LazyLock::new(|| RwLock::new(toml::from_str(BUILT_IN).expect("assets/style.toml is complete")));

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tokens {
    pub text: Text,
    pub motion: Motion,
    light: Palette,
    dark: Palette,
}

/// Type sizes, in points.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Text {
    pub small: f32,
    pub body: f32,
    pub monospace: f32,
    /// The heading of a group of controls.
    pub section: f32,
    /// The title of a screen or dialog.
    pub title: f32,
}

/// Durations, in seconds.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Motion {
    /// What answers to the pointer.
    pub quick: f32,
    /// What moves by itself.
    pub calm: f32,
    /// The moment when a run ends.
    pub celebration: f32,
}

/// The colors of one theme; comments in `assets/style.toml` explain each of them.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Palette {
    #[serde(deserialize_with = "color")]
    pub accent: Color32,
    #[serde(deserialize_with = "color")]
    pub on_accent: Color32,
    #[serde(deserialize_with = "color")]
    pub ink: Color32,
    #[serde(deserialize_with = "color")]
    pub faded: Color32,
    #[serde(deserialize_with = "color")]
    pub paper: Color32,
    #[serde(deserialize_with = "color")]
    pub background: Color32,
    #[serde(deserialize_with = "color")]
    pub surface: Color32,
    #[serde(deserialize_with = "color")]
    pub card: Color32,
    #[serde(deserialize_with = "color")]
    pub raised: Color32,
    #[serde(deserialize_with = "color")]
    pub control: Color32,
    #[serde(deserialize_with = "color")]
    pub line: Color32,
    #[serde(deserialize_with = "color")]
    pub edge: Color32,
    #[serde(deserialize_with = "color")]
    pub good: Color32,
    #[serde(deserialize_with = "color")]
    pub bad: Color32,
    #[serde(deserialize_with = "color")]
    pub train: Color32,
    #[serde(deserialize_with = "color")]
    pub validation: Color32,
    #[serde(deserialize_with = "color")]
    pub machine: Color32,
    #[serde(deserialize_with = "color")]
    pub grid: Color32,
    #[serde(deserialize_with = "color")]
    pub crosshair: Color32,
    #[serde(deserialize_with = "color")]
    pub groove: Color32,
    #[serde(deserialize_with = "color")]
    pub bar: Color32,
}

fn color<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Color32, D::Error> {
    let text = String::deserialize(deserializer)?;
    Color32::from_hex(&text)
        .map_err(|_| serde::de::Error::custom(format!("{text} is not a color such as #2B46B8")))
}

pub(super) fn tokens() -> Tokens {
    *TOKENS.read().unwrap_or_else(PoisonError::into_inner)
}

pub fn palette(ui: &Ui) -> Palette {
    of(ui.visuals().dark_mode)
}

/// The colors of what is saved on white, whatever the window's theme.
pub fn on_white() -> Palette {
    Palette {
        paper: Color32::WHITE,
        ..of(false)
    }
}

pub(super) fn of(dark: bool) -> Palette {
    let tokens = tokens();
    if dark { tokens.dark } else { tokens.light }
}

/// How long what moves takes: no time if motion is not allowed.
pub fn motion(ui: &Ui) -> Motion {
    if ui.style().animation_time > 0.0 {
        tokens().motion
    } else {
        Motion::default()
    }
}

/// Whether anything may move; otherwise everything jumps.
pub fn allow_motion(ctx: &Context, allowed: bool) {
    let (time, scroll) = if allowed {
        (tokens().motion.quick, ScrollAnimation::default())
    } else {
        (0.0, ScrollAnimation::none())
    };
    ctx.all_styles_mut(|style| {
        (style.animation_time, style.scroll_animation) = (time, scroll);
    });
}

/// Black or white, whichever has more contrast on this background (relative luminance as in WCAG
/// 2.2): at least 4.5.
pub fn readable_on(ground: Color32) -> Color32 {
    let [red, green, blue, _] = Rgba::from(ground).to_array();
    let luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    // At this luminance the contrast with black equals that with white.
    if luminance > 0.179 {
        Color32::BLACK
    } else {
        Color32::WHITE
    }
}

/// Reads `assets/style.toml` again whenever it changes, so that the look can be worked on while the
/// program runs. A file with a mistake changes nothing but the log.
#[cfg(debug_assertions)]
pub(in crate::window) fn reload(ctx: &Context) {
    use std::path::Path;
    use std::sync::Mutex;
    use std::time::SystemTime;

    use crate::system::files::read_limited;

    static READ: Mutex<Option<SystemTime>> = Mutex::new(None);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/style.toml");
    let Ok(changed) = path.metadata().and_then(|metadata| metadata.modified()) else {
        return;
    };
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if *read == Some(changed) {
        return;
    }
    *read = Some(changed);
    let bytes = read_limited(&path, 100_000).unwrap_or_default();
    match toml::from_slice(&bytes) {
        Ok(tokens) => {
            *TOKENS.write().unwrap_or_else(PoisonError::into_inner) = tokens;
            super::apply(ctx);
        }
        Err(error) => tracing::warn!(%error, "assets/style.toml has a mistake"),
    }
}
