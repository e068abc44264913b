//! Animations, which the system's settings turn off.

use std::sync::atomic::Ordering;

use eframe::egui::Event;
use inkling::window::style;

use super::stage::{Driven as _, Window, open};
use crate::fake_engine::app;

/// Seconds that what answers to the pointer takes.
fn quick(window: &Window) -> f32 {
    window.ctx.global_style().animation_time
}

fn focus(window: &mut Window, focused: bool) {
    window.event(Event::WindowFocused(focused));
    let id = window.input().viewport_id;
    let viewport = window.input_mut().viewports.entry(id).or_default();
    viewport.focused = Some(focused);
    window.step();
}

#[test]
fn the_system_is_asked_again_whenever_the_window_gets_the_focus() {
    let (app, engine) = app();
    engine.desktop.still.store(true, Ordering::Relaxed);
    let mut window = open(app, [1280.0, 800.0]);
    window.until(|app| app.ctx.motion_is_reduced);
    assert_eq!(quick(&window), 0.0);
    for still in [false, true] {
        focus(&mut window, false);
        engine.desktop.still.store(still, Ordering::Relaxed);
        focus(&mut window, true);
        window.until(|app| app.ctx.motion_is_reduced == still);
        assert_eq!(quick(&window) == 0.0, still);
    }
}

#[test]
fn our_own_motions_take_no_time_then() {
    let mut harness = egui_kittest::Harness::builder()
        .with_context_setup(style::apply)
        .build_ui_state(
            |ui, seconds: &mut [f32; 3]| {
                let motion = style::motion(ui);
                *seconds = [motion.quick, motion.calm, motion.celebration];
            },
            [0.0; 3],
        );
    for allowed in [true, false] {
        style::allow_motion(&harness.ctx, allowed);
        harness.run();
        assert!(harness.state().iter().all(|&time| (time > 0.0) == allowed));
    }
}

#[cfg(all(unix, not(target_os = "macos")))]
mod portal {
    use std::collections::HashMap;

    use inkling::window::portal::{Settings, reduce_motion};
    use zbus::zvariant::{OwnedValue, Str};

    const STANDARD: &str = "org.freedesktop.appearance";
    const GNOME: &str = "org.gnome.desktop.interface";
    const KDE: &str = "org.kde.kdeglobals.KDE";

    fn is_reduced(namespace: &str, key: &str, value: OwnedValue) -> bool {
        let values = HashMap::from([(key.to_owned(), value)]);
        reduce_motion(&Settings::from([(namespace.to_owned(), values)]))
    }

    #[test]
    fn every_desktop_says_it_in_a_different_way() {
        let text = |text| OwnedValue::from(Str::from_static(text));
        assert!(is_reduced(STANDARD, "reduced-motion", 1_u32.into()));
        assert!(!is_reduced(STANDARD, "reduced-motion", 0_u32.into()));
        assert!(is_reduced(GNOME, "enable-animations", false.into()));
        assert!(!is_reduced(GNOME, "enable-animations", true.into()));
        assert!(is_reduced(KDE, "AnimationDurationFactor", text("0")));
        assert!(!is_reduced(KDE, "AnimationDurationFactor", text("0.5")));
    }

    #[test]
    fn what_is_not_understood_changes_nothing() {
        let text = |text| OwnedValue::from(Str::from_static(text));
        assert!(!reduce_motion(&Settings::new()));
        assert!(!is_reduced(STANDARD, "reduced-motion", text("1")));
        assert!(!is_reduced(STANDARD, "contrast", 1_u32.into()));
        assert!(!is_reduced(KDE, "AnimationDurationFactor", text("")));
    }
}
