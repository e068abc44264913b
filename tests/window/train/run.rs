//! A run from its start to its end, and the drawing that is read beside it, against an engine
//! without tensors.

use inkling::problem::Problem;
use inkling::protocol::{Command, Event, Job, JobResult};
use inkling::records::{JobId, ModelRef, Rescue, RunPosition, Telemetry};
use inkling::run_config::{DeviceChoice, RunConfig};
use inkling::system::WriteError;
use inkling::window::{Action, App, Phase, Screen};

use crate::fake_engine::{Answers, app, app_with, evaluation, past_wizard, starter, summary};
use crate::jobs::{cancelled, done, failed, progress};
use crate::window::stage::Driven;

fn classified(commands: &[Command]) -> Vec<(u64, usize)> {
    let of = |command: &Command| match command {
        Command::Classify { request, ink, .. } => {
            Some((*request, ink.strokes.iter().map(Vec::len).sum()))
        }
        _ => None,
    };
    commands.iter().filter_map(of).collect()
}

#[test]
fn a_run_goes_from_start_to_results() {
    let (mut app, mut engine) = app();
    app.apply(Action::Configure(Box::new(RunConfig {
        epochs: 3,
        ..RunConfig::default()
    })));
    app.apply(Action::Show(Screen::Models));
    app.apply(Action::Start);
    assert_eq!(app.ctx.screen, Screen::Train);
    assert_eq!(app.the_run().phase, Phase::Preparing(0.0));
    app.serve(&mut engine);
    assert_eq!(app.the_run().phase, Phase::Training);
    assert_eq!(app.the_run().plan.as_ref().unwrap().total_steps, 30);
    engine.train(12);
    app.poll();
    let run = app.the_run();
    assert_eq!(
        (
            run.history.steps.len(),
            run.history.epochs.len(),
            run.now.epoch
        ),
        (12, 1, 2)
    );
    assert_eq!(
        app.ctx.model_in_use.as_ref().unwrap().reference,
        ModelRef::Training(run.id)
    );
    app.apply(Action::Show(Screen::Draw));
    engine.finish();
    app.poll();
    assert!(matches!(app.the_run().phase, Phase::Finished(_)));
    assert!(!app.ctx.is_training());
    assert_eq!(
        app.results.shown.as_ref().unwrap().measured.evaluation,
        evaluation()
    );
    assert!(app.said("99"));
}

#[test]
fn a_run_that_cannot_be_saved_waits_for_another_try_or_another_folder() {
    let chosen = std::path::PathBuf::from("elsewhere");
    let settings = past_wizard();
    let (mut app, mut engine) = app_with(
        settings,
        Answers {
            folder: Some(chosen.clone()),
            ..Answers::default()
        },
    );
    app.apply(Action::SaveRun);
    app.apply(Action::Start);
    engine.serve();
    let run = app.the_run().id;
    let full = |path: &str| {
        Problem::Write(WriteError::new(
            path.as_ref(),
            &std::io::ErrorKind::StorageFull.into(),
        ))
    };
    for path in ["runs/one", "runs/two"] {
        engine.send(Event::NotSaved {
            run,
            problem: full(path),
            checkpoint: Some(RunPosition::default()),
        });
        app.poll();
        assert_eq!(app.the_run().phase, Phase::NotSaved);
        assert!(app.ctx.is_training(), "nothing else may take its place");
    }
    assert_eq!(app.the_run().state(), "Finished, but not saved yet");
    let said: Vec<&str> = app
        .ctx
        .notices
        .iter()
        .map(|notice| notice.message.what.as_str())
        .collect();
    assert!(
        said.len() == 1 && said[0].contains("not saved yet") && said[0].contains("runs/two"),
        "{said:?}"
    );
    app.apply(Action::SaveRun);
    assert_eq!(engine.listen(), [Command::Save { run, folder: None }]);
    app.apply(Action::ChooseRunFolder);
    let engine = std::cell::RefCell::new(engine);
    app.until(|_| !engine.borrow_mut().listen().is_empty());
    let engine = engine.into_inner();
    assert_eq!(
        engine.heard.last(),
        Some(&Command::Save {
            run,
            folder: Some(chosen)
        })
    );
    engine.send(done(
        run,
        JobResult::Train(summary(&RunConfig::default(), Vec::new(), false)),
    ));
    app.poll();
    assert!(matches!(app.the_run().phase, Phase::Finished(_)));
    assert!(!app.said("not saved yet"), "it is saved now");
}

