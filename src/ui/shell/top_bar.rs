//! Owns the bar along the top: the name, the tabs, the menu.
//! Must not know the screens behind the tabs.

use eframe::egui::{Align, Button, Layout, RichText, Sense, Stroke, Ui, containers::menu::MenuButton, gui_zoom, vec2};

use crate::app::{Action, App, Screen, Theme, WizardStep};
use crate::ui::about::About;
use crate::ui::window::Views;
use crate::ui::{icons, shortcuts, style};

/// Draws the bar.
pub(in crate::ui) fn show(ui: &mut Ui, app: &App, views: &mut Views, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        let palette = style::palette(ui);
        let (rect, _) = ui.allocate_exact_size(vec2(20.0, 30.0), Sense::hover());
        icons::drop(ui.painter(), rect.center(), 22.0, palette.accent);
        ui.label(RichText::new("Inkling").size(18.0).strong());
        ui.add_space(style::GAP);
        for (screen, shortcut) in Screen::ALL.into_iter().zip(&shortcuts::SCREENS) {
            tab(ui, app.screen == screen, screen, &ui.ctx().format_shortcut(shortcut), actions);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            MenuButton::from_button(Button::new("Menu").min_size(vec2(64.0, 30.0))).ui(ui, |ui| menu(ui, app, views, actions));
        });
    });
}

fn tab(ui: &mut Ui, chosen: bool, screen: Screen, keys: &str, actions: &mut Vec<Action>) {
    let palette = style::palette(ui);
    let text = RichText::new(name(screen)).size(15.5);
    let text = if chosen { text.strong().color(palette.accent) } else { text };
    let response = ui
        .add(Button::selectable(chosen, text).frame(false).min_size(vec2(72.0, 30.0)))
        .on_hover_text(format!("{} ({keys})", about(screen)));
    if chosen {
        // A line as well as a colour says which screen this is.
        let line = response.rect.x_range().shrink(10.0);
        ui.painter().hline(line, response.rect.bottom() - 1.0, Stroke::new(2.5, palette.accent));
    }
    if response.clicked() {
        actions.push(Action::Show(screen));
    }
}

const fn name(screen: Screen) -> &'static str {
    match screen {
        Screen::Train => "Train",
        Screen::Draw => "Draw",
        Screen::Models => "Models",
        Screen::Results => "Results",
        Screen::Hardware => "Hardware",
    }
}

const fn about(screen: Screen) -> &'static str {
    match screen {
        Screen::Train => "Start a run and watch it learn",
        Screen::Draw => "Draw a digit and see it read",
        Screen::Models => "Every finished run",
        Screen::Results => "What a model gets right and wrong",
        Screen::Hardware => "What this machine has, and how fast it is",
    }
}

fn menu(ui: &mut Ui, app: &App, views: &mut Views, actions: &mut Vec<Action>) {
    ui.label(style::hint("Colours"));
    for (theme, label) in [(Theme::System, "As the system"), (Theme::Light, "Light"), (Theme::Dark, "Dark")] {
        if ui.radio(app.settings.theme == theme, label).clicked() {
            actions.push(Action::SetTheme(theme));
        }
    }
    ui.separator();
    ui.label(style::hint(format!("Size: {:.0} %", ui.ctx().zoom_factor() * 100.0)));
    gui_zoom::zoom_menu_buttons(ui);
    ui.separator();
    if ui.button("Folder of finished runs").clicked() {
        actions.push(Action::OpenFolder(app.runs_folder().to_owned()));
        ui.close();
    }
    if ui.button("Keyboard shortcuts (F1)").clicked() {
        views.shortcuts = true;
        ui.close();
    }
    if ui.add_enabled(!app.is_training(), Button::new("Set up again…")).on_disabled_hover_text("Not while a run is under way.").clicked()
    {
        actions.push(Action::Wizard(WizardStep::Welcome));
        ui.close();
    }
    ui.separator();
    if ui.button("About Inkling").clicked() {
        views.about = About::Facts(false);
        ui.close();
    }
}
