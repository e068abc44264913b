//! The fields of the run panel: what is wrong with a value is said beside it at once, and leads
//! there; screen readers hear the values.

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers, Vec2};
use egui_kittest::kittest::{NodeT, Queryable};
use inkling::run_config::{DataSource, DataSpec, ModelKind, PublicDataset, RunConfig, Setting};

use crate::window::stage::{Driven, Seen, Window, sized, usual};
use inkling::window::TrainAction;

fn configured(change: impl FnOnce(&mut RunConfig)) -> Window {
    let (mut window, _engine) = usual();
    window.until(|app| app.ctx.hardware.is_some() && app.train.found.is_some());
    window.configure(change);
    window.run_steps(20);
    window
}

#[test]
fn a_memory_limit_that_is_too_low_is_said_beside_its_field_and_start_leads_there() {
    let mut window = configured(|config| config.memory_limit = Some(1));
    assert_eq!(
        window.app().validation_errors()[0].setting,
        Some(Setting::MemoryLimit)
    );
    window
        .get_by_label_contains("Cannot start. A memory limit of 1 MiB is too low")
        .click();
    window.run_steps(20);
    assert!(
        window
            .get_by_role_and_label(Role::TextInput, "Memory limit (MiB)")
            .is_focused()
    );
    window.get_by_label_contains("Raise the limit, leave it empty, or choose a smaller model");
}

#[test]
fn more_threads_than_cores_are_remarked_on_and_allowed() {
    let window = configured(|config| config.threads = Some(999));
    assert!(window.app().validation_errors().is_empty());
    assert!(
        window
            .app()
            .ctx
            .field_note(Setting::Threads)
            .unwrap()
            .contains("cores")
    );
    assert!(
        configured(|config| config.threads = Some(1))
            .state()
            .app()
            .ctx
            .field_note(Setting::Threads)
            .is_none()
    );
}

#[test]
fn a_folder_without_a_data_set_is_said_as_soon_as_it_is_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = configured(|_| ());
    window.apply(TrainAction::UseDataFolder(folder.path().to_owned()));
    window.until(|app| !app.validation_errors().is_empty());
    assert_eq!(
        window.app().validation_errors()[0].setting,
        Some(Setting::Data)
    );
    window.get_by_label_contains("Cannot start.");
    // Once it holds one, any change looks again.
    crate::support::write_idx_set(folder.path(), 60, 20);
    window.configure(|config| config.epochs = 2);
    window.until(|app| app.validation_errors().is_empty());
    // A set that is not on this machine.
    let window = configured(|config| {
        config.data = DataSpec::single(DataSource::Named(PublicDataset::Kmnist));
    });
    assert_eq!(
        window.app().validation_errors()[0].setting,
        Some(Setting::Data)
    );
}

#[test]
fn layer_widths_are_typed_and_go_with_their_model() {
    let mut window = configured(|config| config.model = ModelKind::Mlp);
    window
        .get_by_role_and_label(Role::TextInput, "Widths")
        .click();
    window.run_steps(5);
    let node = window.get_by_role_and_label(Role::TextInput, "Widths");
    node.type_text("64, 32");
    window.run_steps(10);
    let widths = |window: &Window| {
        window
            .app()
            .ctx
            .config
            .widths
            .map(|widths| widths.to_string())
    };
    assert_eq!(widths(&window).as_deref(), Some("64-32"));
    assert!(window.app().validation_errors().is_empty());
    // What cannot be is said at once, and Start leads there.
    window.apply(TrainAction::Type(Setting::Widths, "64, 0".to_owned()));
    window.run_steps(10);
    assert_eq!(
        window.app().validation_errors()[0].setting,
        Some(Setting::Widths)
    );
    window
        .get_by_label_contains("Cannot start. “64, 0” is not a list of layer widths")
        .click();
    window.run_steps(20);
    assert!(
        window
            .get_by_role_and_label(Role::TextInput, "Widths")
            .is_focused()
    );
    // Another model has its own, and one without has no field.
    window.apply(TrainAction::Type(Setting::Widths, "64-32".to_owned()));
    for (model, has_field) in [(ModelKind::LeNet, true), (ModelKind::Linear, false)] {
        window.configure(|config| config.model = model);
        window.run_steps(10);
        assert_eq!(widths(&window), None);
        assert_eq!(
            window.app().train.text(&window.app().ctx, Setting::Widths),
            String::new()
        );
        assert_eq!(
            window
                .query_by_role_and_label(Role::TextInput, "Widths")
                .is_some(),
            has_field
        );
        assert!(window.app().validation_errors().is_empty());
    }
}

