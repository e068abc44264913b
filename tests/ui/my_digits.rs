//! Keeping drawings in Draw, and the My digits screen.

use eframe::egui::{Event, Key, Modifiers};
use egui_kittest::kittest::{NodeT, Queryable};
use inkling::app::{Action, Screen};

use super::window::{sized, until};

#[test]
fn enter_and_digits_keep_the_drawing_and_the_count_leads_to_them() {
    let (mut window, mut engine) = sized([900.0, 600.0]);
    until(&mut window, "the drawings were read", |app| app.my_digits.is_loaded());
    window.get_by_label("Draw").click();
    window.run_steps(3);
    for kept in 0..2 {
        for action in [Action::PenDown([100.0, 60.0]), Action::PenMove([120.0, 200.0]), Action::PenUp] {
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
        until(&mut window, "the drawing is kept", |app| app.my_digits.drawings().len() == kept + 1);
    }
    let digits: Vec<u8> = window.state().app().my_digits.drawings().iter().map(|drawing| drawing.kept.digit).collect();
    assert_eq!(digits, [1, 2]);
    window.get_by_label("2 of yours").click();
    window.run_steps(3);
    assert_eq!(window.state().app().screen, Screen::MyDigits);
    for _ in 0..3 {
        engine.serve();
        window.run_steps(3);
    }
    window.get_by_label("Drawing of 1, recognised");
    window.get_by_label("Drawing of 2, read as 1").click();
    window.run_steps(3);
    window.get_by_label("Delete").click();
    window.run_steps(3);
    until(&mut window, "the drawing is deleted", |app| app.my_digits.drawings().len() == 1);
    window.get_by_label("Undo").click();
    window.run_steps(3);
    until(&mut window, "the drawing is back", |app| app.my_digits.drawings().len() == 2);
}

#[test]
fn without_drawings_the_screen_says_what_to_do() {
    let (mut window, _engine) = sized([900.0, 600.0]);
    window.key_press_modifiers(Modifiers::COMMAND, Key::Num6);
    window.run_steps(3);
    until(&mut window, "the drawings were read", |app| app.my_digits.is_loaded());
    window.run_steps(3);
    window.get_by_label("No drawings yet");
    window.get_by_label("Draw each digit five times").click();
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
    until(&mut window, "the drawings were read", |app| app.my_digits.is_loaded());
    for action in [Action::PenDown([100.0, 60.0]), Action::PenMove([120.0, 200.0]), Action::PenUp, Action::Keep(Some(1))] {
        window.state_mut().apply(action);
    }
    until(&mut window, "the drawing is kept", |app| app.my_digits.drawings().len() == 1);
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
    assert!(drawing.top() > back.bottom() && drawing.bottom() < 560.0, "{drawing}");
    window.get_by_label("Go back to Starter model").click();
    for _ in 0..3 {
        window.run_steps(3);
        engine.serve();
    }
    assert!(window.query_by_label("Go back to Starter model").is_none());
}
