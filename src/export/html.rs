//! One web page that recognizes drawings, without any other file or a connection: a template with
//! the model's layers as JSON and its weights as 16-bit floats in base64. What computes them is
//! plain JavaScript in the template.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::untrusted::{self, Untrusted};
use super::{ExportError, ExportedModel, little_endian};
use crate::nn::{Layer, layers};
use crate::records::TensorInfo;
use crate::run_config::{Activation, WeightFormat};
use crate::text::format::{grouped, percent};

const TEMPLATE: &str = include_str!("../../assets/export/page.html");
/// Characters of base64 in a line.
const LINE: usize = 160;

/// The page, and the weights in it.
pub fn write(model: &ExportedModel) -> Result<(String, Vec<TensorInfo>), ExportError> {
    let (weights, tensors) = weights(model)?;
    let page = filled(&[
        ("title", model.title().html()),
        ("description", model.description().html()),
        ("one", model.classes().one().to_owned()),
        ("model", description(model, &tensors)),
        ("weights", lines(&STANDARD.encode(weights))),
        ("card", card(model)),
    ]);
    Ok((page, tensors))
}

/// The template with these values, in one pass: a value is not searched for the names of others.
fn filled(values: &[(&str, String)]) -> String {
    let mut parts = TEMPLATE.split("{{");
    let mut page = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("}}").unwrap_or((part, ""));
        let value = values.iter().find(|(of, _)| *of == name);
        page += value.map_or("", |(_, value)| value.as_str());
        page += rest;
    }
    page
}

/// The values of all parameters one after the other, the digit detector's last, and what
/// they are called.
fn weights(model: &ExportedModel) -> Result<(Vec<u8>, Vec<TensorInfo>), ExportError> {
    let (mut bytes, mut tensors) = (Vec::new(), Vec::new());
    let mut add = |name: &str, shape: &[usize], values: &[f32]| {
        bytes.extend(little_endian(values, WeightFormat::F16));
        tensors.push(TensorInfo {
            name: name.to_owned(),
            shape: shape.iter().map(|&length| length as u64).collect(),
            format: WeightFormat::F16.into(),
        });
    };
    for parameter in model.file.net.parameters() {
        add(
            parameter.name(),
            parameter.tensor().dims(),
            &parameter.values()?,
        );
    }
    if let Some(detector) = model.file.net.digit_detector() {
        detector
            .tensors()
            .for_each(|(name, shape, values)| add(name, &shape, values));
    }
    Ok((bytes, tensors))
}

fn lines(base64: &str) -> String {
    let mut lines = String::with_capacity(base64.len() + base64.len() / LINE + 1);
    let mut rest = base64;
    // Base64 is ASCII.
    while let Some((line, others)) = rest.split_at_checked(LINE) {
        lines += line;
        lines.push('\n');
        rest = others;
    }
    lines + rest
}

/// The description of the model for the page: JSON, a line for each layer and each parameter.
fn description(model: &ExportedModel, tensors: &[TensorInfo]) -> String {
    let card = &model.file.card;
    let layers = layers(card.network(), card.config.activation, card.labels.len());
    let mut offset = 0;
    let parameters = tensors.iter().map(|TensorInfo { name, shape, .. }| {
        let line = format!(r#"    {{"name": {name:?}, "shape": {shape:?}, "offset": {offset}}}"#);
        offset += shape.iter().product::<u64>();
        line
    });
    let parameters = parameters.collect::<Vec<_>>().join(",\n");
    let labels = model.labels();
    let json = format!(
        r#"{{
  "classes": {classes},
  "one": {one},
  "none": {none},
  "mean": {mean:?},
  "std": {std:?},
  "temperature": {temperature:?},
  "digit_threshold": {digit_threshold},
  "layers": [
{layers}
  ],
  "parameters": [
{parameters}
  ]
}}"#,
        classes = json!(labels.iter().map(Untrusted::plain).collect::<Vec<_>>()),
        one = json!(card.labels.one()),
        none = json!(card.labels.none_of_them()),
        mean = card.normalization.mean,
        std = card.normalization.std,
        temperature = card.calibration.temperature,
        // Without one, everything counts as a digit.
        digit_threshold = match card.calibration.digit_threshold {
            threshold if threshold.is_finite() => format!("{threshold:?}"),
            _ => "null".to_owned(),
        },
        layers = listed(&layers, "    "),
    );
    untrusted::script_json(&json)
}