#[test]
fn a_run_of_which_nothing_can_be_saved_is_not_lost_unheard() {
    let (mut app, mut engine) = app();
    app.apply(Action::Start);
    engine.serve();
    let run = app.the_run().id;
    let full = |path: &str| {
        Problem::Write(WriteError::new(
            path.as_ref(),
            &std::io::ErrorKind::StorageFull.into(),
        ))
    };
    engine.send(Event::NotSaved {
        run,
        problem: full("runs/one"),
        checkpoint: None,
    });
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
    app.apply(Action::Stop);
    assert_eq!(engine.listen(), [Command::Cancel(run)]);
    assert_eq!(app.the_run().phase, Phase::Stopping);
    engine.send(Event::NotSaved {
        run,
        problem: full("temporary"),
        checkpoint: None,
    });
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
    engine.send(done(
        run,
        JobResult::Train(summary(&RunConfig::default(), Vec::new(), false)),
    ));
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
fn pausing_resuming_and_stopping_are_passed_on_and_shown() {
    let (mut app, mut engine) = app();
    app.apply(Action::Pause);
    app.apply(Action::Stop);
    assert!(
        engine.listen().is_empty(),
        "without a run there is nothing to hold"
    );
    app.train(&mut engine, 3);
    app.apply(Action::Pause);
    app.serve(&mut engine);
    assert_eq!(app.the_run().phase, Phase::Paused);
    app.apply(Action::Resume);
    app.serve(&mut engine);
    assert_eq!(app.the_run().phase, Phase::Training);
    app.apply(Action::Stop);
    assert_eq!(app.the_run().phase, Phase::Stopping);
    app.serve(&mut engine);
    assert_eq!(
        app.the_run().phase,
        Phase::Discarded,
        "no epoch was complete"
    );
}

#[test]
fn a_pause_that_is_confirmed_after_stop_does_not_undo_the_stop() {
    let (mut app, mut engine) = app();
    app.start(&mut engine);
    let id = app.the_run().id;
    app.apply(Action::Pause);
    app.apply(Action::Stop);
    app.on_event(Event::Paused(id));
    assert_eq!(app.the_run().phase, Phase::Stopping);
}

#[test]
fn a_second_start_and_an_invalid_configuration_reach_no_engine() {
    let (mut app, mut engine) = app();
    app.apply(Action::Configure(Box::new(RunConfig {
        epochs: 0,
        ..RunConfig::default()
    })));
    app.apply(Action::Start);
    assert!(app.train.run.is_none() && engine.listen().is_empty());
    app.apply(Action::Configure(Box::new(RunConfig {
        device: DeviceChoice::Metal,
        ..RunConfig::default()
    })));
    if cfg!(not(target_os = "macos")) {
        app.apply(Action::Start);
        assert!(app.train.run.is_none() && engine.listen().is_empty());
    }
    app.apply(Action::Configure(Box::default()));
    app.apply(Action::Start);
    app.apply(Action::Start);
    assert_eq!(engine.listen().len(), 1);
}

#[test]
fn events_of_another_run_change_nothing() {
    let (mut app, mut engine) = app();
    app.start(&mut engine);
    let (id, stale) = (app.the_run().id, JobId(9999));
    let config = app.ctx.config.clone();
    app.on_event(Event::Steps {
        run: stale,
        steps: Vec::new(),
        now: Telemetry {
            step: 77,
            ..Telemetry::default()
        },
    });
    app.on_event(Event::Paused(stale));
    app.on_event(cancelled(stale));
    app.on_event(failed(stale, Problem::Busy));
    app.on_event(done(
        stale,
        JobResult::Train(summary(&config, Vec::new(), false)),
    ));
    let run = app.the_run();
    assert_eq!(
        (run.id, &run.phase, run.now.step),
        (id, &Phase::Training, 0)
    );
    assert!(app.results.shown.is_none() && app.ctx.notices.is_empty());
}

#[test]
fn one_reading_is_asked_for_at_a_time_and_the_newest_drawing_is_next() {
    let (mut app, mut engine) = app();
    app.apply(Action::PenDown([10.0, 10.0]));
    for x in 1..20 {
        app.apply(Action::PenMove([10.0 + x as f32, 10.0]));
    }
    let asked = classified(&engine.listen());
    assert_eq!(
        asked.len(),
        1,
        "only the first goes out while nothing is answered"
    );
    let ink = app.draw.drawing.ink();
    app.on_event(Event::Classified {
        request: asked[0].0,
        prediction: Ok(Box::new(crate::fake_engine::prediction(&ink))),
    });
    assert!(app.draw.prediction().is_some());
    let next = classified(&engine.listen());
    assert_eq!(next.len(), 1);
    assert_eq!(next[0].1, 20, "all points, not those in between");
    app.on_event(Event::Classified {
        request: next[0].0,
        prediction: Ok(Box::new(crate::fake_engine::prediction(&ink))),
    });
    assert!(engine.listen().is_empty());
}

#[test]
fn a_reading_that_comes_after_clearing_is_not_shown() {
    let (mut app, mut engine) = app();
    app.apply(Action::PenDown([10.0, 10.0]));
    app.apply(Action::PenUp);
    app.apply(Action::ClearDrawing);
    app.serve(&mut engine);
    assert!(app.draw.prediction().is_none());
    app.apply(Action::Undo);
    app.serve(&mut engine);
    assert_eq!(
        app.draw.prediction().unwrap().digit,
        1,
        "the stroke is back, and read"
    );
    app.apply(Action::Undo);
    assert!(app.draw.prediction().is_none(), "nothing is on the canvas");
}

#[test]
fn answers_to_requests_never_made_are_dropped() {
    let (mut app, mut engine) = app();
    app.apply(Action::PenDown([10.0, 10.0]));
    let ink = app.draw.drawing.ink();
    app.on_event(Event::Classified {
        request: 4711,
        prediction: Ok(Box::new(crate::fake_engine::prediction(&ink))),
    });
    assert!(app.draw.prediction().is_none());
    app.serve(&mut engine);
    assert!(app.draw.prediction().is_some());
}

#[test]
fn another_reader_reads_the_drawing_again() {
    let (mut app, mut engine) = app();
    app.apply(Action::PenDown([10.0, 10.0]));
    app.serve(&mut engine);
    engine.listen();
    app.apply(Action::UseModel(ModelRef::File("a.safetensors".into())));
    app.serve(&mut engine);
    assert_eq!(classified(&engine.listen()).len(), 1);
}

#[test]
fn the_drawing_is_read_again_while_the_reader_learns() {
    let (mut app, mut engine) = app();
    app.apply(Action::PenDown([10.0, 10.0]));
    app.train(&mut engine, 10);
    app.serve(&mut engine);
    engine.heard.clear();
    for _ in 0..5 {
        engine.train(1);
        app.poll();
        app.serve(&mut engine);
    }
    assert_eq!(
        classified(&engine.heard).len(),
        5,
        "a fake step takes a second of training"
    );
}

#[test]
fn a_broken_engine_costs_the_run_and_a_sentence() {
    let (mut app, mut engine) = app();
    app.start(&mut engine);
    let id = app.the_run().id;
    engine.send(failed(
        id,
        Problem::Panicked {
            message: "index 3".to_owned(),
        },
    ));
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
    app.apply(Action::Start);
    assert!(app.ctx.is_training());
}

#[test]
fn an_engine_that_is_gone_is_replaced() {
    let (mut app, mut engine) = app();
    app.apply(Action::PenDown([10.0, 10.0]));
    app.start(&mut engine);
    engine.die();
    app.poll();
    assert_eq!(app.the_run().phase, Phase::Failed);
    assert_eq!(engine.engines(), 2);
    app.until(|app| app.ctx.notices.len() == 1);
    app.apply(Action::PenMove([20.0, 10.0]));
    app.serve(&mut engine);
    assert!(app.draw.prediction().is_some(), "the fresh engine reads");
    app.start(&mut engine);
    assert_eq!(app.the_run().phase, Phase::Training);
}

#[test]
fn measuring_shows_progress_and_can_be_broken_off() {
    let (mut app, mut engine) = app();
    app.apply(Action::Evaluate {
        model: ModelRef::Starter,
        data: inkling::run_config::DataSpec::builtin(),
    });
    let fraction = |app: &App| {
        app.ctx
            .jobs
            .evaluation()
            .map(|running| running.progress.fraction)
    };
    assert_eq!(fraction(&app), Some(0.0));
    app.on_event(progress(31337, 0.9));
    assert_eq!(fraction(&app), Some(0.0), "not ours");
    app.apply(Action::CancelJob(app.ctx.jobs.evaluation().unwrap().id));
    let asked = engine.listen();
    let [Command::Submit { id, ref job, .. }, Command::Cancel(ended)] = asked[..] else {
        panic!("{asked:?}")
    };
    assert!(id == ended && matches!(**job, Job::Evaluate(_)));
    app.on_event(cancelled(id));
    assert!(app.ctx.jobs.evaluation().is_none() && app.results.shown.is_none());
    app.apply(Action::Evaluate {
        model: ModelRef::Starter,
        data: inkling::run_config::DataSpec::builtin(),
    });
    app.serve(&mut engine);
    assert!(app.ctx.jobs.evaluation().is_none());
    assert_eq!(
        app.results
            .shown
            .as_ref()
            .unwrap()
            .measured
            .evaluation
            .images,
        100
    );
}

#[test]
fn the_same_problem_twice_is_one_notice() {
    let (mut app, _engine) = app();
    for _ in 0..3 {
        app.on_event(Event::Failed(Problem::NoSuchRun));
    }
    assert_eq!(app.ctx.notices.len(), 1);
    let id = app.ctx.notices[0].id;
    app.apply(Action::Dismiss(id));
    assert!(app.ctx.notices.is_empty());
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
