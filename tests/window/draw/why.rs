//! "Why?": what speaks for a digit, and what would make it another one.

use eframe::egui::Key;
use egui_kittest::kittest::Queryable;
use inkling::protocol::{Answer, Command, Event, Question};
use inkling::records::PredictionDetails;
use inkling::window::{Action, DrawAction, Screen};

use crate::fake_engine::{FakeEngine, app, explained, prediction};
use crate::window::stage::{Driven, Seen, Window, sized};

/// Draw with a stroke on the canvas, in a window of this size.
fn drawn(size: [f32; 2]) -> (Window, FakeEngine) {
    let (mut window, mut engine) = sized(size);
    window.act(Action::Show(Screen::Draw));
    window.apply(Action::Draw(DrawAction::PenDown([80.0, 40.0])));
    window.apply(Action::Draw(DrawAction::PenMove([120.0, 220.0])));
    window.apply(Action::Draw(DrawAction::PenUp));
    window.serve(&mut engine);
    window.serve(&mut engine);
    (window, engine)
}

#[test]
fn it_colors_the_ink_and_says_what_speaks_for_the_digit() {
    for size in [[900.0, 600.0], [1280.0, 800.0], [1920.0, 1080.0]] {
        let (mut window, mut engine) = drawn(size);
        let digit = window.app().draw.prediction().unwrap().digit;
        window.key(Key::W);
        window.serve(&mut engine);
        window.get_by_label_contains(&format!("counts most toward {digit}"));
        assert!(
            window.value("Color scale").contains("+3.0 nats"),
            "{size:?}"
        );
        window.get_by_label_contains("Click another digit above");
        window.click("Why?");
        assert!(!window.has("Color scale"), "{size:?}");
    }
}

#[test]
fn another_digit_is_explained_with_the_change_that_makes_it_one() {
    let (mut window, mut engine) = drawn([1280.0, 800.0]);
    window.click("Why?");
    window.serve(&mut engine);
    let digit = window.app().draw.prediction().unwrap().digit;
    let other = if digit == 9 { 8 } else { 9 };
    window.focus(&format!("Probability of {other}"));
    window.key(Key::Enter);
    window.serve(&mut engine);
    window.get_by_label_contains(&format!("it would be recognized as {other} (81%)"));
    let before = window.app().draw.one.strokes().len();
    window.click("Apply this change");
    assert_eq!(window.app().draw.one.strokes().len(), before + 1);
    window.act(Action::Draw(DrawAction::Undo));
    assert_eq!(window.app().draw.one.strokes().len(), before);
    window.act(Action::Draw(DrawAction::ClearDrawing));
    assert_eq!(window.app().draw.why.class, None, "another drawing");
    window.get_by_label_contains("to see which ink speaks for the answer");
}

#[test]
fn if_no_change_is_found_that_is_said() {
    let (mut window, mut engine) = drawn([900.0, 600.0]);
    window.click("Why?");
    window.serve(&mut engine);
    assert_ne!(window.app().draw.prediction().unwrap().digit, 0);
    window.act(Action::Draw(DrawAction::ExplainClass(Some(0))));
    window.serve(&mut engine);
    window
        .get_by_label_contains("No small change was found with which it would be recognized as 0");
    assert!(!window.has("Apply this change"));
}

#[test]
fn a_change_is_looked_for_only_while_the_pen_is_up() {
    let (mut app, mut engine) = app();
    app.apply(Action::Show(Screen::Draw));
    let mut asked = |action| -> Vec<PredictionDetails> {
        app.apply(Action::Draw(action));
        let commands = engine.listen().into_iter();
        let questions = commands.filter_map(|command| match command {
            Command::Read {
                request,
                what: Question::Drawing { ink, details, .. },
            } => Some((request, ink, details)),
            _ => None,
        });
        let answered = questions.map(|(request, ink, details)| {
            let answer = explained(prediction(&ink), &ink, &details);
            app.on_event(Event::Read {
                request,
                answer: Ok(Answer::Drawing(Box::new(answer))),
            });
            details
        });
        answered.collect()
    };
    let plain = asked(DrawAction::PenDown([80.0, 40.0]));
    assert!(plain[0].why.is_none() && plain[0].inspection);
    asked(DrawAction::ShowWhy(true));
    let moved = asked(DrawAction::ExplainClass(Some(9)));
    let why = moved[0].why.unwrap();
    assert_eq!((why.class, why.counterfactual), (Some(9), false));
    let lifted = asked(DrawAction::PenUp);
    assert!(lifted[0].why.unwrap().counterfactual);
}

