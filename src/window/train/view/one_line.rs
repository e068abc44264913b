//! The settings as one line: to copy and share, or to paste.

use eframe::egui::{Id, Key, TextEdit, Ui};

use crate::run_config::RunConfig;
use crate::window::style::icons::Icon;
use crate::window::{Action, App, TrainAction, style};

/// Draws it. What is typed counts once Enter is pressed.
pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    style::section(ui, "As a command");
    let id = Id::unique("settings as one line");
    let line = app.ctx.config.command(None);
    let typed: Option<String> = ui.data(|data| data.get_temp(id));
    let mut text = typed.clone().unwrap_or_else(|| line.clone());
    let field = ui
        .horizontal(|ui| {
            if style::ask(ui, style::icon_button(Icon::Copy), None, "Copy the line")
                .accessible_name("Copy the settings")
                .clicked()
            {
                ui.copy_text(line.clone());
            }
            // Long lines wrap; Enter does not break them.
            let field = TextEdit::multiline(&mut text).return_key(None);
            ui.add(field.desired_rows(1).desired_width(f32::INFINITY))
                .accessible_name("Settings as one line")
                .on_hover_text("The command that trains with these settings. Paste another one and press Enter to use it")
        })
        .inner;
    let problem = typed
        .as_deref()
        .and_then(|typed| RunConfig::from_command(typed).err());
    let entered = field.has_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    if entered && let Ok(config) = RunConfig::from_command(&text) {
        actions.push(TrainAction::UseSettings(Box::new(config)).into());
        field.surrender_focus();
        ui.data_mut(|data| data.remove::<String>(id));
    } else if field.changed() {
        ui.data_mut(|data| data.insert_temp(id, text));
    } else if field.lost_focus() {
        ui.data_mut(|data| data.remove::<String>(id));
    }
    if let Some(problem) = problem {
        style::invalid(ui, &problem.to_string());
    }
}
