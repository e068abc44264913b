//! The top bar: the name, the tabs, the menu. The status bar: the progress of the sweep, run or job
//! that is at work, and the monitor's switch.

use eframe::egui::containers::menu::MenuButton;
use eframe::egui::{Align, Button, Label, Layout, RichText, Sense, Stroke, Ui, gui_zoom, vec2};

use super::dialogs::About;
use super::shortcuts;
use crate::settings::Theme;
use crate::window::frame::Views;
use crate::window::style::{self, icons};
use crate::window::{Action, App, MachineAction, Pushes as _, Screen, WizardStep};

/// Between two tabs, in points.
const TAB_DISTANCE: f32 = 20.0;

pub fn top_bar(ui: &mut Ui, app: &App, views: &mut Views, actions: &mut Vec<Action>) {
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
                    app.ctx.screen == screen,
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
        // A line as well as a color marks the current screen.
        ui.painter().hline(
            response.rect.x_range(),
            response.rect.bottom() - 1.0,
            Stroke::new(2.5, palette.accent),
        );
    }
    response.pushes(actions, || Action::Show(screen));
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
        actions.push(Action::OpenFolder(app.ctx.runs_folder().to_owned()));
        ui.close();
    }
    if ui.button("Keyboard shortcuts (F1)").clicked() {
        views.shortcuts = true;
        ui.close();
    }
    if ui
        .add_enabled(!app.ctx.is_at_long_work(), Button::new("Run setup again…"))
        .on_disabled_hover_text("Unavailable while training is in progress")
        .clicked()
    {
        actions.push(Action::Wizard(WizardStep::Welcome));
        ui.close();
    }
    ui.separator();
    let copy = ui.button("Copy diagnostics");
    if copy.on_hover_text("Versions, hardware, settings and the end of the log, for a bug report; nothing personal is in it").clicked() {
        actions.push(Action::Machine(MachineAction::CopyDiagnostics));
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
        ui.radio(app.ctx.settings.theme == theme, label)
            .pushes(actions, || Action::SetTheme(theme));
    }
}

pub fn status_bar(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        at_work(ui, app, actions);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            monitor(ui, app, actions);
        });
    });
}

fn monitor(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let shown = app.ctx.settings.monitor;
    let about = format!(
        "{} live CPU, memory and GPU usage ({})",
        if shown { "Hide" } else { "Show" },
        ui.ctx().format_shortcut(&shortcuts::MONITOR)
    );
    let button = Button::selectable(shown, RichText::new("Monitor").small())
        .frame_when_inactive(true)
        .small()
        .min_size(vec2(0.0, 24.0));
    ui.add(button)
        .on_hover_text(about)
        .pushes(actions, || Action::ShowMonitor(!shown));
}

/// The sweep, the run or the job that is in progress, or how the last run ended.
fn at_work(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if let Some(sweep) = app.sweeps.shown.as_ref().filter(|sweep| sweep.is_active()) {
        progress(ui, sweep.fraction(), "Sweep progress, in the status bar");
        let text = format!("Sweep: {}", sweep.figures().join(", "));
        link(ui, text, "Show the sweep", Screen::Sweep, actions);
        return;
    }
    let run = app.train.run.as_ref();
    if let Some(run) = run.filter(|run| run.is_active()) {
        progress(ui, run.fraction(), "Run progress, in the status bar");
        let parts: Vec<String> = std::iter::once(run.state()).chain(run.pace()).collect();
        link(ui, parts.join(", "), "Show the run", Screen::Train, actions);
    } else if let Some(job) = app.ctx.jobs.shown() {
        progress(
            ui,
            job.running.progress.fraction,
            "Job progress, in the status bar",
        );
        link(ui, job.state(), "Show it", job.screen, actions);
        if job.can_cancel() {
            let cancel = ui.add_enabled(
                !job.running.cancelling,
                Button::new(RichText::new("Cancel").small()).small(),
            );
            cancel
                .accessible_name("Cancel the job")
                .pushes(actions, || Action::CancelJob(job.running.id));
        }
    } else if let Some(run) = run {
        link(ui, run.state(), "Show the run", Screen::Train, actions);
    } else {
        ui.label(style::hint("No run yet"));
    }
}

fn progress(ui: &mut Ui, fraction: f32, name: &str) {
    ui.add(
        style::progress_bar(ui, fraction)
            .desired_width(120.0)
            .desired_height(8.0),
    )
    .accessible_name(name);
}

/// A line that leads to the screen of what it is about.
fn link(ui: &mut Ui, text: String, about: &str, screen: Screen, actions: &mut Vec<Action>) {
    ui.add(Label::new(RichText::new(text).small()).sense(Sense::click()))
        .on_hover_text(about)
        .pushes(actions, || Action::Show(screen));
}
