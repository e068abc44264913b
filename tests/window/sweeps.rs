//! Sweeps and their screen.

use std::sync::atomic::Ordering;

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use inkling::run_config::Setting;
use inkling::sweep::{Asha, SamplerKind, Sweep};
use inkling::window::{
    Action, App, Screen, SearchKind, SweepAction, SweepField, SweepPhase, SweepView, TrainAction,
};

use crate::fake_engine::{DATA_NOTE, FakeEngine, app};
use crate::window::stage::{Driven, Seen, sized};

fn shown(app: &App) -> &SweepView {
    app.sweeps.shown.as_ref().expect("a sweep")
}

fn is_complete(app: &App) -> bool {
    phase(app) == Some(SweepPhase::Complete)
}

#[test]
fn a_sweep_over_the_settings_of_the_run_panel_runs_to_its_end_and_its_best_are_used() {
    for size in [[900.0, 600.0], [1280.0, 800.0]] {
        let (mut window, _engine) = sized(size);
        window.keys(Modifiers::COMMAND, Key::Num7);
        window.get_by_label("Learning rate: from");
        let app = window.app();
        let (definition, problems) = app
            .sweeps
            .definition(&app.ctx, &app.train, &app.my_digits)
            .unwrap();
        assert_eq!(problems, []);
        assert_eq!(&definition.base, &app.ctx.config);
        assert_eq!(definition.trials, Some(30));
        assert_eq!(definition.pruner, Some(Asha::DEFAULT));
        let mut varied = definition.space.iter().map(|dimension| dimension.setting);
        assert!(varied.any(|setting| setting == Setting::LearningRate));
        window.keys(Modifiers::COMMAND, Key::Enter);
        window.until(is_complete);
        // The list of sweeps knows of it, too.
        window.until(|app| {
            app.sweeps
                .listed
                .as_ref()
                .is_some_and(|listed| listed.len() == 1)
        });
        let view = shown(window.app());
        assert_eq!((view.ends.len(), view.fraction()), (30, 1.0));
        let (steps, best) = (view.best_so_far(), view.best().unwrap().clone());
        assert_eq!(steps.last().map(|step| step[1]), best.result());
        assert!(
            steps
                .windows(2)
                .all(|pair| pair[0][1] < pair[1][1] && pair[0][0] <= pair[1][0])
        );
        assert_eq!(view.csv().lines().count(), 31);
        let sweep = Sweep::open(view.folder.as_ref().unwrap()).unwrap();
        assert!(sweep.trials() == view.trials && sweep.is_complete());
        assert_eq!(sweep.data_notes(), [DATA_NOTE], "whoever opens it sees it");
        assert!(!window.has("Sweep progress"), "it is complete");
        window.get_by_label(DATA_NOTE);
        window.get_by_label_contains("Best: 9");
        if size[0] < 1000.0 {
            window.click("Progress and importance");
        }
        window.get_by_role_and_label(Role::Figure, "Best so far");
        window.get_by_label("Importance of learning rate");
        if size[0] < 1000.0 {
            window.click("Parallel coordinates");
            window.click("Table");
        }
        let learning_rate = window.app().ctx.config.learning_rate;
        assert_ne!(best.config.learning_rate, learning_rate);
        window.click("Use these settings");
        let app = window.app();
        assert_eq!(app.ctx.screen, Screen::Train);
        assert_eq!(&app.ctx.config, &best.config);
    }
}

#[test]
fn the_table_is_sorted_and_a_selected_trial_is_used() {
    let (mut window, _engine) = sized([1280.0, 800.0]);
    window.keys(Modifiers::COMMAND, Key::Num7);
    window.get_by_label("Start the sweep").click();
    window.until(is_complete);
    window.get_by_label("Sort by rank").hover();
    window.run_steps(5);
    window.get_by_label_contains("Trials that ended early follow, however accurate they were");
    window.click("Sort by trial");
    let first = window.get_by_label_contains("Trial 1:");
    first.focus();
    window.run_steps(2);
    window.key(Key::Enter);
    assert_eq!(shown(window.app()).selected, Some(1));
    window.key(Key::ArrowDown);
    assert_eq!(shown(window.app()).selected, Some(2));
    let second = window
        .app()
        .sweeps
        .shown
        .as_ref()
        .unwrap()
        .trial(2)
        .unwrap()
        .config
        .clone();
    window.click("Use these settings");
    assert_eq!(window.app().ctx.config, second);
}

/// An app on the screen Sweep.
fn opened() -> (App, FakeEngine) {
    let (mut app, engine) = app();
    app.apply(Action::Show(Screen::Sweep));
    (app, engine)
}

