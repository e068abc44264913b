//! "How Inkling sees it": the steps beside the canvas and their switches.

use eframe::egui::{Event, Key, Modifiers, vec2};
use egui_kittest::kittest::Queryable;
use inkling::ink::{Image, StageImage, Step, rasterize};
use inkling::window::{Action, DrawAction, Screen, WindowRequest};

use crate::window::stage::{Driven, Panel, Seen, Staged, ask, serve, stage, stroke};

const TITLE: &str = "How Inkling sees it";

/// Draw in a window of this size.
fn draw(size: [f32; 2]) -> Staged {
    let mut harness = stage(Panel::Draw, size);
    harness.act(Action::Show(Screen::Draw));
    harness
}

/// Draw with a stroke on the canvas and the steps shown, in a window of this size.
fn shown(size: [f32; 2]) -> Staged {
    let mut harness = draw(size);
    let rect = harness.rect("Drawing canvas");
    stroke(
        &mut harness,
        &[
            rect.center() - vec2(40.0, 90.0),
            rect.center() + vec2(40.0, 30.0),
        ],
        true,
    );
    serve(&mut harness);
    harness.get_by_label(TITLE).click();
    serve(&mut harness);
    harness
}

fn last_image(harness: &Staged) -> Image {
    match &harness.app().draw.stages().last().unwrap().image {
        StageImage::Model(image) => Image::clone(image),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_steps_are_found_beside_the_canvas_and_do_not_move_it() {
    for size in [[900.0, 600.0], [1280.0, 800.0], [1920.0, 1080.0]] {
        let mut harness = draw(size);
        let canvas = harness.rect("Drawing canvas");
        assert!(!harness.has("Size normalization"), "folded at first");
        harness.click(TITLE);
        assert_eq!(harness.rect("Drawing canvas"), canvas, "{size:?}");
        for name in ["Size normalization", "Stroke width", "Center of mass"] {
            let switch = harness.rect(name);
            assert!(
                switch.bottom() <= size[1] && switch.left() > canvas.right(),
                "{name} at {switch:?} in {size:?}"
            );
            harness.get_by_label(&format!("{name}, image"));
        }
        harness.click(TITLE);
        assert!(!harness.has("Size normalization"));
        assert_eq!(harness.rect("Drawing canvas"), canvas);
    }
}

#[test]
fn a_switch_changes_the_images_and_the_verdict_and_says_so_until_it_is_restored() {
    let mut harness = shown([900.0, 600.0]);
    let ink = harness.app().draw.one.ink();
    assert_eq!(last_image(&harness), rasterize(&ink));
    assert_eq!(
        harness.app().draw.prediction().unwrap().image,
        rasterize(&ink)
    );
    ask(&mut harness, "Center of mass");
    let other = last_image(&harness);
    assert_ne!(other, rasterize(&ink));
    assert_eq!(
        harness.app().draw.prediction().unwrap().image,
        other,
        "the verdict is of what is shown"
    );
    assert!(harness.shows("Off: it is not moved") && harness.has("Restore all steps"));
    // Folded away, it is still said.
    harness.click(TITLE);
    harness.get_by_label("1 step off");
    ask(&mut harness, "Restore all steps");
    assert!(!harness.has("1 step off"));
    assert_eq!(
        harness.app().draw.prediction().unwrap().image,
        rasterize(&ink)
    );
}

#[test]
fn the_steps_are_reached_by_keyboard() {
    let mut harness = draw([900.0, 600.0]);
    harness.keys(Modifiers::COMMAND, Key::I);
    assert!(harness.app().ctx.settings.steps_shown);
    harness.focus("Stroke width");
    harness.key(Key::Space);
    assert_eq!(
        harness.app().draw.steps().left_out().collect::<Vec<_>>(),
        [Step::Pen]
    );
    harness.keys(Modifiers::COMMAND, Key::I);
    assert!(!harness.app().ctx.settings.steps_shown);
}

#[test]
fn the_model_s_input_is_copied_as_an_image() {
    let mut harness = draw([900.0, 600.0]);
    assert!(harness.is_disabled("Copy"));
    let rect = harness.rect("Drawing canvas");
    stroke(
        &mut harness,
        &[
            rect.center() - vec2(40.0, 90.0),
            rect.center() + vec2(40.0, 30.0),
        ],
        true,
    );
    serve(&mut harness);
    let seen = harness.app().draw.prediction().unwrap().image.clone();
    harness.click("Copy");
    assert_eq!(
        harness.state_mut().app.shell.take_window_request(),
        Some(WindowRequest::CopyImage(Box::new(seen.clone())))
    );
    assert!(harness.last_notice().what.contains("copied"));
    harness.input_mut().events.push(Event::Copy);
    harness.run();
    assert_eq!(
        harness.state_mut().app.shell.take_window_request(),
        Some(WindowRequest::CopyImage(Box::new(seen)))
    );
    assert_eq!(
        harness.value("Verdict"),
        "1 — 96% sure",
        "nothing else has changed"
    );
    harness.state_mut().done.clear();
    harness.click("Save PNG…");
    assert_eq!(harness.state().done, [Action::Draw(DrawAction::SaveImage)]);
}
