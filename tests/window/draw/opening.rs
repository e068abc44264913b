//! Files from outside: a model is drawn with, one of another program is imported, ink comes onto
//! the canvas, the rest is said to be neither.

use inkling::settings::Settings;
use std::fs;
use std::path::PathBuf;

use inkling::ink::read_ink_file;
use inkling::nn::ModelError;
use inkling::problem::Problem;
use inkling::protocol::{Command, Event, Job};
use inkling::records::ModelRef;
use inkling::window::{Action, CANVAS, DrawAction, Screen, WIDE_CANVAS, WindowRequest};

use crate::fake_engine::{Answers, FakeEngine, app, app_with, past_wizard};
use crate::window::stage::Driven;

#[test]
fn a_model_or_its_run_folder_is_drawn_with() {
    let (mut app, mut engine) = app();
    let run = engine.home.path().join("run");
    fs::create_dir(&run).unwrap();
    let model = run.join("model.safetensors");
    fs::write(&model, "").unwrap();
    for opened in [model.clone(), run] {
        app.apply(Action::Show(Screen::Train));
        app.apply(Action::Open(vec![opened]));
        assert_eq!(app.ctx.screen, Screen::Draw);
        assert!(
            engine
                .listen()
                .contains(&Command::UseModel(ModelRef::File(model.clone())))
        );
        assert_eq!(app.shell.take_window_request(), Some(WindowRequest::Front));
    }
}

#[test]
fn weights_of_other_programs_are_imported() {
    let (mut app, mut engine) = app();
    let imports = |engine: &mut FakeEngine| -> Vec<PathBuf> {
        let import = |command| match command {
            Command::Submit { job, .. } => {
                if let Job::Import(spec) = *job {
                    Some(spec.path)
                } else {
                    None
                }
            }
            _ => None,
        };
        engine.listen().into_iter().filter_map(import).collect()
    };
    for (index, name) in ["net.onnx", "net.PT", "weights.pth"]
        .into_iter()
        .enumerate()
    {
        app.apply(Action::Show(Screen::Train));
        let files = vec![name.into()];
        app.apply(if index % 2 == 0 {
            Action::Drop(files)
        } else {
            Action::Open(files)
        });
        assert_eq!(app.ctx.screen, Screen::Models);
        assert_eq!(imports(&mut engine), vec![PathBuf::from(name)]);
    }
    // Whose weights safetensors are, the engine sees.
    let path = PathBuf::from("other.safetensors");
    app.apply(Action::Open(vec![path.clone()]));
    assert_eq!(imports(&mut engine), Vec::<PathBuf>::new());
    engine.send(Event::Failed(Problem::from(ModelError::Foreign {
        path: path.clone(),
    })));
    app.until(|app| app.ctx.screen == Screen::Models);
    assert_eq!(imports(&mut engine), [path]);
}

#[test]
fn ink_fills_the_canvas_and_can_be_undone() {
    let (mut app, engine) = app();
    let file = engine.home.path().join("seven.ink");
    fs::write(
        &file,
        r#"{"strokes": [[[1000, -5], [1004, -5], [1002, 3]]]}"#,
    )
    .unwrap();
    app.apply(Action::Open(vec![file]));
    app.until(|app| !app.draw.one.strokes().is_empty());
    assert_eq!(app.ctx.screen, Screen::Draw);
    let points = app.draw.one.strokes()[0].points.clone();
    // Eight units high become 20 of 28 pixels, in the middle.
    assert_eq!(points[2], [CANVAS / 2.0, CANVAS / 2.0 + 100.0]);
    assert_eq!(points[0], [CANVAS / 2.0 - 50.0, CANVAS / 2.0 - 100.0]);
    app.apply(DrawAction::Undo);
    assert!(app.draw.one.strokes().is_empty());
}

