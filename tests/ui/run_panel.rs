//! The run panel: settings, their problems, and starting, holding and stopping a run.

use eframe::egui::{Key, Modifiers, accesskit::Role};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};
use inkling::app::Phase;
use inkling::protocol::Command;
use inkling::run_config::{ModelKind, OptimizerKind, Precision, Preset};
use inkling::ui::Inkling;

use super::window::{sized, usual};

/// Replaces what stands in a field.
fn type_into(window: &mut Harness<'static, Inkling>, field: &str, text: &str) {
    window.get_by_role_and_label(Role::TextInput, field).focus();
    window.run_steps(2);
    window.key_press_modifiers(Modifiers::COMMAND, Key::A);
    window.run_steps(2);
    window.get_by_role_and_label(Role::TextInput, field).type_text(text);
    window.run_steps(3);
}

fn choose(window: &mut Harness<'static, Inkling>, list: &str, option: &str) {
    window.get_by_role_and_label(Role::ComboBox, list).click();
    window.run_steps(3);
    window.get_by_role_and_label(Role::Button, option).click();
    window.run_steps(3);
}

#[test]
fn start_pause_resume_and_stop() {
    let (mut window, mut engine) = usual();
    window.get_by_label("Start").click();
    window.run_steps(3);
    engine.serve();
    engine.train(4);
    window.run_steps(3);
    assert!(window.query_by_label("Start").is_none());
    window.get_all_by_label_contains("epoch 1 of").next().expect("the state is shown");
    window.get_all_by_label_contains("images/s").next().expect("and the pace");
    window.get_by_label("Pause").click();
    window.run_steps(3);
    engine.serve();
    window.run_steps(3);
    assert_eq!(window.state().app().run.as_ref().unwrap().phase, Phase::Paused);
    window.get_by_label("Resume").click();
    window.run_steps(3);
    engine.serve();
    window.run_steps(3);
    assert_eq!(window.state().app().run.as_ref().unwrap().phase, Phase::Training);
    window.get_by_label("Stop").click();
    window.run_steps(3);
    engine.serve();
    window.run_steps(3);
    window.get_by_label("Start");
    assert!(engine.heard.iter().any(|command| matches!(command, Command::Stop(_))));
}

#[test]
fn what_is_typed_is_what_runs() {
    let (mut window, mut engine) = usual();
    type_into(&mut window, "Epochs", "7");
    type_into(&mut window, "Batch size", "96");
    type_into(&mut window, "Seed", "42");
    choose(&mut window, "Model", "LeNet-5");
    window.get_by_label("More").click();
    // The section opens over a few frames.
    window.run_steps(20);
    choose(&mut window, "Optimiser", "SGD with momentum");
    type_into(&mut window, "Learning rate", "0,05");
    window.get_by_label("Start").click();
    window.run_steps(3);
    engine.serve();
    let config = &engine.run.as_ref().unwrap().config;
    assert_eq!((config.epochs, config.batch_size, config.seed), (7, 96, 42));
    assert_eq!((config.model, config.optimizer, config.learning_rate), (ModelKind::LeNet, OptimizerKind::Sgd, 0.05));
    assert_eq!(config.preset, None);
}

#[test]
fn a_value_that_cannot_be_says_why_beside_it_and_start_waits() {
    let (mut window, mut engine) = usual();
    for (field, text, reason) in [
        ("Epochs", "0", "0 epochs cannot be trained"),
        ("Epochs", "many", "“many” cannot be used"),
        ("Epochs", "99999999999999999999", "cannot be used"),
        ("Batch size", "9000", "9000"),
        ("Seed", "-1", "“-1” cannot be used"),
    ] {
        type_into(&mut window, field, text);
        window.get_all_by_label_contains(reason).next().expect(reason);
        assert!(window.get_by_label("Start").accesskit_node().is_disabled(), "{field} {text}");
        assert_eq!(window.get_by_role_and_label(Role::TextInput, field).value().as_deref(), Some(text), "left as it was typed");
        window.key_press_modifiers(Modifiers::COMMAND, Key::Enter);
        window.run_steps(3);
        assert!(engine.listen().is_empty(), "the shortcut waits too");
        type_into(&mut window, field, "5");
    }
    assert!(!window.get_by_label("Start").accesskit_node().is_disabled());
}

#[test]
fn a_wrong_learning_rate_opens_the_section_it_is_in() {
    let (mut window, _engine) = usual();
    window.get_by_label("More").click();
    window.run_steps(20);
    type_into(&mut window, "Learning rate", "99");
    window.get_by_label("More").click();
    window.run_steps(20);
    window.get_by_role_and_label(Role::TextInput, "Learning rate");
    window.get_all_by_label_contains("learning rate of 99").next().expect("the reason");
}

#[test]
fn precisions_this_machine_cannot_do_are_listed_with_the_reason() {
    let (mut window, _engine) = usual();
    window.get_by_role_and_label(Role::ComboBox, "Precision").click();
    window.run_steps(3);
    for &precision in Precision::ALL {
        let reason = window.state().app().why_not_precision(precision);
        let option = window.get_by_role_and_label(Role::Button, precision.label());
        assert_eq!(option.accesskit_node().is_disabled(), reason.is_some());
        if let Some(reason) = reason {
            assert!(window.query_all_by_label(&reason).count() > 0, "{reason}");
        }
    }
}

#[test]
fn presets_fill_the_fields_in_and_other_values_belong_to_none() {
    let (mut window, _engine) = usual();
    window.get_by_label("Best").click();
    window.run_steps(3);
    let best = inkling::run_config::RunConfig::preset(Preset::Best);
    let epochs = window.get_by_role_and_label(Role::TextInput, "Epochs").value();
    assert_eq!(epochs, Some(best.epochs.to_string()));
    type_into(&mut window, "Epochs", "8");
    window.get_by_label_contains("Settings of your own");
}

#[test]
fn settings_are_fixed_while_a_run_is_under_way() {
    let (mut window, mut engine) = sized([900.0, 600.0]);
    window.get_by_label("Start").click();
    window.run_steps(3);
    engine.serve();
    window.run_steps(3);
    assert!(window.get_by_role_and_label(Role::TextInput, "Epochs").accesskit_node().is_disabled());
    engine.finish();
    window.run_steps(3);
    assert!(!window.get_by_role_and_label(Role::TextInput, "Epochs").accesskit_node().is_disabled());
    window.get_all_by_label_contains("99.00 %").next().expect("what came of it");
}
