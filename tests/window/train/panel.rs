//! The run panel: settings, their problems, and starting, holding and stopping a run.

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT, Queryable};
use inkling::bench::step_config_of;
use inkling::nn::ComputeError;
use inkling::problem::Problem;
use inkling::protocol::{EngineError, Event, Job};
use inkling::records::benchmark::{Effort, StepConfig};
use inkling::records::{Divergence, Intervention, Telemetry};
use inkling::run_config::{
    Activation, Augmentation, DataSource, DataSpec, DeviceChoice, ModelKind, OptimizerKind,
    Precision, Preset, RunConfig, ScheduleKind,
};
use inkling::window::train::AccuracySource;
use inkling::window::{App, MachineAction, TrainAction};

use crate::fake_engine::{app, record, record_card, run_entry};
use crate::jobs::{submitted, submitted_run};
use crate::window::stage::{Driven, Seen, Window, open_more, sized, usual};

#[test]
fn what_is_typed_is_what_runs() {
    let (mut window, mut engine) = sized([1280.0, 1400.0]);
    window.type_into("Epochs", "7");
    window.type_into("Batch size", "96");
    window.choose("Network", "LeNet-5");
    open_more(&mut window);
    window.choose("Optimizer", "SGD with momentum");
    window.type_into("Learning rate", "0,05");
    window.type_into("Seed", "42");
    window.click("Start");
    engine.serve();
    let config = &engine.run.as_ref().unwrap().config;
    assert_eq!((config.epochs, config.batch_size, config.seed), (7, 96, 42));
    assert_eq!(config.model, ModelKind::LeNet);
    assert_eq!(config.optimizer, OptimizerKind::Sgd);
    assert_eq!(config.learning_rate, 0.05);
    assert_eq!(config.preset, None);
}

#[test]
fn a_value_that_cannot_be_says_why_beside_it_and_start_waits() {
    let (mut window, mut engine) = sized([1280.0, 1400.0]);
    open_more(&mut window);
    for (field, text, reason) in [
        ("Epochs", "0", "from 1 to 1000"),
        ("Epochs", "many", "“many” is not valid"),
        ("Epochs", "99999999999999999999", "is not valid"),
        ("Batch size", "9000", "9000"),
        ("Seed", "-1", "“-1” is not valid"),
    ] {
        window.type_into(field, text);
        assert!(window.mentions(reason));
        assert!(window.is_disabled("Start"), "{field} {text}");
        assert_eq!(window.field(field), text, "left as it was typed");
        window.keys(Modifiers::COMMAND, Key::Enter);
        assert!(engine.listen().is_empty(), "the shortcut waits too");
        window.type_into(field, "5");
    }
    assert!(!window.is_disabled("Start"));
}

#[test]
fn a_wrong_learning_rate_opens_the_section_it_is_in() {
    let (mut window, _engine) = usual();
    open_more(&mut window);
    window.type_into("Learning rate", "99");
    open_more(&mut window);
    window.get_by_role_and_label(Role::TextInput, "Learning rate");
    assert!(window.mentions("(got 99)"));
}

#[test]
fn every_precision_can_be_chosen_and_says_what_it_means_here() {
    let (mut window, mut engine) = sized([1280.0, 1400.0]);
    assert!(
        !window.app().ctx.precisions().contains(&Precision::Tf32),
        "what makes no difference is not offered"
    );
    for precision in Precision::on(DeviceChoice::Cpu) {
        window.choose("Precision", precision.label());
        assert_eq!(window.app().ctx.config.precision, precision);
        if let Some(note) = window
            .app()
            .machine
            .precision_note(&window.app().ctx, precision)
        {
            window.get_by_label(&note);
        }
    }
    let before = window
        .app()
        .machine
        .precision_note(&window.app().ctx, Precision::Bf16)
        .unwrap();
    window.apply(MachineAction::Benchmark(Effort::Full));
    engine.serve();
    engine.finish_benchmark();
    window.run_steps(3);
    let after = window
        .app()
        .machine
        .precision_note(&window.app().ctx, Precision::Bf16)
        .unwrap();
    assert!(
        before.contains("benchmark") && after.contains("2.0 times as long"),
        "{before} {after}"
    );
}

