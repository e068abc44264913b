//! What a run makes of its held-out images, as the window knows it.

use inkling::nn::parameter_count;
use inkling::protocol::Event;
use inkling::records::{JobId, ModelInfo, ModelRef};
use inkling::run_config::{Activation, ModelKind, Preset, RunConfig};
use inkling::window::{Action, App, ClassCount, Field, blocks};

use crate::fake_engine::{FakeEngine, app, held_out, learning, starter};

fn training() -> (App, FakeEngine) {
    let (mut app, mut engine) = app();
    app.apply(Action::Start);
    engine.serve();
    app.poll();
    (app, engine)
}

#[test]
fn images_wait_for_answers_and_then_follow_the_run() {
    let (mut app, mut engine) = training();
    let total = |app: &App| app.learning().unwrap().total();
    assert_eq!(total(&app), "not classified yet");
    assert_eq!(
        app.learning().unwrap().sentence(44),
        "True digit 4: not classified yet."
    );
    engine.train(4);
    app.poll();
    let seen = app.learning().unwrap();
    assert_eq!(seen.total(), "40 of 100 correct");
    assert_eq!(
        seen.by_class()[3..5],
        [
            ClassCount {
                correct: 10,
                images: 10
            },
            ClassCount {
                correct: 0,
                images: 10
            }
        ]
    );
    assert_eq!(
        seen.sentence(39),
        "True digit 3: recognised as 3, 62 % sure."
    );
    assert_eq!(
        seen.sentence(44),
        "True digit 4: recognised as 5, 62 % sure. Probability of 4: 30 %."
    );
    assert_eq!(seen.sentence(100), "");
    assert_eq!(
        seen.layer_sentence().unwrap(),
        "First layer at step 4: 2 kernels of 5 × 5 weights."
    );
    // They stay as they were when the run has ended.
    engine.finish();
    app.poll();
    assert!(!app.is_training());
    assert_eq!(total(&app), "100 of 100 correct");
}

#[test]
fn what_belongs_to_another_run_is_dropped() {
    let (mut app, mut engine) = training();
    engine.train(2);
    app.poll();
    let other = JobId(999);
    app.on_event(Event::HeldOut {
        run: other,
        images: held_out(),
    });
    app.on_event(Event::Learning {
        run: other,
        snapshot: learning(9, 90),
    });
    assert_eq!(app.learning().unwrap().total(), "20 of 100 correct");
    engine.finish();
    app.poll();
    app.apply(Action::Start);
    assert!(app.learning().is_none(), "the next run has its own images");
}

#[test]
fn a_drawing_is_recognised_anew_several_times_a_second_of_training() {
    let (mut app, mut engine) = training();
    let run = app.train.run.as_ref().unwrap().id;
    app.apply(Action::PenDown([50.0, 50.0]));
    app.apply(Action::PenMove([50.0, 200.0]));
    engine.send(Event::ModelInUse(ModelInfo {
        reference: ModelRef::Training(run),
        ..starter()
    }));
    app.poll();
    engine.serve();
    app.poll();
    let mut asked = 0;
    for tenth in 1..=20 {
        let now = inkling::records::Telemetry {
            elapsed_seconds: tenth as f32 / 10.0,
            ..Default::default()
        };
        app.on_event(Event::Steps {
            run,
            steps: Vec::new(),
            now,
        });
        engine.heard.clear();
        engine.serve();
        asked += engine.heard.len();
        app.poll();
    }
    assert!((8..=10).contains(&asked), "{asked} times in two seconds");
}

#[test]
fn the_blocks_of_every_network_hold_all_its_parameters() {
    for model in ModelKind::ALL {
        let blocks = blocks(*model, Activation::Gelu, 10);
        assert_eq!(
            blocks.iter().map(|block| block.parameters).sum::<u64>(),
            parameter_count(*model, 10),
            "{model}"
        );
        let fewest = match model {
            ModelKind::Linear => 1,
            ModelKind::MlpSmall => 2,
            _ => 3,
        };
        assert!(
            (fewest..=12).contains(&blocks.len()),
            "{model}: {}",
            blocks.len()
        );
        assert!(
            blocks.iter().all(|block| !block.details.is_empty()),
            "{model}"
        );
    }
}