fn change(app: &mut App, change: impl FnOnce(&mut inkling::window::SweepForm)) {
    let mut form = app.sweeps.form.clone().unwrap();
    change(&mut form);
    app.apply(SweepAction::Change(Box::new(form)));
}

fn phase(app: &App) -> Option<SweepPhase> {
    app.sweeps.shown.as_ref().map(|view| view.phase.clone())
}

/// A sweep that was interrupted after some trials.
fn interrupted() -> (App, FakeEngine) {
    let (mut app, engine) = opened();
    engine.trial_epochs.store(40, Ordering::Relaxed);
    app.apply(SweepAction::Start);
    app.until(|_| engine.trial_epochs.load(Ordering::Relaxed) == 0);
    app.apply(SweepAction::Pause);
    assert_eq!(phase(&app), Some(SweepPhase::Pausing));
    app.until(|app| phase(app) == Some(SweepPhase::Interrupted));
    (app, engine)
}

#[test]
fn an_interrupted_sweep_is_offered_again_and_goes_on() {
    let (mut app, engine) = interrupted();
    let before = app.sweeps.shown.clone().unwrap();
    assert!(!before.ends.is_empty() && before.ends.len() < 30);
    app.apply(SweepAction::Close);
    app.until(|app| {
        app.sweeps
            .listed
            .as_ref()
            .is_some_and(|listed| !listed.is_empty())
    });
    let entry = app.sweeps.listed.as_ref().unwrap()[0].clone();
    let card = entry.card.unwrap();
    assert!(!card.complete);
    assert_eq!(card.ended as usize, before.ends.len());
    assert_eq!(Some(&entry.folder), before.folder.as_ref());
    engine.trial_epochs.store(i64::MAX, Ordering::Relaxed);
    app.apply(SweepAction::Resume(entry.folder));
    app.until(is_complete);
    let after = shown(&app);
    assert_eq!(after.ends.len(), 30);
    assert_eq!(after.ends[..before.ends.len()], before.ends);
}

#[test]
fn a_sweep_that_is_stopped_is_complete_with_what_it_has_and_can_be_extended() {
    let (mut app, engine) = opened();
    engine.trial_epochs.store(40, Ordering::Relaxed);
    app.apply(SweepAction::Start);
    app.until(|_| engine.trial_epochs.load(Ordering::Relaxed) == 0);
    app.apply(SweepAction::Stop);
    app.until(is_complete);
    let view = shown(&app);
    let (ended, folder) = (view.ends.len(), view.folder.clone().unwrap());
    assert!(ended < 30);
    engine.trial_epochs.store(i64::MAX, Ordering::Relaxed);
    app.apply(SweepAction::Extend(folder, 5));
    app.until(is_complete);
    assert_eq!(shown(&app).ends.len(), ended + 5);
}

#[test]
fn a_run_and_a_sweep_do_not_fight_for_the_cores() {
    let (mut app, engine) = opened();
    engine.trial_epochs.store(0, Ordering::Relaxed);
    app.apply(SweepAction::Start);
    app.apply(TrainAction::Start);
    assert!(app.ctx.is_sweeping() && !app.ctx.is_training());
    assert!(app.why_not_search(SearchKind::LearningRate).is_some());
    app.close();
    assert_eq!(
        phase(&app),
        Some(SweepPhase::Interrupted),
        "closing the window interrupts it"
    );

    let (mut app, _engine) = opened();
    app.apply(TrainAction::Start);
    assert!(app.ctx.is_training() && app.ctx.why_not_sweep().is_some());
    app.apply(SweepAction::Start);
    assert!(!app.ctx.is_sweeping());
}

#[test]
fn the_best_settings_are_tested_once() {
    let (mut app, mut engine) = opened();
    app.apply(SweepAction::Start);
    app.until(is_complete);
    let best = shown(&app).best().unwrap().clone();
    app.apply(SweepAction::Test);
    assert_eq!(
        app.train.run.as_ref().map(|run| &run.config),
        Some(&best.config)
    );
    engine.serve();
    engine.finish();
    app.until(|app| {
        app.sweeps
            .shown
            .as_ref()
            .is_some_and(|view| view.tested.is_some())
    });
    let (trial, tested) = shown(&app).tested.clone().unwrap();
    assert_eq!((trial, tested.test_accuracy), (best.number, Some(0.99)));
    let run = app.the_run().id;
    app.apply(SweepAction::Test);
    assert_eq!(app.the_run().id, run, "not a second time");
}

