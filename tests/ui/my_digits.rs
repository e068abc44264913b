//! Keeping drawings in Draw, and the My digits screen.

use eframe::egui::{Event, Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};
use inkling::window::Inkling;
use inkling::window::{Action, Screen};

use super::window::{sized, until};
use crate::fake_engine::FakeEngine;

#[test]
fn enter_and_digits_keep_the_drawing_and_the_count_leads_to_them() {
    let (mut window, mut engine) = sized([900.0, 600.0]);
    until(&mut window, "the drawings were read", |app| {
        app.my_digits.is_loaded()
    });
    window.get_by_label("Draw").click();
    window.run_steps(3);
    for kept in 0..2 {
        for action in [
            Action::PenDown([100.0, 60.0]),
            Action::PenMove([120.0, 200.0]),
            Action::PenUp,
        ] {
            window.state_mut().apply(action);
        }
        for _ in 0..2 {
            engine.serve();
            window.run_steps(3);
        }
        window.get_by_label("Keep as 1");
        match kept {
            0 => window.key_press(Key::Enter),
            _ => window.event(Event::Text("2".to_owned())),
        }
        window.run_steps(3);
        until(&mut window, "the drawing is kept", |app| {
            app.my_digits.drawings().len() == kept + 1
        });
    }
    let digits: Vec<u8> = window
        .state()
        .app()
        .my_digits
        .drawings()
        .iter()
        .map(|drawing| drawing.kept.digit)
        .collect();
    assert_eq!(digits, [1, 2]);
    window.get_by_label("2 of yours").click();
    window.run_steps(3);
    assert_eq!(window.state().app().shell.screen, Screen::MyDigits);
    for _ in 0..3 {
        engine.serve();
        window.run_steps(3);
    }
    window.get_by_label("Drawing of 1, recognised");
    window.get_by_label("Drawing of 2, read as 1").click();
    window.run_steps(3);
    window.get_by_label("Delete").click();
    window.run_steps(3);
    until(&mut window, "the drawing is deleted", |app| {
        app.my_digits.drawings().len() == 1
    });
    window.get_by_label("Undo delete").click();
    window.run_steps(3);
    until(&mut window, "the drawing is back", |app| {
        app.my_digits.drawings().len() == 2
    });
    window.get_by_label("The drawing of a 2 is back.");
    // By keyboard as well.
    for (key, modifiers, left) in [
        (Key::Y, Modifiers::COMMAND, 1),
        (Key::Z, Modifiers::COMMAND, 2),
        (Key::Z, Modifiers::COMMAND, 1),
    ] {
        window.key_press_modifiers(modifiers, key);
        window.run_steps(3);
        until(&mut window, "the change was made", |app| {
            app.my_digits.drawings().len() == left
        });
    }
    window.get_by_label("The drawing of a 2 is no longer kept.");
}

/// Draws one stroke, which is recognised as 1.
fn draw_one(window: &mut Harness<'static, Inkling>, engine: &mut FakeEngine) {
    for action in [
        Action::PenDown([100.0, 60.0]),
        Action::PenMove([120.0, 200.0]),
        Action::PenUp,
    ] {
        window.state_mut().apply(action);
    }
    for _ in 0..3 {
        engine.serve();
        window.run_steps(3);
    }
}

#[test]
fn what_was_kept_is_said_where_the_verdict_was_and_can_be_taken_back() {
    let (mut window, mut engine) = sized([900.0, 600.0]);
    until(&mut window, "the drawings were read", |app| {
        app.my_digits.is_loaded()
    });
    window.state_mut().apply(Action::Show(Screen::Draw));
    draw_one(&mut window, &mut engine);
    let places = |window: &Harness<'static, Inkling>| {
        ["It is…", "Probability of 0"].map(|name| window.get_by_label(name).rect())
    };
    let before = places(&window);
    window.get_by_label("It is…").click();
    window.run_steps(3);
    window.get_by_label("8");
    window.event(Event::Text("7".to_owned()));
    window.run_steps(3);
    assert!(
        window.query_by_label("8").is_none(),
        "the list of digits closes with the keep"
    );
    window.get_by_label("Kept as 7");
    assert_eq!(places(&window), before, "nothing moves");
    window.get_by_label("Undo keep").click();
    window.run_steps(3);
    until(&mut window, "it is no longer kept", |app| {
        app.my_digits.drawings().is_empty()
    });
    assert_eq!(
        window.state().app().draw.drawing.strokes().len(),
        1,
        "the drawing is on the canvas again"
    );
    assert!(window.query_by_label("Kept as 7").is_none() && window.query_by_label("8").is_none());
}

