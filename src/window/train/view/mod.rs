//! The run panel: the settings of the next run, and starting, pausing and stopping it. Typed text
//! is held by [`App`].

mod comparisons;
pub(in crate::window) mod controls;
pub mod data;
pub(in crate::window) mod descriptions;
mod fields;
pub mod learning;
mod presets;
pub mod preview;
mod profile;
pub(in crate::window) mod search;
mod weights;

use eframe::egui::{Align, CollapsingHeader, CollapsingResponse, Label, ScrollArea, Ui};

use crate::run_config::{
    Activation, Augmentation, CnnLayers, DeviceChoice, Initialization, ModelKind, OptimizerKind,
    Precision, RunConfig, ScheduleKind,
};
use crate::window::shell::help;
use crate::window::shell::help::Topic;
use crate::window::{Action, App, Field, device_name, style};

pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    controls::show(ui, app, actions);
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        // Space for the scroll bar, so that it never covers a field.
        ui.set_max_width(ui.available_width() - 8.0);
        if let Some(run) = app.train.run.as_ref().filter(|run| run.is_active()) {
            controls::this_run(ui, run);
        }
        let title = if app.ctx.is_training() {
            "Next run: training data"
        } else {
            "Training data"
        };
        help::beside(ui, Topic::Settings, |ui| style::section(ui, title));
        settings(ui, app, actions);
        controls::queue(ui, app, actions);
    });
}

fn settings(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    data::show(ui, app, actions);
    style::section(ui, "Preset");
    presets::show(ui, app, actions);
    style::section(ui, "Settings");
    let mut config = app.ctx.config.clone();
    ui.vertical(|ui| fields::initial_weights(ui, app, &mut config));
    let about = descriptions::model(app.ctx.config.model);
    fields::choice(
        ui,
        "Model",
        about,
        &mut config.model,
        ModelKind::ALL,
        ModelKind::label,
        |_| None,
    );
    if !app.ctx.config.model.widths().is_empty() {
        let usual: Vec<String> = app
            .ctx
            .config
            .model
            .widths()
            .iter()
            .map(ToString::to_string)
            .collect();
        fields::open_number(
            ui,
            app,
            Field::Widths,
            "Layer widths",
            &usual.join("-"),
            descriptions::widths(app.ctx.config.model),
            actions,
        );
    }
    if app.ctx.config.model == ModelKind::Cnn {
        let usual = CnnLayers::DEFAULT.to_string();
        fields::layers(ui, app, &usual, descriptions::CNN_LAYERS, actions);
    }
    fields::number(
        ui,
        app,
        Field::Epochs,
        "Epochs",
        "Passes over the training set.",
        actions,
    );
    fields::searched(
        ui,
        app,
        &fields::BATCH_SIZE,
        "Images per optimiser step.",
        actions,
    );
    ui.vertical(|ui| comparisons::show(ui, app, actions));
    let about = format!(
        "Random changes to the training images. {}",
        descriptions::augmentation(app.ctx.config.augmentation)
    );
    fields::choice(
        ui,
        "Augmentation",
        &about,
        &mut config.augmentation,
        Augmentation::ALL,
        Augmentation::label,
        |_| None,
    );
    let offered = app.precisions();
    let about = "The number format of matrix products and convolutions; weights, sums and the loss are always f32.";
    let why_not = |precision| app.why_not_precision(precision);
    let response = fields::choice(
        ui,
        "Precision",
        about,
        &mut config.precision,
        &offered,
        Precision::label,
        why_not,
    );
    fields::below(ui, app, Field::Precision, &response);
    ui.vertical(|ui| {
        if let Some(note) = app.precision_note(app.ctx.config.precision) {
            ui.add(Label::new(style::hint(note)).wrap());
        }
    });
    more_settings(ui, app, &mut config, actions);
    ui.add_space(style::GAP / 2.0);
    if config != app.ctx.config {
        actions.push(Action::Configure(Box::new(config)));
    }
}