#[test]
fn everything_a_run_can_be_is_set_here() {
    let (mut window, mut engine) = sized([1280.0, 1400.0]);
    window.choose("Augmentation", Augmentation::Strong.label());
    open_more(&mut window);
    window.choose("Activation", Activation::Gelu.label());
    window.choose("Schedule", ScheduleKind::Step.label());
    assert!(
        window
            .query_by_role_and_label(Role::TextInput, "Momentum")
            .is_none(),
        "only SGD has it"
    );
    window.choose("Optimizer", OptimizerKind::Sgd.label());
    for (field, text) in [
        ("Learning rate", "0.03"),
        ("Momentum", "0.8"),
        ("Weight decay", "0.02"),
        ("Label smoothing", "0.1"),
        ("Clip norm", "2"),
        ("Accumulation (batches)", "3"),
        ("Weight averaging", "0.99"),
        ("Early stopping (epochs)", "4"),
        ("Threads", "1"),
    ] {
        window.type_into(field, text);
    }
    window
        .get_by_role_and_label(Role::CheckBox, "Nesterov")
        .click();
    window.run_steps(3);
    window.click("Start");
    engine.serve();
    let config = engine.run.as_ref().unwrap().config.clone();
    let expected = RunConfig {
        activation: Activation::Gelu,
        schedule: ScheduleKind::Step,
        optimizer: OptimizerKind::Sgd,
        augmentation: Augmentation::Strong,
        learning_rate: 0.03,
        momentum: 0.8,
        nesterov: !config.nesterov,
        weight_decay: 0.02,
        label_smoothing: 0.1,
        clip_norm: Some(2.0),
        accumulation: 3,
        weight_averaging: Some(0.99),
        early_stopping: Some(4),
        threads: Some(1),
        preset: None,
        ..RunConfig::default()
    };
    assert_eq!(
        RunConfig {
            nesterov: !config.nesterov,
            ..config.clone()
        },
        expected
    );
    assert_ne!(
        config.nesterov,
        RunConfig::default().nesterov,
        "the box was clicked"
    );
}

#[test]
fn an_empty_field_turns_off_what_can_be_turned_off() {
    let (mut window, _engine) = sized([1280.0, 1400.0]);
    open_more(&mut window);
    for (field, text) in [
        ("Clip norm", "1"),
        ("Weight averaging", "0.9"),
        ("Early stopping (epochs)", "2"),
        ("Threads", "1"),
    ] {
        window.type_into(field, text);
    }
    let config = window.app().ctx.config.clone();
    assert_eq!(config.clip_norm, Some(1.0));
    assert_eq!(config.weight_averaging, Some(0.9));
    assert_eq!(config.early_stopping, Some(2));
    assert_eq!(config.threads, Some(1));
    for field in [
        "Clip norm",
        "Weight averaging",
        "Early stopping (epochs)",
        "Threads",
    ] {
        window.type_into(field, "");
    }
    let config = window.app().ctx.config.clone();
    assert_eq!(config.clip_norm, None);
    assert_eq!(config.weight_averaging, None);
    assert_eq!(config.early_stopping, None);
    assert_eq!(config.threads, None);
    assert!(!window.is_disabled("Start"));
    window.type_into("Epochs", "");
    assert!(window.mentions("The number of epochs is missing"));
}

#[test]
fn once_measured_the_panel_says_how_long_a_run_takes() {
    let (mut window, mut engine) = usual();
    assert_eq!(
        window
            .query_all_by_label_contains("Training takes about")
            .count(),
        0
    );
    window.configure(|config| (config.model, config.epochs) = (ModelKind::ConvNet, 2));
    window.apply(MachineAction::Benchmark(Effort::Full));
    engine.serve();
    engine.finish_benchmark();
    window.run_steps(3);
    // 55,000 of the 60,000 images, twice, at 5,000 a second; the others are recognized after each
    // epoch, and 10,000 at the end.
    window.get_by_label_contains("Training takes about 23 s on this machine");
}