#[test]
fn what_is_wrong_is_said_beside_its_field() {
    let (mut app, _engine) = opened();
    change(&mut app, |form| {
        let row = form
            .rows
            .iter_mut()
            .find(|row| row.setting == Setting::LearningRate)
            .unwrap();
        (row.low, row.high) = ("0.1".to_owned(), "0.001".to_owned());
        form.trials = "many".to_owned();
    });
    let fields: Vec<SweepField> = app
        .sweeps
        .definition(&app.ctx, &app.train, &app.my_digits)
        .unwrap()
        .1
        .iter()
        .map(|problem| problem.field)
        .collect();
    assert_eq!(
        fields,
        [
            SweepField::Setting(Setting::LearningRate),
            SweepField::Trials
        ]
    );
    app.apply(SweepAction::Start);
    assert!(!app.ctx.is_sweeping());
    app.apply(SweepAction::Reset);
    for (field, wrong) in [
        (SweepField::Trials, "0"),
        (SweepField::Minutes, "0"),
        (SweepField::Parallel, "1.5"),
    ] {
        let before = app.sweeps.form.clone().unwrap();
        change(&mut app, |form| match field {
            SweepField::Trials => form.trials = wrong.to_owned(),
            SweepField::Minutes => form.minutes = wrong.to_owned(),
            _ => form.parallel = wrong.to_owned(),
        });
        let fields: Vec<SweepField> = app
            .sweeps
            .definition(&app.ctx, &app.train, &app.my_digits)
            .unwrap()
            .1
            .iter()
            .map(|problem| problem.field)
            .collect();
        assert_eq!(fields, [field]);
        change(&mut app, |form| *form = before);
    }
    change(&mut app, |form| form.sampler = SamplerKind::Grid);
    let problems = app
        .sweeps
        .definition(&app.ctx, &app.train, &app.my_digits)
        .unwrap()
        .1;
    assert!(
        problems
            .iter()
            .any(|problem| problem.field == SweepField::Setting(Setting::LearningRate)),
        "a range is not a grid: {problems:?}"
    );
}

#[test]
fn ranges_follow_the_run_panel_until_they_are_changed() {
    let (mut app, _engine) = opened();
    let low = |app: &App, setting: Setting| {
        app.sweeps
            .form
            .as_ref()
            .unwrap()
            .rows
            .iter()
            .find(|row| row.setting == setting)
            .unwrap()
            .low
            .clone()
    };
    change(&mut app, |form| {
        form.rows
            .iter_mut()
            .find(|row| row.setting == Setting::WeightDecay)
            .unwrap()
            .low = "0.00002".to_owned();
    });
    let config = inkling::run_config::RunConfig {
        learning_rate: 0.5,
        weight_decay: 0.5,
        ..app.ctx.config.clone()
    };
    app.apply(TrainAction::Configure(Box::new(config)));
    app.apply(Action::Show(Screen::Sweep));
    assert_eq!(low(&app, Setting::LearningRate), "0.05");
    assert_eq!(low(&app, Setting::WeightDecay), "0.00002");
}

#[test]
fn a_deleted_sweep_can_be_restored() {
    let (mut app, _engine) = interrupted();
    let folder = shown(&app).folder.clone().unwrap();
    app.apply(SweepAction::Delete(folder.clone()));
    app.until(|app| app.sweeps.listed.as_ref().is_some_and(Vec::is_empty) && !folder.exists());
    app.until(|app| app.ctx.notices.iter().any(|notice| notice.offer.is_some()));
    let offer = app
        .ctx
        .notices
        .iter()
        .find_map(|notice| notice.offer.clone())
        .unwrap();
    app.apply(offer.action);
    app.until(|app| {
        app.sweeps
            .listed
            .as_ref()
            .is_some_and(|listed| listed.len() == 1)
    });
    assert!(folder.exists());
}

#[test]
fn trials_in_progress_stand_above_those_that_have_ended() {
    let (mut window, engine) = sized([1280.0, 800.0]);
    window.keys(Modifiers::COMMAND, Key::Num7);
    engine.trial_epochs.store(40, Ordering::Relaxed);
    window.keys(Modifiers::COMMAND, Key::Enter);
    window.until(|_| engine.trial_epochs.load(Ordering::Relaxed) <= 0);
    window.run_steps(3);
    let top = |ending: &str| {
        let rows = window.query_all_by_label_contains(ending);
        let tops = rows.map(|row| row.rect().top());
        tops.fold(f32::INFINITY, f32::min)
    };
    assert!(top(", not ended") < top(", completed"));
    let retrain = "Retrain best and test";
    assert!(!window.has(retrain));
    window.act(SweepAction::Stop);
    window.until(is_complete);
    window.get_by_label(retrain);
}
