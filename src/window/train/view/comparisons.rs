//! The comparisons of batch sizes and of devices in the run panel: starting them, their progress,
//! and a bar for each result.

use eframe::egui::{RichText, Role, Sense, TextStyle, Ui, WidgetInfo, vec2};

use crate::bench::{busy, fastest, rates, sweet_spot};
use crate::records::benchmark::{BUSY, StepConfig};
use crate::run_config::RunConfig;
use crate::text::format::{duration, grouped, memory as memory_text, remaining};
use crate::window::style::{self, NamedBar};
use crate::window::{
    Action, Activity, App, Comparison, ComparisonKind, MachineAction, Pushes as _, RunningJob,
    SearchAction, SearchKind, TrainAction,
};

/// The height of a bar with one and with two lines of text, in points.
const HEIGHT: f32 = 24.0;
const HEIGHT_OF_TWO: f32 = 38.0;
/// Where bars start, after the longest name, in points.
const AFTER_SIZES: f32 = 44.0;
const AFTER_DEVICES: f32 = 76.0;

pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let benchmark = &app.machine.benchmark;
    let measuring = app.ctx.jobs.doing(Activity::Benchmark);
    if let (Some(running), Some((what, _))) = (measuring, &benchmark.comparing) {
        return progress(ui, running, *what, actions);
    }
    let holds = |found: &&Comparison| found.holds_for(&app.ctx.config);
    let sizes = benchmark.batch_sizes.as_ref().filter(holds);
    if let Some(found) = sizes {
        batch_sizes(ui, app, found, actions);
    }
    if let Some(found) = benchmark.devices.as_ref().filter(holds) {
        step_configs(ui, app, found, actions);
    }
    let can_compare =
        measuring.is_none() && !app.ctx.is_training() && app.validation_errors().is_empty();
    let why_not_compare = (!can_compare).then_some(
        "Unavailable during training, while a benchmark is running, or if a setting is invalid",
    );
    ui.horizontal_wrapped(|ui| {
        let mut compare = |text: &str, about: &str, what| {
            style::ask(ui, style::small_button(text), why_not_compare, about)
                .pushes(actions, || MachineAction::Compare(what));
        };
        let name = if sizes.is_some() { "Compare again" } else { "Compare batch sizes" };
        let about = "Measures the training throughput of each batch size with the current settings. Takes about 15 seconds";
        compare(name, about, ComparisonKind::BatchSizes);
        let about = "Times a few training steps on each device and in each precision available there. Takes a few seconds each";
        compare("Compare devices", about, ComparisonKind::Devices);
        let about = "Records a few seconds of training with the current settings, and shows how long each layer takes";
        let why_not = app.why_not_search(SearchKind::Profile);
        style::ask(ui, style::small_button("Profile a step…"), why_not, about)
            .pushes(actions, || SearchAction::Open(SearchKind::Profile));
    });
    if measuring.is_some()
        && let Some(benchmark) = app.ctx.jobs.shown()
    {
        let busy = RichText::new("Unavailable while a benchmark is running.").small();
        ui.link(busy)
            .pushes(actions, || Action::Show(benchmark.screen));
    }
    let images = app.train.training_images(&app.ctx);
    if let Some(text) = app.machine.first_guess(&app.ctx, images) {
        ui.label(style::hint(text));
    }
}

fn progress(ui: &mut Ui, running: &RunningJob, what: ComparisonKind, actions: &mut Vec<Action>) {
    let doing = match what {
        ComparisonKind::BatchSizes => "Comparing batch sizes",
        ComparisonKind::Devices => "Comparing devices",
    };
    let progress = running.progress;
    ui.horizontal(|ui| {
        ui.add_enabled(!running.cancelling, style::secondary_button("Cancel"))
            .pushes(actions, || Action::CancelJob(running.id));
        ui.vertical(|ui| {
            let left = remaining(progress.remaining_seconds.unwrap_or_default());
            ui.label(style::hint(format!("{doing}, {left} left")));
            ui.add(style::progress_bar(ui, progress.fraction).desired_height(8.0))
                .accessible_name("Comparison progress");
            if progress.background_load > BUSY {
                style::caution(ui, &busy(progress.background_load));
            }
        });
    });
}

/// "12,300 images/s, 1.92×, recommended".
fn rate_text(rate: f64, beside: &str, best: bool) -> String {
    let recommended = if best { ", recommended" } else { "" };
    let rate = grouped(rate.round() as u64);
    format!("{rate} images/s{beside}{recommended}")
}