#[test]
fn ink_in_the_canvas_s_own_units_stays_where_it_is() {
    let (mut app, engine) = app();
    let file = engine.home.path().join("drawing.json");
    fs::write(&file, r#"{"strokes": [[[10, 20], [30, 40]]], "pen": 16}"#).unwrap();
    app.apply(Action::Open(vec![file]));
    app.until(|app| !app.draw.one.strokes().is_empty());
    assert_eq!(
        (app.draw.one.ink().strokes, app.draw.one.pen),
        (vec![vec![[10.0, 20.0], [30.0, 40.0]]], 16.0)
    );
}

#[test]
fn of_several_drawings_the_first_is_shown_and_that_is_said() {
    let (mut app, engine) = app();
    let file = engine.home.path().join("set.jsonl");
    fs::write(
        &file,
        "{\"strokes\": [[[0, 0], [5, 5]]]}\n{\"strokes\": [[[0, 0]], [[1, 1]]]}\n",
    )
    .unwrap();
    app.apply(Action::Open(vec![file]));
    app.until(|app| !app.draw.one.strokes().is_empty());
    assert_eq!(app.draw.one.strokes().len(), 1);
    assert!(app.last_notice().what.contains("only the first is shown"));
}

#[test]
fn anything_else_is_a_sentence_and_the_drawing_stays() {
    let (mut app, engine) = app();
    app.apply(DrawAction::PenDown([50.0, 50.0]));
    app.apply(DrawAction::PenUp);
    for content in [
        "",
        "{\"strokes\": []}",
        "{\"strokes\": [[[1e39, 0]]]}",
        "no ink at all",
    ] {
        let file = engine.home.path().join("other.txt");
        fs::write(&file, content).unwrap();
        app.ctx.notices.clear();
        app.apply(Action::Open(vec![file]));
        app.until(|app| !app.ctx.notices.is_empty());
        assert!(
            app.ctx.notices[0].message.what.contains("other.txt"),
            "{:?}",
            app.ctx.notices
        );
        assert_eq!(app.draw.one.ink().strokes, [vec![[50.0, 50.0]]]);
    }
}

#[test]
fn whoever_opens_a_file_is_not_asked_by_the_wizard() {
    let (mut app, _engine) = app_with(Settings::default(), Answers::default());
    assert!(app.ctx.wizard.is_some());
    app.apply(Action::Open(vec!["model.safetensors".into()]));
    assert!(
        app.ctx.wizard.is_none() && !app.ctx.settings.wizard_done,
        "it comes back at the next launch"
    );
}

#[test]
fn a_drawing_is_saved_as_ink_that_reads_alike_and_keeps_how_hard_the_pen_pressed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("drawing.ink.json");
    let (mut app, _engine) = app_with(past_wizard(), Answers::file(&file));
    app.apply(DrawAction::SaveDrawing);
    for (points, pressures) in [
        ([[30.5, 40.0], [200.0, 41.25]], Some([0.25, 0.75])),
        ([[90.0, 90.0], [95.0, 200.0]], None),
    ] {
        for (index, point) in points.into_iter().enumerate() {
            if let Some(pressures) = pressures {
                app.apply(DrawAction::PenPressure(pressures[index]));
            }
            app.apply(if index == 0 {
                Action::Draw(DrawAction::PenDown(point))
            } else {
                Action::Draw(DrawAction::PenMove(point))
            });
        }
        app.apply(DrawAction::PenUp);
    }
    let (drawn, before) = (app.draw.one.ink(), app.draw.one.strokes().to_vec());
    assert_eq!(before[0].pressures, [0.25, 0.75]);
    assert_eq!(drawn.strokes.len(), 2);
    app.apply(DrawAction::SaveDrawing);
    app.until(|app| !app.ctx.notices.is_empty());
    assert_eq!(app.ctx.notices.len(), 1, "an empty canvas is not saved");
    let saved = read_ink_file(&file).unwrap();
    let saved: Vec<_> = saved.map(|entry| entry.unwrap().ink).collect();
    assert_eq!(saved, [drawn]);
    app.apply(DrawAction::ClearDrawing);
    app.apply(Action::Open(vec![file]));
    app.until(|app| !app.draw.one.strokes().is_empty());
    assert_eq!(app.draw.one.strokes(), before);
}

#[test]
fn ink_of_several_digits_comes_onto_the_wide_canvas() {
    let (mut app, engine) = app();
    let file = engine.home.path().join("number.json");
    fs::write(
        &file,
        r#"{"strokes": [[[0, 0], [2, 50]], [[60, 0], [61, 50]], [[100, 0], [140, 50]]]}"#,
    )
    .unwrap();
    app.apply(Action::Open(vec![file]));
    app.until(|app| !app.draw.several.strokes().is_empty());
    assert!(
        app.ctx.draws_several()
            && app.ctx.settings.several_digits
            && app.draw.one.strokes().is_empty()
    );
    let points = || {
        app.draw
            .several
            .strokes()
            .iter()
            .flat_map(|stroke| &stroke.points)
    };
    assert!(
        points().all(|[x, y]| (0.0..=WIDE_CANVAS).contains(x) && (0.0..=CANVAS).contains(y)),
        "{:?}",
        app.draw.several
    );
}

#[test]
fn a_folder_that_is_dropped_or_opened_becomes_the_data() {
    for action in [Action::Drop, Action::Open] {
        let (mut app, engine) = app();
        let folder = engine.home.path().to_owned();
        app.apply(action(vec![folder.clone()]));
        let data = app.ctx.config.data.to_string();
        assert_eq!(data, folder.display().to_string());
    }
}
