//! A run from its start to its end, against an engine without tensors.

use egui_kittest::kittest::Queryable;
use inkling::problem::Problem;
use inkling::protocol::{Command, EngineError, Event, JobResult};
use inkling::records::{JobId, LearningRateChange, ModelRef, Rescue, RunPosition, Telemetry};
use inkling::run_config::{DeviceChoice, RunConfig};
use inkling::system::WriteError;
use inkling::window::{Action, App, Phase, Screen, TrainAction};

use crate::fake_engine::{
    Answers, FakeEngine, app, app_with, evaluation, held_out, learning, past_wizard, starter,
    summary,
};
use crate::jobs::{cancelled, done, failed};
use crate::window::stage::{Driven, Seen, usual};

/// The engine says that the run cannot be saved here, for want of room.
fn not_saved(engine: &FakeEngine, path: &str, checkpoint: Option<RunPosition>) {
    engine.send(Event::NotSaved {
        run: engine.run.as_ref().unwrap().id,
        problem: full(path),
        checkpoint,
    });
}

fn full(path: &str) -> Problem {
    let error = std::io::ErrorKind::StorageFull.into();
    Problem::from(WriteError::new(path.as_ref(), &error))
}

/// The run is saved.
fn saved(engine: &FakeEngine) {
    let of = summary(&RunConfig::default(), Vec::new(), false);
    let run = engine.run.as_ref().unwrap().id;
    engine.send(done(run, JobResult::Train(of)));
}

#[test]
fn a_run_goes_from_start_to_results() {
    let (mut app, mut engine) = app();
    app.configure(|config| config.epochs = 3);
    app.apply(Action::Show(Screen::Models));
    app.apply(TrainAction::Start);
    assert_eq!(app.ctx.screen, Screen::Train);
    assert_eq!(app.the_run().phase, Phase::Preparing(0.0));
    app.serve(&mut engine);
    assert_eq!(app.the_run().phase, Phase::Training);
    assert_eq!(app.the_run().plan.as_ref().unwrap().total_steps, 30);
    engine.train(12);
    app.poll();
    let run = app.the_run();
    let (steps, epochs) = (&run.history.steps, &run.history.epochs);
    assert_eq!((steps.len(), epochs.len(), run.now.epoch), (12, 1, 2));
    let reads = &app.ctx.model_in_use.as_ref().unwrap().reference;
    assert_eq!(*reads, ModelRef::Training(run.id));
    app.apply(Action::Show(Screen::Draw));
    engine.finish();
    app.poll();
    assert!(matches!(app.the_run().phase, Phase::Finished(_)));
    assert!(!app.ctx.is_training());
    let shown = app.results.shown.as_ref().unwrap();
    assert_eq!(shown.measured.evaluation, evaluation());
    assert!(app.said("99"));
}

#[test]
fn a_run_that_cannot_be_saved_waits_for_another_try_or_another_folder() {
    let chosen = std::path::PathBuf::from("elsewhere");
    let (mut app, mut engine) = app_with(past_wizard(), Answers::folder(&chosen));
    app.apply(TrainAction::SaveRun);
    app.apply(TrainAction::Start);
    engine.serve();
    let run = app.the_run().id;
    for path in ["runs/one", "runs/two"] {
        not_saved(&engine, path, Some(RunPosition::default()));
        app.poll();
        assert_eq!(app.the_run().phase, Phase::NotSaved);
        assert!(app.ctx.is_training(), "nothing else may take its place");
    }
    assert_eq!(app.the_run().state(), "Finished, but not saved yet");
    let notices = &app.ctx.notices;
    assert!(
        notices.len() == 1 && app.said("not saved yet") && app.said("runs/two"),
        "{notices:?}"
    );
    app.apply(TrainAction::SaveRun);
    assert_eq!(engine.listen(), [Command::Save { run, folder: None }]);
    app.apply(TrainAction::ChooseRunFolder);
    let engine = std::cell::RefCell::new(engine);
    app.until(|_| !engine.borrow_mut().listen().is_empty());
    let engine = engine.into_inner();
    let folder = Some(chosen);
    assert_eq!(engine.heard.last(), Some(&Command::Save { run, folder }));
    saved(&engine);
    app.poll();
    assert!(matches!(app.the_run().phase, Phase::Finished(_)));
    assert!(!app.said("not saved yet"), "it is saved now");
}