#[test]
fn presets_fill_the_fields_in_and_other_values_belong_to_none() {
    let (mut window, _engine) = usual();
    window.click("Best");
    let best = RunConfig::preset(Preset::Best);
    assert_eq!(window.field("Epochs"), best.epochs.to_string());
    window.type_into("Epochs", "8");
    window.get_by_label_contains("Custom settings");
}

#[test]
fn a_preset_shows_what_it_reaches_as_measured_here_if_it_was() {
    let (window, _engine) = usual();
    for (preset, accuracy) in [
        ("Balanced", "97.8%"),
        ("Best", "98.0%"),
        ("Compact", "97.0%"),
    ] {
        let told = window.value(preset);
        assert!(
            told.contains(&format!("about {accuracy} accuracy")),
            "{told}"
        );
    }
    let (mut app, _engine) = app();
    let run = |preset| run_entry("a", &RunConfig::preset(preset), vec![record(1)], false);
    app.models.runs = Some(vec![run(Preset::Compact), run(Preset::Balanced)]);
    let expected = |app: &App, preset| {
        let accuracy = app.expected_accuracy(preset)?;
        Some((accuracy.value, accuracy.source))
    };
    let run = Some((0.99, AccuracySource::Run));
    assert_eq!(expected(&app, Preset::Balanced), run);
    let documented = Some((0.953, AccuracySource::Documented));
    assert_eq!(expected(&app, Preset::OneEpoch), documented);
    app.train.records = vec![
        record_card(Preset::OneEpoch, "mnist", [0.991, 0.993]),
        record_card(Preset::OneEpoch, "builtin", [0.95, 0.97]),
    ];
    let (value, source) = expected(&app, Preset::OneEpoch).unwrap();
    assert!((value - 0.96).abs() < 1e-9, "{value}");
    let AccuracySource::Record(summary) = source else {
        panic!("{source:?}");
    };
    assert!(summary.contains("(2 seeds, Student's t)"), "{summary}");
    app.ctx.config.data = DataSpec::single(DataSource::Mine);
    assert_eq!(expected(&app, Preset::Balanced), None);
}

#[test]
fn while_a_run_is_in_progress_the_next_one_is_prepared_and_queued() {
    let (mut window, mut engine) = sized([900.0, 1800.0]);
    window.click("Start");
    window.serve(&mut engine);
    window.get_by_role_and_label(Role::Label, "This run");
    window.type_into("Epochs", "2");
    window.click("Add to queue");
    let epochs = |window: &Window| window.app().train.run.as_ref().map(|run| run.config.epochs);
    assert_eq!(
        (window.app().train.queue.len(), epochs(&window)),
        (1, Some(12)),
        "the run in progress stays as it is"
    );
    engine.finish();
    window.run_steps(3);
    assert!(window.mentions("99.00%"));
    window.serve(&mut engine);
    assert_eq!(window.app().train.queue.len(), 0);
    assert_eq!(epochs(&window), Some(2));
    assert!(window.app().ctx.is_training(), "the next one");

    // Whoever stops a run wants quiet.
    window.click("Add to queue");
    window.click("Stop");
    window.serve(&mut engine);
    assert!(!window.app().ctx.is_training() && window.app().train.queue.len() == 1);
    window.click("Remove");
    assert!(window.app().train.queue.is_empty());
}

