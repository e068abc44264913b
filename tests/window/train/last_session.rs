//! What the last session left comes back at the next start: a run that was interrupted, or the last
//! model with its curves and results.

use inkling::protocol::{Command, Event};
use inkling::records::{ModelRef, RunSummary};
use inkling::run_config::{DataSpec, DeviceChoice, ModelKind, WeightFormat};
use inkling::runs::{Checkpoints, Store};
use inkling::train::TrainedModel;
use inkling::window::{Action, App, DrawAction, ModelsAction, Phase, Screen, TrainAction};

use crate::fake_engine::{FakeEngine, app, plan};
use crate::jobs::submitted_run;
use crate::synthetic::{square_set, train};
use crate::train::watcher::{Watcher, config};
use crate::window::stage::Driven;

/// A run of two epochs, and what was seen of it.
fn trained() -> (TrainedModel, Watcher) {
    let mut watcher = Watcher::default();
    let trained = train(&config(ModelKind::Mlp), &square_set(240, 20), &mut watcher)
        .unwrap()
        .unwrap();
    (trained, watcher)
}

fn save(engine: &FakeEngine, trained: &TrainedModel) -> RunSummary {
    Store::new(engine.home.path().join("runs"))
        .save(trained, WeightFormat::F32, None)
        .unwrap()
}

fn begin_session(app: &mut App) {
    app.start_discovery();
    app.until(|app| app.train.run.is_some());
}

#[test]
fn the_last_model_comes_back_with_its_curves_and_results() {
    let (mut app, mut engine) = app();
    let (trained, watcher) = trained();
    let saved = save(&engine, &trained);
    let model = ModelRef::File(saved.model_path.clone());
    app.apply(DrawAction::UseModel(model.clone()));
    app.serve(&mut engine);
    let settings = app.draw.settings_to_save(&app.ctx);
    assert_eq!(settings.last_model.as_ref(), Some(&saved.model_path));

    app.apply(DrawAction::UseModel(ModelRef::Starter));
    app.serve(&mut engine);
    assert_eq!(
        app.draw.settings_to_save(&app.ctx).last_model,
        None,
        "the starter model was chosen"
    );
    engine.heard.clear();
    app.ctx.settings = settings;
    begin_session(&mut app);
    app.serve(&mut engine);
    assert!(
        engine.heard.contains(&Command::UseModel(model)),
        "{:?}",
        engine.heard
    );
    let run = app.the_run();
    assert!(matches!(&run.phase, Phase::Finished(summary) if **summary == saved));
    assert_eq!(&run.history.steps, &watcher.steps);
    assert_eq!(&run.history.epochs, &watcher.epochs);
    assert_eq!(
        app.results.shown.as_ref().map(|results| &results.measured),
        saved.test.as_ref()
    );
    assert!(!app.ctx.is_training() && app.ctx.notices.is_empty());
}

#[test]
fn the_evaluation_that_was_made_last_comes_back_and_a_damaged_one_is_not_missed() {
    for damaged in [false, true] {
        let (mut app, mut engine) = app();
        let (trained, _) = trained();
        let saved = save(&engine, &trained);
        let model = ModelRef::File(saved.model_path.clone());
        app.apply(DrawAction::UseModel(model.clone()));
        app.apply(ModelsAction::Evaluate {
            model: model.clone(),
            data: DataSpec::builtin(),
        });
        engine.serve();
        let file = saved.folder.join("evaluation.json");
        app.until(|app| app.results.shown.is_some() && file.exists());
        let shown = app.results.shown.take().unwrap().measured;
        assert_eq!(&shown.data, &DataSpec::builtin());
        assert_eq!(shown.evaluation.mistakes().count(), 1);
        if damaged {
            std::fs::write(&file, "{").unwrap();
        }
        let settings = app.draw.settings_to_save(&app.ctx);
        app.apply(DrawAction::UseModel(ModelRef::Starter));
        app.serve(&mut engine);
        app.ctx.settings = settings;
        begin_session(&mut app);
        let results = app.results.shown.as_ref().unwrap();
        let expected = if damaged {
            saved.test.as_ref().unwrap()
        } else {
            &shown
        };
        assert_eq!(&results.model.reference, &model);
        assert_eq!(&results.measured, expected);
        assert_eq!(
            results.model.accuracy,
            saved.accuracy(),
            "that stays the one that the model is known by"
        );
    }
}

