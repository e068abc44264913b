//! Image files and images from the clipboard in Draw: read as `predict` reads them, over the
//! canvas, and gone without a trace.

use inkling::settings::Settings;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use image::{GrayImage, Luma};
use inkling::ink::{Framing, StageImage, Step, read_writing_file};
use inkling::protocol::{Command, Event, Question};
use inkling::records::ModelInfo;
use inkling::window::{Action, App, DrawAction, Screen};

use crate::fake_engine::{Answers, FakeEngine, app, app_with, starter};
use crate::window::stage::Driven;

/// Two upright strokes, as wide as a thick pen.
fn eleven(folder: &Path) -> PathBuf {
    let path = folder.join("eleven.PNG");
    let ink = |x: u32, y: u32| {
        (40..160).contains(&y) && ((60..78).contains(&x) || (150..168).contains(&x))
    };
    GrayImage::from_fn(240, 200, |x, y| Luma([if ink(x, y) { 30 } else { 235 }]))
        .save(&path)
        .unwrap();
    path
}

/// What was sent to be read, and what of it the engine answers.
fn candidates(engine: &mut FakeEngine) -> Option<Vec<inkling::ink::CandidateImage>> {
    engine.serve();
    engine.heard.iter().rev().find_map(|command| match command {
        Command::Read {
            what: Question::Candidates { candidates, .. },
            ..
        } => Some(candidates.clone()),
        _ => None,
    })
}

/// Waits until the image was read.
fn until_read(app: &mut App, engine: &mut FakeEngine, digits: usize) {
    let start = std::time::Instant::now();
    while app.draw.digits(&app.ctx).len() != digits {
        assert!(start.elapsed().as_secs() < 30, "{:?}", app.ctx.notices);
        std::thread::sleep(std::time::Duration::from_millis(5));
        app.poll();
        engine.serve();
    }
}

#[test]
fn an_image_is_read_as_predict_reads_it() {
    for dropped in [true, false] {
        let (mut app, mut engine) = app();
        let file = eleven(engine.home.path());
        app.apply(if dropped {
            Action::Drop(vec![file.clone()])
        } else {
            Action::Open(vec![file.clone()])
        });
        until_read(&mut app, &mut engine, 2);
        assert_eq!(app.ctx.screen, Screen::Draw);
        assert_eq!(app.draw.image_shown(&app.ctx).unwrap().name, "eleven.PNG");
        assert_eq!(
            candidates(&mut engine).unwrap(),
            read_writing_file(&file, Framing::Ink)
                .unwrap()
                .candidate_images()
        );
        assert!(app.ctx.notices.is_empty(), "{:?}", app.ctx.notices);
    }
}

#[test]
fn a_model_of_other_things_than_digits_is_shown_all_of_an_image() {
    let (mut app, mut engine) = app();
    let file = eleven(engine.home.path());
    app.apply(Action::Open(vec![file.clone()]));
    until_read(&mut app, &mut engine, 2);
    // The image that is open is looked at again when another model is chosen, both ways.
    for (data, digits, framing) in [
        ("fashion-mnist", 1, Framing::Whole),
        ("mnist", 2, Framing::Ink),
    ] {
        let data: inkling::run_config::DataSpec = data.parse().unwrap();
        let model = ModelInfo {
            classes: data.classes(),
            data,
            epochs: digits as u32 + 7,
            ..starter()
        };
        engine.send(Event::ModelInUse(model));
        until_read(&mut app, &mut engine, digits);
        assert_eq!(
            candidates(&mut engine).unwrap(),
            read_writing_file(&file, framing)
                .unwrap()
                .candidate_images()
        );
    }
}

