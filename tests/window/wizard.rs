//! The wizard, by keyboard and by pointer, and what it recommends.

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use inkling::data::FoundDataset;
use inkling::protocol::{Job, JobResult};
use inkling::run_config::{DataSource, DataSpec, Precision, Preset, PublicDataset, RunConfig};
use inkling::window::{Action, Phase, WizardStep};

use crate::fake_engine::{Answers, app};
use crate::jobs::{done, submitted};
use crate::window::stage::{Driven, Seen, Window, first_launch, usual};

#[test]
fn the_first_page_reads_a_drawing_and_starts_the_first_run_with_one_key() {
    let (mut window, mut engine) = first_launch(Answers::default());
    window.get_by_label("Drawing canvas");
    window.key(Key::Enter);
    assert_eq!(window.app().ctx.wizard, None);
    assert!(window.app().ctx.settings.wizard_done);
    window.serve(&mut engine);
    assert!(window.app().ctx.is_training());
}

#[test]
fn enter_leads_through_the_pages_once_they_are_asked_for() {
    let (mut window, mut engine) = first_launch(Answers::default());
    window.click("Set up step by step");
    for step in &WizardStep::ALL[1..] {
        assert_eq!(window.app().ctx.wizard, Some(*step));
        window.key(Key::Enter);
    }
    assert_eq!(window.app().ctx.wizard, None);
    assert!(window.app().ctx.settings.wizard_done);
    window.serve(&mut engine);
    assert!(
        window.app().ctx.is_training(),
        "the last page's main button starts the first run"
    );
}

#[test]
fn every_step_can_be_gone_back() {
    let (mut window, _engine) = first_launch(Answers::default());
    window.click("Set up step by step");
    for _ in 0..3 {
        window.click("Next");
    }
    assert_eq!(window.app().ctx.wizard, Some(WizardStep::Done));
    window.click("Back");
    window.key(Key::Backspace);
    window.keys(Modifiers::ALT, Key::ArrowLeft);
    assert_eq!(window.app().ctx.wizard, Some(WizardStep::Hardware));
    window.click("Welcome");
    assert_eq!(window.app().ctx.wizard, Some(WizardStep::Welcome));
}

#[test]
fn escape_skips_and_the_menu_brings_it_back() {
    let (mut window, _engine) = first_launch(Answers::default());
    window.key(Key::Escape);
    assert_eq!(window.app().ctx.wizard, None);
    window.click("Menu");
    window.click("Run setup again…");
    assert_eq!(window.app().ctx.wizard, Some(WizardStep::Welcome));
}

#[test]
fn the_machine_is_shown_with_what_it_means() {
    let (mut window, _engine) = first_launch(Answers::default());
    window.until(|app| app.ctx.hardware.is_some());
    window.click("Hardware");
    for line in inkling::hardware::lines(window.app().ctx.hardware.as_ref().unwrap()) {
        window.get_by_label(&line.label);
        assert!(
            window.query_all_by_label(&line.meaning).count() > 0,
            "{}",
            line.meaning
        );
    }
}

#[test]
fn the_recommended_preset_is_named_and_another_can_be_chosen() {
    let (mut window, _engine) = first_launch(Answers::default());
    window.until(|app| app.ctx.hardware.is_some());
    let (config, reason) = window.app().train.recommended(&window.app().ctx).unwrap();
    assert_eq!(
        window.app().ctx.config.preset,
        config.preset,
        "taken by itself at the first launch"
    );
    window.click("Preset");
    window.get_by_label(&reason);
    window.get_by_label_contains("(recommended)");
    let other = if config.preset == Some(Preset::Best) {
        Preset::QuickLook
    } else {
        Preset::Best
    };
    window.click(other.label());
    assert_eq!(window.app().ctx.config.preset, Some(other));
}

