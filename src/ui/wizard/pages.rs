//! Owns what each page of the wizard says and lets one choose.
//! Must not know how one gets from page to page.

use eframe::egui::{Color32, Frame, Label, Rect, RichText, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};

use crate::app::{Action, App, WizardStep};
use crate::data::builtin;
use crate::ink::Ink;
use crate::run_config::{DataSource, DataSpec, NamedSet, Preset};
use crate::text::format::grouped;
use crate::ui::{hardware, icons, run_panel, style};

/// The hand the welcome page is written in.
const HAND: u64 = 7;

/// Draws the page.
pub fn show(ui: &mut Ui, app: &App, step: WizardStep, actions: &mut Vec<Action>) {
    match step {
        WizardStep::Welcome => welcome(ui),
        WizardStep::Hardware => hardware::summary(ui, app, actions),
        WizardStep::Data => data(ui, app, actions),
        WizardStep::Settings => settings(ui, app, actions),
        WizardStep::Done => done(ui, app),
    }
}

fn welcome(ui: &mut Ui) {
    digits(ui);
    ui.add_space(style::GAP / 2.0);
    ui.label("Inkling trains a small neural network on your own machine and then lets you draw for it.");
    ui.add_space(style::GAP);
    for (title, body) in [
        ("Train", "Press Start and watch loss and accuracy change while the network learns."),
        ("Draw", "Write a digit with mouse, finger or pen, and see what the network makes of it, stroke by stroke."),
        ("Understand", "See which digits it mixes up, and look at its worst mistakes."),
    ] {
        style::card(ui).show(ui, |ui| {
            ui.set_min_width(ui.available_width());
            ui.label(RichText::new(title).strong().size(16.0));
            ui.label(RichText::new(body).weak());
        });
    }
    ui.add_space(style::GAP);
    ui.label("Nothing leaves this machine, and no network is needed. Setting up takes four short pages; Enter leads through them.");
}

fn data(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let mut offer = |ui: &mut Ui, source: Option<DataSource>, title: &str, body: &str| {
        let spec = source.map(DataSpec::single);
        let chosen = spec.as_ref() == Some(&app.config.data);
        if option(ui, chosen, spec.is_some(), title, body)
            && let Some(data) = spec
        {
            let mut config = app.config.clone();
            config.data = data;
            actions.push(Action::Configure(Box::new(config)));
        }
    };
    let builtin = "60,000 training and 10,000 test digits, written by Inkling's own generator in a few seconds. Nothing to download.";
    offer(ui, Some(DataSource::Builtin), "Built-in digits", builtin);
    let found = |set| app.found.iter().flatten().find(move |found| found.set == set);
    match found(NamedSet::Mnist) {
        Some(mnist) => {
            let body = format!(
                "The classic: {} training and {} test digits from real hands, found in {}.",
                grouped(mnist.train_images),
                grouped(mnist.test_images),
                mnist.folder.display()
            );
            offer(ui, Some(app.source_of(mnist)), "MNIST", &body);
        }
        None if app.found.is_none() => offer(ui, None, "MNIST", "Looking for it on this machine…"),
        None => offer(ui, None, "MNIST", "Not found on this machine. If you have its four files, choose their folder below."),
    }
    for set in NamedSet::ALL.into_iter().filter(|&set| set != NamedSet::Mnist) {
        if let Some(other) = found(set) {
            let body = format!("{} training pictures, found in {}.", grouped(other.train_images), other.folder.display());
            offer(ui, Some(app.source_of(other)), set.label(), &body);
        }
    }
    for folder in &app.settings.data_folders {
        let source = DataSource::Path(folder.clone());
        let title = source.label();
        offer(ui, Some(source), &title, &folder.display().to_string());
    }
    ui.add_space(style::GAP / 2.0);
    if ui.add(style::secondary_button("Choose a folder…")).clicked() {
        actions.push(Action::ChooseDataFolder);
    }
    ui.label(style::hint("Inkling reads the four IDX files of MNIST, a folder per digit with pictures in it, CSV files and ink files."));
}

