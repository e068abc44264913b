//! The top bar: the name, the tabs, the menu. The status bar: the progress of the sweep, run or job
//! in progress, and the monitor's switch.

use eframe::egui::containers::menu::MenuButton;
use eframe::egui::{
    Align, Button, Label, Layout, RichText, Role, Sense, Stroke, Ui, WidgetInfo, gui_zoom, vec2,
};

use super::dialogs::About;
use super::shortcuts;
use crate::settings::Theme;
use crate::window::frame::Views;
use crate::window::style::SemiBold as _;
use crate::window::style::icons::Icon;
use crate::window::style::{self, icons};
use crate::window::{Action, App, MachineAction, Pushes as _, Screen, WizardStep};

/// Below this width, in points, tabs have less space beside their names.
const NARROW: f32 = 960.0;

pub fn top_bar(ui: &mut Ui, app: &App, views: &mut Views, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        let palette = style::palette(ui);
        let (rect, _) = ui.allocate_exact_size(vec2(20.0, 32.0), Sense::hover());
        icons::drop(ui.painter(), rect.center(), 21.0, palette.accent);
        ui.label(RichText::new("Inkling").size(17.0).semibold());
        ui.add_space(style::GAP);
        ui.scope(|ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            let padding = if ui.ctx().content_rect().width() < NARROW {
                4.0
            } else {
                9.0
            };
            ui.spacing_mut().button_padding.x = padding;
            for (screen, shortcut) in Screen::ALL.into_iter().zip(&shortcuts::SCREENS) {
                if screen == Screen::Lessons {
                    continue;
                }
                // What follows is for experts.
                if screen == Screen::Sweep {
                    style::divider(ui);
                }
                let keys = ui.ctx().format_shortcut(shortcut);
                tab(ui, app.ctx.screen == screen, screen, &keys, actions);
            }
        });
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let (button, _) = MenuButton::from_button(style::icon_button(Icon::Menu))
                .ui(ui, |ui| menu(ui, app, views, actions));
            button.accessible_name("Menu").on_hover_text("Menu");
            lessons(ui, app, actions);
        });
    });
}

/// The tab of the lessons: an icon alone, as there is no room for nine names.
fn lessons(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let (name, icon, about) = named(Screen::Lessons);
    let chosen = app.ctx.screen == Screen::Lessons || app.lessons.open.is_some();
    let keys = shortcuts::SCREENS
        .last()
        .map(|keys| ui.ctx().format_shortcut(keys));
    let about = format!("{about} ({})", keys.unwrap_or_default());
    let button = style::icon_button(icon).selected(chosen);
    let response = style::ask(ui, button, None, &about);
    response.widget_info(|| WidgetInfo::selected(Role::Tab, true, chosen, name));
    response.pushes(actions, || Action::Show(Screen::Lessons));
}

fn tab(ui: &mut Ui, chosen: bool, screen: Screen, keys: &str, actions: &mut Vec<Action>) {
    let (name, icon, about) = named(screen);
    let button = style::labeled(icon, name).selected(chosen);
    let button = button.min_size(vec2(0.0, 32.0));
    let response = style::ask(ui, button, None, &format!("{about} ({keys})"));
    response.widget_info(|| WidgetInfo::selected(Role::Tab, true, chosen, name));
    response.pushes(actions, || Action::Show(screen));
}