#[test]
fn the_time_of_each_preset_is_measured_before_it_is_chosen() {
    let (mut window, mut engine) = first_launch(Answers::default());
    window.until(|app| app.ctx.hardware.is_some());
    engine.heard.clear();
    window.click("Hardware");
    window.until_checked();
    engine.serve();
    assert!(
        !engine
            .heard
            .iter()
            .any(|command| matches!(submitted(command), Some((_, Job::TimeSteps(_))))),
        "not while it is not needed"
    );
    window.click("Preset");
    assert!(
        window
            .query_all_by_label_contains("Measuring the time")
            .count()
            >= Preset::ALL.len()
    );
    window.serve(&mut engine);
    // The fake engine measures all but one, with 5,500 images per second, of 55,000; 15,000 more
    // are recognized.
    assert_eq!(
        window
            .query_all_by_label_contains("about 11 s on this machine")
            .count(),
        1
    );
    assert_eq!(
        window
            .query_all_by_label_contains("on this machine")
            .count(),
        Preset::ALL.len() - 1
    );
    let app = window.app();
    assert_eq!(app.ctx.settings.preset_rates.len(), Preset::ALL.len() - 1);
    assert_eq!(app.expected_time(&app.ctx.with_preset(Preset::Best)), None);
    let slower = RunConfig {
        precision: Precision::Bf16,
        ..app.ctx.with_preset(Preset::OneEpoch)
    };
    assert_eq!(app.expected_time(&slower), None, "that was not measured");
}

/// Presses the button for a folder, which moves when this machine has been searched for data sets.
fn choose_folder(window: &mut Window) {
    window.get_by_label("Data").click();
    window.until(|app| app.train.found.is_some());
    window.get_by_label("Choose a folder…").click();
}

#[test]
fn a_folder_that_is_chosen_is_learned_from() {
    let folder = tempfile::tempdir().unwrap();
    let (mut window, _engine) = first_launch(Answers::folder(folder.path()));
    choose_folder(&mut window);
    window.until(|app| !app.ctx.settings.data_folders.is_empty());
    assert_eq!(
        window.app().ctx.config.data.sources(),
        [DataSource::Path(folder.path().to_owned())]
    );
    let name = DataSource::Path(folder.path().to_owned()).label();
    window.get_by_label(&name);
    window.click("Built-in digits");
    assert_eq!(
        window.app().ctx.config.data.sources(),
        [DataSource::Builtin]
    );
}

#[test]
fn a_folder_without_a_data_set_is_said_at_once_and_the_last_page_offers_other_data() {
    let folder = tempfile::tempdir().unwrap();
    let (mut window, _engine) = first_launch(Answers::folder(folder.path()));
    choose_folder(&mut window);
    window.until(|app| !app.validation_errors().is_empty());
    let reason = window.app().validation_errors()[0].message.to_string();
    window.get_by_label(&reason);
    window.click("Ready");
    window.get_by_label(&reason);
    assert!(!window.shows("The next run trains on"));
    assert!(!window.shows("Start training"));
    window.click("Choose other data");
    assert_eq!(window.app().ctx.wizard, Some(WizardStep::Data));
    window.act(Action::CloseWizard);
    window.get_by_label("There is no data to train on");
    assert!(!window.shows("Press Start"));
}

#[test]
fn why_the_presets_have_no_times_is_said() {
    let (mut window, mut engine) = first_launch(Answers::default());
    window.until(|app| app.ctx.hardware.is_some());
    window.click("Hardware");
    window.until_checked();
    engine.serve();
    window.click("Preset");
    let id = engine
        .listen()
        .iter()
        .find_map(|command| match submitted(command) {
            Some((id, Job::TimeSteps(_))) => Some(id),
            _ => None,
        });
    let result = JobResult::TimeSteps {
        images_per_second: vec![Some(900.0); Preset::ALL.len()],
        background_load: 0.9,
    };
    engine.send(done(id.expect("they are timed"), result));
    window.run_steps(3);
    window.get_by_label_contains("Other programs keep the CPU busy");
}