/// A bar for each batch size, its length the throughput; a click selects the size. The smallest
/// size at full speed is marked.
fn batch_sizes(ui: &mut Ui, app: &App, found: &Comparison, actions: &mut Vec<Action>) {
    const WHY: &str =
        "The smallest batch size at full speed: larger ones only mean fewer weight updates. ";
    let spot = sweet_spot(&found.rows);
    for (StepConfig { batch_size, .. }, rate) in rates(&found.rows) {
        let best = spot == Some(batch_size);
        let mut config = app.ctx.config.clone();
        config.batch_size = batch_size;
        let memory = app.train.memory_needed(&app.ctx, &config);
        let memory = memory.map_or_else(String::new, |bytes| format!(", {}", memory_text(bytes)));
        let bar = Bar {
            left: AFTER_SIZES,
            name: batch_size.to_string(),
            spoken: format!("Batch size {batch_size}"),
            lines: [rate_text(rate, &memory, best), String::new()],
            share: (rate / highest(found)) as f32,
            best,
            why: WHY,
        };
        bar.show(ui, config, app, actions);
    }
    failures(ui, found);
}

/// A bar for each device and precision; a click selects both. The fastest is marked.
fn step_configs(ui: &mut Ui, app: &App, found: &Comparison, actions: &mut Vec<Action>) {
    let fastest = fastest(&found.rows);
    let first = rates(&found.rows).next();
    for (step_config, rate) in rates(&found.rows) {
        let best = fastest == Some(step_config);
        let base = first.filter(|(first, _)| *first != step_config);
        let ratio = base.map_or_else(String::new, |(_, base)| format!(", {:.2}×", rate / base));
        let name = app.ctx.step_config_name(step_config);
        let time = app.train.total_seconds(&app.ctx, &app.ctx.config, rate);
        let time = time.map_or_else(String::new, |time| format!("about {}", duration(time)));
        let bar = Bar {
            left: AFTER_DEVICES,
            spoken: name.clone(),
            name,
            lines: [rate_text(rate, &ratio, best), time],
            share: (rate / highest(found)) as f32,
            best,
            why: "The fastest (the simplest if tied). ",
        };
        bar.show(ui, app.ctx.with_step_config(step_config), app, actions);
    }
    failures(ui, found);
    if !app.ctx.has_other_devices() {
        let alone = "No GPU available: only the CPU can be compared.";
        ui.label(style::hint(alone));
    }
}

fn highest(found: &Comparison) -> f64 {
    rates(&found.rows).map(|(_, rate)| rate).fold(1.0, f64::max)
}

/// The reason why figures are unreliable, and the candidates that could not be measured.
fn failures(ui: &mut Ui, found: &Comparison) {
    if found.is_disturbed() {
        let busy = busy(found.background_load);
        let sentence = format!("{busy} These figures are not reliable: compare again.");
        style::caution(ui, &sentence);
    }
    for text in found.failures() {
        style::invalid(ui, &text);
    }
}

struct Bar {
    /// Where it starts, after its name, in points.
    left: f32,
    name: String,
    spoken: String,
    /// Its text, and a second line, which may be empty.
    lines: [String; 2],
    share: f32,
    best: bool,
    /// Why it is the best, if it is.
    why: &'static str,
}

impl Bar {
    /// Draws the bar; a click applies `config`.
    fn show(self, ui: &mut Ui, config: RunConfig, app: &App, actions: &mut Vec<Action>) {
        let [text, below] = &self.lines;
        let (height, between) = match below.as_str() {
            "" => (HEIGHT, ""),
            _ => (HEIGHT_OF_TWO, ", "),
        };
        let size = vec2(ui.available_width(), height);
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        let bar = NamedBar {
            left: self.left,
            name: &self.name,
            share: self.share,
            strength: if self.best { 0.38 } else { 0.18 },
            lines: [text, below],
            margin: 6.0,
            second: 0.69,
            fonts: [TextStyle::Small, TextStyle::Small],
        };
        bar.paint(ui, rect);
        if response.has_focus() {
            style::focus_ring(ui, rect);
        }
        let chosen = app.ctx.config == config;
        let spoken = format!("{}: {text}{between}{below}", self.spoken);
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, chosen, &spoken));
        let why = if self.best { self.why } else { "" };
        response
            .on_hover_text(format!("{why}Click to use it."))
            .pushes(actions, || TrainAction::Configure(Box::new(config)));
    }
}
