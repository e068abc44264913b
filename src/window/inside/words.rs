//! What each layer does, in a sentence for learners and in figures for experts, and the names of
//! its units.

use crate::records::{InspectedLayer, Inspection, LayerKind, Step, StepKind};
use crate::run_config::{Activation, Classes};
use crate::text::format::{capitalized, count, grouped};

/// A number with three decimals.
pub fn number(x: f32) -> String {
    with_decimals(x, 3)
}

fn with_decimals(x: f32, decimals: usize) -> String {
    let text = format!("{x:.decimals$}");
    let is_zero = text.bytes().all(|byte| b"-0.".contains(&byte));
    // No number is shown as a negative zero.
    text.replace('-', if is_zero { "" } else { "\u{2212}" })
}

/// The same with as many decimals as fit in a small cell.
pub fn short(x: f32) -> String {
    with_decimals(x, if x.abs() < 9.995 { 2 } else { 0 })
}

/// The name of a kind of layer.
pub const fn kind(kind: LayerKind) -> &'static str {
    match kind {
        LayerKind::Image => "Image",
        LayerKind::Convolution { .. } => "Convolution",
        LayerKind::Dense { .. } => "Dense layer",
        LayerKind::Residual => "Residual sum",
        LayerKind::GlobalAveragePooling => "Global average pooling",
        LayerKind::BatchNormalization => "Batch normalization",
        LayerKind::Activation(_) => "Activation",
        LayerKind::Positions => "Positions",
        LayerKind::LayerNormalization => "Layer normalization",
        LayerKind::Attention { .. } => "Attention",
        LayerKind::Rearrangement => "Rearrangement",
    }
}

/// True for the layer whose units are the classes.
pub fn is_last(inspection: &Inspection, layer: usize) -> bool {
    layer + 1 == inspection.layers.len()
}

/// The layer's description in plain words.
pub fn sentence(inspection: &Inspection, index: usize, classes: &Classes) -> String {
    let Some(layer) = inspection.layers.get(index) else {
        return String::new();
    };
    let of_image = layer.inputs == [0];
    let text = match layer.kind {
        LayerKind::Image => "Your drawing as the network sees it.",
        LayerKind::Convolution { pool, .. } => {
            let what = if of_image {
                "Each filter slides over the drawing and lights up where it finds its pattern, such as an edge"
            } else {
                "Each filter combines all maps before it into a larger pattern and lights up where it finds that"
            };
            let then = if pool {
                "; only the strongest of every 2 × 2 answers is kept."
            } else {
                "."
            };
            return format!("{what}{then}");
        }
        LayerKind::Dense { .. } if is_last(inspection, index) => {
            return format!(
                "A score for each {}: the highest wins. Softmax turns the calibrated scores into probabilities.",
                classes.noun()
            );
        }
        LayerKind::Dense { .. } if layer.side > 1 => {
            "Each patch's numbers are weighed and added up to new ones."
        }
        LayerKind::Dense { .. } if of_image => {
            "Each neuron weighs every pixel of the drawing and adds them up."
        }
        LayerKind::Dense { .. } => "Each neuron weighs all numbers before it and adds them up.",
        LayerKind::Residual => "What the block found is added to what came in.",
        LayerKind::GlobalAveragePooling => {
            "Each map becomes one number: how much of its pattern there is anywhere."
        }
        LayerKind::BatchNormalization => "Each map is shifted and scaled to a usual range.",
        LayerKind::Activation(_) => "Weak answers are held back, strong ones pass.",
        LayerKind::Positions => "Each patch gets its position in the drawing.",
        LayerKind::LayerNormalization => "The numbers of each patch are brought to a usual range.",
        LayerKind::Attention { .. } => {
            "Each patch looks at all others and gathers from those that matter to it."
        }
        LayerKind::Rearrangement => "The numbers stay as they are.",
    };
    text.to_owned()
}

