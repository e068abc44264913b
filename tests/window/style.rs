//! The colors: contrasts by WCAG 2.2, and distinguishable elevations.

use eframe::egui::{Color32, Rgba, Theme};
use egui_kittest::Harness;
use inkling::window::style;
use inkling::window::style::Palette;

pub fn palettes() -> [(Theme, Palette); 2] {
    [Theme::Light, Theme::Dark].map(|theme| {
        let builder = Harness::builder()
            .with_theme(theme)
            .with_context_setup(style::apply);
        let mut harness = builder.build_ui_state(
            |ui, palette: &mut Option<Palette>| *palette = Some(style::palette(ui)),
            None,
        );
        harness.run();
        (theme, harness.state().unwrap())
    })
}

fn luminance(color: Color32) -> f32 {
    let [red, green, blue, _] = Rgba::from(color).to_array();
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

pub fn contrast(one: Color32, other: Color32) -> f32 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn text_can_be_read_on_every_elevation() {
    for (theme, p) in palettes() {
        for ground in [
            p.paper,
            p.background,
            p.surface,
            p.card,
            p.raised,
            p.control,
        ] {
            for text in [p.ink, p.faded, p.accent, p.good, p.bad] {
                assert!(
                    contrast(text, ground) >= 4.5,
                    "{theme:?}: {text:?} on {ground:?}: {}",
                    contrast(text, ground)
                );
            }
        }
        assert!(contrast(p.on_accent, p.accent) >= 4.5);
    }
}

#[test]
fn controls_bars_and_curves_stand_out() {
    for (theme, p) in palettes() {
        for ground in [p.background, p.surface, p.card, p.raised] {
            assert!(
                contrast(p.edge, ground) >= 3.0,
                "{theme:?}: outlines of controls on {ground:?}: {}",
                contrast(p.edge, ground)
            );
        }
        for curve in [p.train, p.validation, p.machine, p.crosshair] {
            assert!(
                contrast(curve, p.paper) >= 3.0,
                "{theme:?}: {curve:?}: {}",
                contrast(curve, p.paper)
            );
        }
        for bar in [p.bar, p.accent, p.good] {
            assert!(
                contrast(bar, p.groove) >= 3.0,
                "{theme:?}: {bar:?}: {}",
                contrast(bar, p.groove)
            );
        }
    }
}

#[test]
fn in_the_dark_each_elevation_is_lighter_than_what_lies_below() {
    let [_, (_, dark)] = palettes();
    let steps = [
        dark.paper,
        dark.background,
        dark.surface,
        dark.card,
        dark.raised,
        dark.control,
    ];
    for pair in steps.windows(2) {
        assert!(
            luminance(pair[1]) > luminance(pair[0]) && contrast(pair[1], pair[0]) >= 1.07,
            "{pair:?}"
        );
    }
    assert!(
        contrast(dark.card, dark.background) >= 1.25,
        "cards lie visibly above the background"
    );
}
