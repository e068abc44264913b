//! Owns the rows of the run panel that a learner can leave alone: how the weights learn, and what keeps learning steady.
//! Must not check values: [`App`] says what cannot be, beside the field it is about.

use eframe::egui::{CollapsingHeader, Ui};

use super::{descriptions, fields};
use crate::app::{Action, App, Field, device_name};
use crate::run_config::{Activation, DeviceChoice, OptimizerKind, RunConfig, ScheduleKind};
use crate::ui::style;

/// The fields in here.
const FIELDS: [Field; 12] = [
    Field::LearningRate,
    Field::WeightDecay,
    Field::Momentum,
    Field::LabelSmoothing,
    Field::ClipNorm,
    Field::Accumulation,
    Field::WeightAveraging,
    Field::EarlyStopping,
    Field::Seed,
    Field::Threads,
    Field::MemoryLimit,
    Field::Device,
];

/// Draws them, closed at first; something wrong in there opens them.
pub fn show(ui: &mut Ui, app: &App, config: &mut RunConfig, actions: &mut Vec<Action>) {
    let wrong = app.validation_errors().iter().any(|obstacle| FIELDS.contains(&obstacle.field));
    CollapsingHeader::new("More settings").open(wrong.then_some(true)).show_unindented(ui, |ui| {
        style::section(ui, "How it learns");
        learning(ui, app, config, actions);
        style::section(ui, "What keeps it steady");
        steadying(ui, app, actions);
        style::section(ui, "Where and how it runs");
        running(ui, app, config, actions);
    });
}

fn learning(ui: &mut Ui, app: &App, config: &mut RunConfig, actions: &mut Vec<Action>) {
    fields::choice(ui, "Activation", &mut config.activation, Activation::ALL, Activation::label, |_| None)
        .on_hover_text("What bends the sums between two layers: without it, many layers could do no more than one.");
    fields::choice(ui, "Optimiser", &mut config.optimizer, OptimizerKind::ALL, OptimizerKind::label, |_| None)
        .on_hover_text(format!("How the weights follow the gradients. {}", descriptions::optimizer(app.config.optimizer)));
    let about = "How far the weights move along the gradient, at most. Too large and learning goes astray, too small and it crawls.";
    fields::number(ui, app, Field::LearningRate, "Learning rate", about, actions);
    fields::choice(ui, "Schedule", &mut config.schedule, ScheduleKind::ALL, ScheduleKind::label, |_| None)
        .on_hover_text(format!("How the learning rate moves over the run. {}", descriptions::schedule(app.config.schedule)));
    if app.config.optimizer == OptimizerKind::Sgd {
        let about = "The share of its speed that a weight keeps from step to step, as a rolling ball does; 0.9 is usual.";
        fields::number(ui, app, Field::Momentum, "Momentum", about, actions);
        fields::check(ui, "Nesterov", &mut config.nesterov)
            .on_hover_text("Looks at the gradient where the momentum will have taken the weights (Sutskever et al. 2013).");
    }
    let about = "How strongly weights are drawn towards zero at each step; never biases and norms. 0 turns it off.";
    fields::number(ui, app, Field::WeightDecay, "Weight decay", about, actions);
}

fn steadying(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let about =
        "Asks the network not to be wholly sure: this share of each answer is spread over all digits. 0 turns it off, 0.1 is usual.";
    fields::number(ui, app, Field::LabelSmoothing, "Label smoothing", about, actions);
    let about =
        "Gradients that are longer than this all together (global norm) are shortened to it; 1 is usual. Leave it empty to turn it off.";
    fields::open_number(ui, app, Field::ClipNorm, "Clip gradients", "off", about, actions);
    let about =
        "Gathers the gradients of so many batches for one correction of the weights, as one larger batch would; 1 corrects after each.";
    fields::number(ui, app, Field::Accumulation, "Gather batches", about, actions);
    let about = "Keeps a running average of the weights with this decay per step (EMA), such as 0.999; the average is what is validated and kept. \
                 Leave it empty to turn it off.";
    fields::open_number(ui, app, Field::WeightAveraging, "Average weights", "off", about, actions);
    let about = "Ends the run after so many epochs in a row without a better validation, and keeps the best epoch's weights. Leave it empty to \
                 train every epoch.";
    fields::open_number(ui, app, Field::EarlyStopping, "Stop early after", "never", about, actions);
}

fn running(ui: &mut Ui, app: &App, config: &mut RunConfig, actions: &mut Vec<Action>) {
    fields::choice(ui, "Device", &mut config.device, DeviceChoice::ALL, DeviceChoice::label, |device| app.why_not_device(device));
    fields::obstacle(ui, app, Field::Device);
    ui.vertical(|ui| {
        if app.config.device == DeviceChoice::Auto {
            let device = device_name(app.device_for(DeviceChoice::Auto, app.config.precision), true);
            ui.label(style::hint(format!("Automatic: here that is {device}.")));
        }
    });
    let about = "Worker threads. Leave it empty for one per core.";
    fields::open_number(ui, app, Field::Threads, "Threads", "one per core", about, actions);
    let about = "Where all randomness comes from: the same seed on the same machine gives the same weights, bit for bit.";
    fields::number(ui, app, Field::Seed, "Seed", about, actions);
    let about = "The most memory Inkling is to hold while it trains, in MB. Where it would take more, batches are computed in smaller parts, \
                 whose gradients add up to the same. Leave it empty for no limit.";
    fields::open_number(ui, app, Field::MemoryLimit, "Memory limit (MB)", "none", about, actions);
}