/// The name of a screen, its icon, and what it is for.
pub(super) const fn named(screen: Screen) -> (&'static str, Icon, &'static str) {
    match screen {
        Screen::Train => (
            "Train",
            Icon::Train,
            "Train a model and follow its progress",
        ),
        Screen::Draw => ("Draw", Icon::Draw, "Draw a digit and see it recognized"),
        Screen::Inside => (
            "Inside",
            Icon::Inside,
            "Look into the network while it recognizes your drawing",
        ),
        Screen::Results => (
            "Results",
            Icon::Results,
            "Accuracy, confusion matrix and misclassified images",
        ),
        Screen::Models => ("Models", Icon::Models, "Your trained models"),
        Screen::MyDigits => (
            "My digits",
            Icon::MyDigits,
            "The drawings you have kept, and fine-tuning on them",
        ),
        Screen::Sweep => (
            "Sweep",
            Icon::Sweep,
            "Hyperparameter search: find better settings",
        ),
        Screen::Hardware => (
            "Hardware",
            Icon::Hardware,
            "This machine's hardware, self-test and benchmark",
        ),
        Screen::Lessons => (
            "Lessons",
            Icon::Lessons,
            "Short experiments to understand how networks learn",
        ),
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
    let zoom = ui.ctx().zoom_factor() * 100.0;
    ui.label(style::hint(format!("Zoom: {zoom:.0}%")));
    gui_zoom::zoom_menu_buttons(ui);
    ui.separator();
    let chosen = |ui: &mut Ui, entry: Button<'_>, why_not: Option<&str>, about: &str| {
        let clicked = style::ask(ui, entry, why_not, about).clicked();
        if clicked {
            ui.close();
        }
        clicked
    };
    if chosen(ui, Button::new("Open models folder"), None, "") {
        actions.push(Action::OpenFolder(app.ctx.runs_folder().to_owned()));
    }
    if chosen(ui, Button::new("Keyboard shortcuts (F1)"), None, "") {
        views.shortcuts = true;
    }
    let busy = "Unavailable while training is in progress";
    let why_not = app.ctx.is_at_long_work().then_some(busy);
    if chosen(ui, Button::new("Run setup again…"), why_not, "") {
        actions.push(Action::Wizard(WizardStep::Welcome));
    }
    ui.separator();
    let about = "Versions, hardware, settings and the end of the log, for a bug report; without personal data";
    if chosen(ui, Button::new("Copy diagnostics"), None, about) {
        actions.push(MachineAction::CopyDiagnostics.into());
    }
    if chosen(ui, Button::new("About Inkling"), None, "") {
        views.about = About::Facts(false);
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
    let keys = ui.ctx().format_shortcut(&shortcuts::MONITOR);
    let does = if shown { "Hide" } else { "Show" };
    let about = format!("{does} live CPU, memory and GPU usage ({keys})");
    let button = style::labeled(Icon::Monitor, "Monitor").selected(shown);
    let button = style::ask(ui, button.small().min_size(vec2(0.0, 24.0)), None, &about);
    button.widget_info(|| WidgetInfo::selected(Role::Button, true, shown, "Monitor"));
    button.pushes(actions, || Action::ShowMonitor(!shown));
}

/// The sweep, the run or the job that is in progress, or how the last run ended. Train shows the
/// same of a run above Start.
fn at_work(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let sweep = app.sweeps.shown.as_ref();
    let on_train = app.ctx.screen == Screen::Train;
    if let Some(sweep) = sweep.filter(|sweep| sweep.is_active()) {
        progress(ui, sweep.fraction(), "Sweep progress, in the status bar");
        let text = format!("Sweep: {}", sweep.figures().join(", "));
        link(ui, text, "Show the sweep", Screen::Sweep, actions);
    } else if let Some(run) = app.train.active().filter(|_| !on_train) {
        progress(ui, run.fraction(), "Run progress, in the status bar");
        let parts: Vec<String> = std::iter::once(run.state()).chain(run.pace()).collect();
        link(ui, parts.join(", "), "Show the run", Screen::Train, actions);
    } else if let Some(job) = app.ctx.jobs.shown() {
        let running = job.running;
        let name = "Job progress, in the status bar";
        progress(ui, running.progress.fraction, name);
        link(ui, job.state(), "Show it", job.screen, actions);
        if job.can_cancel() {
            let cancel = Button::new(RichText::new("Cancel").small()).small();
            ui.add_enabled(!running.cancelling, cancel)
                .accessible_name("Cancel the job")
                .pushes(actions, || Action::CancelJob(running.id));
        }
    } else if let Some(run) = &app.train.run {
        if !on_train {
            link(ui, run.state(), "Show the run", Screen::Train, actions);
        }
    } else {
        ui.label(style::hint("No run yet"));
    }
}

fn progress(ui: &mut Ui, fraction: f32, name: &str) {
    let bar = style::progress_bar(ui, fraction).desired_width(120.0);
    ui.add(bar.desired_height(8.0)).accessible_name(name);
}

/// A line that leads to the screen of what it is about.
fn link(ui: &mut Ui, text: String, about: &str, screen: Screen, actions: &mut Vec<Action>) {
    ui.add(Label::new(RichText::new(text).small()).sense(Sense::click()))
        .on_hover_text(about)
        .pushes(actions, || Action::Show(screen));
}
