//! The network of the next run as a chain of blocks: the output and cost of each, and how to
//! change, move, add and remove it.

mod card;
mod editor;

use eframe::egui::{
    ComboBox, Key, Modifiers, Rect, Response, Role, Sense, Stroke, StrokeKind, Ui, vec2,
};

use self::card::{Card, WIDTH};
use super::fields::entry;
use crate::nn::BlockCost;
use crate::run_config::{HiddenLayer, LayerOutput, MAX_HIDDEN_LAYERS, Setting};
use crate::text::format::{capitalized, grouped};
use crate::window::style::icons::Icon;
use crate::window::train::setup::{
    Blocks, in_words, layer_description, layer_details, layer_name, size,
};
use crate::window::{Action, App, Pushes as _, TrainAction, style};

/// The width of the arrow between two cards, in points.
const ARROW: f32 = 22.0;

/// View state: the layer that is being changed.
#[derive(Debug, Default)]
pub struct BlocksView {
    chosen: Option<usize>,
}

/// The layer with this index is dragged.
#[derive(Clone, Copy)]
struct Dragged(usize);

pub fn show(ui: &mut Ui, app: &App, view: &mut BlocksView, actions: &mut Vec<Action>) {
    let blocks = app.train.blocks(&app.ctx);
    view.chosen = view.chosen.filter(|&chosen| chosen < blocks.layers.len());
    let mut layers = blocks.layers.clone();
    style::weak(
        ui,
        "Select a layer to change it, or drag it to another place.",
    );
    chain(ui, &blocks, view, &mut layers);
    ui.add_space(style::GAP / 2.0);
    ui.horizontal_wrapped(|ui| {
        add(ui, &blocks, view, &mut layers);
        let why_not = (!app.train.can_undo_layers()).then_some("Nothing was changed yet");
        let undo = style::labeled(Icon::Undo, "Undo");
        style::ask(ui, undo, why_not, "Take back the last change of the layers")
            .accessible_name("Undo the last change of the layers")
            .pushes(actions, || TrainAction::UndoLayers);
    });
    if let Some(chosen) = view.chosen {
        ui.add_space(style::GAP / 2.0);
        style::full_card(ui, |ui| {
            editor::show(ui, &blocks, chosen, view, &mut layers);
        });
    }
    ui.add_space(style::GAP / 2.0);
    totals(ui, app, &blocks);
    if layers != blocks.layers {
        actions.push(TrainAction::EditLayers(layers).into());
    }
}

/// The image, the layers one after the other and what they are for, each on a card.
fn chain(ui: &mut Ui, blocks: &Blocks, view: &mut BlocksView, layers: &mut Vec<HiddenLayer>) {
    let columns = ((ui.available_width() + ARROW) / (WIDTH + ARROW)).floor();
    let columns = columns.max(1.0) as usize;
    let cards: Vec<usize> = (0..blocks.layers.len() + 2).collect();
    for row in cards.chunks(columns) {
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            for &index in row {
                let response = match index.checked_sub(1) {
                    None => input(ui),
                    Some(index) if index == blocks.layers.len() => output(ui, blocks),
                    Some(index) => layer(ui, blocks, index, view, layers),
                };
                if index + 1 < cards.len() {
                    let size = vec2(ARROW, response.rect.height());
                    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
                    let (from, along) = (vec2(4.0, 0.0), vec2(ARROW - 8.0, 0.0));
                    let stroke = Stroke::new(1.5, style::palette(ui).faded);
                    ui.painter().arrow(rect.left_center() + from, along, stroke);
                }
            }
        });
    }
}

fn input(ui: &mut Ui) -> Response {
    let shown = Card {
        name: "Image",
        lines: &["gray values".to_owned()],
        output: Some(LayerOutput::INPUT),
    };
    let (_, response) = shown.show(ui, Sense::hover());
    style::name(&response, Role::Label, "Image, 28 × 28");
    response
}

