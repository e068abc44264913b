//! The network of the next run as blocks: changed, moved, added and removed, by pointer and by keys.

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use inkling::run_config::{HiddenLayer, ModelKind, Network, Preset, Setting};
use inkling::settings::PresetRate;
use inkling::window::TrainAction;

use crate::fake_engine::app;
use crate::window::stage::{Driven, Seen, Window, sized};

fn of(model: ModelKind) -> Window {
    let (mut window, _engine) = sized([1280.0, 1300.0]);
    window.configure(|config| config.model = model);
    window.run_steps(4);
    window
}

fn layers(window: &Window) -> String {
    window
        .app()
        .ctx
        .config
        .network()
        .hidden_layers()
        .to_string()
}

/// Selects the layer at this place, from 1.
fn select(window: &mut Window, name: &str, place: usize) {
    let cards = window.query_all_by_role_and_label(Role::Button, name);
    let is_it = |value: &str| value.starts_with(&format!("Layer {place} of "));
    let card = cards
        .into_iter()
        .find(|card| card.value().is_some_and(|value| is_it(&value)));
    card.unwrap_or_else(|| panic!("no {name} at {place}"))
        .click_accesskit();
    window.run_steps(3);
}

fn add(window: &mut Window, kind: &str) {
    window
        .get_by_role_and_label(Role::ComboBox, "Add a layer")
        .click_accesskit();
    window.run_steps(3);
    let entries = window.query_all_by_role_and_label(Role::Button, kind);
    entries.into_iter().last().unwrap().click_accesskit();
    window.run_steps(4);
}

#[test]
fn every_network_opens_as_blocks() {
    for &model in ModelKind::ALL {
        let window = of(model);
        let hidden = Network::from(model).hidden_layers();
        let blocks = window.app().train.blocks(&window.app().ctx);
        assert_eq!(blocks.layers, hidden.as_slice(), "{model}");
        assert_eq!(
            (blocks.misfit, blocks.outputs.len()),
            (None, hidden.as_slice().len())
        );
    }
}

#[test]
fn a_layer_is_changed_moved_added_and_removed() {
    let mut window = of(ModelKind::Speedrun);
    assert_eq!(layers(&window), "24C5-MP2-32C3-MP2-BN-256");
    select(&mut window, "Convolution", 3);
    window.get_by_label("Layer 3 of 6: Convolution");
    window.click("Duplicate");
    assert_eq!(layers(&window), "24C5-MP2-32C3-32C3-MP2-BN-256");
    let config = &window.app().ctx.config;
    assert_eq!((config.model, config.preset), (ModelKind::Cnn, None));
    window.click("Move left");
    window.click("Activation");
    assert_eq!(layers(&window), "24C5-MP2-32C3L-32C3-MP2-BN-256");
    add(&mut window, "Batch normalization");
    assert_eq!(layers(&window), "24C5-MP2-32C3L-BN-32C3-MP2-BN-256");
    select(&mut window, "Dense layer", 8);
    window.click("Remove");
    assert_eq!(layers(&window), "24C5-MP2-32C3L-BN-32C3-MP2-BN");
    // Without a selected layer, it comes last.
    add(&mut window, "Global average pooling");
    assert_eq!(layers(&window), "24C5-MP2-32C3L-BN-32C3-MP2-BN-GAP");
    for _ in 0..6 {
        window.click("Undo the last change of the layers");
    }
    assert_eq!(
        window.app().ctx.config.network(),
        ModelKind::Speedrun.into()
    );
    assert!(!window.app().train.can_undo_layers());
}

#[test]
fn settings_of_one_layer_are_taken_back_at_once() {
    let mut window = of(ModelKind::Mlp);
    for neurons in [300, 301, 302] {
        let layers = HiddenLayer::list(&format!("{neurons}-256")).unwrap();
        window.act(TrainAction::EditLayers(layers));
    }
    assert_eq!(layers(&window), "302-256");
    window.act(TrainAction::UndoLayers);
    assert_eq!(window.app().ctx.config.network(), ModelKind::Mlp.into());
}

#[test]
fn what_was_changed_in_another_network_is_not_taken_back() {
    let mut window = of(ModelKind::Mlp);
    let edit = |window: &mut Window, text: &str| {
        let layers = HiddenLayer::list(text).unwrap();
        window.act(TrainAction::EditLayers(layers));
    };
    edit(&mut window, "300-128");
    let other = Network::from(ModelKind::Cnn).with_layers(Some("100-50".parse().unwrap()));
    window.configure(|config| config.set_network(other));
    edit(&mut window, "200-50");
    assert_eq!(layers(&window), "200-50");
    window.act(TrainAction::UndoLayers);
    assert_eq!(layers(&window), "100-50");
}

