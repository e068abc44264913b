//! Closing the window during training, and the offer to resume at the next start.

use eframe::egui::{Key, ViewportEvent, ViewportId};
use egui_kittest::kittest::Queryable;
use inkling::protocol::{Command, EngineError, Event, JobResult};
use inkling::records::RunPosition;
use inkling::run_config::RunConfig;
use inkling::window::Phase;

use crate::fake_engine::{FakeEngine, summary};
use crate::jobs::{cancelled, done, submitted_run};
use crate::train::watcher::record;
use crate::window::stage::{Driven, Seen, Window, sized, usual};

fn training(size: [f32; 2], steps: u64) -> (Window, FakeEngine) {
    let (mut window, mut engine) = sized(size);
    window.train(&mut engine, steps);
    engine.heard.clear();
    (window, engine)
}

/// Somebody closes the window.
fn close(window: &mut Window) {
    window
        .input_mut()
        .viewports
        .entry(ViewportId::ROOT)
        .or_default()
        .events
        .push(ViewportEvent::Close);
    window.run_steps(2);
    window
        .input_mut()
        .viewports
        .entry(ViewportId::ROOT)
        .or_default()
        .events
        .clear();
    window.run_steps(2);
}

#[test]
fn a_run_is_resumed_next_time_or_stopped_or_goes_on() {
    for size in [[900.0, 600.0], [1280.0, 800.0]] {
        for button in ["Resume next time", "Stop and save", "Keep training"] {
            let (mut window, mut engine) = training(size, 12);
            let id = window.the_run().id;
            close(&mut window);
            window.get_by_label("Training is in progress");
            window.click(button);
            let asked = match button {
                "Resume next time" => vec![Command::Interrupt],
                "Stop and save" => vec![Command::Cancel(id)],
                _ => Vec::new(),
            };
            assert_eq!(engine.listen(), asked, "{button}");
        }
    }
}

#[test]
fn before_the_first_epoch_is_complete_there_is_nothing_to_save() {
    let (mut window, _engine) = training([900.0, 600.0], 3);
    close(&mut window);
    window.get_by_label("Resume next time");
    assert!(!window.has("Stop and save"));
    window.key(Key::Escape);
    assert!(!window.has("Resume next time") && window.app().ctx.is_training());
}

#[test]
fn a_run_that_was_stopped_in_its_first_epoch_is_offered() {
    let (mut window, mut engine) = usual();
    window.train(&mut engine, 3);
    let id = window.the_run().id;
    window.get_by_label_contains("if you stop now, there is no model, but you can resume the run");
    window.click("Stop");
    engine.checkpoint(0, 3);
    engine.send(cancelled(id));
    window.settle();
    assert_eq!(window.the_run().phase, Phase::Discarded);
    assert!(window.mentions("Stopped, epoch 1 of"));
    assert!(
        window.app().ctx.notices.is_empty(),
        "it is said once, above the curves"
    );
    window.get_by_label_contains(
        "No epoch was complete, so there is no model yet. It was saved after step 3 of epoch 1 of",
    );
    window.click("Resume in epoch 1");
    assert!(window.app().ctx.is_training());
}

#[test]
fn an_interrupted_run_with_an_epoch_can_be_saved_as_a_model() {
    let (mut window, mut engine) = training([1280.0, 800.0], 12);
    engine.checkpoint(1, 0);
    let checkpoint = Some("kept".into());
    engine.fail(EngineError::Interrupted { checkpoint });
    window.settle();
    engine.listen();
    window.click("Save as a model");
    let run = window.the_run();
    assert_eq!(run.phase, Phase::Stopping);
    let id = run.id;
    assert!(window.mentions("Preparing the data to save the model"));
    let asked = engine.listen();
    let [.., submit, Command::Cancel(stopped)] = asked.as_slice() else {
        panic!("{asked:?}")
    };
    let (run, _, from) = submitted_run(submit).expect("a run");
    assert_eq!((run, *stopped), (id, id));
    assert_eq!(from, Some(&"kept".into()));
    assert!(window.app().train.queue.is_empty());
    let of = summary(&RunConfig::default(), vec![record(1)], true);
    engine.send(done(id, JobResult::Train(of)));
    window.settle();
    assert!(matches!(window.the_run().phase, Phase::Finished(_)));
    assert!(window.app().train.interrupted_checkpoint().is_none());
}

#[test]
fn a_run_that_is_not_saved_and_has_no_checkpoint_is_not_offered_for_later() {
    let position = RunPosition {
        epochs: 3,
        steps: 0,
        steps_per_epoch: 10,
    };
    for (checkpoint, offered, other) in [
        (None, "Save what fits", "Resume next time"),
        (Some(position), "Resume next time", "Save what fits"),
    ] {
        let (mut window, engine) = training([1280.0, 800.0], 12);
        let run = window.the_run().id;
        engine.send(Event::NotSaved {
            run,
            problem: EngineError::Busy.into(),
            checkpoint,
        });
        window.run_steps(3);
        assert_eq!(
            window.has("Save what fits"),
            checkpoint.is_none(),
            "instead of Stop"
        );
        close(&mut window);
        window.get_by_label("The run is not saved yet");
        assert_eq!(
            window.query_all_by_label(other).count(),
            0,
            "{checkpoint:?}"
        );
        let button = window
            .get_all_by_label(offered)
            .last()
            .expect("it is offered");
        button.click();
        window.run_steps(3);
        assert!(!window.has("The run is not saved yet"));
    }
}
