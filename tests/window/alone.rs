//! Each feature by itself: its state and what all features share, without the rest of the window.
//! What it wants of the engine and of other features are its requests.

use inkling::protocol::{Command, Job, Question};
use inkling::records::ModelRef;
use inkling::run_config::{DataSpec, Preset, Setting};
use inkling::window::{
    ComparisonKind, Ctx, Draw, DrawAction, Machine, MachineAction, Models, ModelsAction,
    MyDigitsAction, MyDigitsView, Request, Screen, SweepAction, Sweeps, Train, TrainAction,
};

use crate::fake_engine::{FakeEngine, app};

/// What all features share, and the fake engine with the folders that it uses.
fn ctx() -> (Ctx, FakeEngine) {
    let (app, engine) = app();
    (app.ctx, engine)
}

/// What was asked for since the last time.
fn requests(ctx: &mut Ctx) -> Vec<Request> {
    ctx.requests.drain(..).collect()
}

/// The job that was submitted, if that is all that was asked for.
#[track_caller]
fn submitted(ctx: &mut Ctx) -> Job {
    match requests(ctx).pop() {
        Some(Request::Send(command)) => match *command {
            Command::Submit { job, .. } => *job,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

fn stroke(ctx: &mut Ctx, draw: &mut Draw, mine: &mut MyDigitsView) {
    for action in [
        DrawAction::PenDown([10.0, 10.0]),
        DrawAction::PenMove([10.0, 60.0]),
        DrawAction::PenUp,
    ] {
        draw.update(ctx, mine, action);
    }
}

#[test]
fn draw_asks_for_a_drawing_to_be_read_and_again_only_when_that_is_answered() {
    let (mut ctx, _engine) = ctx();
    let (mut draw, mut mine) = (Draw::new(ctx.settings.pen), MyDigitsView::default());
    stroke(&mut ctx, &mut draw, &mut mine);
    let asked = requests(&mut ctx);
    let [Request::Send(command)] = asked.as_slice() else {
        panic!("{asked:?}")
    };
    assert!(matches!(
        &**command,
        Command::Read {
            what: Question::Drawing { .. },
            ..
        }
    ));
    stroke(&mut ctx, &mut draw, &mut mine);
    assert!(requests(&mut ctx).is_empty());
    assert!(draw.is_behind(&ctx));
    assert_eq!(draw.one.strokes().len(), 2);

    draw.update(&mut ctx, &mut mine, DrawAction::Undo);
    assert_eq!(draw.one.strokes().len(), 1);
    draw.update(&mut ctx, &mut mine, DrawAction::DrawWith(ModelRef::Starter));
    assert_eq!(ctx.screen, Screen::Draw);
}

#[test]
fn my_digits_keeps_the_drawing_and_takes_that_back() {
    let (mut ctx, _engine) = ctx();
    let (mut draw, mut mine) = (Draw::new(ctx.settings.pen), MyDigitsView::default());
    mine.update(&mut ctx, &mut draw, MyDigitsAction::Keep(Some(1)));
    assert_eq!(mine.just_kept(&draw), None, "nothing is drawn");

    stroke(&mut ctx, &mut draw, &mut mine);
    mine.update(&mut ctx, &mut draw, MyDigitsAction::Keep(Some(1)));
    assert_eq!(mine.just_kept(&draw), Some(1));
    assert!(draw.one.strokes().is_empty());

    draw.update(&mut ctx, &mut mine, DrawAction::Undo);
    assert_eq!(mine.just_kept(&draw), None);
    assert_eq!(draw.one.strokes().len(), 1, "it is on the canvas again");
}

#[test]
fn models_asks_for_results_and_evaluations() {
    let (mut ctx, _engine) = ctx();
    let mut models = Models::default();
    let folder = ctx.runs_folder().join("a run");
    models.update(&mut ctx, ModelsAction::ShowResults(folder.clone()));
    assert!(matches!(
        requests(&mut ctx).as_slice(),
        [Request::ShowResults(shown)] if *shown == folder
    ));
    models.update(
        &mut ctx,
        ModelsAction::Evaluate {
            model: ModelRef::Starter,
            data: DataSpec::builtin(),
        },
    );
    assert!(matches!(submitted(&mut ctx), Job::Evaluate(_)));
    models.update(&mut ctx, ModelsAction::ShowModel(folder));
    assert_eq!(ctx.screen, Screen::Models);
}

#[test]
fn train_changes_the_next_run_and_starts_it() {
    let (mut ctx, _engine) = ctx();
    let (mut train, mine, models) = (Train::default(), MyDigitsView::default(), Models::default());
    let others = (&mine, &models);
    train.update(&mut ctx, others, TrainAction::ApplyPreset(Preset::OneEpoch));
    let epochs = ctx.config.epochs;
    let text = (epochs + 1).to_string();
    train.update(&mut ctx, others, TrainAction::Type(Setting::Epochs, text));
    assert_eq!(ctx.config.epochs, epochs + 1);
    let text = "many".to_owned();
    train.update(&mut ctx, others, TrainAction::Type(Setting::Epochs, text));
    requests(&mut ctx);
    train.update(&mut ctx, others, TrainAction::Start);
    assert!(requests(&mut ctx).is_empty(), "a setting is no number");

    let text = epochs.to_string();
    train.update(&mut ctx, others, TrainAction::Type(Setting::Epochs, text));
    train.update(&mut ctx, others, TrainAction::Start);
    assert!(matches!(submitted(&mut ctx), Job::Train { .. }));
    assert!(ctx.is_training());
}

#[test]
fn sweeps_builds_a_definition_and_names_its_problems() {
    let (mut ctx, _engine) = ctx();
    let (mut sweeps, mut train, mine) =
        (Sweeps::default(), Train::default(), MyDigitsView::default());
    assert!(sweeps.definition(&ctx, &train, &mine).is_none());
    sweeps.update(&mut ctx, (&mut train, &mine), SweepAction::Reset);
    let (_, problems) = sweeps.definition(&ctx, &train, &mine).unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    let mut form = sweeps.form.clone().unwrap();
    form.trials = "many".to_owned();
    let change = SweepAction::Change(Box::new(form));
    sweeps.update(&mut ctx, (&mut train, &mine), change);
    sweeps.update(&mut ctx, (&mut train, &mine), SweepAction::Start);
    assert!(!ctx.is_sweeping());
}

#[test]
fn hardware_measures_one_thing_at_a_time() {
    let (mut ctx, _engine) = ctx();
    let mut machine = Machine::default();
    let compare = MachineAction::Compare(ComparisonKind::BatchSizes);
    machine.update(&mut ctx, compare.clone());
    assert!(matches!(submitted(&mut ctx), Job::Compare { .. }));
    machine.update(&mut ctx, compare);
    assert!(requests(&mut ctx).is_empty());
}
