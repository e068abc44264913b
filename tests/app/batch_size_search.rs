//! The search for a batch size: what the window knows of it.

use inkling::problem::Problem;
use inkling::protocol::{Command, Job};
use inkling::records::{BatchSizeSpec, JobId};
use inkling::window::{Action, App, BatchSizeSearchState, BatchSizeSearchView, Field};

use crate::fake_engine::app;
use crate::jobs::{failed, submitted};

fn view(app: &App) -> &BatchSizeSearchView {
    app.train
        .batch_size_search
        .as_ref()
        .expect("the dialog is open")
}

fn job(app: &App) -> JobId {
    let BatchSizeSearchState::Running(id) = view(app).state else {
        panic!("{:?}", view(app).state)
    };
    id
}

#[test]
fn a_search_shows_its_times_and_what_it_found_is_used() {
    let (mut app, mut engine) = app();
    app.apply(Action::OpenBatchSizeSearch);
    assert_eq!(
        (
            &view(&app).state,
            view(&app).accuracy(),
            view(&app).batch_sizes().len()
        ),
        (&BatchSizeSearchState::Ready, Some(0.95), 6)
    );
    app.apply(Action::TypeTargetAccuracy("98,5 %".to_owned()));
    app.apply(Action::FindBatchSize);
    engine.serve();
    app.poll();
    let asked = engine.heard.iter().find_map(submitted).expect("a job");
    assert!(
        matches!(asked.1, Job::FindBatchSize(BatchSizeSpec { accuracy, .. }) if (accuracy - 0.985).abs() < 1e-9)
    );
    assert_eq!((view(&app).rows.len(), view(&app).recommended()), (1, None));
    let config = view(&app).config.clone();
    engine.finish_batch_size_search(&config);
    app.poll();
    assert_eq!(
        (
            view(&app).rows.len(),
            view(&app).recommended(),
            view(&app).next()
        ),
        (6, Some(256), None)
    );
    assert!(
        app.ctx.config.preset.is_some(),
        "nothing is changed before it is asked for"
    );
    let row = view(&app)
        .rows
        .iter()
        .copied()
        .find(|row| row.batch_size == 256)
        .unwrap();
    app.apply(Action::UseBatchSize(row));
    assert_eq!(
        (
            app.ctx.config.batch_size,
            app.text(Field::BatchSize).as_str(),
            app.ctx.config.preset
        ),
        (256, "256", None)
    );
    assert_eq!(app.ctx.config.learning_rate, row.learning_rate);
    assert!(app.train.batch_size_search.is_none());
}

#[test]
fn an_accuracy_that_cannot_be_starts_nothing() {
    let (mut app, mut engine) = app();
    app.apply(Action::OpenBatchSizeSearch);
    for text in ["", "high", "100", "19", "nan"] {
        app.apply(Action::TypeTargetAccuracy(text.to_owned()));
        assert_eq!(view(&app).accuracy(), None, "{text}");
        app.apply(Action::FindBatchSize);
        assert_eq!(view(&app).state, BatchSizeSearchState::Ready);
    }
    engine.serve();
    assert!(
        !engine
            .heard
            .iter()
            .filter_map(submitted)
            .any(|(_, job)| matches!(job, Job::FindBatchSize(_)))
    );
}

#[test]
fn it_can_be_cancelled_and_started_again_and_closing_cancels() {
    let (mut app, mut engine) = app();
    app.apply(Action::OpenBatchSizeSearch);
    app.apply(Action::FindBatchSize);
    engine.serve();
    app.poll();
    let first = job(&app);
    app.apply(Action::CancelBatchSizeSearch);
    assert!(engine.listen().contains(&Command::Cancel(first)));
    engine.send(inkling::protocol::Event::Job {
        id: first,
        event: inkling::protocol::JobEvent::Cancelled,
    });
    app.poll();
    assert_eq!(view(&app).state, BatchSizeSearchState::Cancelled);
    app.apply(Action::FindBatchSize);
    engine.serve();
    app.poll();
    let second = job(&app);
    assert!(second != first && view(&app).rows.len() == 1);
    app.apply(Action::CloseBatchSizeSearch);
    assert!(engine.listen().contains(&Command::Cancel(second)));
    let config = app.ctx.config.clone();
    engine.finish_batch_size_search(&config);
    app.poll();
    assert!(
        app.train.batch_size_search.is_none()
            && app.ctx.jobs.is_empty()
            && app.ctx.notices.is_empty()
    );
}

#[test]
fn a_search_that_fails_says_so_in_its_dialog_alone() {
    let (mut app, mut engine) = app();
    app.apply(Action::OpenBatchSizeSearch);
    app.apply(Action::FindBatchSize);
    engine.serve();
    app.poll();
    engine.send(failed(job(&app), Problem::NoSuchRun));
    app.poll();
    assert!(matches!(view(&app).state, BatchSizeSearchState::Failed(_)));
    assert!(app.ctx.notices.is_empty());
}
