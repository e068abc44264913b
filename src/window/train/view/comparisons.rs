//! The comparisons of batch sizes and of devices in the run panel: starting them, their progress,
//! and a bar for each result.

use eframe::egui::{Align2, Rect, RichText, Role, Sense, TextStyle, Ui, WidgetInfo, pos2, vec2};

use crate::bench::{busy, fastest, rates, sweet_spot};
use crate::records::benchmark::{BUSY, StepConfig};
use crate::run_config::RunConfig;
use crate::text::format::{grouped, memory, remaining};
use crate::window::{
    Action, App, Comparison, ComparisonKind, Pushes as _, SearchAction, SearchKind, style,
};

/// The height of a bar with one and with two lines of text, in points.
const HEIGHT: f32 = 24.0;
const HEIGHT_OF_TWO: f32 = 38.0;
/// Where bars start, after the longest name, in points.
const AFTER_SIZES: f32 = 44.0;
const AFTER_DEVICES: f32 = 76.0;

pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if let Some(running) = app.ctx.jobs.benchmark()
        && let Some((what, _)) = app.machine.benchmark.comparing
    {
        let doing = match what {
            ComparisonKind::BatchSizes => "Comparing batch sizes",
            ComparisonKind::Devices => "Comparing devices",
        };
        ui.horizontal(|ui| {
            ui.add_enabled(!running.cancelling, style::secondary_button("Cancel"))
                .pushes(actions, || Action::CancelJob(running.id));
            ui.vertical(|ui| {
                ui.label(style::hint(format!(
                    "{doing}, {} left",
                    remaining(running.progress.remaining_seconds.unwrap_or_default())
                )));
                ui.add(style::progress_bar(ui, running.progress.fraction).desired_height(8.0))
                    .accessible_name("Comparison progress");
                if running.progress.background_load > BUSY {
                    style::caution(ui, &busy(running.progress.background_load));
                }
            });
        });
        return;
    }
    let sizes = app
        .machine
        .benchmark
        .batch_sizes
        .as_ref()
        .filter(|found| found.holds_for(&app.ctx.config));
    let devices = app
        .machine
        .benchmark
        .devices
        .as_ref()
        .filter(|found| found.holds_for(&app.ctx.config));
    if let Some(found) = sizes {
        batch_sizes(ui, app, found, actions);
    }
    if let Some(found) = devices {
        step_configs(ui, app, found, actions);
    }
    ui.horizontal_wrapped(|ui| {
        let can = app.ctx.jobs.benchmark().is_none() && !app.ctx.is_training() && app.validation_errors().is_empty();
        let mut ask = |text: &str, about: &str, what| {
            let response = ui.add_enabled(can, style::small_button(text));
            response
                .on_hover_text(about)
                .on_disabled_hover_text("Unavailable during training, while a benchmark is running, or if a setting is invalid").pushes(actions, || Action::Compare(what));
        };
        let about = "Measures the training throughput of each batch size with the current settings. Takes about 15 seconds";
        ask(if sizes.is_some() { "Compare again" } else { "Compare batch sizes" }, about, ComparisonKind::BatchSizes);
        let about = "Times a few training steps on each device and in each precision available there. Takes a few seconds each";
        ask("Compare devices", about, ComparisonKind::Devices);
        let about = "Records a few seconds of training with the current settings, and shows how long each layer takes";
        let why_not = app.why_not_search(SearchKind::Profile);
        let response = ui.add_enabled(why_not.is_none(), style::small_button("Profile a step…"));
        response.on_hover_text(about).on_disabled_hover_text(why_not.unwrap_or_default()).pushes(actions, || Action::Search(SearchAction::Open(SearchKind::Profile)));
    });
    if let Some(benchmark) = app
        .ctx
        .jobs
        .shown()
        .filter(|_| app.ctx.jobs.benchmark().is_some())
        && ui
            .link(RichText::new("Unavailable while a benchmark is running.").small())
            .clicked()
    {
        actions.push(Action::Show(benchmark.screen));
    }
    if let Some(text) = app.first_guess() {
        ui.label(style::hint(text));
    }
}

/// A bar for each batch size, its length the throughput; a click selects the size. The smallest
/// size at full speed is marked.
fn batch_sizes(ui: &mut Ui, app: &App, found: &Comparison, actions: &mut Vec<Action>) {
    let highest = highest(found);
    let spot = sweet_spot(&found.rows);
    for (StepConfig { batch_size, .. }, rate) in rates(&found.rows) {
        let enough = spot == Some(batch_size);
        let config = RunConfig {
            batch_size,
            ..app.ctx.config.clone()
        };
        let memory = app
            .train
            .memory_needed(&app.ctx, &config)
            .map_or_else(String::new, |bytes| format!(", {}", memory(bytes)));
        let bar = Bar {
            name: batch_size.to_string(),
            accessible_name: format!("Batch size {batch_size}"),
            text: format!(
                "{} images/s{memory}{}",
                grouped(rate.round() as u64),
                if enough { ", recommended" } else { "" }
            ),
            below: String::new(),
            share: (rate / highest) as f32,
            best: enough,
            about: if enough {
                "The smallest batch size at full speed: larger ones only mean fewer weight updates. Click to use it."
            } else {
                "Click to use it."
            },
        };
        bar.show(ui, AFTER_SIZES, config, app, actions);
    }
    failures(ui, found);
}