#[test]
fn the_collection_says_what_another_digit_looks_like_and_escape_leaves_it() {
    let (mut window, mut engine) = sized([900.0, 600.0]);
    until(&mut window, "the drawings were read", |app| {
        app.my_digits.is_loaded()
    });
    window.state_mut().apply(Action::Collect(3));
    window.run_steps(3);
    window.get_by_label("Round 1 of 3, 30 left");
    let next = window.get_by_label("Next").rect();
    draw_one(&mut window, &mut engine);
    window.get_by_label("Looks like a 1 to the model");
    assert_eq!(window.get_by_label("Next").rect(), next, "nothing moves");
    window.key_press(Key::Enter);
    window.run_steps(3);
    until(&mut window, "it is kept all the same", |app| {
        app.my_digits.drawings().len() == 1
    });
    draw_one(&mut window, &mut engine);
    window.get_by_label("Round 1 of 3, 29 left");
    window.key_press(Key::Escape);
    window.run_steps(3);
    assert_eq!(
        (
            window.state().app().my_digits.collection.clone(),
            window.state().app().shell.screen
        ),
        (None, Screen::MyDigits)
    );
}

#[test]
fn without_drawings_the_screen_says_what_to_do() {
    let (mut window, _engine) = sized([900.0, 600.0]);
    window.key_press_modifiers(Modifiers::COMMAND, Key::Num7);
    window.run_steps(3);
    until(&mut window, "the drawings were read", |app| {
        app.my_digits.is_loaded()
    });
    window.run_steps(3);
    window.get_by_label("No drawings yet");
    window.get_by_label("Draw each digit three times").click();
    window.run_steps(3);
    assert!(window.get_by_label("Next").accesskit_node().is_disabled());
    window.get_by_label("Draw a 0");
    window.get_by_label("Skip").click();
    window.run_steps(3);
    window.get_by_label("Draw a 1");
    window.get_by_label("Stop").click();
    window.run_steps(3);
    window.get_by_label("No drawings yet");
}

#[test]
fn what_came_of_fine_tuning_leaves_room_for_the_drawings() {
    let (mut window, mut engine) = sized([1280.0, 800.0]);
    until(&mut window, "the drawings were read", |app| {
        app.my_digits.is_loaded()
    });
    for action in [
        Action::PenDown([100.0, 60.0]),
        Action::PenMove([120.0, 200.0]),
        Action::PenUp,
        Action::Keep(Some(1)),
    ] {
        window.state_mut().apply(action);
    }
    until(&mut window, "the drawing is kept", |app| {
        app.my_digits.drawings().len() == 1
    });
    window.state_mut().apply(Action::Show(Screen::MyDigits));
    for _ in 0..3 {
        engine.serve();
        window.run_steps(3);
    }
    window.get_by_label("Fine-tune on mine").click();
    for _ in 0..4 {
        window.run_steps(3);
        engine.serve();
    }
    window.run_steps(3);
    let back = window.get_by_label("Go back to Starter model").rect();
    assert!(back.bottom() < 320.0, "{back}");
    let drawing = window.get_by_label_contains("Drawing of 1").rect();
    assert!(
        drawing.top() > back.bottom() && drawing.bottom() < 560.0,
        "{drawing}"
    );
    window.get_by_label("Go back to Starter model").click();
    for _ in 0..3 {
        window.run_steps(3);
        engine.serve();
    }
    assert!(window.query_by_label("Go back to Starter model").is_none());
}
