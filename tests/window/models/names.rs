//! Naming and starring models, what they are called, and their curves in the list.

use std::path::PathBuf;

use inkling::protocol::JobResult;
use inkling::records::{Annotation, ModelRef, RunSummary};
use inkling::run_config::{ModelKind, RunConfig, WeightFormat};
use inkling::runs::Store;
use inkling::train::TrainedModel;
use inkling::window::{Action, App, DrawAction, ModelsAction};

use crate::fake_engine::{FakeEngine, app};
use crate::jobs::done;
use crate::synthetic::{square_set, train};
use crate::train::watcher::{Watcher, config};
use crate::window::stage::Driven;

fn trained(epochs: u32) -> TrainedModel {
    let config = RunConfig {
        epochs,
        ..config(ModelKind::Mlp)
    };
    train(&config, &square_set(240, 20), &mut Watcher::default())
        .unwrap()
        .unwrap()
}

fn save(engine: &FakeEngine, trained: &TrainedModel) -> RunSummary {
    Store::new(engine.home.path().join("runs"))
        .save(trained, WeightFormat::F32, None)
        .unwrap()
}

fn list(app: &mut App) {
    app.models.runs = None;
    app.apply(ModelsAction::RefreshRuns);
    app.until(|app| app.models.runs.is_some());
}

fn named(name: &str, starred: bool) -> Annotation {
    Annotation {
        name: name.to_owned(),
        starred,
        ..Annotation::default()
    }
}

#[test]
fn a_model_is_called_by_its_name_everywhere_and_the_last_change_is_what_remains() {
    let (mut app, engine) = app();
    let trained = trained(1);
    let (first, second) = (save(&engine, &trained), save(&engine, &trained));
    list(&mut app);
    let model = |summary: &RunSummary| ModelRef::File(summary.model_path.clone());
    let title = trained.summary.config.title();
    assert_eq!(
        [&first, &second].map(|run| app.model_name(&model(run))),
        [title.clone(), format!("{title} 2")]
    );
    assert_eq!(
        app.models(9),
        [ModelRef::Starter, model(&second), model(&first)]
    );

    for times in 0..20 {
        app.apply(ModelsAction::Annotate(
            first.folder.clone(),
            named(&format!("Try {times}"), times % 2 == 1),
        ));
    }
    app.apply(ModelsAction::Annotate(
        second.folder.clone(),
        named(" try  19 ", true),
    ));
    assert_eq!(
        app.model_name(&model(&first)),
        "Try 19",
        "it is shown before it is written"
    );
    assert_eq!(
        app.model_name(&model(&second)),
        format!("{title} 2"),
        "two models cannot have the same name"
    );
    assert_eq!(
        app.models(1),
        [ModelRef::Starter, model(&first)],
        "starred ones come first"
    );
    app.close();
    let written = Store::new(app.ctx.runs_folder()).list();
    assert_eq!(
        written
            .iter()
            .map(|run| run.annotation.clone())
            .collect::<Vec<_>>(),
        [Annotation::default(), named("Try 19", true)]
    );
    assert!(app.ctx.notices.is_empty());
}

#[test]
fn a_name_that_another_model_has_is_refused_with_a_reason() {
    let (mut app, engine) = app();
    let trained = trained(1);
    let (first, second) = (save(&engine, &trained), save(&engine, &trained));
    list(&mut app);
    let title = trained.summary.config.title();
    let problem = |name: &str| {
        app.models
            .name_problem(&second.folder, name)
            .map(|problem| problem.to_string())
    };
    assert_eq!(
        problem(&format!(" {} ", title.to_uppercase())).unwrap(),
        format!(
            "Another model is already called “{}”. Choose a different name.",
            title.to_uppercase()
        )
    );
    assert!(problem("starter model").is_some());
    assert_eq!(
        [
            problem(""),
            problem(&format!("{title} 2")),
            problem("Another")
        ],
        [None, None, None]
    );
    assert!(
        app.models
            .name_problem(&first.folder, &format!("{title} 2"))
            .is_some()
    );
}

#[test]
fn a_note_that_cannot_be_written_is_a_notice_and_is_not_shown() {
    let (mut app, engine) = app();
    let saved = save(&engine, &trained(1));
    list(&mut app);
    std::fs::create_dir(saved.folder.join("annotation.json")).unwrap();
    app.apply(ModelsAction::Annotate(
        saved.folder.clone(),
        named("Best one", false),
    ));
    app.until(|app| !app.ctx.notices.is_empty());
    let unnamed = |app: &App| {
        app.models
            .runs
            .iter()
            .flatten()
            .all(|run| run.annotation == Annotation::default())
    };
    app.until(unnamed);
}

