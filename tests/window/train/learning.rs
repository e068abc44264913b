//! The validation images, the first layer, the panel they are in, and what is shown there of the
//! next run.

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use inkling::ink::{Image, PIXELS};
use inkling::nn::parameter_count;
use inkling::protocol::{Event, JobEvent, JobProgress};
use inkling::records::{
    FilterImages, InitializationReport, LayerVariance, ModelInfo, ModelRef, Normalization,
    PatchComponents,
};
use inkling::run_config::{Initialization, ModelKind, Preset, RunConfig, Setting};
use inkling::settings::Settings;
use inkling::text::format::grouped;
use inkling::window::style::Motion;
use inkling::window::train::view::learning::wave;
use inkling::window::{App, DrawAction, TrainAction};

use crate::fake_engine::{Answers, FakeEngine, app, app_with, starter};
use crate::window::stage::{Driven, Seen, Window, open, sized, usual};

/// A window with a run after this many steps.
fn training(steps: u64) -> (Window, FakeEngine) {
    let (mut window, mut engine) = usual();
    window.train(&mut engine, steps);
    (window, engine)
}

#[test]
fn before_a_run_it_is_said_what_will_be_shown() {
    let (window, _engine) = usual();
    window.get_by_label_contains("During a run, 100 validation images");
    assert!(!window.has("Validation images"));
}

#[test]
fn images_wait_for_answers_follow_the_run_and_a_click_tells_more() {
    let (mut window, mut engine) = training(0);
    assert_eq!(window.value("Validation images"), "not classified yet");
    let waiting = window.get_all_by_label("True digit 4: not classified yet.");
    assert_eq!(waiting.count(), 10);
    engine.train(4);
    window.settle();
    assert_eq!(window.value("Validation images"), "40 of 100 correct");
    assert_eq!(window.value("Validation images of a 3"), "10 of 10 correct");
    assert_eq!(window.value("Validation images of a 4"), "0 of 10 correct");
    let wrong = "True digit 4: recognized as 5, 62% sure. Probability of 4: 30%.";
    assert_eq!(window.get_all_by_label(wrong).count(), 10);
    window.get_all_by_label(wrong).next().unwrap().click();
    window.settle();
    let told = window.get_all_by_label(wrong).count();
    assert_eq!(told, 11, "also below the images");
    let bars = window.has("Validation images of a 3");
    assert!(!bars, "the image is enlarged in their place");
    // The sentence follows the run.
    engine.train(1);
    window.settle();
    let right = "True digit 4: recognized as 4, 62% sure.";
    assert_eq!(window.get_all_by_label(right).count(), 11);
    // They stay as they were when the run has ended.
    engine.finish();
    window.settle();
    assert!(!window.app().ctx.is_training());
    assert_eq!(window.value("Validation images"), "100 of 100 correct");
}

#[test]
fn images_can_be_chosen_by_keys() {
    let (mut window, _engine) = training(4);
    window.focus("Validation images");
    for key in [
        Key::ArrowRight,
        Key::ArrowDown,
        Key::ArrowDown,
        Key::ArrowDown,
        Key::ArrowDown,
    ] {
        window.key(key);
    }
    let sentence = "True digit 4: recognized as 5, 62% sure. Probability of 4: 30%.";
    assert_eq!(window.get_all_by_label(sentence).count(), 11);
    window.key(Key::Escape);
    assert_eq!(window.get_all_by_label(sentence).count(), 10);
}

#[test]
fn the_first_layer_is_shown_instead() {
    let (mut window, _engine) = training(2);
    window.click("Filters");
    assert_eq!(
        window.value("First layer"),
        "First layer at step 2: 2 filters of 5 × 5 weights."
    );
    assert!(!window.has("Validation images"));
    window.click("Images");
    window.get_by_label("Validation images");
}

#[test]
fn the_panel_can_be_folded_away_and_stays_so() {
    let (mut window, _engine) = usual();
    window.click("Hide side panel");
    assert!(!window.has("Drawing canvas"));
    let settings = window.app().ctx.settings.clone();
    assert_eq!(
        Settings::from_json(&serde_json::to_vec(&settings).unwrap()).unwrap(),
        settings
    );
    let (app, _engine) = app_with(settings, Answers::default());
    let mut window = open(app, [1280.0, 800.0]);
    assert!(!window.has("Drawing canvas"));
    window.click("Show side panel");
    window.get_by_label("Drawing canvas");
}

#[test]
fn nothing_moves_when_a_run_begins() {
    let place = |window: &Window| window.rect("Drawing canvas");
    let (window, _engine) = usual();
    let (running, _engine) = training(3);
    assert_eq!(place(&window), place(&running));
    // The whole panel is seen without scrolling.
    let bottom = running.get_by_label("Validation images").rect().bottom();
    assert!(bottom < 760.0, "{bottom}");
    let (narrow, _engine) = sized([900.0, 600.0]);
    assert!(narrow.query_by_label("Drawing canvas").is_none());
}