#[test]
fn where_the_starter_model_was_used_last_results_open_with_the_newest_model() {
    let (mut app, engine) = app();
    let (trained, _) = trained();
    let older = TrainedModel {
        summary: RunSummary {
            finished_at: "2026-01-02T03:04:05Z".to_owned(),
            ..trained.summary.clone()
        },
        ..trained.clone()
    };
    let [newest, _] = [trained, older].map(|trained| save(&engine, &trained));
    app.start_discovery();
    app.until(|app| app.results.shown.is_some());
    let results = app.results.shown.as_ref().unwrap();
    assert_eq!(results.model.reference, ModelRef::File(newest.model_path));
    assert_eq!(Some(&results.measured), newest.test.as_ref());
    assert!(
        app.train.run.is_none()
            && app
                .ctx
                .model_in_use
                .as_ref()
                .is_none_or(|model| model.reference == ModelRef::Starter)
    );
}

#[test]
fn a_model_that_is_gone_is_not_missed() {
    let (mut app, mut engine) = app();
    app.ctx.settings.last_model = Some(engine.home.path().join("runs/gone/model.safetensors"));
    app.start_discovery();
    app.until(|app| {
        app.models.runs.is_some() && app.train.found.is_some() && app.ctx.hardware.is_some()
    });
    app.serve(&mut engine);
    assert!(app.train.run.is_none() && app.ctx.notices.is_empty());
    assert!(
        engine
            .heard
            .iter()
            .all(|command| !matches!(command, Command::UseModel(_))),
        "{:?}",
        engine.heard
    );
}

#[test]
fn a_run_that_was_interrupted_is_offered_first_with_its_curve() {
    let (mut app, mut engine) = app();
    let (trained, mut watcher) = trained();
    let older = TrainedModel {
        summary: RunSummary {
            finished_at: "2026-01-02T03:04:05Z".to_owned(),
            ..trained.summary.clone()
        },
        ..trained
    };
    app.ctx.settings.last_model = Some(save(&engine, &older).model_path);
    let mut checkpoint = watcher.checkpoints.remove(0);
    checkpoint.card.config.device = DeviceChoice::Auto;
    let mut place = Checkpoints::new(engine.home.path().join("checkpoints")).begin();
    place.write(&checkpoint).unwrap();
    let folder = place.path().to_owned();
    drop(place);

    begin_session(&mut app);
    let run = app.the_run();
    assert_eq!(
        (&run.phase, run.state().as_str()),
        (&Phase::Interrupted, "Interrupted; saved after epoch 1 of 2")
    );
    let steps = watcher.plan.as_ref().unwrap().steps_per_epoch;
    assert_eq!(
        (run.history.steps.as_slice(), run.steps_per_epoch()),
        (&watcher.steps[..steps as usize], Some(steps))
    );
    assert_eq!(
        app.train
            .interrupted_checkpoint()
            .map(|last| last.folder.clone()),
        Some(folder.clone())
    );
    assert!(app.results.shown.is_some(), "the last model is there too");

    app.apply(TrainAction::ResumeInterrupted(folder.clone()));
    let asked = engine.listen();
    let Some((id, of, from)) = asked.iter().find_map(submitted_run) else {
        panic!("{asked:?}")
    };
    assert_eq!((of, from), (&app.the_run().config, Some(&folder)));
    let (position, before) = (checkpoint.card.position(), checkpoint.card.epochs.clone());
    let curve = checkpoint.card.curve.points().to_vec();
    app.on_event(Event::Started {
        run: id,
        plan: plan(of),
        before,
        curve,
        position,
        folder,
    });
    assert_eq!(app.the_run().history.steps, watcher.steps[..steps as usize]);
}

#[test]
fn what_was_begun_meanwhile_stays() {
    let (mut app, mut engine) = app();
    let (trained, _) = trained();
    app.ctx.settings.last_model = Some(save(&engine, &trained).model_path);
    app.start_discovery();
    app.apply(TrainAction::Start);
    let id = app.the_run().id;
    app.until(|app| app.results.shown.is_some());
    app.serve(&mut engine);
    assert_eq!(app.train.run.as_ref().map(|run| run.id), Some(id));
}

#[test]
fn the_curves_of_any_run_can_be_opened() {
    let (mut app, engine) = app();
    let (trained, watcher) = trained();
    let saved = save(&engine, &trained);
    app.apply(Action::Show(Screen::Models));
    app.apply(TrainAction::ShowCurves(saved.folder.clone()));
    app.until(|app| app.train.run.is_some());
    assert_eq!(app.ctx.screen, Screen::Train);
    assert_eq!(&app.the_run().history.steps, &watcher.steps);
    let csv = app.the_run().history.csv();
    assert_eq!(
        csv.lines().count(),
        1 + watcher.steps.len() + watcher.epochs.len()
    );
    app.apply(TrainAction::ShowCurves("nowhere".into()));
    app.until(|app| !app.ctx.notices.is_empty());

    app.apply(TrainAction::Configure(Box::default()));
    app.apply(TrainAction::Start);
    app.apply(TrainAction::ShowCurves(saved.folder));
    assert!(
        app.last_notice().what.contains("in progress"),
        "{:?}",
        app.ctx.notices
    );
}
