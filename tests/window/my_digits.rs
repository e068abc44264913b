//! Keeping drawings, collecting them, and fine-tuning on them.

use eframe::egui::{Event, Key, Modifiers};
use egui_kittest::kittest::Queryable;
use inkling::protocol::Job;
use inkling::records::ModelRef;
use inkling::window::{Action, App, Collection, DrawAction, MyDigitsAction, Screen};

use crate::fake_engine::{self, FakeEngine, NO_DIGIT, fine_tuned};
use crate::window::stage::{Driven, Seen, Window, sized};

/// Draws this many strokes, which the engine reads as this digit.
fn draw(driven: &mut impl Driven, engine: &mut FakeEngine, strokes: u8) {
    for stroke in 0..strokes {
        let down = 60.0 + 20.0 * f32::from(stroke);
        driven.apply(DrawAction::PenDown([100.0, down]));
        driven.apply(DrawAction::PenMove([180.0, down + 5.0]));
        driven.apply(DrawAction::PenUp);
    }
    // The last request waits for the answer to the first.
    serve(driven, engine);
}

/// Questions and answers go to and fro.
fn serve(driven: &mut impl Driven, engine: &mut FakeEngine) {
    for _ in 0..3 {
        driven.serve(engine);
    }
}

fn digits(app: &App) -> Vec<u8> {
    let drawings = app.my_digits.drawings().iter();
    drawings.map(|drawing| drawing.kept.digit).collect()
}

#[test]
fn enter_and_digits_keep_the_drawing_and_the_count_leads_to_them() {
    let (mut window, mut engine) = sized([900.0, 600.0]);
    window.until(|app| app.my_digits.is_loaded());
    window.click("Draw");
    for kept in 0..2 {
        draw(&mut window, &mut engine, 1);
        window.get_by_label("Keep as 1");
        match kept {
            0 => window.key_press(Key::Enter),
            _ => window.event(Event::Text("2".to_owned())),
        }
        window.run_steps(3);
        window.until(|app| app.my_digits.drawings().len() == kept + 1);
    }
    assert_eq!(digits(window.app()), [1, 2]);
    window.click("My digits (2)");
    assert_eq!(window.app().ctx.screen, Screen::MyDigits);
    serve(&mut window, &mut engine);
    window.get_by_label("Drawing of 1, recognized");
    let mine = &window.app().my_digits;
    assert_eq!(mine.correct(mine.drawings().iter()), Some(1));
    window.click("Drawing of 2, recognized as 1");
    window.click("Delete");
    window.until(|app| app.my_digits.drawings().len() == 1);
    window.click("Undo delete");
    window.until(|app| app.my_digits.drawings().len() == 2);
    window.get_by_label("The drawing of a 2 was restored.");
    // By keyboard as well.
    for (key, modifiers, left) in [
        (Key::Y, Modifiers::COMMAND, 1),
        (Key::Z, Modifiers::COMMAND, 2),
        (Key::Z, Modifiers::COMMAND, 1),
    ] {
        window.keys(modifiers, key);
        window.until(|app| app.my_digits.drawings().len() == left);
    }
    window.get_by_label("The drawing of a 2 was removed.");
}

#[test]
fn what_was_kept_is_said_where_the_verdict_was_and_can_be_taken_back() {
    let (mut window, mut engine) = sized([900.0, 600.0]);
    window.until(|app| app.my_digits.is_loaded());
    window.apply(Action::Show(Screen::Draw));
    draw(&mut window, &mut engine, 1);
    let places = |window: &Window| ["It is…", "Probability of 0"].map(|name| window.rect(name));
    let before = places(&window);
    window.click("It is…");
    window.get_by_label("8");
    window.write("7");
    assert!(!window.has("8"), "the list of digits closes with the keep");
    window.get_by_label("Kept as 7");
    assert_eq!(places(&window), before, "nothing moves");
    window.click("Undo keep");
    window.until(|app| app.my_digits.drawings().is_empty());
    assert_eq!(
        window.app().draw.one.strokes().len(),
        1,
        "the drawing is on the canvas again"
    );
    assert!(!window.has("Kept as 7") && !window.has("8"));
}