/// A bar for each device and precision; a click selects both. The fastest is marked.
fn step_configs(ui: &mut Ui, app: &App, found: &Comparison, actions: &mut Vec<Action>) {
    let highest = highest(found);
    let fastest = fastest(&found.rows);
    let first = rates(&found.rows).next();
    for (step_config, rate) in rates(&found.rows) {
        let best = fastest == Some(step_config);
        let ratio = first
            .filter(|(first, _)| *first != step_config)
            .map_or_else(String::new, |(_, base)| format!(", {:.2}×", rate / base));
        let name = app.ctx.step_config_name(step_config);
        let bar = Bar {
            accessible_name: name.clone(),
            name,
            text: format!(
                "{} images/s{ratio}{}",
                grouped(rate.round() as u64),
                if best { ", recommended" } else { "" }
            ),
            below: app
                .train
                .total_time(&app.ctx, &app.ctx.config, rate)
                .map_or_else(String::new, |time| format!("about {time}")),
            share: (rate / highest) as f32,
            best,
            about: if best {
                "The fastest, or as fast as any and the simplest. Click to use it."
            } else {
                "Click to use it."
            },
        };
        bar.show(
            ui,
            AFTER_DEVICES,
            app.ctx.with_step_config(step_config),
            app,
            actions,
        );
    }
    failures(ui, found);
    if !app.has_other_devices() {
        ui.label(style::hint(
            "No GPU available: only the CPU can be compared.",
        ));
    }
}

fn highest(found: &Comparison) -> f64 {
    rates(&found.rows).map(|(_, rate)| rate).fold(1.0, f64::max)
}

/// What makes the figures unreliable, and the candidates that could not be measured.
fn failures(ui: &mut Ui, found: &Comparison) {
    if found.is_disturbed() {
        style::caution(
            ui,
            &format!(
                "{} These figures are not reliable: compare again.",
                busy(found.background_load)
            ),
        );
    }
    for text in found.failures() {
        style::invalid(ui, &text);
    }
}

struct Bar {
    name: String,
    accessible_name: String,
    text: String,
    /// A second line of text; may be empty.
    below: String,
    share: f32,
    best: bool,
    about: &'static str,
}

impl Bar {
    /// Draws the bar; a click applies `config`.
    fn show(self, ui: &mut Ui, left: f32, config: RunConfig, app: &App, actions: &mut Vec<Action>) {
        let height = if self.below.is_empty() {
            HEIGHT
        } else {
            HEIGHT_OF_TWO
        };
        let (rect, response) =
            ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::click());
        self.paint(ui, rect, left);
        if response.has_focus() {
            style::focus_ring(ui, rect);
        }
        let chosen = app.ctx.config == config;
        let accessible_name = [
            format!("{}: {}", self.accessible_name, self.text),
            self.below,
        ]
        .join(if height == HEIGHT { "" } else { ", " });
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, chosen, &accessible_name));
        response
            .on_hover_text(self.about)
            .pushes(actions, || Action::Configure(Box::new(config)));
    }

    fn paint(&self, ui: &Ui, rect: Rect, left: f32) {
        let palette = style::palette(ui);
        let font = TextStyle::Small.resolve(ui.style());
        let color = ui.visuals().text_color();
        let left = rect.left() + left;
        let full = Rect::from_min_max(
            pos2(left, rect.top() + 2.0),
            pos2(rect.right(), rect.bottom() - 2.0),
        );
        let filled = Rect::from_min_size(full.min, vec2(full.width() * self.share, full.height()));
        let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
        let at = pos2(left - 6.0, rect.center().y);
        painter.text(at, Align2::RIGHT_CENTER, &self.name, font.clone(), color);
        painter.rect_filled(
            filled,
            3.0,
            palette
                .accent
                .gamma_multiply(if self.best { 0.38 } else { 0.18 }),
        );
        let line = |text: &str, y, color| {
            painter.text(
                pos2(left + 6.0, y),
                Align2::LEFT_CENTER,
                text,
                font.clone(),
                color,
            )
        };
        if self.below.is_empty() {
            line(&self.text, rect.center().y, color);
        } else {
            line(&self.text, rect.top() + rect.height() * 0.31, color);
            line(
                &self.below,
                rect.top() + rect.height() * 0.69,
                ui.visuals().weak_text_color(),
            );
        }
    }
}
