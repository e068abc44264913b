//! Help in place, and what About says.

use eframe::egui::{Key, OutputCommand};
use egui_kittest::kittest::Queryable;
use inkling::diagnostics;
use inkling::window::{Action, DrawAction, Screen, TrainAction};

use crate::fake_engine::{Answers, app_with, past_wizard};
use crate::window::stage::{Driven, Seen, Window, open, sized, usual};

#[test]
fn every_panel_explains_itself_when_asked() {
    for (screen, titles) in [
        (Screen::Train, &["Setting up a run"][..]),
        (Screen::Draw, &["Drawing a digit"]),
        (Screen::Models, &["Your models"]),
        (Screen::Results, &["Evaluation results"]),
        (Screen::Hardware, &["Your machine"]),
    ] {
        for size in [[900.0, 600.0], [1280.0, 800.0]] {
            let (mut window, _engine) = sized(size);
            window.act(Action::Show(screen));
            for title in titles {
                window.click(&format!("Help: {title}"));
                window.get_by_label(title);
                window.key(Key::Escape);
                assert!(!window.has(title), "{title} goes with Escape");
            }
        }
    }
}

#[test]
fn about_shows_versions_machine_and_licenses() {
    let (mut window, _engine) = usual();
    window.until(|app| app.ctx.hardware.is_some());
    window.click("Menu");
    window.click("About Inkling");
    window.get_by_label("CPU");
    window.click("Copy");
    window.get_by_label("Copied");
    window.click("Licenses");
    window.get_by_label_contains("Inkling is built from the following software");
    window.key(Key::Escape);
    assert!(!window.has("Copy"));
}

#[test]
fn what_is_copied_helps_whoever_is_asked_for_help() {
    let (mut window, _engine) = usual();
    window.until(|app| app.ctx.hardware.is_some());
    window.click("Menu");
    window.get_by_label("Copy diagnostics").click();
    let copied = |command: &OutputCommand| {
        if let OutputCommand::CopyText(text) = command {
            Some(text.clone())
        } else {
            None
        }
    };
    let mut diagnostics = None;
    // A thread reads the log; what is copied is told in a single frame.
    for _ in 0..3000 {
        std::thread::sleep(std::time::Duration::from_millis(10));
        window.run_steps(1);
        diagnostics = window
            .output()
            .platform_output
            .commands
            .iter()
            .find_map(copied);
        if diagnostics.is_some() {
            break;
        }
    }
    let diagnostics = diagnostics.unwrap();
    window.run_steps(1);
    window.get_by_label_contains("copied to the clipboard");
    for word in [
        "Inkling: ",
        "CPU: ",
        "cuda: training: ",
        "\"zoom\": 1.0",
        "Log:",
    ] {
        assert!(diagnostics.contains(word), "{word} is not in {diagnostics}");
    }
    let text = diagnostics::about(window.app().ctx.hardware.as_ref());
    for word in [
        env!("CARGO_PKG_VERSION"),
        "rustc",
        "CPU: ",
        "Memory: ",
        "System: ",
    ] {
        assert!(text.contains(word), "{word} is not in {text}");
    }
}

#[test]
fn without_file_dialogs_a_path_can_be_typed() {
    let answers = Answers {
        none: true,
        ..Answers::default()
    };
    let (app, engine) = app_with(past_wizard(), answers);
    let mut window = open(app, [1280.0, 800.0]);
    window.apply(TrainAction::ChooseDataFolder);
    window.until(|app| app.shell.path_question.is_some());
    window.run_steps(3);
    let type_path = |window: &mut Window, path: &str| {
        window.act(Action::TypePath(path.to_owned()));
        // The field has the focus.
        window.key(Key::Enter);
    };
    type_path(&mut window, "/no/such/folder");
    window.until(|app| {
        app.shell
            .path_question
            .as_ref()
            .is_some_and(|question| question.refused.is_some())
    });
    window.get_by_label_contains("There is no folder");
    let folder = tempfile::tempdir().unwrap();
    type_path(&mut window, folder.path().to_str().unwrap());
    window.until(|app| app.shell.path_question.is_none());
    assert!(
        window
            .app()
            .ctx
            .settings
            .data_folders
            .contains(&folder.path().to_owned())
    );

    // A file that exists is never replaced without being asked.
    let file = folder.path().join("drawing.ink.json");
    std::fs::write(&file, "mine").unwrap();
    window.apply(DrawAction::PenDown([10.0, 10.0]));
    window.apply(DrawAction::PenUp);
    window.apply(DrawAction::SaveDrawing);
    window.until(|app| app.shell.path_question.is_some());
    type_path(&mut window, file.to_str().unwrap());
    window.until(|app| {
        app.shell
            .path_question
            .as_ref()
            .is_some_and(|question| question.refused.is_some())
    });
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    window.key(Key::Escape);
    assert!(window.app().shell.path_question.is_none());
    drop(engine);
}
