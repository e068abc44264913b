//! The dialog that asks for another machine.

use eframe::egui::{Key, accesskit::Role};
use egui_kittest::kittest::{NodeT, Queryable};

use egui_kittest::Harness;
use inkling::app::ReachState;
use inkling::ui::Inkling;

use super::window::{sized, until};

/// Opens the list of machines under "More settings", and the dialog from there.
fn ask(window: &mut Harness<'static, Inkling>) {
    window.get_by_label("More settings").click_accesskit();
    window.run_steps(20);
    window.get_by_role_and_label(Role::ComboBox, "Machine").click_accesskit();
    window.run_steps(3);
    window.get_by_label("Another machine…").click_accesskit();
    window.run_steps(3);
}

fn type_host(window: &mut Harness<'static, Inkling>, host: &str) {
    window.get_by_role_and_label(Role::TextInput, "SSH host").focus();
    window.run_steps(2);
    window.get_by_role_and_label(Role::TextInput, "SSH host").type_text(host);
    window.run_steps(2);
    window.key_press(Key::Enter);
    window.run_steps(2);
}

#[test]
fn a_host_is_typed_looked_at_and_used_in_every_size_and_the_buttons_stay() {
    for size in [[900.0, 600.0], [1280.0, 800.0]] {
        let (mut window, _engine) = sized(size);
        ask(&mut window);
        let cancel = window.get_by_label("Cancel").rect();
        assert!(cancel.bottom() < size[1] && cancel.top() > 0.0, "{size:?}: {cancel:?}");
        type_host(&mut window, "gpu-box");
        until(&mut window, "the machine", |app| matches!(app.machine_dialog.as_ref().unwrap().state, ReachState::Reached(_)));
        window.run_steps(2);
        window.get_by_label_contains("Self-test passed");
        assert_eq!(window.get_by_label("Cancel").rect().top(), cancel.top(), "{size:?}");
        window.get_by_label("Use this machine").click();
        window.run_steps(3);
        assert_eq!(window.state().app().other_machine().unwrap().host.name(), "gpu-box");
        let list = window.get_by_role_and_label(Role::ComboBox, "Machine");
        assert!(list.accesskit_node().description().unwrap().starts_with("gpu-box"), "a screen reader hears which");
    }
}

#[test]
fn a_host_that_is_not_there_is_said_and_escape_closes() {
    let (mut window, _engine) = sized([1280.0, 800.0]);
    ask(&mut window);
    type_host(&mut window, "nowhere");
    until(&mut window, "the answer", |app| matches!(app.machine_dialog.as_ref().unwrap().state, ReachState::Failed(_)));
    window.run_steps(2);
    window.get_by_label_contains("no such host");
    window.key_press(Key::Escape);
    window.run_steps(3);
    assert!(window.state().app().machine_dialog.is_none() && window.state().app().other_machine().is_none());
}