#[test]
fn an_image_lies_over_the_canvas_and_undo_clear_and_redo_apply_to_it() {
    let (mut app, mut engine) = app();
    app.apply(Action::Show(Screen::Draw));
    app.apply(DrawAction::PenDown([50.0, 50.0]));
    app.apply(DrawAction::PenUp);
    let drawn = app.draw.one.ink();
    app.apply(Action::Open(vec![eleven(engine.home.path())]));
    until_read(&mut app, &mut engine, 2);
    // Nothing is drawn, erased or kept behind it.
    app.apply(DrawAction::PenDown([90.0, 90.0]));
    app.apply(DrawAction::PenMove([95.0, 90.0]));
    app.apply(DrawAction::PenUp);
    app.apply(DrawAction::EraserDown([50.0, 50.0]));
    app.apply(DrawAction::PenUp);
    assert!(!app.draw.can_keep(&app.ctx) && app.draw.one.ink() == drawn);
    app.apply(DrawAction::Undo);
    assert!(
        app.draw.image_shown(&app.ctx).is_none() && app.draw.one.ink() == drawn,
        "the image is taken back, not the drawing"
    );
    app.apply(DrawAction::Redo);
    until_read(&mut app, &mut engine, 2);
    assert!(app.draw.image_shown(&app.ctx).is_some());
    app.apply(DrawAction::ClearDrawing);
    assert!(app.draw.image_shown(&app.ctx).is_none() && app.draw.one.ink() == drawn);
    app.apply(DrawAction::Undo);
    assert!(
        app.draw.image_shown(&app.ctx).is_some(),
        "what was cleared comes back"
    );
    app.apply(DrawAction::ClearDrawing);
    app.apply(DrawAction::PenDown([90.0, 90.0]));
    app.apply(DrawAction::PenUp);
    app.apply(DrawAction::Undo);
    assert!(
        app.draw.image_shown(&app.ctx).is_none() && app.draw.one.ink() == drawn,
        "a stroke is undone before anything else"
    );
}

#[test]
fn the_steps_of_an_image_end_with_what_the_model_reads() {
    let (mut app, mut engine) = app_with(
        Settings {
            wizard_done: true,
            steps_shown: true,
            ..Settings::default()
        },
        Answers::default(),
    );
    app.apply(Action::Open(vec![eleven(engine.home.path())]));
    until_read(&mut app, &mut engine, 2);
    let follow = |app: &mut App, engine: &mut FakeEngine| {
        app.until(|app| !app.draw.stages().is_empty());
        for _ in 0..200 {
            std::thread::sleep(std::time::Duration::from_millis(5));
            app.poll();
            engine.serve();
            let last = app.draw.stages().last().map(|stage| stage.image.clone());
            let read = app.draw.chosen(&app.ctx).map(|chosen| {
                StageImage::Model(Box::new(
                    app.draw.digits(&app.ctx)[chosen].prediction.image.clone(),
                ))
            });
            if last == read {
                return;
            }
        }
        panic!("the last image is not the one that was read");
    };
    follow(&mut app, &mut engine);
    let before = app.draw.digits(&app.ctx)[1].prediction.image.clone();
    app.apply(DrawAction::SwitchStep {
        step: Step::Scaling,
        on: false,
    });
    app.until(|app| {
        app.draw
            .stages()
            .last()
            .is_some_and(|stage| stage.image == StageImage::Model(Box::new(before.clone())))
    });
    for _ in 0..400 {
        std::thread::sleep(std::time::Duration::from_millis(5));
        app.poll();
        engine.serve();
        if app
            .draw
            .digits(&app.ctx)
            .last()
            .is_some_and(|digit| digit.prediction.image != before)
        {
            break;
        }
    }
    assert_ne!(
        app.draw.digits(&app.ctx)[1].prediction.image,
        before,
        "the verdict is of what is shown"
    );
    follow(&mut app, &mut engine);
}

#[test]
fn what_is_no_image_or_too_large_is_said_in_a_sentence_and_nothing_changes() {
    let (mut app, engine) = app();
    app.apply(Action::Show(Screen::Draw));
    let file = engine.home.path().join("broken.png");
    std::fs::write(&file, "no image").unwrap();
    app.apply(Action::Drop(vec![file]));
    app.until(|app| !app.ctx.notices.is_empty());
    assert!(
        app.ctx.notices[0].message.what.contains("broken.png")
            && app.draw.image_shown(&app.ctx).is_none(),
        "{:?}",
        app.ctx.notices
    );
    app.ctx.notices.clear();
    app.apply(DrawAction::PasteImage {
        size: [100_000, 2],
        pixels: Arc::new(Vec::new()),
    });
    app.until(|app| !app.ctx.notices.is_empty());
    assert!(
        app.ctx.notices[0].message.what.contains("clipboard")
            && app.draw.image_shown(&app.ctx).is_none(),
        "{:?}",
        app.ctx.notices
    );
}

#[test]
fn an_image_on_the_clipboard_is_read_as_well() {
    let (mut app, mut engine) = app();
    let file = eleven(engine.home.path());
    let pixels = image::open(&file).unwrap().to_rgba8().into_raw();
    app.apply(Action::Show(Screen::Draw));
    app.apply(DrawAction::PasteImage {
        size: [240, 200],
        pixels: Arc::new(pixels),
    });
    until_read(&mut app, &mut engine, 2);
    assert_eq!(
        candidates(&mut engine).unwrap(),
        read_writing_file(&file, Framing::Ink)
            .unwrap()
            .candidate_images()
    );
}