#[test]
fn the_steps_and_the_explanation_take_turns() {
    let (mut window, _engine) = drawn([1280.0, 800.0]);
    window.click("Why?");
    window.click("How Inkling sees it");
    let app = window.app();
    assert!(app.ctx.settings.steps_shown && !app.draw.why.shown);
    window.key(Key::W);
    let app = window.app();
    assert!(!app.ctx.settings.steps_shown && app.draw.why.shown);
}

/// A stroke with so many points at this place of the canvas for several: the fake engine reads that
/// number.
fn write(window: &mut Window, left: f32, points: u8) {
    window.apply(Action::Draw(DrawAction::PenDown([left, 40.0])));
    for point in 1..points {
        let at = [left + 10.0, 40.0 + 40.0 * f32::from(point)];
        window.apply(Action::Draw(DrawAction::PenMove(at)));
    }
    window.apply(Action::Draw(DrawAction::PenUp));
}

#[test]
fn several_digits_are_explained_and_a_click_chooses_one() {
    for size in [[900.0, 600.0], [1280.0, 800.0]] {
        let (mut window, mut engine) = sized(size);
        window.act(Action::Show(Screen::Draw));
        window.act(DrawAction::ChooseCanvas { several: true });
        window.key(Key::W);
        window.get_by_label_contains("to see which ink speaks for the answer");
        for (left, points) in [(60.0, 3), (220.0, 4), (380.0, 5)] {
            write(&mut window, left, points);
        }
        window.serve(&mut engine);
        window.serve(&mut engine);
        window.get_by_label("Digit 3 of 3. Click another one below the canvas to explain it.");
        window.get_by_label_contains("counts most toward 5");
        window.act(DrawAction::ChooseDigit(0));
        window.get_by_label_contains("counts most toward 3");

        window.focus("Probability of 9");
        window.key(Key::Enter);
        window.serve(&mut engine);
        window.serve(&mut engine);
        window.get_by_label_contains("counts most toward 9");
        window.get_by_label_contains("it would be recognized as 9 (81%)");
        window.act(DrawAction::ApplyChange);
        let strokes = window.app().draw.several.strokes().len();
        assert_eq!(strokes, 4, "the other digits are still there");
        window.act(Action::Draw(DrawAction::Undo));
        assert_eq!(window.app().draw.several.strokes().len(), 3);
        window.serve(&mut engine);
        window.serve(&mut engine);
        window.act(DrawAction::ChooseDigit(1));
        window.get_by_label_contains("counts most toward 4");
    }
}

#[test]
fn several_digits_are_explained_once_the_pen_is_up() {
    let (mut window, mut engine) = sized([1280.0, 800.0]);
    window.act(Action::Show(Screen::Draw));
    window.act(DrawAction::ChooseCanvas { several: true });
    window.act(DrawAction::ShowWhy(true));
    window.act(DrawAction::PenDown([60.0, 40.0]));
    window.act(DrawAction::PenMove([80.0, 200.0]));
    window.serve(&mut engine);
    window.serve(&mut engine);
    window.get_by_label("Several digits are explained when the pen is up.");
    window.act(DrawAction::PenUp);
    window.serve(&mut engine);
    window.get_by_label_contains("counts most toward 2");
}

#[test]
fn an_image_is_explained_but_has_no_strokes_to_change() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.png");
    image::GrayImage::from_fn(120, 160, |x, y| {
        let is_ink = (50..70).contains(&x) && (30..130).contains(&y);
        image::Luma([if is_ink { 20 } else { 240 }])
    })
    .save(&path)
    .unwrap();
    let (mut window, mut engine) = sized([1280.0, 800.0]);
    window.act(Action::Drop(vec![path]));
    for _ in 0..400 {
        window.serve(&mut engine);
        if !window.app().draw.digits(&window.app().ctx).is_empty() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    window.key(Key::W);
    window.serve(&mut engine);
    window.get_by_label_contains("counts most toward 1");
    window.get_by_label("Click another digit above to see which ink speaks for it.");
    window.act(DrawAction::ExplainClass(Some(4)));
    window.serve(&mut engine);
    window.get_by_label_contains("counts most toward 4");
    window.get_by_label_contains("looked for only in drawings");
    assert!(!window.has("Apply this change"));
}