#[test]
fn enter_moves_on_from_a_radio_button_too() {
    let (mut window, _engine) = first_launch(Answers::default());
    window.act(Action::Wizard(WizardStep::Settings));
    window
        .get_all_by_role(Role::RadioButton)
        .next()
        .expect("the presets")
        .focus();
    window.run_steps(3);
    window.key(Key::Enter);
    assert_eq!(window.app().ctx.wizard, Some(WizardStep::Done));
}

#[test]
fn the_last_page_can_start_the_first_run() {
    let (mut window, mut engine) = first_launch(Answers::default());
    window.click("Ready");
    window.click("Start training");
    window.serve(&mut engine);
    let app = window.app();
    assert_eq!(app.ctx.wizard, None);
    assert_eq!(&app.the_run().phase, &Phase::Training);
}

#[test]
fn after_the_first_time_it_stays_away() {
    let (window, _engine) = usual();
    assert_eq!(window.app().ctx.wizard, None);
    assert!(!window.has("Skip setup"));
}

#[test]
fn an_arrow_key_chooses_among_radio_buttons() {
    let (mut window, _engine) = first_launch(Answers::default());
    window.until(|app| app.ctx.hardware.is_some());
    window.act(Action::Wizard(WizardStep::Settings));
    window
        .get_all_by_role(Role::RadioButton)
        .next()
        .expect("the presets")
        .focus();
    window.run_steps(3);
    for preset in &Preset::ALL[1..3] {
        window.key(Key::ArrowDown);
        assert_eq!(window.app().ctx.config.preset, Some(*preset));
    }
    window.key(Key::ArrowUp);
    assert_eq!(window.app().ctx.config.preset, Some(Preset::ALL[1]));
}

#[test]
fn on_the_last_page_the_tools_are_in_one_row_and_the_bars_are_as_wide_as_the_canvas() {
    let (mut window, _engine) = first_launch(Answers::default());
    window.act(Action::Wizard(WizardStep::Done));
    let place = |name| window.rect(name);
    for tool in ["Redo", "Eraser", "Clear"] {
        assert!(
            (place(tool).center().y - place("Undo").center().y).abs() < 1.0,
            "{tool}"
        );
    }
    let canvas = place("Drawing canvas");
    let (first, last) = (place("Probability of 0"), place("Probability of 9"));
    assert!(
        first.left() >= canvas.left() && last.right() <= canvas.right(),
        "{canvas:?} {last:?}"
    );
}

#[test]
fn mnist_is_mixed_with_built_in_digits_where_it_is_found() {
    let (mut app, _engine) = app();
    app.start_discovery();
    app.until(|app| app.ctx.hardware.is_some() && app.train.found.is_some());
    assert_eq!(
        app.train.recommended(&app.ctx).unwrap().0.data,
        DataSpec::builtin()
    );
    let folder = "/data/mnist".into();
    let mnist = FoundDataset {
        set: PublicDataset::Mnist,
        folder,
        train_images: 60_000,
        test_images: 9_000,
        original: Some(true),
    };
    app.train.found = Some(vec![mnist.clone()]);
    let (config, _) = app.train.recommended(&app.ctx).unwrap();
    assert_eq!(
        config.data.sources(),
        [app.ctx.source_of(&mnist), DataSource::Builtin]
    );
    app.ctx.config = config;
    // 60,000 and half as many built-in digits, of which 7,500 are for validation. What is only
    // recognized takes a third of the time.
    let images = 82_500.0 * f64::from(app.ctx.config.epochs);
    let recognized = 7_500.0 * f64::from(app.ctx.config.epochs) + 9_000.0;
    assert_eq!(
        app.train
            .total_seconds(
                &app.ctx,
                &app.ctx.config,
                (images + recognized / 3.0) / 10.0
            )
            .map(f64::round),
        Some(10.0)
    );
}
