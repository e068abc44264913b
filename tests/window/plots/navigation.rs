//! Finding one's way in the plots, with pointer and keys.

use eframe::egui::{
    Event, Key, Modifiers, MouseWheelSource, MouseWheelUnit, PointerButton, Pos2, TouchPhase, pos2,
    vec2,
};

use super::panel::training;
use crate::fake_engine::Answers;
use crate::window::stage::{Driven, Seen, Staged, button};

/// The steps in view, as the loss plot tells them; `None` for the whole run.
fn in_view(harness: &Staged) -> Option<(u64, u64)> {
    let told = harness.value("Loss plot");
    let mut figures = told
        .strip_prefix("Steps ")?
        .split(' ')
        .filter_map(|word| word.parse().ok());
    Some((figures.next()?, figures.next()?))
}

/// A place in a plot, from its left and top, as shares of its size.
fn at(harness: &Staged, plot: &str, x: f32, y: f32) -> Pos2 {
    let rect = harness.rect(plot);
    pos2(
        rect.left() + x * rect.width(),
        rect.top() + y * rect.height(),
    )
}

fn scroll(harness: &mut Staged, points: f32) {
    let delta = vec2(0.0, points);
    let (unit, phase, source) = (
        MouseWheelUnit::Point,
        TouchPhase::Move,
        MouseWheelSource::Unknown,
    );
    harness.event(Event::MouseWheel {
        unit,
        delta,
        phase,
        source,
        modifiers: Modifiers::NONE,
    });
    harness.run_steps(30);
}

fn drag(harness: &mut Staged, from: Pos2, to: Pos2, button: PointerButton, modifiers: Modifiers) {
    let press = |pos, pressed| Event::PointerButton {
        pos,
        button,
        pressed,
        modifiers,
    };
    for event in [
        Event::ModifiersChanged(modifiers),
        Event::PointerMoved(from),
        press(from, true),
        Event::PointerMoved(from.lerp(to, 0.5)),
        Event::PointerMoved(to),
        press(to, false),
        Event::ModifiersChanged(Modifiers::NONE),
    ] {
        harness.input_mut().events.push(event);
        harness.step();
    }
    harness.run();
}

#[test]
fn scrolling_zooms_all_plots_about_the_pointer() {
    let mut harness = training(1000, Answers::default());
    assert_eq!(in_view(&harness), None);
    let place = at(&harness, "Accuracy plot", 0.5, 0.5);
    harness.hover_at(place);
    harness.run();
    scroll(&mut harness, 200.0);
    let (from, to) = in_view(&harness).expect("a part of the run");
    assert!(
        to - from < 500 && from.abs_diff(1000 - to) < 10,
        "{from} to {to}"
    );
    assert!(
        harness.value("Loss plot").contains("Step 50"),
        "the crosshair stays: {}",
        harness.value("Loss plot")
    );
    scroll(&mut harness, -900.0);
    assert_eq!(
        in_view(&harness),
        None,
        "however far one scrolls, the run is in view"
    );
}

#[test]
fn dragging_pans_and_a_double_click_fits() {
    let mut harness = training(1000, Answers::default());
    let middle = at(&harness, "Loss plot", 0.5, 0.5);
    harness.hover_at(middle);
    harness.run();
    scroll(&mut harness, 200.0);
    let (before, _) = in_view(&harness).unwrap();
    let right = at(&harness, "Loss plot", 0.8, 0.5);
    drag(
        &mut harness,
        middle,
        right,
        PointerButton::Primary,
        Modifiers::NONE,
    );
    let (from, _) = in_view(&harness).unwrap();
    assert!(
        from < before,
        "the plot follows the pointer: {before}, then {from}"
    );
    let left = at(&harness, "Loss plot", 0.1, 0.5);
    drag(
        &mut harness,
        left,
        pos2(3000.0, 300.0),
        PointerButton::Primary,
        Modifiers::NONE,
    );
    assert_eq!(
        in_view(&harness).map(|range| range.0),
        Some(0),
        "no further than the start"
    );
    let press = |pressed| button(middle, PointerButton::Primary, pressed);
    harness.input_mut().events.extend([
        Event::PointerMoved(middle),
        press(true),
        press(false),
        press(true),
        press(false),
    ]);
    harness.step();
    harness.run();
    assert_eq!(in_view(&harness), None);
}

#[test]
fn a_box_is_drawn_with_shift_or_the_secondary_button() {
    for (button, modifiers) in [
        (PointerButton::Secondary, Modifiers::NONE),
        (PointerButton::Primary, Modifiers::SHIFT),
    ] {
        let mut harness = training(1000, Answers::default());
        let (from, to) = (
            at(&harness, "Loss plot", 0.75, 0.2),
            at(&harness, "Loss plot", 0.25, 0.8),
        );
        drag(&mut harness, from, to, button, modifiers);
        let (from, to) = in_view(&harness).expect("a part of the run");
        assert!(
            from.abs_diff(250) < 10 && to.abs_diff(750) < 10,
            "{from} to {to}"
        );
        harness.click("Fit");
        assert_eq!(in_view(&harness), None);
    }
}

#[test]
fn keys_zoom_about_the_crosshair_and_it_never_leaves_the_view() {
    let mut harness = training(1000, Answers::default());
    harness.focus("Loss plot");
    for _ in 0..8 {
        harness.key_press(Key::Plus);
        harness.step();
    }
    harness.run();
    let (from, to) = in_view(&harness).unwrap();
    assert_eq!(to, 1000, "about the newest step");
    assert!(from > 700, "{from}");
    harness.key(Key::Home);
    assert!(
        in_view(&harness).unwrap().0 <= 1,
        "{}",
        harness.value("Loss plot")
    );
    for _ in 0..9 {
        harness.key_press(Key::Minus);
        harness.step();
    }
    harness.run();
    assert_eq!(in_view(&harness), None);
}

#[test]
fn the_horizontal_axes_line_up_whatever_stands_beside_them() {
    let mut harness = training(1000, Answers::default());
    let mut settings = harness.app().ctx.settings.clone();
    let place = at(&harness, "Loss plot", 0.9, 0.5);
    harness.hover_at(place);
    for log_loss in [false, true] {
        settings.log_loss = log_loss;
        harness.apply(inkling::window::Action::ChangeSettings(Box::new(
            settings.clone(),
        )));
        for _ in 0..8 {
            scroll(&mut harness, 150.0);
            let [loss, accuracy] = ["Loss plot", "Accuracy plot"].map(|plot| harness.rect(plot));
            assert_eq!(loss.left(), accuracy.left());
            assert_eq!(loss.right(), accuracy.right());
        }
    }
}