fn output(ui: &mut Ui, blocks: &Blocks) -> Response {
    let mut lines = vec!["dense layer, softmax".to_owned()];
    lines.extend(blocks.costs.last().map(parameters));
    let classes = u16::try_from(blocks.classes).unwrap_or(u16::MAX);
    let shown = Card {
        name: "Output",
        lines: &lines,
        output: Some(LayerOutput::Features(classes)),
    };
    let (_, response) = shown.show(ui, Sense::hover());
    let name = format!("Output, {} classes: {}", blocks.classes, lines.join(", "));
    style::name(&response, Role::Label, &name);
    response.on_hover_text("A dense layer with a neuron for each class, and softmax, which makes probabilities of what they give.")
}

fn layer(
    ui: &mut Ui,
    blocks: &Blocks,
    index: usize,
    view: &mut BlocksView,
    layers: &mut Vec<HiddenLayer>,
) -> Response {
    let layer = blocks.layers[index];
    let mut lines = layer_details(layer);
    let misfit = blocks.misfit.as_ref().filter(|(at, _)| *at == index);
    if misfit.is_some() {
        lines.push("does not fit".to_owned());
    } else {
        let cost = blocks.costs.get(index).filter(|cost| cost.parameters > 0);
        lines.extend(cost.map(parameters));
    }
    let output = blocks.outputs.get(index).copied();
    let shown = Card {
        name: layer_name(layer),
        lines: &lines,
        output: output.filter(|_| misfit.is_none()),
    };
    let (rect, response) = shown.show(ui, Sense::click_and_drag());
    let palette = style::palette(ui);
    let outline = |color| {
        let stroke = Stroke::new(2.0, color);
        ui.painter()
            .rect_stroke(rect, style::RADIUS_SMALL, stroke, StrokeKind::Inside);
    };
    if misfit.is_some() {
        outline(palette.bad);
        let corner = Rect::from_min_size(rect.right_top() + vec2(-22.0, 7.0), vec2(15.0, 15.0));
        Icon::Problem.paint(ui.painter(), corner, palette.bad);
    }
    let is_target = response.dnd_hover_payload::<Dragged>().is_some();
    if view.chosen == Some(index) || is_target {
        outline(palette.accent);
    }
    response.dnd_set_drag_payload(Dragged(index));
    if let Some(dragged) = response.dnd_release_payload::<Dragged>() {
        move_to(view, layers, dragged.0, index);
    }
    let place = format!("Layer {} of {}", index + 1, blocks.layers.len());
    lines.extend(output.map(|output| format!("gives {}", size(output))));
    let value = lines.join(", ");
    style::describe(
        &response,
        Role::Button,
        layer_name(layer),
        &format!("{place}: {value}"),
    );
    if response.clicked() {
        view.chosen = (view.chosen != Some(index)).then_some(index);
    }
    if response.has_focus() {
        by_keys(ui, index, view, layers);
    }
    let about = misfit.map_or_else(
        || layer_description(layer).to_owned(),
        |(_, reason)| sentence(reason),
    );
    response.on_hover_text(about)
}

/// Ctrl with an arrow moves the focused layer, and with Delete removes it.
fn by_keys(ui: &Ui, index: usize, view: &mut BlocksView, layers: &mut Vec<HiddenLayer>) {
    let pressed = |modifiers, key| ui.input_mut(|input| input.consume_key(modifiers, key));
    if pressed(Modifiers::COMMAND, Key::Delete) {
        remove(view, layers, index);
    } else if pressed(Modifiers::COMMAND, Key::ArrowLeft) && index > 0 {
        move_to(view, layers, index, index - 1);
    } else if pressed(Modifiers::COMMAND, Key::ArrowRight) && index + 1 < layers.len() {
        move_to(view, layers, index, index + 1);
    }
}

fn move_to(view: &mut BlocksView, layers: &mut Vec<HiddenLayer>, from: usize, to: usize) {
    if from < layers.len() && to < layers.len() {
        let moved = layers.remove(from);
        layers.insert(to, moved);
        view.chosen = Some(to);
    }
}

