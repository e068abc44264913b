//! The top bar: the name, the tabs, the menu.

use eframe::egui::{
    Align, Button, Layout, RichText, Sense, Stroke, Ui, containers::menu::MenuButton, gui_zoom,
    vec2,
};

use super::about::About;
use super::shortcuts;
use crate::window::frame::Views;
use crate::window::style;
use crate::window::style::icons;
use crate::window::{Action, App, Screen, Theme, WizardStep};

/// Between two tabs, in points.
const TAB_DISTANCE: f32 = 20.0;

pub(in crate::window) fn show(
    ui: &mut Ui,
    app: &App,
    views: &mut Views,
    actions: &mut Vec<Action>,
) {
    ui.horizontal(|ui| {
        let palette = style::palette(ui);
        let (rect, _) = ui.allocate_exact_size(vec2(20.0, 30.0), Sense::hover());
        icons::drop(ui.painter(), rect.center(), 22.0, palette.accent);
        ui.label(RichText::new("Inkling").size(18.0).strong());
        ui.add_space(style::GAP);
        ui.scope(|ui| {
            ui.spacing_mut().item_spacing.x = TAB_DISTANCE;
            for (screen, shortcut) in Screen::ALL.into_iter().zip(&shortcuts::SCREENS) {
                tab(
                    ui,
                    app.shell.screen == screen,
                    screen,
                    &ui.ctx().format_shortcut(shortcut),
                    actions,
                );
            }
        });
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            MenuButton::from_button(Button::new("Menu").min_size(vec2(64.0, 30.0)))
                .ui(ui, |ui| menu(ui, app, views, actions));
        });
    });
}

fn tab(ui: &mut Ui, chosen: bool, screen: Screen, keys: &str, actions: &mut Vec<Action>) {
    let palette = style::palette(ui);
    let text = RichText::new(name(screen)).size(15.5);
    let text = if chosen {
        text.strong().color(palette.accent)
    } else {
        text
    };
    let response = ui
        .add(
            Button::selectable(chosen, text)
                .frame(false)
                .min_size(vec2(54.0, 30.0)),
        )
        .on_hover_text(format!("{} ({keys})", about(screen)));
    if chosen {
        // A line as well as a colour marks the current screen.
        ui.painter().hline(
            response.rect.x_range(),
            response.rect.bottom() - 1.0,
            Stroke::new(2.5, palette.accent),
        );
    }
    if response.clicked() {
        actions.push(Action::Show(screen));
    }
}

const fn name(screen: Screen) -> &'static str {
    match screen {
        Screen::Train => "Train",
        Screen::Sweep => "Sweep",
        Screen::Draw => "Draw",
        Screen::Models => "Models",
        Screen::Results => "Results",
        Screen::Hardware => "Hardware",
        Screen::MyDigits => "My digits",
    }
}

const fn about(screen: Screen) -> &'static str {
    match screen {
        Screen::Train => "Train a model and follow its progress",
        Screen::Sweep => "Search for better settings",
        Screen::Draw => "Draw a digit and see it recognised",
        Screen::Models => "Your trained models",
        Screen::Results => "Accuracy, confusion matrix and misclassified images",
        Screen::Hardware => "This machine's hardware, self-test and benchmark",
        Screen::MyDigits => "The drawings that you keep, and fine-tuning on them",
    }
}

fn menu(ui: &mut Ui, app: &App, views: &mut Views, actions: &mut Vec<Action>) {
    ui.label(style::hint("Theme"));
    // Menus paint no outlines, but the circles of radio buttons are nothing without.
    ui.scope(|ui| {
        ui.visuals_mut().widgets.inactive.bg_stroke = Stroke::new(1.0, style::palette(ui).edge);
        themes(ui, app, actions);
    });
    ui.separator();
    ui.label(style::hint(format!(
        "Zoom: {:.0} %",
        ui.ctx().zoom_factor() * 100.0
    )));
    gui_zoom::zoom_menu_buttons(ui);
    ui.separator();
    if ui.button("Open models folder").clicked() {
        actions.push(Action::OpenFolder(app.runs_folder().to_owned()));
        ui.close();
    }
    if ui.button("Keyboard shortcuts (F1)").clicked() {
        views.shortcuts = true;
        ui.close();
    }
    if ui
        .add_enabled(!app.is_at_long_work(), Button::new("Run setup again…"))
        .on_disabled_hover_text("Unavailable while training is in progress")
        .clicked()
    {
        actions.push(Action::Wizard(WizardStep::Welcome));
        ui.close();
    }
    ui.separator();
    let copy = ui.button("Copy diagnostics");
    if copy.on_hover_text("Versions, hardware, settings and the end of the log, for a bug report; nothing personal is in it").clicked() {
        actions.push(Action::CopyDiagnostics);
        ui.close();
    }
    if ui.button("About Inkling").clicked() {
        views.about = About::Facts(false);
        ui.close();
    }
}

fn themes(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    for (theme, label) in [
        (Theme::System, "Same as system"),
        (Theme::Light, "Light"),
        (Theme::Dark, "Dark"),
    ] {
        if ui.radio(app.ctx.settings.theme == theme, label).clicked() {
            actions.push(Action::SetTheme(theme));
        }
    }
}