/// Windows of many sizes, and of 1280 by 800 at a zoom of 125% and 150%, in points.
const SIZES: [[f32; 2]; 7] = [
    [900.0, 600.0],
    [1000.0, 700.0],
    [1100.0, 700.0],
    [1280.0, 800.0],
    [1440.0, 900.0],
    [1920.0, 1080.0],
    [1280.0 / 1.25, 800.0 / 1.25],
];

#[test]
fn the_tools_and_the_fold_button_lie_apart_in_one_row() {
    for size in SIZES.into_iter().chain([[1280.0 / 1.5, 800.0 / 1.5]]) {
        let (mut window, _engine) = sized(size);
        if !window.has("Drawing canvas") {
            window.click("Show side panel");
        }
        let place = |name| window.rect(name);
        let tools = ["Undo", "Redo", "Eraser", "Clear"].map(place);
        let canvas = place("Drawing canvas");
        for tool in tools {
            assert!(
                !tool.expand(1.0).intersects(place("Hide side panel")),
                "{size:?}: {tool:?} lies under the button that folds the panel"
            );
            assert!(
                (tool.center().y - tools[0].center().y).abs() < 1.0,
                "{size:?}: the tools are in one row: {tools:?}"
            );
            assert!(tool.bottom() <= canvas.top(), "{size:?}");
        }
        assert!(
            canvas.width() >= 120.0 && canvas.right() < size[0] && canvas.bottom() < size[1],
            "{size:?}: {canvas:?}"
        );
    }
}

#[test]
fn in_a_narrow_window_the_canvas_and_the_images_take_the_place_of_the_plots() {
    let (mut window, mut engine) = sized([900.0, 600.0]);
    window.train(&mut engine, 4);
    window.click("Show side panel");
    let bottom = window.rect("Monitor").top();
    for shown in ["Drawing canvas", "Probability of 3", "Validation images"] {
        assert!(
            window.rect(shown).bottom() < bottom,
            "{shown} is seen whole"
        );
    }
    // The settings and the buttons of the run stay.
    window.get_by_label("Pause");
    assert!(
        window.app().ctx.settings.side_panel,
        "in a wide window it is as it was"
    );
    window.click("Hide side panel");
    assert!(!window.has("Drawing canvas"));
    for shown in [true, false] {
        window.keys(Modifiers::COMMAND | Modifiers::SHIFT, Key::D);
        assert_eq!(window.has("Drawing canvas"), shown);
    }
}

#[test]
fn before_the_first_run_its_data_network_and_plan_are_shown() {
    for size in [[900.0, 600.0], [1280.0, 800.0]] {
        let (mut window, _engine) = sized(size);
        window.configure(|config| (config.epochs, config.batch_size) = (2, 100));
        window.until(|app| app.train.samples(&app.ctx).is_some());
        assert_eq!(
            window
                .app()
                .train
                .samples(&window.app().ctx)
                .unwrap()
                .images
                .len(),
            40
        );
        window.get_by_label("Your next run");
        window.get_by_label("Samples of Built-in digits");
        let parameters = grouped(parameter_count(window.app().ctx.config.model, 10));
        window.get_by_label_contains(&format!("{parameters} parameters, "));
        for plan in [
            "2 epochs over 55,000 images, 100 images a step: 1,100 steps.",
            "Validated on 5,000 images after each epoch, tested on 10,000 at the end.",
        ] {
            window.get_by_label_contains(plan);
        }
        // Of settings that cannot be there is no plan, but what is wrong with them.
        window.apply(TrainAction::Type(Setting::Epochs, "999999999".to_owned()));
        window.act(TrainAction::Type(Setting::BatchSize, "abc".to_owned()));
        let outline = window.app().run_outline().join(" ");
        for problem in [
            "“abc” is not valid for the batch size.",
            "The number of epochs is out of range (got 999999999).",
        ] {
            assert!(outline.contains(problem), "{outline}");
        }
        assert!(!window.shows("images a step"), "{outline}");
        // What cannot be loaded has no samples; Start says why.
        window.apply(TrainAction::ApplyPreset(Preset::OneEpoch));
        window.configure(|config| config.data = "no/such/folder".parse().unwrap());
        assert!(window.app().train.samples(&window.app().ctx).is_none());
    }
}

