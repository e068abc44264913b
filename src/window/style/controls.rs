//! How controls behave: tooltips, keys, clicks, and names for screen readers.

use eframe::egui::{
    ComboBox, Key, ModalResponse, Modifiers, ProgressBar, Rect, Response, Role, Sense, Ui, Widget,
    WidgetInfo, accesskit,
};

use super::icons::{Icon, icon};
use super::{RADIUS_SMALL, motion, palette, toggle};
use crate::window::Action;

/// A control whose tooltip explains what it does, or why it cannot be used now.
pub fn ask(ui: &mut Ui, control: impl Widget, why_not: Option<&str>, about: &str) -> Response {
    let control = ui.add_enabled(why_not.is_none(), control);
    let control = control.on_disabled_hover_text(why_not.unwrap_or_default());
    if about.is_empty() {
        control
    } else {
        control.on_hover_text(about)
    }
}

/// A drop-down list of this width; `entries` adds what can be chosen.
pub fn drop_down<T>(
    ui: &mut Ui,
    id: &str,
    width: f32,
    shown: &str,
    entries: impl FnOnce(&mut Ui) -> T,
) -> Response {
    let list = ComboBox::from_id_salt(id).width(width).truncate();
    list.selected_text(shown).show_ui(ui, entries).response
}

/// A progress bar; `fraction` goes from 0 to 1.
pub fn progress_bar(ui: &Ui, fraction: f32) -> ProgressBar {
    ProgressBar::new(fraction)
        .fill(palette(ui).accent)
        .corner_radius(RADIUS_SMALL)
}

/// Shows that something is in progress; without motion, an icon.
pub fn spinner(ui: &mut Ui) {
    if motion(ui).calm > 0.0 {
        ui.spinner();
    } else {
        icon(ui, Icon::More);
    }
}

/// Turns a click on a control into an action.
pub trait Pushes {
    fn pushes<A: Into<Action>>(&self, actions: &mut Vec<Action>, action: impl FnOnce() -> A);
}

impl Pushes for Response {
    fn pushes<A: Into<Action>>(&self, actions: &mut Vec<Action>, action: impl FnOnce() -> A) {
        if self.clicked() {
            actions.push(action().into());
        }
    }
}

/// The name of something painted, for screen readers.
pub fn name(painted: &Response, role: Role, name: &str) {
    painted.widget_info(|| WidgetInfo::labeled(role, true, name));
}

/// The name and the value of something painted, for screen readers.
pub fn describe(painted: &Response, role: Role, name: &str, value: &str) {
    painted.widget_info(|| WidgetInfo {
        current_text_value: Some(value.to_owned()),
        ..WidgetInfo::labeled(role, true, name)
    });
}

/// True once Escape was pressed in this dialog. Unlike [`ModalResponse::should_close`] it is false
/// for a click beside the dialog.
pub fn escaped<T>(dialog: &ModalResponse<T>) -> bool {
    let takes_keys = dialog.is_top_modal && !dialog.any_popup_open;
    takes_keys
        && dialog
            .response
            .ctx
            .input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape))
}

/// Whoever opened a dialog by keyboard goes on in it, at this control.
pub fn focus_first(ui: &Ui, control: &Response) {
    if ui.memory(|memory| memory.focused().is_none()) {
        control.request_focus();
    }
}

/// True once Enter was pressed in this field; it has the keyboard's focus while nothing else has.
pub fn entered(ui: &Ui, field: &Response) -> bool {
    // Enter takes the focus from the field.
    let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    if !entered {
        focus_first(ui, field);
    }
    entered
}

/// Explains a drop-down list, if there is more to say than its value. Screen readers get the
/// value with that: they would not read it otherwise.
pub fn explain_list(list: Response, value: &str, about: &str) -> Response {
    let description = if about.is_empty() {
        value.to_owned()
    } else {
        format!("{value}. {about}")
    };
    list.ctx
        .accesskit_node_builder(list.id, |node| node.set_description(description));
    if about.is_empty() {
        list
    } else {
        list.on_hover_text(about)
    }
}

/// A button of a group: this option, which a click chooses.
pub fn choose<T: PartialEq>(ui: &mut Ui, chosen: &mut T, option: T, text: &str) {
    if ui.add(toggle(text, *chosen == option)).clicked() {
        *chosen = option;
    }
}

/// Has screen readers announce changes of the verdict in this place. One accessibility node stands
/// for the whole row; otherwise they would announce its parts twice.
pub fn announce_verdict(ui: &Ui, place: Rect, id: &str, sense: Sense, sentence: &str) {
    let response = ui.interact(place, ui.scope_id().with(id), sense);
    describe(&response, Role::Status, "Verdict", sentence);
    ui.ctx()
        .accesskit_node_builder(response.id, |node| node.set_live(accesskit::Live::Polite));
}