#[test]
fn the_focused_card_is_moved_and_removed_by_keys() {
    let mut window = of(ModelKind::LeNet);
    let focus = |window: &mut Window, name: &str| {
        let card = window
            .query_all_by_role_and_label(Role::Button, name)
            .next();
        card.unwrap().focus();
        window.run_steps(2);
    };
    focus(&mut window, "Dense layer");
    window.keys(Modifiers::COMMAND, Key::ArrowRight);
    assert_eq!(layers(&window), "6C5P2-MP2-16C5-MP2-84-120");
    focus(&mut window, "Dense layer");
    window.keys(Modifiers::COMMAND, Key::Delete);
    assert_eq!(layers(&window), "6C5P2-MP2-16C5-MP2-120");
}

#[test]
fn what_does_not_fit_says_why_and_nothing_starts_until_it_does() {
    let mut window = of(ModelKind::LeNet);
    select(&mut window, "Dense layer", 5);
    for _ in 0..4 {
        window.click("Move left");
    }
    window.get_by_label(
        "Layer 2 (Convolution): 6C5P2 must come before transformer blocks, GAP and dense layers.",
    );
    window.get_by_label_contains("Cannot start. “120-6C5P2-MP2-16C5-MP2-84” is not a list");
    window.click("Move right");
    window.run_steps(3);
    window.get_by_label(
        "Layer 3 (Max pooling): MP2 must come before transformer blocks, GAP and dense layers.",
    );
    window.click("Remove");
    assert_eq!(layers(&window), "6C5P2-MP2-16C5-MP2-84");
    assert!(window.app().validation_errors().is_empty());
    // What cannot follow cannot be added.
    select(&mut window, "Dense layer", 5);
    let blocks = window.app().train.blocks(&window.app().ctx);
    let why_not = |layer: &str, behind| blocks.why_not_add(layer.parse().unwrap(), behind);
    assert_eq!(
        why_not("32C3", Some(4)).as_deref(),
        Some("32C3 must come before transformer blocks, GAP and dense layers")
    );
    assert_eq!(why_not("LN", Some(4)), None);
    assert_eq!(why_not("T4", Some(3)), None, "which GAP may follow");
    assert_eq!(
        why_not("MP2", None).as_deref(),
        Some("MP2 must follow a convolution with a stride of 1")
    );
}

#[test]
fn the_text_field_and_the_blocks_show_the_same() {
    let mut window = of(ModelKind::Cnn);
    window.act(TrainAction::Type(
        Setting::Layers,
        "8C3-GAP-16C3".to_owned(),
    ));
    window.run_steps(3);
    window.get_by_label(
        "Layer 3 (Convolution): 16C3 must come before transformer blocks, GAP and dense layers.",
    );
    window.act(TrainAction::Type(Setting::Layers, "none".to_owned()));
    window.run_steps(3);
    assert!(
        window
            .app()
            .train
            .blocks(&window.app().ctx)
            .layers
            .is_empty()
    );
    window.get_by_label_contains("7,850 parameters, 7,840 multiply-adds per image.");
    add(&mut window, "Dense layer");
    assert_eq!(
        window.app().train.text(&window.app().ctx, Setting::Layers),
        "128"
    );
}

#[test]
fn the_time_of_a_network_that_was_never_measured_follows_from_its_operations() {
    let (mut app, _engine) = app();
    app.apply(TrainAction::ApplyPreset(Preset::OneEpoch));
    app.ctx.settings.preset_rates = vec![PresetRate {
        preset: Preset::OneEpoch,
        step_config: app.ctx.step_config(&app.ctx.config),
        images_per_second: 1000.0,
    }];
    let small = app.rough_time(&app.ctx.config);
    let layers = "32C6S2-48C3-MP2-256".parse().unwrap();
    let wide = Network::from(ModelKind::Cnn).with_layers(Some(layers));
    let mut config = app.ctx.config.clone();
    config.set_network(wide);
    assert!(app.expected_time(&config).is_none());
    // 55,000 images and a third of 15,000 for evaluation.
    assert_eq!(small.as_deref(), Some("1 min 0 s"));
    let large = app.rough_time(&config).unwrap();
    assert!(
        large.ends_with(" min") || large.starts_with(['2', '3']),
        "{large}"
    );
}