#[test]
fn what_may_be_wrong_with_the_data_is_seen_before_training() {
    let folder = tempfile::tempdir().unwrap();
    crate::support::write_idx_set(folder.path(), 40, 20);
    for kind in ["images-idx3", "labels-idx1"] {
        let name = |part: &str| folder.path().join(format!("{part}-{kind}-ubyte"));
        std::fs::copy(name("train"), name("t10k")).unwrap();
    }
    let (mut window, mut engine) = sized([1280.0, 800.0]);
    let data = folder.path().display().to_string().parse().unwrap();
    window.configure(|config| config.data = data);
    window.until(|app| {
        app.train
            .samples(&app.ctx)
            .is_some_and(|samples| samples.overview.is_some())
    });
    window.get_by_label("40 training images, 4 of each class.");
    window.get_by_label_contains("40 test images are also in the training images.");
    window.get_by_role_and_label(Role::Image, "Test image 3 (from 0), labeled 3");
    // Beside a run there is no room for the images.
    window.start(&mut engine);
    assert!(!window.has("40 training images, 4 of each class."));
    window.get_by_label_contains("40 test images are also in the training images.");
}

#[test]
fn what_a_run_starts_from_is_shown_where_that_are_statistics() {
    let (mut window, mut engine) = usual();
    window.get_by_label("More settings").click_accesskit();
    window.run_steps(30);
    window
        .get_by_role_and_label(Role::ComboBox, "Initialization")
        .click_accesskit();
    window.run_steps(3);
    window.activate("PCA (principal components)");
    assert_eq!(window.app().ctx.config.initialization, Initialization::Pca);
    window.get_by_label_contains("Initialization: PCA");
    window.train(&mut engine, 4);
    assert!(!window.has("At the start"), "not known yet");
    let run = window.the_run().id;
    engine.send(Event::Initialized {
        run,
        report: initialization(),
    });
    window.run_steps(3);
    window.click("At the start");
    window.get_by_role_and_label(Role::Image, "Principal components");
    assert_eq!(
        window.value("Variance explained by each component"),
        "Principal components of 4,096 patches of 3 x 3 pixels: 3 of 9 explain 75.0% of the variance."
    );
    window.get_by_label("conv1");
    window.get_by_label("0.250");
    window.get_by_label("Before the first step: PCA on 256 training images, in 0.12 s.");
    // It stays with the run, and goes with it.
    engine.finish();
    window.run_steps(4);
    window.get_by_role_and_label(Role::Image, "Principal components");
    window.apply(TrainAction::Configure(Box::default()));
    window.start(&mut engine);
    assert!(
        !window.has("At the start")
            && window.query_all_by_label("Principal components").count() == 0
    );
}

fn initialization() -> InitializationReport {
    let explained = vec![0.4, 0.2, 0.15, 0.1, 0.05, 0.04, 0.03, 0.02, 0.01];
    let images = FilterImages::of(
        3,
        3,
        &[0.1, -0.2, 0.3, 0.4, -0.5, 0.6, 0.7, -0.8, 0.9].repeat(9),
    );
    InitializationReport {
        method: Initialization::Pca,
        seconds: 0.12,
        images: 256,
        normalization: Normalization::MNIST,
        extremes: [0, 255],
        layers: vec![LayerVariance {
            layer: "conv1".to_owned(),
            before: 0.25,
            after: 1.0,
        }],
        components: Some(PatchComponents {
            samples: 4096,
            side: 3,
            explained,
            images,
        }),
    }
}

#[test]
fn the_next_run_is_seen_beside_a_run_that_there_is_and_follows_what_is_typed() {
    let (mut window, mut engine) = training(12);
    assert!(!window.has("Your next run"));
    window.click("Next run");
    window.get_by_label("Your next run");
    window.get_by_label_contains("Add it to the queue");
    window.until(|app| app.train.samples(&app.ctx).is_some());
    window.get_by_label("Samples of Built-in digits");
    window.configure(|config| config.model = ModelKind::Cnn);
    window.act(TrainAction::Type(
        Setting::Layers,
        "16C5-MP2-32C3-MP2-64".to_owned(),
    ));
    let parameters = grouped(parameter_count(window.app().ctx.config.network(), 10));
    window.get_by_label_contains(&format!("{parameters} parameters, "));
    assert_eq!(window.get_all_by_label("Convolution").count(), 2);
    // What is being prepared stays in view when a run of the queue begins, and goes when the person
    // starts it.
    window.apply(TrainAction::QueueRun);
    engine.finish();
    window.run_steps(3);
    window.serve(&mut engine);
    assert!(window.app().ctx.is_training());
    window.get_by_label("Your next run");
    window
        .get_by_role_and_label(Role::Button, "This run")
        .click();
    window.run_steps(3);
    assert!(!window.has("Your next run"));
}

