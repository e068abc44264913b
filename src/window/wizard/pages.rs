//! The content of the wizard's pages.

use eframe::egui::{
    Align, Color32, Frame, Id, Layout, Rect, RichText, Role, Sense, Stroke, Ui, pos2, vec2,
};

use super::came_by_arrow;
use crate::data::builtin;
use crate::ink::Ink;
use crate::notices::harder_data_note;
use crate::run_config::{DataSource, DataSpec, Preset, PublicDataset, Setting};
use crate::text::format::{file_size, grouped};
use crate::text::visible;
use crate::window::draw::view as draw;
use crate::window::draw::view::DrawView;
use crate::window::draw::view::ink::Node;
use crate::window::hardware::view as hardware;
use crate::window::style::SemiBold as _;
use crate::window::style::icons::Icon;
use crate::window::style::{self, icons};
use crate::window::train::view as run_panel;
use crate::window::{Action, Activity, App, Pushes as _, TrainAction, WizardStep};

const HAND: u64 = 7;

/// The side of the canvas on the first and the last page, in points.
const CANVAS: f32 = 330.0;
/// The welcome page's digits: seconds until the next one is begun, and seconds that each takes.
const NEXT_DIGIT: f64 = 0.17;
const ONE_DIGIT: f64 = 0.6;

pub fn show(
    ui: &mut Ui,
    app: &App,
    step: WizardStep,
    drawing: &mut DrawView,
    actions: &mut Vec<Action>,
) {
    match step {
        WizardStep::Welcome => welcome(ui, app, drawing, actions),
        WizardStep::Hardware => hardware::summary(ui, app, actions),
        WizardStep::Data => data(ui, app, actions),
        WizardStep::Settings => settings(ui, app, actions),
        WizardStep::Done => done(ui, app, drawing, actions),
    }
}

/// The width of a page, in points.
pub const fn width(step: WizardStep) -> f32 {
    match step {
        WizardStep::Welcome | WizardStep::Done => 900.0,
        WizardStep::Hardware | WizardStep::Data | WizardStep::Settings => style::TEXT_WIDTH + 80.0,
    }
}

fn welcome(ui: &mut Ui, app: &App, drawing: &mut DrawView, actions: &mut Vec<Action>) {
    const STEPS: [(Icon, &str, &str); 3] = [
        (
            Icon::Draw,
            "Draw",
            "Draw a digit with mouse, finger or pen and see it recognized, stroke by stroke.",
        ),
        (
            Icon::Train,
            "Train",
            "Train a network of your own, and follow loss and accuracy while it learns.",
        ),
        (
            Icon::Results,
            "Understand",
            "See which digits the network confuses, and look at the images it gets wrong.",
        ),
    ];
    beside_canvas(ui, app, drawing, actions, |ui| {
        digits(ui);
        ui.add_space(style::GAP);
        for (icon, title, body) in STEPS {
            ui.horizontal_top(|ui| {
                style::picture(ui, icon, 40.0);
                ui.add_space(style::GAP / 2.0);
                ui.vertical(|ui| {
                    ui.spacing_mut().item_spacing.y = 2.0;
                    style::semibold(ui, title);
                    style::weak(ui, body);
                });
            });
            ui.add_space(style::GAP / 2.0);
        }
        ui.add_space(style::GAP / 2.0);
        style::note(
            ui,
            "Everything stays on this computer unless you train on another one. No internet connection is needed.",
        );
    });
}

/// Content with a canvas to its right, on which the starter model recognizes digits already.
fn beside_canvas(
    ui: &mut Ui,
    app: &App,
    drawing: &mut DrawView,
    actions: &mut Vec<Action>,
    content: impl FnOnce(&mut Ui),
) {
    let gap = style::GAP * 3.0;
    let side = CANVAS.min((ui.available_width() - gap) * 0.42);
    ui.horizontal_top(|ui| {
        let left = ui.available_width() - side - gap - ui.spacing().item_spacing.x;
        style::wide_column(ui, vec2(left, 0.0), content);
        ui.add_space(gap);
        let height = draw::compact_height(ui, side);
        style::wide_column(ui, vec2(side, height), |ui| {
            draw::show_compact(ui, app, drawing, height, 0.0, actions);
        });
    });
}