#[test]
fn what_a_run_does_by_itself_is_said_and_stays_to_be_read() {
    let (mut window, mut engine) = usual();
    window.click("Start");
    engine.serve();
    engine.train(4);
    let run = engine.run.as_ref().unwrap().id;
    let back = Intervention::RolledBack {
        step: 5,
        to_step: 2,
        lr_factor: 0.5,
        left: 2,
        cause: Divergence::NotFinite,
    };
    engine.send(Event::Intervened {
        run,
        intervention: back,
    });
    window.run_steps(3);
    assert_eq!(
        window
            .query_all_by_label_contains(
                "rolled back to step 2 and continues at 1/2 of the learning rate"
            )
            .count(),
        2,
        "a notice and a line"
    );
    window.click("Dismiss");
    window.get_by_label_contains("rolled back to step 2");
    assert_eq!(
        window.query_all_by_label_contains("Loss scale").count(),
        0,
        "f32 has none"
    );
    let now = Telemetry {
        step: 5,
        epoch: 1,
        loss_scale: Some(32_768.0),
        skipped_steps: 3,
        ..Telemetry::default()
    };
    engine.send(Event::Steps {
        run,
        steps: Vec::new(),
        now,
    });
    window.run_steps(3);
    window.get_by_label_contains("Loss scale 32,768, 3 steps skipped");
}

#[test]
fn batch_sizes_are_compared_and_the_one_that_is_enough_can_be_taken() {
    let (mut window, mut engine) = sized([1280.0, 1400.0]);
    window.click("Compare batch sizes");
    window.serve(&mut engine);
    assert!(
        matches!(engine.heard.last().and_then(submitted), Some((_, Job::Compare { config, .. })) if *config == window.app().ctx.config)
    );
    window.get_by_label_contains("Comparing batch sizes, 6 s left");
    window.get_by_label("Comparison progress");
    engine.finish_batch_sizes();
    window.run_steps(3);
    window.get_by_label_contains("Batch size 128: 4,900 images/s, 1");
    let enough = window.get_by_label_contains("recommended");
    assert!(
        enough
            .accesskit_node()
            .label()
            .is_some_and(|label| label.starts_with("Batch size 256: 5,000")
                || label.starts_with("Batch size 64: 4,800"))
    );
    enough.click();
    window.run_steps(3);
    assert_eq!(window.app().ctx.config.batch_size, 64);
    window.get_by_label("Compare again");
    // Figures of other settings are not shown for these.
    window.configure(|config| config.model = ModelKind::Mlp);
    window.get_by_label("Compare batch sizes");
    assert_eq!(window.query_all_by_label_contains("images/s").count(), 0);
}

#[test]
fn a_comparison_of_batch_sizes_can_be_cancelled() {
    let (mut window, mut engine) = sized([1280.0, 1400.0]);
    window.click("Compare batch sizes");
    window.serve(&mut engine);
    window.click("Cancel");
    window.serve(&mut engine);
    window.get_by_label("Compare batch sizes");
}

#[test]
fn devices_are_timed_and_the_fastest_is_taken_with_one_click() {
    let (mut window, mut engine) = sized([1280.0, 1400.0]);
    window.click("Compare devices");
    window.serve(&mut engine);
    window.get_by_label_contains("Comparing devices, 6 s left");
    let asked = engine
        .heard
        .last()
        .and_then(submitted)
        .map(|(_, job)| job.clone());
    let Some(Job::Compare {
        config,
        step_configs,
    }) = asked
    else {
        panic!("{:?}", engine.heard)
    };
    assert_eq!(config, window.app().ctx.config);
    let of = |precision| StepConfig {
        precision,
        ..step_config_of(&config)
    };
    assert_eq!(
        step_configs[..3],
        Precision::on(DeviceChoice::Cpu).map(of).collect::<Vec<_>>()[..],
        "the processor is all there is"
    );
    let gpu = StepConfig {
        device: DeviceChoice::Cuda,
        ..step_config_of(&config)
    };
    let lost = Problem::from(ComputeError::Failed {
        message: "the driver is gone".to_owned(),
    });
    engine.finish_comparison(
        &[
            (of(Precision::F32), 4000.0),
            (of(Precision::Bf16), 8000.0),
            (of(Precision::F16), 1000.0),
        ],
        vec![(gpu, lost)],
    );
    window.run_steps(3);
    // Twelve epochs of 55,000 images; 5,000 are recognized after each, and 10,000 at the end.
    window.get_by_label("CPU f32: 4,000 images/s, about 2 min 51 s");
    window.get_by_label("CPU f16: 1,000 images/s, 0.25×, about 11 min 23 s");
    window.get_by_label_contains(
        "CUDA f32 could not be measured. A computation failed: the driver is gone.",
    );
    window.get_by_label_contains("No GPU available");
    window.click("CPU bf16: 8,000 images/s, 2.00×, recommended, about 1 min 25 s");
    let app = window.app();
    assert_eq!(app.ctx.config.precision, Precision::Bf16);
    assert_eq!(app.ctx.config.device, DeviceChoice::Auto);
    assert_eq!(app.ctx.config.threads, None);
    assert_eq!(
        app.expected_time(&app.ctx.config).as_deref(),
        Some("1 min 25 s")
    );
    // Other batches have other figures.
    window.configure(|config| config.batch_size = 32);
    assert_eq!(window.query_all_by_label_contains("images/s").count(), 0);
}