#[test]
fn keys_switch_between_this_run_and_the_next_and_a_start_shows_the_run() {
    let (mut window, mut engine) = training(12);
    engine.finish();
    window.run_steps(3);
    for shown in [true, false, true] {
        window.keys(Modifiers::COMMAND | Modifiers::SHIFT, Key::N);
        assert_eq!(window.has("Your next run"), shown);
    }
    window.get_by_label_contains("Press Start");
    window.keys(Modifiers::COMMAND, Key::Enter);
    window.serve(&mut engine);
    assert!(!window.has("Your next run") && window.app().ctx.is_training());
}

#[test]
fn while_its_data_is_prepared_the_images_of_a_run_are_shown() {
    let (mut window, engine) = usual();
    window.act(TrainAction::Start);
    let run = window.the_run().id;
    assert!(
        !window.has("Images of Built-in digits"),
        "there are none yet"
    );
    let images = |count: usize| Event::DataImages {
        run,
        images: vec![Image::new([200; PIXELS]); count],
    };
    engine.send(images(20));
    window.run_steps(3);
    assert_eq!(window.value("Images of Built-in digits"), "20");
    let slowed = JobProgress {
        fraction: 0.3,
        background_load: 0.9,
        ..JobProgress::default()
    };
    engine.send(Event::Job {
        id: run,
        event: JobEvent::Progress(slowed),
    });
    window.run_steps(3);
    window.get_by_label("Other programs used 90% of the CPU. That slows this down.");
    engine.send(images(90));
    engine.send(crate::jobs::progress(run.0, 1.0));
    window.run_steps(3);
    assert_eq!(
        window.value("Images of Built-in digits"),
        "100",
        "the newest take the places of the oldest"
    );
    window
        .get_all_by_label("Starting the run")
        .next()
        .expect("what is done now that the data is ready");
    assert_eq!(window.the_run().data_images.count, 110);
}

#[test]
fn a_drawing_is_recognized_anew_several_times_a_second_of_training() {
    let (mut app, mut engine) = app();
    app.start(&mut engine);
    let run = app.the_run().id;
    app.apply(DrawAction::PenDown([50.0, 50.0]));
    app.apply(DrawAction::PenMove([50.0, 200.0]));
    engine.send(Event::ModelInUse(ModelInfo {
        reference: ModelRef::Training(run),
        ..starter()
    }));
    app.poll();
    app.serve(&mut engine);
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
        app.apply(TrainAction::Configure(Box::new(RunConfig {
            data,
            ..RunConfig::default()
        })));
        assert_eq!(app.train.data_classes(&app.ctx).len(), 10, "not known yet");
        app.poll();
        assert!(app.train.is_looking_at_data(&app.ctx, &app.my_digits));
    };
    let image = Image::new(std::array::from_fn(|place| (place % 251) as u8));
    let shapes = class_folders(&["line", "ring", "star"], &image.to_png());
    choose(&mut app, &shapes);
    app.until(|app| app.train.samples(&app.ctx).is_some());
    assert!(!app.train.is_looking_at_data(&app.ctx, &app.my_digits));
    assert_eq!(
        app.train.data_classes(&app.ctx).names().collect::<Vec<_>>(),
        ["line", "ring", "star"]
    );
    // Images that cannot be read are named beside the field, before Start.
    let damaged = class_folders(&["line", "ring"], b"no image");
    choose(&mut app, &damaged);
    app.until(|app| !app.validation_errors().is_empty());
    let said = app.validation_errors().remove(0);
    assert!(
        said.setting == Some(Setting::Data) && said.message.what.contains("1.png"),
        "{}",
        said.message.what
    );
    assert!(
        !app.train.is_looking_at_data(&app.ctx, &app.my_digits)
            && app.train.samples(&app.ctx).is_none()
    );
    // Once it is mended, it can be trained on.
    for name in ["line", "ring"] {
        std::fs::write(damaged.path().join(name).join("1.png"), image.to_png()).unwrap();
    }
    app.apply(TrainAction::Configure(Box::new(RunConfig {
        epochs: 3,
        ..app.ctx.config.clone()
    })));
    app.until(|app| app.validation_errors().is_empty() && app.train.samples(&app.ctx).is_some());
    assert_eq!(app.train.data_classes(&app.ctx).len(), 2);
}

#[test]
fn when_a_run_ends_a_short_wave_passes_every_image_once() {
    let motion = Motion {
        quick: 0.1,
        calm: 0.2,
        celebration: 0.5,
    };
    for distance in [0.0, 0.5, 1.0] {
        let at = |share: usize| wave(share as f32 / 1000.0, distance, motion);
        let under_it = (0..=1000).filter(|&share| at(share) > 0.01).count();
        assert!((380..=401).contains(&under_it), "{under_it} ms / 2");
        assert!(at(0) == 0.0 && at(1000) < 0.01, "nothing at rest");
    }
    assert_eq!(wave(1.0, 0.5, Motion::default()), 0.0);
}
