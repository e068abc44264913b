//! What every screen keeps to, by counting: the contrast of its text, its buttons, and a name for
//! everything that screen readers find.

use std::collections::BTreeSet;

use eframe::egui::accesskit::Role;
use eframe::egui::epaint::text::PlacedRow;
use eframe::egui::epaint::{RectShape, Shape, TextShape};
use eframe::egui::{Color32, Pos2, Rect};
use egui_kittest::Node;
use egui_kittest::kittest::NodeT;
use inkling::settings::{Settings, Theme};
use inkling::window::{Action, DrawAction, Screen, SweepAction, SweepPhase, WizardStep, style};

use crate::fake_engine::{Answers, FakeEngine, app, app_with};
use crate::window::stage::{Driven, Window, open, painted};
use crate::window::style::contrast;

/// Checks that nothing is found on any screen before a run, during one, at its end and with a sweep,
/// and on no page of the wizard, in both themes.
fn nothing_on_any_screen(found: impl Fn(&Window) -> Vec<String>) {
    let mut all = BTreeSet::new();
    let mut check = |screen: &str, window: &Window| {
        all.extend(
            found(window)
                .into_iter()
                .map(|what| format!("{screen}: {what}")),
        );
    };
    for theme in [Theme::Light, Theme::Dark] {
        for size in [[900.0, 600.0], [1280.0, 800.0]] {
            let (mut app, mut engine) = app();
            app.apply(Action::SetTheme(theme));
            let mut window = open(app, size);
            let mut each = |window: &mut Window, engine: &mut FakeEngine, when: &str| {
                for screen in Screen::ALL {
                    window.act(Action::Show(screen));
                    window.serve(engine);
                    window.serve(engine);
                    check(&format!("{screen:?} {when}, {theme:?}, {size:?}"), window);
                }
            };
            each(&mut window, &mut engine, "at first");
            window.train(&mut engine, 12);
            window.apply(DrawAction::PenDown([80.0, 40.0]));
            window.apply(DrawAction::PenMove([120.0, 220.0]));
            window.apply(DrawAction::PenUp);
            window.serve(&mut engine);
            each(&mut window, &mut engine, "during a run");
            engine.finish();
            window.settle();
            each(&mut window, &mut engine, "after a run");
            window.act(SweepAction::Start);
            window.until(|app| {
                let sweep = app.sweeps.shown.as_ref();
                sweep.is_some_and(|sweep| sweep.phase == SweepPhase::Complete)
            });
            each(&mut window, &mut engine, "after a sweep");
        }
        let settings = Settings {
            theme,
            ..Settings::default()
        };
        let (app, mut engine) = app_with(settings, Answers::default());
        let mut window = open(app, [900.0, 600.0]);
        for step in WizardStep::ALL {
            window.act(Action::Wizard(step));
            window.serve(&mut engine);
            check(&format!("{step:?} of the wizard, {theme:?}"), &window);
        }
    }
    assert!(all.is_empty(), "{all:#?}");
}

fn all(window: &Window) -> impl Iterator<Item = Node<'_>> {
    window.root().children_recursive()
}

/// The color at this point of what is painted there; `None` if that is a picture.
fn ground(window: &Window, below: &[(Rect, Shape)], at: Pos2) -> Option<Color32> {
    let mut ground = Some(window.ctx.global_style().visuals.panel_fill);
    for (clip, shape) in below {
        if !clip.contains(at) {
            continue;
        }
        match shape {
            Shape::Rect(shape) if shape.rect.contains(at) && shape.blur_width == 0.0 => {
                ground = match (&shape.brush, shape.fill) {
                    (Some(_), _) => None,
                    (None, fill) if fill.is_opaque() => Some(fill),
                    (None, fill) => ground.map(|ground| ground.blend(fill)),
                };
            }
            Shape::Circle(shape) if shape.center.distance(at) < shape.radius => {
                ground = ground.map(|ground| ground.blend(shape.fill));
            }
            Shape::Mesh(mesh) if mesh.calc_bounds().contains(at) => ground = None,
            _ => {}
        }
    }
    ground
}

