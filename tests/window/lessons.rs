//! Lessons: the list, and a lesson beside the screens.

use egui_kittest::kittest::Queryable;
use inkling::lesson::Lesson;
use inkling::run_config::RunConfig;
use inkling::window::lessons::Outcome;
use inkling::window::{Action, LessonsAction, Screen};

use crate::fake_engine::{Answers, app, app_with, past_wizard};
use crate::jobs::cancelled;
use crate::window::stage::{Driven, Seen, sized};

#[test]
fn every_lesson_that_comes_with_inkling_is_whole() {
    let (app, _engine) = app();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/lessons");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().collect();
    assert_eq!((files.len(), app.lessons.all.len()), (8, 8));
    for file in files {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let lesson = Lesson::parse(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        assert!(app.lessons.all.contains(&lesson), "{path:?} is not listed");
        assert!(!lesson.summary.is_empty() && lesson.steps.len() >= 4);
        let questions: Vec<_> = lesson
            .steps
            .iter()
            .flat_map(|step| &step.question)
            .collect();
        assert_eq!(questions.len(), 1, "{path:?}");
        assert!(questions[0].right.is_some() && !questions[0].answer.is_empty());
        let runs = lesson.steps.iter().flat_map(|step| &step.run);
        for run in runs {
            assert_eq!(run.problems(), [], "{path:?}");
        }
        // It can be read on a screen of any size.
        for step in &lesson.steps {
            let words: usize = step.paragraphs.iter().map(String::len).sum();
            assert!(words < 500, "{path:?}: {}", step.title);
        }
    }
}

const OWN: &str = "# My lesson\n\nAbout sevens.\n\n## First\n\nDraw a seven:\nas you like.\n\nThen go on.\n\nscreen: draw\n\n## Ask\nask: Well?\n- Yes\n- No\nanswer: Good.\n";

#[test]
fn a_lesson_of_ones_own_is_opened_from_a_file() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("mine.md");
    std::fs::write(&path, OWN).unwrap();
    let (mut app, _engine) = app_with(past_wizard(), Answers::file(&path));
    app.apply(LessonsAction::ChooseFile);
    app.until(|app| app.lessons.open.is_some());
    let (open, lesson, step) = app.lessons.current().unwrap();
    assert_eq!((open.step, lesson.title.as_str()), (0, "My lesson"));
    assert_eq!(
        step.paragraphs,
        ["Draw a seven: as you like.", "Then go on."]
    );
    assert_eq!(app.ctx.screen, Screen::Draw);
    assert_eq!(lesson.steps[1].question.as_ref().unwrap().right, None);

    app.apply(LessonsAction::Close);
    std::fs::write(&path, "nothing").unwrap();
    app.apply(LessonsAction::ChooseFile);
    app.until(|app| !app.ctx.notices.is_empty());
    assert!(
        app.last_notice()
            .what
            .contains("mine.md is not a lesson. Line 1:")
    );
    assert!(app.lessons.open.is_none());
}

#[test]
fn a_lesson_asks_starts_runs_and_ends_with_their_figures() {
    for size in [[900.0, 600.0], [1280.0, 800.0]] {
        let (mut window, mut engine) = sized(size);
        window.act(Action::Show(Screen::Lessons));
        window.click("Begin: The learning rate");
        assert_eq!(window.app().ctx.screen, Screen::Train);
        window.get_by_label("1 of 5");
        window.click("Start this run");
        window.serve(&mut engine);
        let run = window.the_run();
        assert_eq!((run.config.epochs, run.config.learning_rate), (3, 0.001));
        assert!(window.is_disabled("Start this run"), "one at a time");
        engine.train(30);
        engine.finish();
        window.serve(&mut engine);

        window.click("Next");
        assert!(window.is_disabled("Next"), "the question comes first");
        window.click("Fall faster, and end lower");
        assert!(window.mentions(
            "Not quite: “Stay high: the network learns little or nothing” is right. Each step"
        ));
        window.click("Next");
        window.click("Start this run");
        window.serve(&mut engine);
        let id = window.the_run().id;
        engine.send(cancelled(id));
        window.serve(&mut engine);
        window.act(LessonsAction::GoTo(4));
        let runs = &window.app().lessons.open.as_ref().unwrap().runs;
        assert!(matches!(runs[0].outcome, Outcome::Finished(_)), "{runs:?}");
        assert_eq!(runs[1].outcome, Outcome::Without("stopped"));
        window.get_by_label("Learning rate 0.001 (One cycle)");
        window.get_by_label("stopped");
        window.click("Finish");
        assert!(window.app().lessons.open.is_none());
        window.get_by_label("Begin: The learning rate");
    }
}

#[test]
fn settings_are_shared_as_one_line() {
    let (mut app, _engine) = app();
    let config =
        RunConfig::from_command("inkling train --preset quick --epochs 7 --seed 3").unwrap();
    let device = app.ctx.config.device;
    app.apply(inkling::window::TrainAction::UseSettings(Box::new(config)));
    let now = &app.ctx.config;
    assert_eq!((now.epochs, now.seed, now.device), (7, 3, device));
    assert_eq!(
        now.command(None),
        "inkling train --preset quick --epochs 7 --batch-size 128 --seed 3"
    );
    for (line, problem) in [
        ("--epochs", "--epochs is a whole number, not “”."),
        ("--layers nonsense", "--layers is layers such as"),
        (
            "train mnist",
            "“mnist” is not an option. Options begin with --.",
        ),
        ("--preset fast", "“fast” is not a preset."),
        ("--seed '3", "A quotation mark has no end."),
        (
            "--initial-weights a",
            "There is no setting --initial-weights.",
        ),
    ] {
        let error = RunConfig::from_command(line).unwrap_err().to_string();
        assert!(error.starts_with(problem), "{line}: {error}");
    }
}