#[test]
fn a_deleted_model_comes_back_with_its_name() {
    let (mut app, engine) = app();
    let saved = save(&engine, &trained(1));
    let count = |app: &App| app.models.runs.as_ref().map(Vec::len);
    list(&mut app);
    app.apply(ModelsAction::Annotate(
        saved.folder.clone(),
        named("Best one", true),
    ));
    app.apply(ModelsAction::DeleteRun(saved.folder.clone()));
    app.until(|app| app.said("“Best one” was deleted."));
    assert_eq!(count(&app), Some(0));
    let undo = app.ctx.notices[0].offer.clone().unwrap();
    let restore = Action::Models(ModelsAction::RestoreRun(saved.folder.clone()));
    assert_eq!((undo.label, &undo.action), ("Undo", &restore));
    app.apply(undo.action);
    assert!(app.ctx.notices.is_empty(), "it cannot be undone twice");
    app.until(|app| {
        let mut runs = app.models.runs.iter().flatten();
        runs.any(|run| run.title == "Best one" && run.annotation.starred)
    });
    // Until the window closes.
    app.apply(ModelsAction::DeleteRun(saved.folder));
    app.until(|app| count(app) == Some(0));
    app.close();
    let left = std::fs::read_dir(app.ctx.runs_folder()).unwrap();
    assert_eq!(left.count(), 0);
}

#[test]
fn the_starter_model_takes_the_place_of_a_deleted_one_until_it_is_restored() {
    let (mut app, mut engine) = app();
    let saved = save(&engine, &trained(1));
    list(&mut app);
    let model = ModelRef::File(saved.model_path.clone());
    app.apply(DrawAction::UseModel(model.clone()));
    app.apply(ModelsAction::ShowResults(saved.folder.clone()));
    app.serve(&mut engine);
    assert!(app.ctx.is_in_use(&model) && app.results.shown.is_some());

    app.apply(ModelsAction::DeleteRun(saved.folder.clone()));
    app.until(|app| app.models.runs.as_ref().is_some_and(Vec::is_empty));
    app.serve(&mut engine);
    assert!(app.ctx.is_in_use(&ModelRef::Starter) && app.ctx.starter_model.is_some());
    assert!(
        app.results.shown.is_none(),
        "its accuracy is not another model's"
    );
    assert_eq!(app.ctx.settings.last_model, None);

    app.apply(ModelsAction::RestoreRun(saved.folder));
    app.until(|app| app.results.shown.is_some());
    app.serve(&mut engine);
    assert!(app.ctx.is_in_use(&model));
    assert_eq!(
        app.results
            .shown
            .as_ref()
            .map(|results| results.model.reference.clone()),
        Some(model)
    );
}

#[test]
fn each_run_has_a_curve_in_the_list() {
    let (mut app, engine) = app();
    let long = save(&engine, &trained(3));
    let short = save(&engine, &trained(1));
    let without = save(&engine, &trained(1));
    std::fs::remove_file(without.folder.join("steps.csv")).unwrap();
    list(&mut app);
    app.until(|app| app.models.thumbnail(&short.folder).is_some());
    let curve = app.models.thumbnail(&long.folder).unwrap();
    assert!(curve.validation);
    assert_eq!(
        curve.values,
        long.epochs
            .iter()
            .map(|record| record.validation_accuracy)
            .collect::<Vec<_>>()
    );
    let curve = app.models.thumbnail(&short.folder).unwrap();
    assert!(!curve.validation && curve.values.len() > 1 && curve.values.len() <= 48);
    assert!(curve.values.iter().all(|value| (0.0..=1.0).contains(value)));
    assert_eq!(app.models.thumbnail(&without.folder), None);
    assert_eq!(app.models.thumbnail(&PathBuf::from("runs/elsewhere")), None);
}

#[test]
fn a_run_is_trained_again_and_whether_its_weights_are_the_same_is_said() {
    let (mut app, mut engine) = app();
    let first = save(&engine, &trained(1));
    list(&mut app);
    for (epochs, words) in [(1, "the same, bit for bit"), (2, "not the same")] {
        app.apply(ModelsAction::Reproduce(first.folder.clone()));
        assert_eq!(
            app.the_run().config,
            inkling::runs::reproduced_config(&first)
        );
        engine.serve();
        let id = engine.run.take().unwrap().id;
        engine.send(done(id, JobResult::Train(save(&engine, &trained(epochs)))));
        app.until(|app| app.said(words));
    }
}