const FIELDS: [Field; 13] = [
    Field::LearningRate,
    Field::WeightDecay,
    Field::Momentum,
    Field::LabelSmoothing,
    Field::ClipNorm,
    Field::Accumulation,
    Field::WeightAveraging,
    Field::EarlyStopping,
    Field::Seed,
    Field::Repeats,
    Field::Threads,
    Field::MemoryLimit,
    Field::Device,
];

/// Draws them, collapsed at first; an invalid value opens them.
pub fn more_settings(ui: &mut Ui, app: &App, config: &mut RunConfig, actions: &mut Vec<Action>) {
    let invalid = app
        .validation_errors()
        .iter()
        .any(|obstacle| FIELDS.contains(&obstacle.field));
    let shown = CollapsingHeader::new("More settings")
        .open(invalid.then_some(true))
        .show_unindented(ui, |ui| {
            style::section(ui, "Optimisation");
            optimization(ui, app, config, actions);
            style::section(ui, "Regularisation");
            regularization(ui, app, actions);
            style::section(ui, "Execution");
            execution(ui, app, config, actions);
        });
    scroll_to_opened(ui, &shown);
}

/// Scrolls to the settings while they unfold, once somebody has opened them: they begin at the
/// panel's lower edge.
fn scroll_to_opened<T>(ui: &Ui, shown: &CollapsingResponse<T>) {
    let (header, openness) = (&shown.header_response, shown.openness);
    let id = header.id.with("unfolding");
    let (before, unfolding) = ui
        .data(|data| data.get_temp::<(f32, bool)>(id))
        .unwrap_or_default();
    let unfolding = unfolding || (header.clicked() && before < 0.5);
    if unfolding {
        header.scroll_to_me(Some(Align::TOP));
    }
    ui.data_mut(|data| {
        data.insert_temp(
            id,
            (openness, unfolding && openness < 1.0 && openness >= before),
        )
    });
}

fn optimization(ui: &mut Ui, app: &App, config: &mut RunConfig, actions: &mut Vec<Action>) {
    let about = "The non-linearity between layers; without it, a deep network could represent no more than a single layer.";
    fields::choice(
        ui,
        "Activation",
        about,
        &mut config.activation,
        Activation::ALL,
        Activation::label,
        |_| None,
    );
    if config.initial_weights.is_none() {
        let about = format!(
            "What the weights are before the first step. {}",
            descriptions::initialization(app.ctx.config.initialization)
        );
        let choices = Initialization::ALL;
        fields::choice(
            ui,
            "Initialisation",
            &about,
            &mut config.initialization,
            choices,
            Initialization::label,
            |_| None,
        );
    }
    let about = format!(
        "How weights are updated from gradients. {}",
        descriptions::optimizer(app.ctx.config.optimizer)
    );
    fields::choice(
        ui,
        "Optimiser",
        &about,
        &mut config.optimizer,
        OptimizerKind::ALL,
        OptimizerKind::label,
        |_| None,
    );
    let about = "Size of the weight updates, at its maximum over the schedule. Too large and training diverges; too small and it is slow.";
    fields::searched(ui, app, &fields::LEARNING_RATE, about, actions);
    let about = format!(
        "How the learning rate changes during the run. {}",
        descriptions::schedule(app.ctx.config.schedule)
    );
    fields::choice(
        ui,
        "Schedule",
        &about,
        &mut config.schedule,
        ScheduleKind::ALL,
        ScheduleKind::label,
        |_| None,
    );
    if app.ctx.config.optimizer == OptimizerKind::Sgd {
        let about =
            "Share of the previous update that is carried over to the next one; 0.9 is typical.";
        fields::number(ui, app, Field::Momentum, "Momentum", about, actions);
        fields::check(ui, "Nesterov", &mut config.nesterov)
            .on_hover_text("Nesterov momentum: evaluates the gradient after the momentum step (Sutskever et al. 2013).");
    }
    fields::check(ui, "Growing batches", &mut config.growing_batches).on_hover_text(
        "From epoch to epoch, batches grow as far as the gradient noise scale allows, and the learning rate with them: fewer and larger steps, \
         which let a GPU compute more at a time (McCandlish et al. 2018). The batch size is that of the first epoch.",
    );
    let about = "Shrinks weights towards zero at each step, except biases and normalisation parameters. 0 turns it off.";
    fields::number(ui, app, Field::WeightDecay, "Weight decay", about, actions);
}