#[test]
fn the_collection_says_what_another_digit_looks_like_and_escape_leaves_it() {
    let (mut window, mut engine) = sized([900.0, 600.0]);
    window.until(|app| app.my_digits.is_loaded());
    window.act(MyDigitsAction::Collect);
    window.get_by_label("Round 1 of 3, 30 left");
    let next = window.rect("Next");
    draw(&mut window, &mut engine, 1);
    window.get_by_label("Looks like a 1 to the model");
    assert_eq!(window.rect("Next"), next, "nothing moves");
    window.key(Key::Enter);
    window.until(|app| app.my_digits.drawings().len() == 1);
    draw(&mut window, &mut engine, 1);
    window.get_by_label("Round 1 of 3, 29 left");
    window.key(Key::Escape);
    assert_eq!(window.app().ctx.collection.clone(), None);
    assert_eq!(window.app().ctx.screen, Screen::MyDigits);
}

#[test]
fn without_drawings_the_screen_says_what_to_do() {
    let (mut window, _engine) = sized([900.0, 600.0]);
    window.keys(Modifiers::COMMAND, Key::Num6);
    window.until(|app| app.my_digits.is_loaded());
    window.run_steps(3);
    window.get_by_label("No drawings yet");
    window.click("Draw each digit three times");
    assert!(window.is_disabled("Next"));
    window.get_by_label("Draw a 0");
    window.click("Skip");
    window.get_by_label("Draw a 1");
    window.click("Stop");
    window.get_by_label("No drawings yet");
}

/// An app that has read its drawings, none.
fn app() -> (App, FakeEngine) {
    let (mut app, mut engine) = fake_engine::app();
    engine.serve();
    app.apply(Action::Show(Screen::MyDigits));
    app.until(|app| app.my_digits.is_loaded());
    (app, engine)
}

#[test]
fn a_drawing_is_kept_as_it_was_recognized_or_as_it_is() {
    let (mut app, mut engine) = app();
    app.apply(MyDigitsAction::Keep(None));
    app.apply(MyDigitsAction::Keep(Some(3)));
    draw(&mut app, &mut engine, 2);
    assert_eq!(app.draw.digit_to_keep(&app.ctx), Some(2));
    app.apply(MyDigitsAction::Keep(None));
    assert!(
        app.draw.one.strokes().is_empty(),
        "the canvas is free for the next"
    );
    draw(&mut app, &mut engine, 2);
    app.apply(MyDigitsAction::Keep(Some(7)));
    app.until(|app| digits(app) == [2, 7]);
    assert_eq!(app.draw.recent.len(), 1, "it was the same drawing twice");

    // Undo takes it back and brings the drawing back to the canvas.
    app.apply(DrawAction::Undo);
    app.until(|app| digits(app) == [2]);
    assert_eq!(app.draw.one.strokes().len(), 2);
    // After that, it is the canvas's own.
    app.apply(DrawAction::Undo);
    assert_eq!(app.draw.one.strokes().len(), 1);
    assert_eq!(digits(&app), vec![2]);

    app.apply(MyDigitsAction::KeepRecent(0, 9));
    app.until(|app| digits(app) == [2, 9]);
}

#[test]
fn a_drawing_is_relabeled_and_deleted_and_that_is_taken_back() {
    let (mut app, mut engine) = app();
    draw(&mut app, &mut engine, 1);
    app.apply(MyDigitsAction::Keep(None));
    app.until(|app| digits(app) == [1]);
    let kept = |app: &App| Box::new(app.my_digits.drawings()[0].kept.clone());
    app.apply(MyDigitsAction::Relabel(kept(&app), 4));
    app.until(|app| digits(app) == [4]);
    app.apply(MyDigitsAction::DeleteKept(kept(&app)));
    app.until(|app| digits(app).is_empty());
    app.apply(MyDigitsAction::UndoKept);
    app.until(|app| digits(app) == [4]);
    app.apply(MyDigitsAction::UndoKept);
    app.until(|app| digits(app) == [1]);
}

