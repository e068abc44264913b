//! The typeface, Inter, in three weights, and the font of the icons.

use std::sync::Arc;

use eframe::egui::epaint::text::VariationCoords;
use eframe::egui::{Context, FontData, FontDefinitions, FontFamily, FontTweak, RichText};

const INTER: &[u8] = include_bytes!("../../../assets/fonts/Inter.ttf");
const PHOSPHOR: &[u8] = include_bytes!("../../../assets/fonts/Phosphor.ttf");

/// Names of the fonts and of their families.
const MEDIUM: &str = "Inter Medium";
const SEMIBOLD: &str = "Inter SemiBold";
const ICONS: &str = "Phosphor";

/// Weight 500: buttons and names.
pub fn medium() -> FontFamily {
    FontFamily::Name(MEDIUM.into())
}

/// Weight 600: titles, verdicts and key figures.
pub fn semibold() -> FontFamily {
    FontFamily::Name(SEMIBOLD.into())
}

pub(super) fn icons() -> FontFamily {
    FontFamily::Name(ICONS.into())
}

pub trait SemiBold {
    #[must_use]
    fn semibold(self) -> Self;
}

impl SemiBold for RichText {
    fn semibold(self) -> Self {
        self.strong().family(semibold())
    }
}

pub(super) fn install(ctx: &Context) {
    // egui's fonts stay behind these, for characters that these lack.
    let mut fonts = FontDefinitions::default();
    let others = fonts.families[&FontFamily::Proportional].clone();
    let mut add = |name: &str, weight: f32, family: FontFamily| {
        let tweak = FontTweak {
            coords: VariationCoords::new([(b"wght", weight)]),
            // Inter has no hinting instructions, and automatic hinting takes a tenth of the time to the
            // first frame.
            hinting: Some(false),
            ..FontTweak::default()
        };
        let data = FontData::from_static(INTER).tweak(tweak);
        fonts.font_data.insert(name.to_owned(), Arc::new(data));
        let names = [name.to_owned()].into_iter().chain(others.clone());
        fonts.families.insert(family, names.collect());
    };
    add("Inter", 400.0, FontFamily::Proportional);
    add(MEDIUM, 500.0, medium());
    add(SEMIBOLD, 600.0, semibold());
    let data = FontData::from_static(PHOSPHOR);
    fonts.font_data.insert(ICONS.to_owned(), Arc::new(data));
    fonts.families.insert(icons(), vec![ICONS.to_owned()]);
    ctx.set_fonts(fonts);
}
