//! The advanced settings of the run panel: optimisation, regularisation, and the device.

use eframe::egui::{Align, CollapsingHeader, CollapsingResponse, Ui};

use super::{descriptions, fields};
use crate::run_config::{
    Activation, DeviceChoice, Initialization, OptimizerKind, RunConfig, ScheduleKind,
};
use crate::window::style;
use crate::window::{Action, App, Field, device_name};

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
pub fn show(ui: &mut Ui, app: &App, config: &mut RunConfig, actions: &mut Vec<Action>) {
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
