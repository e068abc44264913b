//! The settings of the selected layer, and what can be done with it.

use std::ops::RangeInclusive;

use eframe::egui::emath::Numeric;
use eframe::egui::{DragValue, Ui};

use super::{BlocksView, move_to, remove, sentence};
use crate::nn::BlockCost;
use crate::run_config::{HiddenLayer, MAX_HIDDEN_LAYERS, MAX_KERNEL, MAX_STRIDE, MAX_WIDTH};
use crate::text::format::grouped;
use crate::window::style;
use crate::window::train::setup::{Blocks, in_words, layer_description, layer_name};

pub fn show(
    ui: &mut Ui,
    blocks: &Blocks,
    chosen: usize,
    view: &mut BlocksView,
    layers: &mut Vec<HiddenLayer>,
) {
    let count = blocks.layers.len();
    // Another action of this frame may have removed it.
    let Some(&layer) = layers.get(chosen) else {
        return;
    };
    ui.horizontal_wrapped(|ui| {
        let name = layer_name(layer);
        style::strong(ui, format!("Layer {} of {count}: {name}", chosen + 1));
        let first = (chosen == 0).then_some("It is the first layer");
        let last = (chosen + 1 == count).then_some("It is the last layer");
        let full = (count >= MAX_HIDDEN_LAYERS).then_some("There is no room for another layer");
        let mut tool = |text: &str, why_not: Option<&str>, about: &str| {
            let button = style::small_quiet_button(text);
            style::ask(ui, button, why_not, about).clicked()
        };
        if tool(
            "Move left",
            first,
            "Toward the image (Ctrl+Left on its card)",
        ) {
            move_to(view, layers, chosen, chosen - 1);
        }
        if tool(
            "Move right",
            last,
            "Toward the verdict (Ctrl+Right on its card)",
        ) {
            move_to(view, layers, chosen, chosen + 1);
        }
        if tool("Duplicate", full, "Add the same layer after it") {
            layers.insert(chosen, layer);
            view.chosen = Some(chosen + 1);
        }
        if tool("Remove", None, "Remove it (Ctrl+Delete on its card)") {
            remove(view, layers, chosen);
        }
    });
    style::note(ui, layer_description(layer));
    if let Some((_, reason)) = blocks.misfit.as_ref().filter(|(at, _)| *at == chosen) {
        style::invalid(ui, &sentence(reason));
    }
    if *layers == blocks.layers
        && let Some(changed) = settings(ui, layer)
    {
        layers[chosen] = changed;
    }
    if let Some(cost) = blocks.costs.get(chosen) {
        let BlockCost {
            parameters,
            multiply_adds,
        } = *cost;
        let parameters = grouped(parameters);
        let products = in_words(multiply_adds);
        ui.label(style::hint(format!(
            "{parameters} parameters, {products} multiply-adds per image."
        )));
    }
}

/// The settings of a layer; the layer as they make it, once one is changed.
fn settings(ui: &mut Ui, layer: HiddenLayer) -> Option<HiddenLayer> {
    let mut changed = layer;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = style::GAP / 2.0;
        match &mut changed {
            HiddenLayer::Convolution {
                filters,
                kernel,
                stride,
                padding,
                has_activation,
            } => {
                number(ui, "Filters", filters, 1..=MAX_WIDTH);
                number(ui, "Kernel", kernel, 1..=MAX_KERNEL);
                let most = kernel.saturating_sub(1);
                *padding = (*padding).min(most);
                number(ui, "Padding", padding, 0..=most);
                number(ui, "Stride", stride, 1..=MAX_STRIDE);
                ui.checkbox(has_activation, "Activation");
            }
            HiddenLayer::Residual { filters, stride } => {
                number(ui, "Filters", filters, 1..=MAX_WIDTH);
                number(ui, "Stride", stride, 1..=MAX_STRIDE);
            }
            HiddenLayer::Transformer { heads } => number(ui, "Heads", heads, 1..=32),
            HiddenLayer::Dropout { percent } => number(ui, "Percent", percent, 1..=95),
            HiddenLayer::Dense {
                neurons,
                has_activation,
            } => {
                number(ui, "Neurons", neurons, 1..=MAX_WIDTH);
                ui.checkbox(has_activation, "Activation");
            }
            HiddenLayer::MaxPooling
            | HiddenLayer::BatchNorm
            | HiddenLayer::GlobalAveragePooling
            | HiddenLayer::LayerNorm => {}
        }
    });
    (changed != layer).then_some(changed)
}

fn number<N: Numeric>(ui: &mut Ui, label: &str, value: &mut N, range: RangeInclusive<N>) {
    ui.horizontal(|ui| {
        let label = ui.label(label);
        ui.add(DragValue::new(value).range(range).speed(0.1))
            .labelled_by(label.id);
    });
}