#[test]
fn samples_of_the_chosen_data_are_shown_before_the_first_run() {
    let (mut app, mut engine) = app();
    app.apply(Action::Configure(Box::new(RunConfig {
        epochs: 2,
        batch_size: 100,
        ..RunConfig::default()
    })));
    app.start_discovery();
    super::wait_for(&mut app, |app| app.samples().is_some());
    assert_eq!(app.samples().unwrap().images.len(), 40);
    let outline = app.run_outline();
    assert_eq!(
        outline[0],
        "2 epochs over 55,000 images, 100 images a step: 1,100 steps."
    );
    assert_eq!(
        outline[1],
        "5,000 held-out images measure it after each epoch, 10,000 test images once at the end."
    );
    // Of settings that cannot be there is no plan, but what is wrong with them.
    app.apply(Action::Type(Field::Epochs, "999999999".to_owned()));
    app.apply(Action::Type(Field::BatchSize, "abc".to_owned()));
    let outline = app.run_outline().join(" ");
    assert!(
        !outline.contains("steps") && outline.contains("“abc” is not valid for the batch size."),
        "{outline}"
    );
    assert!(
        outline.contains("The number of epochs is out of range (got 999999999)."),
        "{outline}"
    );
    app.apply(Action::ApplyPreset(Preset::OneEpoch));
    // What cannot be loaded has none; Start says why.
    let data = "no/such/folder".parse().unwrap();
    app.apply(Action::Configure(Box::new(RunConfig {
        data,
        ..RunConfig::default()
    })));
    app.poll();
    assert!(app.samples().is_none());
    engine.serve();
}

/// Class folders with one file of this content each.
fn class_folders(names: &[&str], content: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        std::fs::create_dir(folder.path().join(name)).unwrap();
        std::fs::write(folder.path().join(name).join("1.png"), content).unwrap();
    }
    folder
}

#[test]
fn a_persons_own_data_is_looked_at_before_it_is_trained_on() {
    let (mut app, _engine) = app();
    app.start_discovery();
    let choose = |app: &mut App, folder: &tempfile::TempDir| {
        let data = folder.path().display().to_string().parse().unwrap();
        app.apply(Action::Configure(Box::new(RunConfig {
            data,
            ..RunConfig::default()
        })));
        assert_eq!(app.data_classes().len(), 10, "not known yet");
        app.poll();
        assert!(app.is_looking_at_data());
    };
    let image = inkling::ink::Image::new(std::array::from_fn(|place| (place % 251) as u8));
    let shapes = class_folders(&["line", "ring", "star"], &image.to_png());
    choose(&mut app, &shapes);
    super::wait_for(&mut app, |app| app.samples().is_some());
    assert!(!app.is_looking_at_data());
    assert_eq!(
        app.data_classes().names().collect::<Vec<_>>(),
        ["line", "ring", "star"]
    );
    // Images that cannot be read are named beside the field, before Start.
    let damaged = class_folders(&["line", "ring"], b"no image");
    choose(&mut app, &damaged);
    super::wait_for(&mut app, |app| !app.validation_errors().is_empty());
    let said = app.validation_errors().remove(0);
    assert!(
        said.field == Field::Data && said.message.what.contains("1.png"),
        "{}",
        said.message.what
    );
    assert!(!app.is_looking_at_data() && app.samples().is_none());
    // Once it is mended, it can be trained on.
    for name in ["line", "ring"] {
        std::fs::write(damaged.path().join(name).join("1.png"), image.to_png()).unwrap();
    }
    app.apply(Action::Configure(Box::new(RunConfig {
        epochs: 3,
        ..app.ctx.config.clone()
    })));
    super::wait_for(&mut app, |app| {
        app.validation_errors().is_empty() && app.samples().is_some()
    });
    assert_eq!(app.data_classes().len(), 2);
}