/// A line for each layer; a residual layer's two lines enclose the lines of its branches.
fn listed(layers: &[Layer], indent: &str) -> String {
    let lines = layers.iter().filter_map(|layer| {
        let members = match layer {
            Layer::Conv {
                name,
                kernel,
                pool,
                activation,
                ..
            } => format!(
                r#""convolution", "name": "{name}", "stride": {}, "padding": {}, "pool": {pool}{}"#,
                kernel.stride,
                kernel.padding,
                followed_by(*activation)
            ),
            Layer::BatchNorm {
                name, activation, ..
            } => format!(
                r#""batch_norm", "name": "{name}"{}"#,
                followed_by(*activation)
            ),
            Layer::Activation(activation) => {
                format!(r#""activation"{}"#, followed_by(Some(*activation)))
            }
            Layer::GlobalAveragePool => r#""global_average_pool""#.to_owned(),
            Layer::Residual {
                body,
                shortcut,
                activation,
            } => {
                let branch = |layers: &[Layer]| {
                    if layers.is_empty() {
                        return "[]".to_owned();
                    }
                    format!("[\n{}\n{indent}]", listed(layers, &format!("{indent}  ")))
                };
                format!(
                    r#""residual", "body": {}, "shortcut": {}{}"#,
                    branch(body),
                    branch(shortcut),
                    followed_by(*activation)
                )
            }
            Layer::Tokens => r#""tokens""#.to_owned(),
            Layer::Positions { name, .. } => format!(r#""positions", "name": "{name}""#),
            Layer::LayerNorm { name, .. } => format!(r#""layer_norm", "name": "{name}""#),
            Layer::Attention { heads, .. } => format!(r#""attention", "heads": {heads}"#),
            Layer::Flatten => r#""flatten""#.to_owned(),
            Layer::Linear {
                name, activation, ..
            } => format!(r#""linear", "name": "{name}"{}"#, followed_by(*activation)),
            // Dropout is inactive outside training.
            Layer::Dropout(_) => return None,
        };
        Some(format!(r#"{indent}{{"type": {members}}}"#))
    });
    lines.collect::<Vec<_>>().join(",\n")
}

fn followed_by(activation: Option<Activation>) -> String {
    activation.map_or_else(String::new, |activation| {
        format!(r#", "activation": "{activation}""#)
    })
}

/// The model's facts, as rows of a table.
fn card(model: &ExportedModel) -> String {
    let card = &model.file.card;
    let accuracy = match (model.test_accuracy(), card.validation_accuracy) {
        (Some(tested), _) => tested,
        (None, Some(held_out)) => {
            let accuracy = percent(f64::from(held_out), 2);
            format!("{accuracy} on validation images; not evaluated on a test set")
        }
        (None, None) => "not evaluated on a test set".to_owned(),
    };
    let rows: [(&str, Untrusted); 6] = [
        ("Model", model.name().into()),
        ("Network", card.network().label().into()),
        ("Trained on", model.data()),
        ("Accuracy", accuracy.into()),
        (
            "Parameters",
            grouped(model.file.net.parameter_count()).into(),
        ),
        (
            "Made with",
            concat!("Inkling ", env!("CARGO_PKG_VERSION")).into(),
        ),
    ];
    let rows = rows.map(|(name, value)| format!("<dt>{name}</dt><dd>{}</dd>", value.html()));
    rows.join("\n")
}