#[test]
fn a_run_of_which_nothing_can_be_saved_is_not_lost_unheard() {
    let (mut app, mut engine) = app();
    app.apply(TrainAction::Start);
    engine.serve();
    let run = app.the_run().id;
    not_saved(&engine, "runs/one", None);
    app.poll();
    let said = |app: &App| {
        app.ctx
            .notices
            .iter()
            .map(|notice| notice.message.to_string())
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert!(said(&app).contains("cannot be resumed"), "{}", said(&app));
    app.apply(TrainAction::Stop);
    assert_eq!(engine.listen(), [Command::Cancel(run)]);
    assert_eq!(app.the_run().phase, Phase::Stopping);
    not_saved(&engine, "temporary", None);
    app.poll();
    assert_eq!(app.the_run().phase, Phase::NotSaved, "it waits on");
    assert!(said(&app).contains("temporary"), "{}", said(&app));
    let rescue = Rescue {
        folder: "temporary/run".into(),
        temporary: true,
        model_alone: true,
    };
    engine.send(Event::Rescued {
        run,
        problem: full("runs/one"),
        rescue,
    });
    saved(&engine);
    app.poll();
    let said = said(&app);
    assert!(
        said.contains("Only its model")
            && said.contains("temporary/run")
            && said.contains("move the run"),
        "{said}"
    );
}

#[test]
fn a_pause_that_is_confirmed_after_stop_does_not_undo_the_stop() {
    let (mut app, mut engine) = app();
    app.start(&mut engine);
    let id = app.the_run().id;
    app.apply(TrainAction::Pause);
    app.apply(TrainAction::Stop);
    app.on_event(Event::Paused(id));
    assert_eq!(app.the_run().phase, Phase::Stopping);
}

#[test]
fn a_second_start_and_an_invalid_configuration_reach_no_engine() {
    let (mut app, mut engine) = app();
    app.configure(|config| config.epochs = 0);
    app.apply(TrainAction::Start);
    assert!(app.train.run.is_none() && engine.listen().is_empty());
    app.apply(TrainAction::Configure(Box::default()));
    app.configure(|config| config.device = DeviceChoice::Metal);
    if cfg!(not(target_os = "macos")) {
        app.apply(TrainAction::Start);
        assert!(app.train.run.is_none() && engine.listen().is_empty());
    }
    app.apply(TrainAction::Configure(Box::default()));
    app.apply(TrainAction::Start);
    app.apply(TrainAction::Start);
    assert_eq!(engine.listen().len(), 1);
}

#[test]
fn events_of_another_run_change_nothing() {
    let (mut app, mut engine) = app();
    app.start(&mut engine);
    let (id, stale) = (app.the_run().id, JobId(9999));
    let config = app.ctx.config.clone();
    let now = Telemetry {
        step: 77,
        ..Telemetry::default()
    };
    app.on_event(Event::Steps {
        run: stale,
        steps: Vec::new(),
        now,
    });
    app.on_event(Event::HeldOut {
        run: stale,
        images: held_out()[..50].to_vec(),
    });
    app.on_event(Event::HeldOutSnapshot {
        run: stale,
        snapshot: learning(9, 90),
    });
    app.on_event(Event::Paused(stale));
    app.on_event(cancelled(stale));
    app.on_event(failed(stale, EngineError::Busy));
    app.on_event(done(
        stale,
        JobResult::Train(summary(&config, Vec::new(), false)),
    ));
    let run = app.the_run();
    assert_eq!(run.id, id);
    assert_eq!(&run.phase, &Phase::Training);
    assert_eq!(run.now.step, 0);
    assert_eq!(app.train.learning().unwrap().total(), "not classified yet");
    assert!(app.results.shown.is_none() && app.ctx.notices.is_empty());
    engine.finish();
    app.poll();
    app.apply(TrainAction::Start);
    assert!(
        app.train.learning().is_none(),
        "the next run has its own images"
    );
}

#[test]
fn a_broken_engine_costs_the_run_and_a_sentence() {
    let (mut app, mut engine) = app();
    app.start(&mut engine);
    let id = app.the_run().id;
    let message = "index 3".to_owned();
    engine.send(failed(id, EngineError::Panicked { message }));
    engine.send(Event::Restarted);
    engine.send(Event::ModelInUse(starter()));
    app.poll();
    assert_eq!(app.the_run().phase, Phase::Failed);
    assert!(app.said("index 3"));
    app.until(|app| app.ctx.notices.len() > 1);
    assert!(
        app.ctx
            .notices
            .iter()
            .all(|notice| !notice.message.remedy.contains("Resume")),
        "there is no checkpoint: {:?}",
        app.ctx.notices
    );
    app.apply(TrainAction::Start);
    assert!(app.ctx.is_training());
}

#[test]
fn a_run_on_little_data_starts_again_with_settings_that_fit_and_says_so() {
    let (mut app, mut engine) = app();
    app.ctx.config.data = "/tmp/few".parse().unwrap();
    app.start(&mut engine);
    app.serve(&mut engine);
    let run = app.the_run();
    assert_eq!((run.config.batch_size, run.config.epochs), (8, 80));
    assert!(run.is_active(), "{:?}", run.phase);
    assert!(
        app.said("batch size 8 instead of 128"),
        "{:?}",
        app.ctx.notices
    );
}

#[test]
fn a_run_is_started_paused_resumed_and_stopped() {
    let (mut window, mut engine) = usual();
    window.apply(TrainAction::Pause);
    window.apply(TrainAction::Stop);
    assert_eq!(
        engine.listen(),
        [],
        "without a run there is nothing to hold"
    );
    window.click("Start");
    engine.serve();
    engine.train(4);
    window.settle();
    assert!(!window.has("Start"));
    assert!(window.mentions("epoch 1 of"), "the state is shown");
    assert!(window.mentions("images/s"), "and the pace");
    for (button, phase) in [("Pause", Phase::Paused), ("Resume", Phase::Training)] {
        window.click(button);
        window.serve(&mut engine);
        assert_eq!(window.the_run().phase, phase);
    }
    window.click("Stop");
    assert_eq!(window.the_run().phase, Phase::Stopping);
    window.serve(&mut engine);
    window.get_by_label("Start");
    let phase = &window.the_run().phase;
    assert_eq!(*phase, Phase::Discarded, "no epoch was complete");
}

#[test]
fn the_learning_rate_can_be_moved_while_a_run_trains_and_the_plots_mark_where() {
    let (mut window, mut engine) = usual();
    assert!(!window.has("Reset"));
    window.train(&mut engine, 12);
    let run = window.the_run().id;
    window.apply(TrainAction::ScaleLearningRate(0.1));
    let factor = 0.1;
    let asked = engine.listen();
    assert!(
        asked.contains(&Command::ScaleLearningRate { run, factor }),
        "{asked:?}"
    );
    for step in [3, 12] {
        let change = LearningRateChange { step, factor };
        engine.send(Event::RateChanged { run, change });
    }
    window.serve(&mut engine);
    assert!(
        window
            .value("Loss plot")
            .ends_with("Learning rate × 0.1 after step 3, × 0.1 after step 12"),
        "{}",
        window.value("Loss plot")
    );
    window.click("Reset");
    let asked = engine.listen();
    let back = Command::ScaleLearningRate { run, factor: 1.0 };
    assert!(asked.contains(&back), "{asked:?}");
    assert!(!window.has("Reset"));
}