fn data(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let (train, ctx) = (&app.train, &app.ctx);
    let mut taken = None;
    let mut offer = |ui: &mut Ui, data: Option<DataSpec>, title: &str, body: &str| {
        let chosen = data.as_ref() == Some(&ctx.config.data);
        let is_possible = data.is_some();
        if option(ui, chosen, is_possible, title, |_| {}, body, |_| {}) && is_possible {
            taken = data;
        }
    };
    let mixed = train.mnist_and_builtin(ctx);
    let is_missing = train.download_size(PublicDataset::Mnist).is_some()
        || train.download_of(PublicDataset::Mnist).is_some();
    let recommends_download = mixed.is_none() && is_missing && train.has_network;
    if recommends_download {
        missing_mnist(ui, app, true, actions);
    } else if let Some(mixed) = mixed {
        let title = format!("{} (recommended)", mixed.label());
        offer(ui, Some(mixed), &title, BEST_DATA);
    }
    let builtin = "60,000 training and 10,000 test images, generated by Inkling in a few seconds. Nothing to download. They are harder to recognize than MNIST's, so expect a lower accuracy.";
    offer(ui, Some(DataSpec::builtin()), "Built-in digits", builtin);
    let single = |found| Some(DataSpec::single(ctx.source_of(found)));
    match train.found_set(PublicDataset::Mnist) {
        Some(mnist) => {
            let [images, test] = [mnist.train_images, mnist.test_images].map(grouped);
            let body = format!(
                "The classic data set of real handwriting: {images} training and {test} test images, found in {}.",
                visible::path(&mnist.folder)
            );
            offer(ui, single(mnist), "MNIST", &body);
        }
        None if train.found.is_none() => offer(ui, None, "MNIST", "Searching this machine…"),
        None if recommends_download => {}
        None => missing_mnist(ui, app, false, actions),
    }
    for set in PublicDataset::ALL {
        if let Some(other) = train.found_set(set).filter(|_| set != PublicDataset::Mnist) {
            let (images, folder) = (grouped(other.train_images), visible::path(&other.folder));
            let body = format!("{images} training images, found in {folder}.");
            offer(ui, single(other), set.label(), &body);
        }
    }
    for folder in &ctx.settings.data_folders {
        let source = DataSource::Path(folder.clone());
        let (title, body) = (source.label(), visible::path(folder));
        offer(ui, Some(DataSpec::single(source)), &title, &body);
    }
    if let Some(data) = taken {
        let mut config = ctx.config.clone();
        config.data = data;
        actions.push(TrainAction::Configure(Box::new(config)).into());
    }
    for obstacle in app.errors_of(Setting::Data) {
        style::invalid(ui, &obstacle.message.to_string());
    }
    ui.add_space(style::GAP / 2.0);
    ui.add(style::quiet_button("Choose a folder…"))
        .pushes(actions, || TrainAction::ChooseDataFolder);
    ui.label(style::hint(
        "Supported: IDX files like MNIST's, folders of images, CSV tables, NumPy archives (.npz), Parquet files and ink files.",
    ));
}

/// Why MNIST mixed with built-in digits is recommended.
const BEST_DATA: &str = "Best for your own drawings: real handwriting, and half as many built-in digits for shapes that MNIST lacks.";

/// MNIST if it was not found, with its download.
fn missing_mnist(ui: &mut Ui, app: &App, is_recommended: bool, actions: &mut Vec<Action>) {
    let (about, title) = if is_recommended {
        let data = DataSpec::with_builtin(DataSource::Named(PublicDataset::Mnist));
        (BEST_DATA, format!("{} (recommended)", data.label()))
    } else {
        (
            "The classic data set of real handwriting.",
            "MNIST".to_owned(),
        )
    };
    let body = format!(
        "{about} MNIST was not found on this machine: download it here, or choose the folder with its four files below."
    );
    option(
        ui,
        false,
        false,
        &title,
        |_| {},
        &body,
        |ui| {
            if let Some(download) = app.train.download_of(PublicDataset::Mnist) {
                run_panel::data::download_progress(ui, download, actions);
            } else if let Some(size) = app.train.download_size(PublicDataset::Mnist) {
                let text = format!("Download MNIST ({})", file_size(size));
                ui.add(style::secondary_button(text))
                    .pushes(actions, || TrainAction::Download(PublicDataset::Mnist));
            }
        },
    );
}

