//! Runs that broke off: offered, gone on with, forgotten; and an engine that is lost costs a
//! message.

use std::io;
use std::path::Path;

use inkling::data::Fingerprint;
use inkling::problem::Problem;
use inkling::protocol::{Command, EngineExit, Event};
use inkling::records::{Divergence, ModelRef, RunPosition};
use inkling::run_config::{DeviceChoice, ModelKind, RunConfig, WeightFormat};
use inkling::runs::Checkpoints;
use inkling::system::WriteError;
use inkling::train::{RunOrigin, RunPlaces, TrainError};
use inkling::window::{Action, App, DrawAction, Phase, Screen, TrainAction};

use crate::fake_engine::{FakeEngine, app, plan};
use crate::jobs::submitted_run;
use crate::synthetic::{square_set, train};
use crate::train::watcher::{Watcher, config, record};
use crate::window::stage::Driven;

/// After this many epochs of ten steps.
fn after(epochs: u32) -> RunPosition {
    RunPosition {
        epochs,
        steps: 0,
        steps_per_epoch: 10,
    }
}

fn killed() -> Event {
    Event::EngineExited(EngineExit::Ended {
        status: "signal: 9 (SIGKILL)".to_owned(),
        words: String::new(),
    })
}

/// A run of 3 epochs whose engine is lost in the second, with a checkpoint after the first.
fn interrupted_checkpoint() -> (App, FakeEngine) {
    let (mut app, mut engine) = app();
    app.configure(|config| config.epochs = 3);
    app.train(&mut engine, 10);
    engine.checkpoint(1, 0);
    engine.train(5);
    engine.send(killed());
    engine.run = None;
    app.until(|app| !app.ctx.notices.is_empty());
    (app, engine)
}

#[test]
fn a_run_that_is_started_as_its_engine_is_lost_does_not_train_unseen() {
    let (mut app, mut engine) = app();
    app.serve(&mut engine);
    engine.send(killed());
    engine.die();
    // What the engine said last has not been taken in yet.
    app.apply(TrainAction::Start);
    app.until(|app| !app.ctx.notices.is_empty());
    let submitted = engine
        .listen()
        .iter()
        .any(|command| submitted_run(command).is_some());
    assert_eq!(
        submitted,
        app.ctx.is_training(),
        "{:?}",
        app.train.run.as_ref().map(|run| &run.phase)
    );
    assert!(app.said("SIGKILL"), "{:?}", app.ctx.notices);
    app.apply(TrainAction::Start);
    assert!(app.ctx.is_training(), "the next start is one");
}

#[test]
fn a_lost_engine_costs_a_message_and_the_run_goes_on_when_asked() {
    let (mut app, mut engine) = interrupted_checkpoint();
    let run = app.the_run();
    assert_eq!(run.phase, Phase::Failed);
    assert_eq!(run.state(), "Interrupted; saved after epoch 1 of 3");
    assert_eq!(
        app.train.interrupted_checkpoint().map(|last| last.position),
        Some(after(1))
    );
    let said = app.last_notice();
    assert!(
        said.what.contains("SIGKILL") && said.remedy.contains("Resume"),
        "{said:?}"
    );
    assert_eq!(engine.engines(), 2, "another engine has taken its place");

    app.apply(TrainAction::ResumeInterrupted("kept".into()));
    let id = app.the_run().id;
    let asked = engine.listen();
    let Some((run, config, from)) = asked.last().and_then(submitted_run) else {
        panic!("{asked:?}")
    };
    assert_eq!(run, id);
    assert_eq!(from.map(std::path::PathBuf::as_path), Some("kept".as_ref()));
    assert_eq!(config.epochs, 3);
    // The curves end where the run goes on from, and then grow.
    app.on_event(Event::Started {
        run: id,
        plan: plan(config),
        before: vec![record(1)],
        curve: Vec::new(),
        position: after(1),
        folder: "kept".into(),
    });
    let run = app.the_run();
    assert_eq!((run.history.steps.len(), run.history.epochs.len()), (10, 1));
    assert_eq!(run.phase, Phase::Training);
    assert!(app.train.interrupted_checkpoint().is_none());
}

#[test]
fn a_run_that_was_lost_before_its_first_epoch_is_not_offered() {
    let (mut app, mut engine) = app();
    app.train(&mut engine, 3);
    engine.send(killed());
    app.until(|app| !app.ctx.notices.is_empty());
    assert!(app.train.interrupted_checkpoint().is_none());
    assert!(
        app.last_notice()
            .remedy
            .contains("before it was first saved")
    );
    app.apply(TrainAction::ResumeInterrupted("nothing".into()));
    assert!(
        engine
            .listen()
            .iter()
            .all(|command| submitted_run(command).is_none())
    );
}

#[test]
fn a_checkpoint_that_the_engine_did_not_live_to_tell_of_is_gone_on_from() {
    let (mut app, mut engine) = app();
    let mut watcher = Watcher::default();
    train(&config(ModelKind::Mlp), &square_set(120, 0), &mut watcher).unwrap();
    let mut place = Checkpoints::new(engine.home.path().join("checkpoints")).begin();
    app.apply(TrainAction::Start);
    let id = app.the_run().id;
    engine.serve();
    engine.send(Event::Started {
        run: id,
        plan: plan(&RunConfig::default()),
        before: Vec::new(),
        curve: Vec::new(),
        position: RunPosition::default(),
        folder: place.path().to_owned(),
    });
    engine.train(3);
    place.write(&watcher.checkpoints[1]).unwrap();
    let folder = place.path().to_owned();
    drop(place);
    engine.send(killed());
    app.until(|app| !app.ctx.notices.is_empty());
    assert_eq!(
        app.train
            .interrupted_checkpoint()
            .map(|last| (last.folder.clone(), last.position.epochs)),
        Some((folder.clone(), 2))
    );
    assert!(
        app.ctx.notices[0]
            .message
            .remedy
            .contains("saved after epoch 2."),
        "{:?}",
        app.ctx.notices
    );
    assert_eq!(app.train.interrupted.len(), 1);
    app.apply(TrainAction::ForgetInterrupted(folder));
    app.until(|app| app.train.interrupted.is_empty());
    assert!(
        app.train.interrupted_checkpoint().is_none(),
        "what is forgotten does not come back"
    );
}