#[test]
fn what_could_not_be_written_is_not_taken_back() {
    let (mut app, mut engine) = app();
    draw(&mut app, &mut engine, 1);
    app.apply(MyDigitsAction::Keep(None));
    app.until(|app| digits(app) == [1]);
    let data = engine.home.path().join("data");
    let away = engine.home.path().join("away");
    std::fs::rename(&data, &away).unwrap();
    std::fs::write(&data, "no folder").unwrap();
    app.apply(MyDigitsAction::Collect);
    draw(&mut app, &mut engine, 2);
    app.apply(MyDigitsAction::Keep(None));
    app.until(|app| !app.ctx.notices.is_empty());
    assert_eq!(
        app.ctx.collection.as_ref().map(Collection::digit),
        Some(0),
        "it is asked for again"
    );
    app.apply(MyDigitsAction::StopCollecting);
    app.apply(Action::Show(Screen::Draw));
    std::fs::remove_file(&data).unwrap();
    std::fs::rename(&away, &data).unwrap();
    app.apply(DrawAction::Undo);
    assert_eq!(
        app.draw.one.strokes().len(),
        2,
        "the drawing is back on the canvas"
    );
    assert_eq!(
        digits(&app),
        [1],
        "and the one that was kept before is still kept"
    );

    // Deleting a drawing came after keeping one: on the canvas, that is not what is taken back.
    app.apply(MyDigitsAction::Keep(Some(2)));
    app.until(|app| digits(app) == [1, 2]);
    app.apply(MyDigitsAction::DeleteKept(Box::new(
        app.my_digits.drawings()[0].kept.clone(),
    )));
    app.apply(DrawAction::Undo);
    app.until(|app| digits(app) == [2]);
    assert_eq!(app.draw.one.strokes().len(), 2);
}

#[test]
fn what_looks_like_no_digit_is_not_recognized_even_where_the_closest_digit_is_right() {
    let (mut app, mut engine) = app();
    draw(&mut app, &mut engine, NO_DIGIT as u8);
    assert_eq!(app.draw.digit_to_keep(&app.ctx), None);
    app.apply(MyDigitsAction::Keep(Some(NO_DIGIT as u8)));
    app.until(|app| digits(app) == [NO_DIGIT as u8]);
    serve(&mut app, &mut engine);
    assert_eq!(
        app.my_digits.correct(app.my_digits.drawings().iter()),
        Some(0)
    );
    assert_eq!(app.my_digits.not_digits(), 1);
    assert!(app.my_digits.is_wrong(&app.my_digits.drawings()[0]));
}

#[test]
fn what_was_taken_back_is_said_and_can_be_made_again() {
    let (mut app, mut engine) = app();
    draw(&mut app, &mut engine, 1);
    app.apply(MyDigitsAction::Keep(None));
    app.until(|app| digits(app) == [1]);
    app.apply(Action::Show(Screen::MyDigits));
    draw(&mut app, &mut engine, 1);
    app.apply(MyDigitsAction::UndoKept);
    app.until(|app| digits(app).is_empty());
    let notice = app.ctx.notices.last().unwrap().clone();
    assert_eq!(notice.message.what, "The drawing of a 1 was removed.");
    app.apply(notice.offer.unwrap().action);
    app.until(|app| digits(app) == [1]);
    assert!(app.ctx.notices.is_empty() && !app.my_digits.can_redo());
    // Another change leaves nothing to make again.
    app.apply(MyDigitsAction::UndoKept);
    app.until(|app| digits(app).is_empty());
    app.apply(MyDigitsAction::Keep(Some(5)));
    app.until(|app| digits(app) == [5]);
    assert!(app.ctx.notices.is_empty() && !app.my_digits.can_redo());
}