#[test]
fn once_other_settings_are_chosen_the_keys_start_a_new_run_and_not_the_interrupted_one() {
    let (mut window, mut engine) = usual();
    window.train(&mut engine, 10);
    engine.checkpoint(1, 0);
    // Settings of the next run that are chosen before there is an offer say nothing about it.
    window.apply(TrainAction::ApplyPreset(Preset::Balanced));
    engine.fail(EngineError::Gone);
    window.run_steps(3);
    window.get_by_label("Resume after epoch 1");
    let app = window.app();
    assert_eq!(
        app.train.run_to_resume(),
        app.train.interrupted_checkpoint()
    );
    // The preset is the one that is chosen already: clicking it is a choice all the same.
    window.click(Preset::Balanced.label());
    assert_eq!(window.app().train.run_to_resume(), None);
    assert!(
        window.has("Resume after epoch 1"),
        "it can still be resumed"
    );
    engine.heard.clear();
    window.keys(Modifiers::COMMAND, Key::Enter);
    engine.serve();
    let started = engine
        .heard
        .iter()
        .find_map(submitted_run)
        .map(|(_, config, from)| (config.preset, from.cloned()));
    assert_eq!(started, Some((Some(Preset::Balanced), None)));
}

#[test]
fn an_interrupted_run_is_resumed_by_its_button_after_other_settings_were_chosen() {
    let (mut window, mut engine) = usual();
    window.train(&mut engine, 10);
    engine.checkpoint(1, 0);
    engine.fail(EngineError::Gone);
    window.run_steps(3);
    let places =
        |window: &Window| ["Resume after epoch 1", "Start new run"].map(|name| window.rect(name));
    let before = places(&window);
    window.type_into("Epochs", "7");
    assert_eq!(window.app().train.run_to_resume(), None);
    assert_eq!(places(&window), before, "no button moves");
    engine.heard.clear();
    window.click("Resume after epoch 1");
    engine.serve();
    let resumed = engine
        .heard
        .iter()
        .find_map(submitted_run)
        .and_then(|(_, _, from)| from.cloned());
    assert_eq!(resumed, Some("kept".into()));
}

#[test]
fn that_built_in_digits_are_harder_is_said_wherever_an_accuracy_on_them_is() {
    let sentence = "Built-in test digits are harder than MNIST's: the starter model classifies 95.9% of them correctly, and 99.3% of MNIST's.";
    let (mut window, mut engine) = usual();
    assert_eq!(
        window.get_all_by_label(sentence).count(),
        1,
        "below the presets"
    );
    window.train(&mut engine, 12);
    assert_eq!(
        window.get_all_by_label(sentence).count(),
        1,
        "with the accuracy of the run instead"
    );
    engine.finish();
    window.run_steps(3);
    assert_eq!(window.get_all_by_label(sentence).count(), 1);
    // What is tested on MNIST needs no such words.
    let data = "mnist+builtin".parse().unwrap();
    window.act(TrainAction::Configure(Box::new(RunConfig {
        data,
        ..RunConfig::default()
    })));
    assert_eq!(
        window.get_all_by_label(sentence).count(),
        1,
        "the run that has ended was tested on built-in digits"
    );
}
