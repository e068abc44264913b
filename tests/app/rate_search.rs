//! The search for a learning rate: what the window knows of it.

use inkling::problem::Problem;
use inkling::protocol::{Command, Job};
use inkling::records::{RateFinding, RateSuggestion, SearchEnd};
use inkling::window::{Action, Field, RateSearchState};

use crate::fake_engine::app;
use crate::jobs::{failed, submitted};

/// A finding that suggests this.
fn finding(rate: f64) -> RateFinding {
    RateFinding {
        suggestion: Some(RateSuggestion {
            rate,
            steepest: 0.0008,
            lowest: 0.04,
        }),
        end: SearchEnd::Risen,
        steps: 150,
    }
}

#[test]
fn a_search_shows_its_steps_and_what_it_found_is_used() {
    let (mut app, mut engine) = app();
    app.apply(Action::FindLearningRate);
    engine.serve();
    app.poll();
    let asked = engine.heard.iter().find_map(submitted).expect("a job");
    assert!(
        matches!(asked.1, Job::FindLearningRate(config) if config.model == app.ctx.config.model)
    );
    let view = app.train.rate_search.as_ref().unwrap();
    assert_eq!(
        (view.search.points().len(), &view.state, view.suggested()),
        (100, &RateSearchState::Running, None)
    );
    engine.finish_search(finding(0.0031));
    app.poll();
    let view = app.train.rate_search.as_ref().unwrap();
    assert_eq!(
        (view.search.points().len(), view.suggested()),
        (150, Some(0.0031))
    );
    assert!(
        app.ctx.config.preset.is_some(),
        "nothing is changed before it is asked for"
    );
    app.apply(Action::UseLearningRate(0.0031));
    assert_eq!(
        (
            app.ctx.config.learning_rate,
            app.text(Field::LearningRate).as_str(),
            app.ctx.config.preset
        ),
        (0.0031, "0.0031", None)
    );
    assert!(app.train.rate_search.is_none());
}

#[test]
fn closing_cancels_and_what_comes_later_is_dropped() {
    let (mut app, mut engine) = app();
    app.apply(Action::FindLearningRate);
    engine.serve();
    app.poll();
    let id = app.train.rate_search.as_ref().unwrap().id;
    app.apply(Action::CloseRateSearch);
    assert!(engine.listen().contains(&Command::Cancel(id)));
    engine.finish_search(finding(0.1));
    app.poll();
    assert!(
        app.train.rate_search.is_none() && app.ctx.jobs.is_empty() && app.ctx.notices.is_empty()
    );
}

#[test]
fn a_search_that_fails_says_so_in_its_dialog_alone() {
    let (mut app, mut engine) = app();
    app.apply(Action::FindLearningRate);
    engine.serve();
    app.poll();
    let id = app.train.rate_search.as_ref().unwrap().id;
    engine.send(failed(id, Problem::NoSuchRun));
    app.poll();
    assert!(matches!(
        app.train.rate_search.as_ref().unwrap().state,
        RateSearchState::Failed(_)
    ));
    assert!(app.ctx.notices.is_empty());
}

#[test]
fn there_is_no_search_during_training_or_with_invalid_settings_but_with_an_invalid_rate() {
    let (mut app, mut engine) = app();
    app.apply(Action::Type(Field::Epochs, "0".to_owned()));
    assert!(app.why_not_find_rate().is_some());
    app.apply(Action::Type(Field::Epochs, "3".to_owned()));
    app.apply(Action::Type(Field::LearningRate, "many".to_owned()));
    assert_eq!(app.why_not_find_rate(), None);
    app.apply(Action::Type(Field::LearningRate, "0.01".to_owned()));
    app.apply(Action::Start);
    engine.serve();
    app.poll();
    app.apply(Action::FindLearningRate);
    assert!(app.why_not_find_rate().is_some() && app.train.rate_search.is_none());
}
