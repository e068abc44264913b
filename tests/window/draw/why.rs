//! "Why?": what speaks for a digit, and what would make it another one.

use eframe::egui::Key;
use egui_kittest::kittest::Queryable;
use inkling::protocol::{Answer, Command, Event, Question};
use inkling::records::Details;
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
        window.get_by_label_contains(&format!("speaks most for {digit}"));
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
    window.get_by_label_contains(&format!("it would be read as {other} (81%)"));
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
    window.get_by_label_contains("No small change was found with which it would be read as 0");
    assert!(!window.has("Apply this change"));
}

#[test]
fn a_change_is_looked_for_only_while_the_pen_is_up() {
    let (mut app, mut engine) = app();
    app.apply(Action::Show(Screen::Draw));
    let mut asked = |action| -> Vec<Details> {
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
    assert!(!plain[0].attribution && plain[0].inspection);
    asked(DrawAction::ShowWhy(true));
    let moved = asked(DrawAction::ExplainClass(Some(9)));
    assert!(moved[0].attribution && !moved[0].counterfactual);
    assert_eq!(moved[0].class, Some(9));
    let lifted = asked(DrawAction::PenUp);
    assert!(lifted[0].counterfactual);
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
    window.act(DrawAction::ChooseCanvas { several: true });
    window.key(Key::W);
    assert!(window.app().draw.why.shown, "it is about one digit");
}