#[test]
fn the_layers_of_a_cnn_are_typed_and_go_with_it() {
    let mut window = configured(|config| config.model = ModelKind::Cnn);
    assert!(
        window
            .query_by_role_and_label(Role::TextInput, "Widths")
            .is_none()
    );
    window
        .get_by_role_and_label(Role::TextInput, "Layers")
        .click();
    window.run_steps(5);
    window
        .get_by_role_and_label(Role::TextInput, "Layers")
        .type_text("8c3, mp2, 20");
    window.run_steps(10);
    let layers = |window: &Window| {
        window
            .app()
            .ctx
            .config
            .layers
            .map(|layers| layers.to_string())
    };
    assert_eq!(layers(&window).as_deref(), Some("8C3-MP2-20"));
    assert!(window.app().validation_errors().is_empty());
    // What cannot be is said at once, and Start leads there.
    window.apply(TrainAction::Type(Setting::Layers, "8C3-MP2-MP2".to_owned()));
    window.run_steps(10);
    window.get_by_label_contains("Cannot start. “8C3-MP2-MP2” is not a list of hidden layers: MP2 must follow a convolution").click();
    window.run_steps(20);
    assert!(
        window
            .get_by_role_and_label(Role::TextInput, "Layers")
            .is_focused()
    );
    // Another model has none.
    window.configure(|config| config.model = ModelKind::Mlp);
    window.run_steps(10);
    assert_eq!(layers(&window), None);
    assert_eq!(window.app().validation_errors(), Vec::new());
    assert!(
        window
            .query_by_role_and_label(Role::TextInput, "Layers")
            .is_none()
    );
}

#[test]
fn every_setting_that_keeps_a_run_from_starting_is_named() {
    let mut window = configured(|_| ());
    for field in [Setting::Epochs, Setting::BatchSize] {
        window.apply(TrainAction::Type(field, "abc".to_owned()));
    }
    window.run_steps(3);
    window.get_by_label("Cannot start. “abc” is not valid for the number of epochs.");
    assert!(
        window
            .query_all_by_label("“abc” is not valid for the batch size.")
            .next()
            .is_some()
    );
}

#[test]
fn what_cannot_start_leads_to_its_field_by_pointer_and_keys() {
    for by_key in [false, true] {
        let mut window = configured(|config| config.momentum = 0.9);
        window.apply(TrainAction::Type(Setting::Seed, "seven".to_owned()));
        window.run_steps(20);
        let link = window.get_by_label_contains("Cannot start.");
        if by_key {
            link.focus();
            window.run_steps(2);
            window.key_press(Key::Enter);
        } else {
            link.click();
        }
        window.run_steps(20);
        let field = window.get_by_role_and_label(Role::TextInput, "Seed");
        assert!(
            field.is_focused() && window.ctx.content_rect().contains_rect(field.rect()),
            "{:?}",
            field.rect()
        );
    }
}

#[test]
fn more_settings_come_into_view_when_they_are_opened() {
    for size in [[900.0, 600.0], [1280.0, 800.0]] {
        let (mut window, _engine) = sized(size);
        window.get_by_label("More settings").click_accesskit();
        window.run_steps(40);
        for name in ["Optimization", "Activation"] {
            let shown = window
                .get_all_by_label(name)
                .next()
                .expect("a setting")
                .rect();
            assert!(shown.bottom() < size[1] - 150.0, "{name} is at {shown:?}");
        }
    }
}

#[test]
fn the_chosen_value_of_a_list_is_heard() {
    let mut window = configured(|_| ());
    window.get_by_label("More settings").click_accesskit();
    window.run_steps(40);
    let config = window.app().ctx.config.clone();
    for (list, value) in [
        ("Data set", config.data.label()),
        ("Network", config.model.label().to_owned()),
        ("Augmentation", config.augmentation.label().to_owned()),
        ("Precision", config.precision.label().to_owned()),
        ("Optimizer", config.optimizer.label().to_owned()),
        ("Schedule", config.schedule.label().to_owned()),
        ("Device", config.device.label().to_owned()),
    ] {
        let node = window.get_by_role_and_label(Role::ComboBox, list);
        let heard = node.accesskit_node().description().unwrap_or_default();
        assert!(heard.starts_with(&value), "{list}: {heard}");
    }
}

#[test]
fn all_shortcuts_are_seen_at_once_in_the_usual_window() {
    let (mut window, _engine) = usual();
    window.key(Key::F1);
    let all = window.ctx.content_rect().shrink2(Vec2::new(20.0, 60.0));
    for topic in ["Everywhere", "Training", "Drawing", "Plots"] {
        assert!(
            window
                .get_all_by_label(topic)
                .any(|node| all.contains_rect(node.rect())),
            "{topic}"
        );
    }
    let last = |text| window.get_by_label_contains(text).rect().bottom();
    let last = last("Move the crosshair").max(last("Rename the selected model"));
    let close = window.rect("Close");
    assert!(
        last < close.top(),
        "{last:?} is covered by what is at {close:?}"
    );
    window.key_press_modifiers(Modifiers::NONE, Key::Escape);
}