fn settings(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let config = &app.ctx.config;
    let recommended = app.train.recommended(&app.ctx);
    match &recommended {
        Some((_, reason)) => ui.label(reason),
        None => ui.label("Detecting hardware to recommend a preset…"),
    };
    ui.add_space(style::GAP / 2.0);
    let best = recommended.and_then(|(config, _)| config.preset);
    for &preset in Preset::ALL {
        let is_best = best == Some(preset);
        let title = preset.label().to_owned() + if is_best { " (recommended)" } else { "" };
        let is_timing = app.ctx.jobs.doing(Activity::PresetTiming).is_some();
        let is_unknown = app.expected_time(&app.ctx.with_preset(preset)).is_none();
        let figures = |ui: &mut Ui| {
            if is_unknown && is_timing {
                ui.label("Measuring the time…");
            }
            run_panel::presets::Figures::of(app, preset).show(ui);
        };
        let about = run_panel::descriptions::preset(preset);
        let chosen = config.preset == Some(preset);
        if option(ui, chosen, true, &title, figures, &about, |_| {}) {
            actions.push(TrainAction::ApplyPreset(preset).into());
        }
    }
    if config.preset.is_none() {
        let about = "The current settings of the run panel.";
        option(ui, true, true, "Custom settings", |_| {}, about, |_| {});
    }
    if app.machine.benchmark.presets_disturbed && app.ctx.settings.preset_rates.is_empty() {
        let reason = "Other programs keep the CPU busy, so the time could not be measured. Each preset's time is shown after a first run with it.";
        style::note(ui, reason);
    }
    if let Some(note) = harder_data_note(&config.data) {
        style::note(ui, note);
    }
    ui.label(style::hint(
        "You can change every setting later on the Train screen.",
    ));
}

fn done(ui: &mut Ui, app: &App, drawing: &mut DrawView, actions: &mut Vec<Action>) {
    let obstacles = app.validation_errors();
    let mut chooses_data = false;
    beside_canvas(ui, app, drawing, actions, |ui| {
        if obstacles.is_empty() {
            next_run(ui, app);
        }
        for obstacle in &obstacles {
            style::invalid(ui, &obstacle.message.to_string());
        }
        let lacks_data = obstacles
            .iter()
            .any(|obstacle| obstacle.setting == Some(Setting::Data));
        chooses_data = lacks_data
            && ui
                .add(style::secondary_button("Choose other data"))
                .clicked();
        ui.add_space(style::GAP);
        let advice = if obstacles.is_empty() {
            "Start training now, or draw a digit first."
        } else {
            "You can draw a digit already."
        };
        let starter =
            "Until you have trained a model, the included starter model recognizes your drawings.";
        style::wrapped(ui, format!("{advice} {starter}"));
        ui.add_space(style::GAP);
        style::weak(
            ui,
            "Press F1 for keyboard shortcuts. To see these pages again, choose “Run setup again…” in the menu.",
        );
    });
    if chooses_data {
        actions.push(Action::Wizard(WizardStep::Data));
    }
}

fn next_run(ui: &mut Ui, app: &App) {
    ui.horizontal_wrapped(|ui| {
        icons::icon(ui, Icon::Done);
        let preset = app
            .ctx
            .config
            .preset
            .map_or("custom settings".to_owned(), |preset| {
                format!("the preset “{}”", preset.label())
            });
        ui.label(format!(
            "The next run trains on {} with {preset}.",
            app.ctx.config.data.label()
        ));
    });
}