fn remove(view: &mut BlocksView, layers: &mut Vec<HiddenLayer>, index: usize) {
    layers.remove(index);
    view.chosen = None;
}

fn parameters(cost: &BlockCost) -> String {
    format!("{} parameters", grouped(cost.parameters))
}

fn sentence(reason: &str) -> String {
    format!("{}.", capitalized(reason))
}

/// The layers that can be added behind the chosen one, or at the end.
fn add(ui: &mut Ui, blocks: &Blocks, view: &mut BlocksView, layers: &mut Vec<HiddenLayer>) {
    let behind = view.chosen.or(blocks.layers.len().checked_sub(1));
    let (text, about) = match view.chosen {
        Some(_) => (
            "Add a layer after this one…",
            "Add a layer after the selected one",
        ),
        None => ("Add a layer…", "Add a layer at the end"),
    };
    let channels = match behind.map(|index| blocks.outputs.get(index)) {
        Some(Some(
            LayerOutput::Image { channels, .. }
            | LayerOutput::Tokens {
                features: channels, ..
            },
        )) => *channels,
        _ => 32,
    };
    // Tall enough that no kind is hidden below the edge.
    let list = ComboBox::from_id_salt("add layer").width(230.0);
    let list = list.height(560.0).selected_text(text).show_ui(ui, |ui| {
        for layer in offered(channels) {
            let is_full = blocks.layers.len() >= MAX_HIDDEN_LAYERS;
            let why_not = if is_full {
                Some(format!("A network has at most {MAX_HIDDEN_LAYERS} layers."))
            } else {
                let reason = blocks.why_not_add(layer, behind);
                reason.map(|reason| sentence(&reason))
            };
            if entry(ui, false, layer_name(layer), why_not.as_deref()) {
                let at = behind.map_or(0, |index| index + 1);
                layers.insert(at, layer);
                view.chosen = Some(at);
            }
        }
    });
    style::explain_list(list.response, text, about).accessible_name("Add a layer");
}

/// A layer of each kind, as it is added after one with this many output channels.
fn offered(channels: u16) -> [HiddenLayer; 9] {
    let heads = [4, 2]
        .into_iter()
        .find(|&heads| channels.is_multiple_of(heads));
    [
        HiddenLayer::Convolution {
            filters: 32,
            kernel: 3,
            stride: 1,
            padding: 1,
            has_activation: true,
        },
        HiddenLayer::MaxPooling,
        HiddenLayer::BatchNorm,
        HiddenLayer::Residual {
            filters: channels.max(8),
            stride: 1,
        },
        HiddenLayer::Transformer {
            heads: heads.unwrap_or(1) as u8,
        },
        HiddenLayer::GlobalAveragePooling,
        HiddenLayer::LayerNorm,
        HiddenLayer::Dropout { percent: 50 },
        HiddenLayer::Dense {
            neurons: 128,
            has_activation: true,
        },
    ]
}

/// The cost of the whole network, or why it cannot be trained.
fn totals(ui: &mut Ui, app: &App, blocks: &Blocks) {
    if let Some((at, reason)) = &blocks.misfit {
        let layer = blocks.layers.get(*at).copied().map_or("", layer_name);
        let sentence = format!("Layer {} ({layer}): {reason}.", at + 1);
        style::invalid(ui, &sentence);
        return;
    }
    let BlockCost {
        parameters,
        multiply_adds,
    } = blocks.total();
    let (parameters, products) = (grouped(parameters), in_words(multiply_adds));
    style::weak(
        ui,
        format!("{parameters} parameters, {products} multiply-adds per image."),
    );
    for obstacle in app
        .errors_of(Setting::Layers)
        .chain(app.errors_of(Setting::Network))
    {
        style::invalid(ui, &obstacle.message.to_string());
    }
}