fn regularization(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let about = "Spreads this share of the target probability over all classes, so that the network is less overconfident. 0 turns it off; 0.1 is typical.";
    fields::number(
        ui,
        app,
        Field::LabelSmoothing,
        "Label smoothing",
        about,
        actions,
    );
    let about = "Scales gradients down when their global norm exceeds this value; 1 is typical. Leave empty to turn clipping off.";
    fields::open_number(
        ui,
        app,
        Field::ClipNorm,
        "Clip gradients",
        "off",
        about,
        actions,
    );
    let about = "Gradient accumulation: combines the gradients of this many batches into one optimiser step, like a larger batch. 1 turns it off.";
    fields::number(ui, app, Field::Accumulation, "Accumulate", about, actions);
    let about = "Keeps an exponential moving average (EMA) of the weights with this decay per step, such as 0.999; the averaged weights are \
                 validated and saved. Leave empty to turn averaging off.";
    fields::open_number(
        ui,
        app,
        Field::WeightAveraging,
        "Weight averaging",
        "off",
        about,
        actions,
    );
    let about = "Early stopping: ends the run after this many epochs in a row without improvement on the validation set, and saves the best \
                 epoch's weights. Leave empty to train all epochs.";
    fields::open_number(
        ui,
        app,
        Field::EarlyStopping,
        "Early stopping",
        "never",
        about,
        actions,
    );
}

fn execution(ui: &mut Ui, app: &App, config: &mut RunConfig, actions: &mut Vec<Action>) {
    fields::machine(ui, app, actions);
    let offered = DeviceChoice::ALL
        .iter()
        .copied()
        .filter(|&device| device == config.device || app.can_exist(device))
        .collect::<Vec<_>>();
    let why_not = |device| app.why_not_device(device);
    let response = fields::choice(
        ui,
        "Device",
        "Where the run is computed.",
        &mut config.device,
        &offered,
        DeviceChoice::label,
        why_not,
    );
    fields::below(ui, app, Field::Device, &response);
    ui.vertical(|ui| {
        if app.ctx.config.device == DeviceChoice::Auto {
            let device = device_name(
                app.device_for(DeviceChoice::Auto, app.ctx.config.precision),
                true,
            );
            let machine = app
                .other_machine()
                .map_or("this machine", |machine| machine.host.name());
            ui.label(style::hint(format!(
                "Automatic: uses {device} on {machine}."
            )));
        }
    });
    let about = "CPU threads for training. Leave empty for one per core.";
    fields::open_number(
        ui,
        app,
        Field::Threads,
        "Threads",
        "one per core",
        about,
        actions,
    );
    let about = "Seed of the random number generator: the same seed on the same machine gives exactly the same weights.";
    fields::number(ui, app, Field::Seed, "Seed", about, actions);
    let about = "Trains this many runs, each with the next seed, one after another. Models then shows their mean accuracy with its 95 % interval: \
                 how much of a difference is due to chance.";
    fields::number(ui, app, Field::Repeats, "Number of runs", about, actions);
    fields::check(ui, "Activation checkpointing", &mut config.activation_checkpointing).on_hover_text(
        "Keeps only some of the layers' outputs for the backward pass, which computes the others again: less memory for the same gradients, \
         but each step takes longer (Chen et al. 2016).",
    );
    if config.autotune || app.device_for(config.device, config.precision) == DeviceChoice::Cuda {
        fields::check(ui, "Autotuning", &mut config.autotune).on_hover_text(
            "The GPU tries several algorithms for each matrix product, uses the fastest, and remembers it. Without autotuning, the same settings \
             give exactly the same weights each time; with it, they may differ by rounding until every product is known.",
        );
    }
    let about = "Most memory Inkling may use while training, in MiB. If a batch needs more, it is split into micro-batches, \
                 which gives the same gradients. Leave empty for no limit.";
    fields::open_number(
        ui,
        app,
        Field::MemoryLimit,
        "Memory limit (MiB)",
        "none",
        about,
        actions,
    );
}
