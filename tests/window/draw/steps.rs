//! "How Inkling sees it": the steps beside the canvas and their switches.

use eframe::egui::{Key, Modifiers, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};
use inkling::ink::{Image, StageImage, Step, rasterize};
use inkling::window::{Action, Screen, WindowRequest};

use crate::window::stage::{Panel, Stage, serve, stage, stroke, value};

const TITLE: &str = "How Inkling sees it";

/// Draw in a window of this size.
fn draw(size: [f32; 2]) -> Harness<'static, Stage> {
    let mut harness = stage(Panel::Draw, size);
    harness.state_mut().app.apply(Action::Show(Screen::Draw));
    harness.run();
    harness
}

/// Draw with a stroke on the canvas and the steps shown, in a window of this size.
fn shown(size: [f32; 2]) -> Harness<'static, Stage> {
    let mut harness = draw(size);
    let rect = harness.get_by_label("Drawing canvas").rect();
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

fn last_image(harness: &Harness<'static, Stage>) -> Image {
    match &harness.state().app.stages().last().unwrap().image {
        StageImage::Model(image) => Image::clone(image),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_steps_are_found_beside_the_canvas_and_do_not_move_it() {
    for size in [[900.0, 600.0], [1280.0, 800.0], [1920.0, 1080.0]] {
        let mut harness = draw(size);
        let canvas = harness.get_by_label("Drawing canvas").rect();
        assert!(
            harness.query_by_label("Size normalisation").is_none(),
            "folded at first"
        );
        harness.get_by_label(TITLE).click();
        harness.run();
        assert_eq!(
            harness.get_by_label("Drawing canvas").rect(),
            canvas,
            "{size:?}"
        );
        for name in ["Size normalisation", "Stroke width", "Centre of mass"] {
            let switch = harness.get_by_label(name).rect();
            assert!(
                switch.bottom() <= size[1] && switch.left() > canvas.right(),
                "{name} at {switch:?} in {size:?}"
            );
            assert!(harness.query_by_label(&format!("{name}, image")).is_some());
        }
        harness.get_by_label(TITLE).click();
        harness.run();
        assert!(harness.query_by_label("Size normalisation").is_none());
        assert_eq!(harness.get_by_label("Drawing canvas").rect(), canvas);
    }
}

#[test]
fn a_switch_changes_the_images_and_the_verdict_and_says_so_until_it_is_restored() {
    let mut harness = shown([900.0, 600.0]);
    let ink = harness.state().app.draw.drawing.ink();
    assert_eq!(last_image(&harness), rasterize(&ink));
    assert_eq!(
        harness.state().app.prediction().unwrap().image,
        rasterize(&ink)
    );
    harness.get_by_label("Centre of mass").click();
    serve(&mut harness);
    let other = last_image(&harness);
    assert_ne!(other, rasterize(&ink));
    assert_eq!(
        harness.state().app.prediction().unwrap().image,
        other,
        "the verdict is of what is shown"
    );
    assert!(
        harness
            .query_by_label_contains("Off: it is not moved")
            .is_some()
            && harness.query_by_label("Restore all steps").is_some()
    );
    // Folded away, it is still said.
    harness.get_by_label(TITLE).click();
    harness.run();
    assert!(harness.query_by_label("1 step off").is_some());
    harness.get_by_label("Restore all steps").click();
    serve(&mut harness);
    assert!(harness.query_by_label("1 step off").is_none());
    assert_eq!(
        harness.state().app.prediction().unwrap().image,
        rasterize(&ink)
    );
}

#[test]
fn the_steps_are_reached_by_keyboard() {
    let mut harness = draw([900.0, 600.0]);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::I);
    harness.run();
    assert!(harness.state().app.ctx.settings.steps_shown);
    harness.get_by_label("Stroke width").focus();
    harness.run();
    harness.key_press(Key::Space);
    harness.run();
    assert_eq!(
        harness.state().app.steps().left_out().collect::<Vec<_>>(),
        [Step::Pen]
    );
    harness.key_press_modifiers(Modifiers::COMMAND, Key::I);
    harness.run();
    assert!(!harness.state().app.ctx.settings.steps_shown);
}

#[test]
fn the_model_s_input_is_copied_as_an_image() {
    let mut harness = draw([900.0, 600.0]);
    assert!(harness.get_by_label("Copy").accesskit_node().is_disabled());
    let rect = harness.get_by_label("Drawing canvas").rect();
    stroke(
        &mut harness,
        &[
            rect.center() - vec2(40.0, 90.0),
            rect.center() + vec2(40.0, 30.0),
        ],
        true,
    );
    serve(&mut harness);
    let seen = harness.state().app.prediction().unwrap().image.clone();
    harness.get_by_label("Copy").click();
    harness.run();
    assert_eq!(
        harness.state_mut().app.take_window_request(),
        Some(WindowRequest::CopyImage(Box::new(seen.clone())))
    );
    assert!(
        harness
            .state()
            .app
            .ctx
            .notices
            .last()
            .unwrap()
            .message
            .what
            .contains("copied")
    );
    harness.input_mut().events.push(eframe::egui::Event::Copy);
    harness.run();
    assert_eq!(
        harness.state_mut().app.take_window_request(),
        Some(WindowRequest::CopyImage(Box::new(seen)))
    );
    assert_eq!(
        value(&harness, "Verdict"),
        "1 — 96 % sure",
        "nothing else has changed"
    );
    harness.state_mut().done.clear();
    harness.get_by_label("Save PNG…").click();
    harness.run();
    assert_eq!(harness.state().done, [Action::SaveImage]);
}