#[test]
fn the_model_that_read_reads_again_with_the_next_engine() {
    let (mut app, mut engine) = app();
    let model = ModelRef::File("a/model.safetensors".into());
    app.apply(DrawAction::UseModel(model.clone()));
    app.serve(&mut engine);
    engine.send(killed());
    app.until(|app| !app.ctx.notices.is_empty());
    let told = engine.listen();
    assert!(
        matches!(&told[..], [Command::ChooseInferenceDevice { .. }, Command::UseModel(again)] if *again == model),
        "{told:?}"
    );
    assert!(app.last_notice().remedy.contains("nothing was lost"));
}

#[test]
fn a_run_that_went_astray_is_not_offered_again_but_one_that_could_not_be_saved_is() {
    for (problem, offered) in [
        (
            Problem::from(TrainError::Diverged {
                step: 9,
                cause: Divergence::Exploded,
            }),
            false,
        ),
        (
            Problem::from(WriteError::new(
                Path::new("runs"),
                &io::Error::other("full"),
            )),
            true,
        ),
    ] {
        let (mut app, mut engine) = app();
        app.train(&mut engine, 10);
        engine.checkpoint(1, 0);
        engine.fail(problem);
        app.poll();
        assert_eq!(app.train.interrupted_checkpoint().is_some(), offered);
    }
}

#[test]
fn a_checkpoint_that_cannot_be_written_is_said_once() {
    let (mut app, mut engine) = app();
    app.apply(TrainAction::Start);
    engine.serve();
    let run = engine.run.as_ref().unwrap().id;
    for epochs in 1..=3 {
        let kept = Err(Problem::from(WriteError::new(
            Path::new("checkpoints"),
            &io::ErrorKind::StorageFull.into(),
        )));
        engine.send(Event::Checkpoint {
            run,
            folder: "kept".into(),
            position: after(epochs),
            kept,
        });
        app.poll();
        app.ctx
            .notices
            .retain(|notice| epochs == 1 || notice.message.what.contains("nothing"));
        assert_eq!(
            app.ctx.notices.len(),
            usize::from(epochs == 1),
            "epoch {epochs}"
        );
    }
    assert!(app.the_run().checkpoint.is_none());
}

#[test]
fn interrupted_runs_of_earlier_days_are_listed_gone_on_with_and_forgotten() {
    let (mut app, mut engine) = app();
    let of = RunConfig {
        epochs: 2,
        device: DeviceChoice::Cuda,
        ..config(ModelKind::Mlp)
    };
    let mut watcher = Watcher::default();
    train(
        &RunConfig {
            device: DeviceChoice::Cpu,
            ..of.clone()
        },
        &square_set(120, 0),
        &mut watcher,
    )
    .unwrap();
    let checkpoints = Checkpoints::new(engine.home.path().join("checkpoints"));
    let mut keep = |device| {
        let mut place = checkpoints.begin();
        watcher.checkpoints[0].card.config.device = device;
        place.write(&watcher.checkpoints[0]).unwrap();
        place.path().to_owned()
    };
    let (first, second) = (keep(DeviceChoice::Cuda), keep(DeviceChoice::Cpu));
    app.apply(Action::Show(Screen::Models));
    app.until(|app| app.train.interrupted.len() == 2);

    app.apply(TrainAction::ForgetInterrupted(second));
    app.until(|app| app.train.interrupted.len() == 1);
    app.apply(TrainAction::ResumeInterrupted(first.clone()));
    assert_eq!(app.ctx.screen, Screen::Train);
    let asked = engine.listen();
    let Some((_, config, from)) = asked.last().and_then(submitted_run) else {
        panic!("nothing was started")
    };
    // The device it trained on is not there any more.
    assert_eq!(
        *config,
        RunConfig {
            device: DeviceChoice::Cpu,
            ..of
        }
    );
    assert_eq!(from, Some(&first));
    assert!(
        app.train.interrupted.is_empty(),
        "what goes on is not interrupted"
    );
}

#[test]
fn where_a_run_of_the_command_line_was_saved_is_said() {
    let (mut app, mut engine) = app();
    let mut watcher = Watcher::default();
    let set = square_set(120, 0);
    train(&config(ModelKind::Mlp), &set, &mut watcher).unwrap();
    let mut checkpoint = watcher.checkpoints.remove(0);
    let out = Some("elsewhere".into());
    let places = RunPlaces {
        working_folder: "/".into(),
        data_folders: Vec::new(),
        out,
        replace: false,
        weights: WeightFormat::F32,
    };
    checkpoint.card.origin = Some(RunOrigin {
        data: Fingerprint::of(&set),
        places,
    });
    let mut place = Checkpoints::new(engine.home.path().join("checkpoints")).begin();
    place.write(&checkpoint).unwrap();
    let folder = place.path().to_owned();
    drop(place);
    app.apply(Action::Show(Screen::Models));
    app.until(|app| app.train.interrupted.len() == 1);
    app.apply(TrainAction::ResumeInterrupted(folder));
    engine.serve();
    engine.finish();
    app.poll();
    assert!(app.said("was saved in"), "{:?}", app.ctx.notices);
}