fn settings(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let recommended = app.recommended().map(|(config, reason)| (config.preset, reason));
    match &recommended {
        Some((_, reason)) => ui.label(reason),
        None => ui.label("Looking at this machine to recommend something…"),
    };
    ui.add_space(style::GAP / 2.0);
    for &preset in Preset::ALL {
        let best = recommended.as_ref().is_some_and(|(recommended, _)| *recommended == Some(preset));
        let title = if best { format!("{} (recommended)", preset.label()) } else { preset.label().to_owned() };
        if option(ui, app.config.preset == Some(preset), true, &title, &run_panel::descriptions::preset(preset)) {
            actions.push(Action::ApplyPreset(preset));
        }
    }
    if app.config.preset.is_none() {
        option(ui, true, true, "Your own settings", "As they stand in the run panel.");
    }
    ui.label(style::hint("Every single setting can be changed later, beside the Start button."));
}

fn done(ui: &mut Ui, app: &App) {
    ui.horizontal(|ui| {
        icons::icon(ui, icons::Icon::Done);
        let preset = app.config.preset.map_or("your own settings".to_owned(), |preset| format!("the preset “{}”", preset.label()));
        ui.label(format!("The next run learns from {} with {preset}.", app.config.data.label()));
    });
    for obstacle in app.validation_errors() {
        style::invalid(ui, &obstacle.message.to_string());
    }
    ui.add_space(style::GAP);
    ui.label("Press Start on the Train screen whenever you like. You can draw at once: a small model that comes with Inkling reads until yours has learned.");
    ui.add_space(style::GAP / 2.0);
    ui.label(RichText::new("F1 shows the keyboard shortcuts; “Set up again…” in the menu brings these pages back.").weak());
}

/// The ten digits, written by hand: what all this is about.
fn digits(ui: &mut Ui) {
    let palette = style::palette(ui);
    let width = ui.available_width();
    let (rect, response) = ui.allocate_exact_size(vec2(width, (width / 10.0).min(66.0) + 2.0 * style::GAP), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, "The digits 0 to 9, handwritten"));
    ui.painter().rect(rect, style::RADIUS, palette.paper, Stroke::new(1.0, palette.line), StrokeKind::Inside);
    let cell = (rect.width() - 2.0 * style::GAP) / 10.0;
    for digit in 0..10 {
        let left = rect.left() + style::GAP + f32::from(digit) * cell;
        let place = Rect::from_min_size(pos2(left, rect.top() + style::GAP), vec2(cell, rect.height() - 2.0 * style::GAP));
        strokes(ui, &builtin::ink(digit, Some(0), HAND, 0), place.shrink2(vec2(cell * 0.12, 2.0)), palette.accent);
    }
}

/// Paints ink as large as it fits.
fn strokes(ui: &Ui, ink: &Ink, place: Rect, color: Color32) {
    let mut bounds = Rect::NOTHING;
    ink.strokes.iter().flatten().for_each(|&[x, y]| bounds.extend_with(pos2(x, y)));
    if !bounds.is_positive() && bounds.height() <= 0.0 {
        return;
    }
    let scale = (place.height() / bounds.height()).min(place.width() / bounds.width().max(1e-3));
    for stroke in &ink.strokes {
        let points = stroke.iter().map(|&[x, y]| place.center() + (pos2(x, y) - bounds.center()) * scale).collect();
        ui.painter().line(points, Stroke::new(3.5, color));
    }
}

/// One of several to choose from; true when it was chosen.
fn option(ui: &mut Ui, chosen: bool, possible: bool, title: &str, body: &str) -> bool {
    let palette = style::palette(ui);
    let frame = style::card(ui);
    let frame = if chosen { frame.stroke(Stroke::new(2.0, palette.accent)) } else { frame };
    let clicked = Frame::show(frame, ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.add_enabled_ui(possible, |ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            let clicked = ui.radio(chosen, RichText::new(title).strong().size(16.0)).clicked();
            ui.horizontal(|ui| {
                // In line with the title, which stands behind its button.
                ui.add_space(ui.spacing().icon_width + ui.spacing().icon_spacing - ui.spacing().item_spacing.x);
                ui.add(Label::new(RichText::new(body).weak()).wrap());
            });
            clicked
        })
        .inner
    });
    clicked.inner || (possible && clicked.response.interact(Sense::click()).clicked())
}