/// The color of its first letter.
fn color(text: &TextShape) -> Option<Color32> {
    let vertex = |row: &PlacedRow| {
        let vertices = &row.visuals.mesh.vertices;
        vertices.first().map(|vertex| vertex.color)
    };
    let color = text.galley.rows.iter().find_map(vertex)?;
    let color = text.override_text_color.unwrap_or(color);
    Some(if color == Color32::PLACEHOLDER {
        text.fallback_color
    } else {
        color
    })
}

#[test]
fn text_has_a_contrast_of_four_and_a_half_and_an_icon_of_three() {
    nothing_on_any_screen(|window| {
        let disabled: Vec<Rect> = all(window)
            .filter(|node| node.accesskit_node().is_disabled())
            .map(|node| node.rect().expand(2.0))
            .collect();
        let shapes = painted(window);
        let mut counted = 0;
        let mut faint = Vec::new();
        for (index, (clip, shape)) in shapes.iter().enumerate() {
            let Shape::Text(text) = shape else { continue };
            let at = text.visual_bounding_rect().center();
            let is_disabled = disabled.iter().any(|rect| rect.contains(at));
            let (Some(color), true, false) = (color(text), clip.contains(at), is_disabled) else {
                continue;
            };
            let Some(ground) = ground(window, &shapes[..index], at) else {
                continue;
            };
            counted += 1;
            let words = text.galley.text();
            let is_icon = words.chars().all(|c| ('\u{e000}'..'\u{f900}').contains(&c));
            let contrast = contrast(ground.blend(color), ground);
            let is_halo = color == ground;
            if !is_halo && contrast < if is_icon { 3.0 } else { 4.5 } {
                faint.push(format!("{words:?}, {color:?} on {ground:?}: {contrast:.2}"));
            }
        }
        assert!(counted > 10, "{counted}");
        faint
    });
}

#[test]
fn a_screen_has_at_most_one_filled_button_and_two_tinted_ones_of_full_height() {
    nothing_on_any_screen(|window| {
        let shapes = painted(window);
        let visuals = window.ctx.global_style().visuals.clone();
        let frame = |place: Rect| -> Option<&RectShape> {
            shapes.iter().find_map(|(_, shape)| match shape {
                Shape::Rect(shape)
                    if shape.rect.expand(-0.5).contains_rect(place.shrink(1.0))
                        && place.expand(1.0).contains_rect(shape.rect) =>
                {
                    Some(shape)
                }
                _ => None,
            })
        };
        let (mut filled, mut tinted) = (Vec::new(), Vec::new());
        for node in all(window) {
            let accesskit = node.accesskit_node();
            if accesskit.role() != Role::Button || accesskit.toggled().is_some() {
                continue;
            }
            let Some(frame) = frame(node.rect()) else {
                continue;
            };
            let name = accesskit.label().unwrap_or_default();
            if frame.fill == visuals.hyperlink_color {
                filled.push(name);
            } else if frame.fill == visuals.widgets.inactive.weak_bg_fill
                && frame.rect.height() >= style::BUTTON_HEIGHT
            {
                tinted.push(name);
            }
        }
        let mut found = Vec::new();
        if filled.len() > 1 {
            found.push(format!("filled: {filled:?}"));
        }
        if tinted.len() > 2 {
            found.push(format!("tinted: {tinted:?}"));
        }
        found
    });
}

#[test]
fn screen_readers_find_a_name_for_everything() {
    nothing_on_any_screen(|window| {
        assert_eq!(
            window.root().accesskit_node().label().as_deref(),
            Some("Inkling")
        );
        let nameless = all(window).filter_map(|node| {
            let node = node.accesskit_node();
            let (role, mut name) = (node.role(), node.label().unwrap_or_default());
            if role == Role::Label {
                name += &node.value().unwrap_or_default();
            }
            // These say nothing by themselves.
            let is_part = matches!(
                role,
                Role::GenericContainer
                    | Role::Pane
                    | Role::ScrollBar
                    | Role::ScrollView
                    | Role::TextRun
                    | Role::Tooltip
            );
            let is_nameless = !is_part && name.trim().is_empty();
            is_nameless.then(|| format!("{role:?} at {:?}", node.bounding_box()))
        });
        nameless.collect()
    });
}