#[test]
fn the_collection_asks_for_each_digit_three_times() {
    let (mut app, mut engine) = app();
    app.apply(MyDigitsAction::Collect);
    assert_eq!(app.ctx.screen, Screen::Draw);
    let asked = |app: &App| app.ctx.collection.as_ref().map(Collection::digit);
    for digit in 0..10 {
        assert_eq!(asked(&app), Some(digit));
        draw(&mut app, &mut engine, 1);
        // Whatever it is recognized as, it is what was asked for.
        app.apply(MyDigitsAction::Keep(None));
    }
    app.until(|app| digits(app) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    app.apply(MyDigitsAction::PreviousDigit);
    app.until(|app| digits(app).len() == 9);
    assert_eq!(asked(&app), Some(9));
    app.apply(MyDigitsAction::SkipDigit);
    assert_eq!(asked(&app), Some(0));
    app.apply(MyDigitsAction::PreviousDigit);
    assert_eq!((asked(&app), digits(&app).len()), (Some(9), 9));
    for _ in 0..21 {
        app.apply(MyDigitsAction::SkipDigit);
    }
    assert_eq!(
        (asked(&app), app.ctx.screen),
        (None, Screen::MyDigits),
        "it ends where the drawings are"
    );
}

#[test]
fn a_better_model_is_taken_over_and_given_back() {
    let (mut window, mut engine) = sized([1280.0, 800.0]);
    window.until(|app| app.my_digits.is_loaded());
    assert!(
        window
            .app()
            .my_digits
            .why_not_fine_tune(&window.app().ctx)
            .is_some()
    );
    draw(&mut window, &mut engine, 1);
    window.apply(MyDigitsAction::Keep(Some(1)));
    window.until(|app| digits(app) == [1]);
    assert_eq!(
        window.app().my_digits.why_not_fine_tune(&window.app().ctx),
        None
    );
    window.apply(Action::Show(Screen::MyDigits));
    serve(&mut window, &mut engine);
    window.click("Fine-tune on My digits");
    serve(&mut window, &mut engine);
    let asked = Job::FineTune(ModelRef::Starter);
    assert!(engine.asked().any(|(_, job)| *job == asked));
    let app = window.app();
    assert!(app.ctx.notices.is_empty(), "My digits says it itself");
    let in_use = |app: &App| app.ctx.model_in_use.as_ref().unwrap().reference.clone();
    let tuned = ModelRef::File("tuned/model.safetensors".into());
    assert_eq!(in_use(app), tuned);
    // What came of it leaves room for the drawings.
    let back = window.rect("Go back to Starter model");
    assert!(back.bottom() < 320.0, "{back}");
    let drawing = window.get_by_label_contains("Drawing of 1").rect();
    assert!(
        drawing.top() > back.bottom() && drawing.bottom() < 560.0,
        "{drawing}"
    );
    window.click("Go back to Starter model");
    serve(&mut window, &mut engine);
    assert_eq!(in_use(window.app()), ModelRef::Starter);
    assert!(!window.has("Go back to Starter model"));
    let notices = &window.app().ctx.notices;
    assert!(notices.iter().all(|notice| notice.offer.is_none()));
}

#[test]
fn on_other_screens_a_notice_says_what_fine_tuning_changed() {
    let (mut app, mut engine) = app();
    draw(&mut app, &mut engine, 2);
    app.apply(MyDigitsAction::Keep(None));
    app.until(|app| digits(app) == [2]);
    app.apply(MyDigitsAction::FineTune);
    app.apply(Action::Show(Screen::Draw));
    serve(&mut app, &mut engine);
    let said = app.last_notice();
    assert_eq!(
        said.what,
        "Fine-tuned: the model recognizes 100% of your drawings (92% before). Test accuracy on Built-in digits, 100 images: 99.00% (98.50% before)."
    );
    app.apply(Action::Show(Screen::MyDigits));
    assert!(app.ctx.notices.is_empty(), "it is said once");
    // Another model was chosen since: there is nothing to go back from.
    app.apply(DrawAction::UseModel(ModelRef::Starter));
    app.serve(&mut engine);
    assert!(!app.my_digits.can_undo_fine_tune(&app.ctx));
}

#[test]
fn a_model_that_forgets_is_not_taken_over() {
    let mut tuned = fine_tuned(true);
    assert!(tuned.is_better());
    tuned.old.after = 1986;
    assert!(tuned.is_better(), "0.2 points may be lost");
    tuned.old.after = 1985;
    assert!(!tuned.is_better());
    tuned = fine_tuned(true);
    tuned.held_out.as_mut().unwrap().after = 8;
    assert!(!tuned.is_better());
}