/// Its name, shapes and parameters.
pub fn figures(layer: &InspectedLayer) -> String {
    let mut parts = Vec::new();
    if layer.name != kind(layer.kind).to_lowercase() {
        parts.push(layer.name.clone());
    }
    match layer.kind {
        LayerKind::Convolution {
            size,
            stride,
            padding,
            pool,
            normalization,
            activation,
        } => {
            parts.push(format!(
                "{} of {size} × {size}",
                count(layer.units as u64, "filter")
            ));
            if stride > 1 {
                parts.push(format!("stride {stride}"));
            }
            if padding > 0 {
                parts.push(format!("padding {padding}"));
            }
            parts.extend(pool.then(|| "max pooling".to_owned()));
            parts.extend(normalization.then(|| "batch normalization".to_owned()));
            parts.extend(activation.map(|activation| activation.label().to_owned()));
        }
        LayerKind::Dense {
            activation: Some(activation),
        }
        | LayerKind::Activation(activation) => parts.push(activation.label().to_owned()),
        LayerKind::Attention { heads } => parts.push(count(heads as u64, "head")),
        _ => {}
    }
    parts.push(shape(layer));
    if layer.parameters > 0 {
        parts.push(count(layer.parameters as u64, "parameter"));
    }
    parts.join(", ")
}

/// "32 maps of 12 × 12", "128 numbers".
pub fn shape(layer: &InspectedLayer) -> String {
    let side = layer.side;
    match layer.kind {
        LayerKind::Rearrangement => {
            format!("{} numbers", grouped((layer.units * side * side) as u64))
        }
        LayerKind::Image => format!("{side} × {side} pixels"),
        LayerKind::Dense { .. } if side == 1 => count(layer.units as u64, "neuron"),
        _ if side == 1 => count(layer.units as u64, "number"),
        _ => format!("{} of {side} × {side}", count(layer.units as u64, "map")),
    }
}

/// A unit's name: "Filter 3", "Digit 7".
pub fn unit(inspection: &Inspection, layer: usize, unit: usize, classes: &Classes) -> String {
    let Some(shown) = inspection.layers.get(layer) else {
        return String::new();
    };
    match shown.kind {
        LayerKind::Image => "Drawing".to_owned(),
        LayerKind::Convolution { .. } => format!("Filter {}", unit + 1),
        _ if is_last(inspection, layer) => {
            capitalized(&format!("{} {}", classes.noun(), classes.name(unit)))
        }
        LayerKind::Attention { heads } => {
            let features = (shown.units / heads.max(1)).max(1);
            format!(
                "Head {}, feature {}",
                unit / features + 1,
                unit % features + 1
            )
        }
        LayerKind::Dense { .. } if shown.side == 1 => format!("Neuron {}", unit + 1),
        _ if shown.side == 1 => format!("Number {}", unit + 1),
        _ => format!("Map {}", unit + 1),
    }
}

/// "row 3, column 12", counted from 1.
pub fn place(side: usize, place: usize) -> String {
    format!(
        "row {}, column {}",
        place / side.max(1) + 1,
        place % side.max(1) + 1
    )
}

/// The name of a step.
pub fn step(kind: StepKind) -> &'static str {
    match kind {
        StepKind::Input => "Input",
        StepKind::WeightedSum => "Weighted sum",
        StepKind::Mean => "Mean",
        StepKind::Sum => "Sum",
        StepKind::MaxPooling => "Largest of 2 × 2",
        StepKind::Normalization { .. } => "Normalization",
        StepKind::Activation(activation) => activation.label(),
    }
}

/// How a step's number comes from the one `before`, of whose map these are `candidates` for a
/// pooling step.
pub fn calculation(step: &Step, before: &Step, candidates: &[f32]) -> String {
    let x = number(before.value());
    match step.kind {
        StepKind::MaxPooling => {
            let listed: Vec<_> = candidates.iter().copied().map(number).collect();
            format!("max({})", listed.join(", "))
        }
        StepKind::Normalization {
            mean,
            variance,
            epsilon,
            scale,
            shift,
        } => {
            let [mean, scale, shift] = [mean, scale, shift].map(bracketed);
            let variance = number(variance);
            format!("({x} \u{2212} {mean}) ÷ √({variance} + {epsilon}) × {scale} + {shift}")
        }
        StepKind::Activation(Activation::Relu) => format!("max(0, {x})"),
        StepKind::Activation(activation) => format!("{}({x})", activation.label()),
        StepKind::Input | StepKind::WeightedSum | StepKind::Mean | StepKind::Sum => x,
    }
}

/// A number that stands behind a sign.
pub fn bracketed(x: f32) -> String {
    let text = number(x);
    if text.starts_with('\u{2212}') {
        format!("({text})")
    } else {
        text
    }
}