/// The ten digits in handwriting, writing themselves once.
fn digits(ui: &mut Ui) {
    let palette = style::palette(ui);
    let width = ui.available_width();
    let size = vec2(width, (width / 10.0).min(66.0) + 2.0 * style::GAP);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    style::name(&response, Role::Image, "The digits 0 to 9, handwritten");
    style::paper(ui.painter(), rect, style::RADIUS, palette);
    let inner = rect.shrink(style::GAP);
    let cell = inner.width() / 10.0;
    let now = ui.input(|input| input.time);
    let begun = ui.data_mut(|data| *data.get_temp_mut_or(Id::unique("when the digits began"), now));
    let all = 10.0 * NEXT_DIGIT + ONE_DIGIT;
    let elapsed = if style::motion(ui).calm > 0.0 {
        now - begun
    } else {
        all
    };
    if elapsed < all {
        ui.ctx().request_repaint();
    }
    for digit in 0..10_u8 {
        let since = elapsed - f64::from(digit) * NEXT_DIGIT;
        let written = (since / ONE_DIGIT).clamp(0.0, 1.0) as f32;
        let corner = inner.min + vec2(f32::from(digit) * cell, 0.0);
        let place = Rect::from_min_size(corner, vec2(cell, inner.height()));
        let place = place.shrink2(vec2(cell * 0.12, 2.0));
        let ink = builtin::ink(digit, Some(0), HAND, 0);
        strokes(ui, &ink, place, palette.accent, written);
    }
}

/// Paints this fraction of the ink, from 0 to 1, as large as fits.
fn strokes(ui: &Ui, ink: &Ink, place: Rect, color: Color32, share: f32) {
    let mut bounds = Rect::NOTHING;
    for &[x, y] in ink.strokes.iter().flatten() {
        bounds.extend_with(pos2(x, y));
    }
    if !bounds.is_positive() && bounds.height() <= 0.0 {
        return;
    }
    let scale = (place.height() / bounds.height()).min(place.width() / bounds.width().max(1e-3));
    let points: usize = ink.strokes.iter().map(Vec::len).sum();
    let mut left = (points as f32 * share).round() as usize;
    for stroke in &ink.strokes {
        let node = |&[x, y]: &[f32; 2]| {
            Node::new(
                place.center() + (pos2(x, y) - bounds.center()) * scale,
                1.75,
            )
        };
        let (points, pixel) = (
            stroke.iter().take(left).map(node),
            ui.pixels_per_point().recip(),
        );
        ui.painter().add(draw::ink::stroke(points, color, pixel));
        left = left.saturating_sub(stroke.len());
    }
}

/// One of several options, a card with a radio button; true when it was selected. `figures`
/// stand at the right of the title, `below` under the text.
fn option(
    ui: &mut Ui,
    chosen: bool,
    possible: bool,
    title: &str,
    figures: impl FnOnce(&mut Ui),
    body: &str,
    below: impl FnOnce(&mut Ui),
) -> bool {
    let palette = style::palette(ui);
    let frame = style::card(ui);
    let frame = if chosen {
        frame.stroke(Stroke::new(2.0, palette.accent))
    } else {
        frame
    };
    let clicked = Frame::show(frame, ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 2.0;
        let clicked = ui.add_enabled_ui(possible, |ui| {
            let radio = ui
                .horizontal(|ui| {
                    let radio = ui.radio(chosen, RichText::new(title).semibold().size(16.0));
                    ui.with_layout(Layout::right_to_left(Align::Center), figures);
                    radio
                })
                .inner;
            // As everywhere, an arrow key that moves to a radio button chooses it.
            crate::window::wizard::note_focus(&radio);
            radio.clicked() || (!chosen && radio.has_focus() && came_by_arrow(ui))
        });
        // Text alone is not as high as a control.
        let height = std::mem::take(&mut ui.spacing_mut().interact_size.y);
        ui.horizontal_top(|ui| {
            // Aligned with the title, which follows the radio button.
            ui.add_space(ui.spacing().icon_width + ui.spacing().icon_spacing + 1.0);
            ui.vertical(|ui| {
                style::weak(ui, body);
                ui.spacing_mut().interact_size.y = height;
                below(ui);
            });
        });
        clicked.inner
    });
    clicked.inner || (possible && clicked.response.interact(Sense::CLICK).clicked())
}
