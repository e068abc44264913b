//! How one number of a unit's map comes about: the steps to the map, and what is multiplied.

use std::slice;

use candle_core::Result;

use super::{Maps, Stage};
use crate::nn::ops::{BatchNorm, ConvGeometry, LAYER_NORM_EPSILON};
use crate::nn::{Layer, Mode, Net};
use crate::records::{
    InspectedLayer, InspectedUnit, Step, StepKind, Term, UnitSelection, pooled_places, row_length,
};

impl Net {
    /// The unit of this stage, which is shown as `layer`, that is looked at.
    pub(super) fn unit(
        &self,
        stage: &Stage<'_>,
        layer: &InspectedLayer,
        look: UnitSelection,
    ) -> Result<InspectedUnit> {
        let map = layer.map(look.unit);
        let place = look
            .place
            .filter(|place| *place < map.len())
            .unwrap_or_else(|| farthest_from_zero(map));
        let mut steps = Vec::new();
        if stage.layers.is_empty() {
            let (side, values) = (layer.side, map.to_vec());
            let kind = StepKind::Input;
            steps.push(Step {
                kind,
                side,
                values,
                place,
            });
        }
        for (layer, output) in stage.layers.iter().zip(&stage.outputs) {
            let kinds = self.step_kinds(layer, stage, steps.is_empty(), (look.unit, place))?;
            let last = kinds.len() - 1;
            for (index, kind) in kinds.into_iter().enumerate() {
                let (side, values) = if index == last {
                    let output = Maps::of(output)?;
                    (output.side, output.map(look.unit).to_vec())
                } else {
                    self.values_between(kind, layer, stage, steps.last(), look.unit)?
                };
                steps.push(Step {
                    kind,
                    side,
                    values,
                    place,
                });
            }
        }
        trace(&mut steps);
        let (terms, bias) = match (stage.layers.first(), steps.first()) {
            (Some(first), Some(step)) => self.terms(first, stage, look.unit, step.place)?,
            _ => (Vec::new(), None),
        };
        let attention = match stage.layers.first() {
            Some(Layer::Attention { features, heads }) => {
                let (qkv, depth) = (stage.input(0)?, features / heads);
                let heads = 0..*heads;
                heads
                    .map(|head| attention(&qkv, head, depth, place))
                    .collect()
            }
            _ => Vec::new(),
        };
        let place = Some(place);
        Ok(InspectedUnit {
            look: UnitSelection { place, ..look },
            attention,
            terms,
            bias,
            steps,
        })
    }

    /// The steps of a layer, which is the `first` of its stage or follows others.
    fn step_kinds(
        &self,
        layer: &Layer,
        stage: &Stage<'_>,
        first: bool,
        (unit, place): (usize, usize),
    ) -> Result<Vec<StepKind>> {
        let mut kinds = Vec::new();
        match layer {
            Layer::Conv { pool, .. } => {
                kinds.push(StepKind::WeightedSum);
                kinds.extend(pool.then_some(StepKind::MaxPooling));
            }
            Layer::Linear { .. } | Layer::Attention { .. } => kinds.push(StepKind::WeightedSum),
            Layer::Residual { .. } | Layer::Positions { .. } => kinds.push(StepKind::Sum),
            Layer::GlobalAveragePool => kinds.push(StepKind::Mean),
            Layer::BatchNorm { .. } | Layer::LayerNorm { .. } | Layer::Activation(_) => {
                kinds.extend(first.then_some(StepKind::Input));
            }
            Layer::Tokens | Layer::Flatten | Layer::Dropout(_) => kinds.push(StepKind::Input),
        }
        match layer {
            Layer::BatchNorm { name, .. } => {
                let of = |what| self.parameter_at(name, what, unit);
                kinds.push(StepKind::Normalization {
                    mean: of("running_mean")?,
                    variance: of("running_var")?,
                    epsilon: BatchNorm::EPSILON as f32,
                    scale: of("weight")?,
                    shift: of("bias")?,
                });
            }
            Layer::LayerNorm { name, .. } => {
                let features = stage.input(0)?.at(place);
                let count = features.len().max(1) as f32;
                let mean = features.iter().sum::<f32>() / count;
                let squares = features.iter().map(|x| (x - mean).powi(2));
                kinds.push(StepKind::Normalization {
                    mean,
                    variance: squares.sum::<f32>() / count,
                    epsilon: LAYER_NORM_EPSILON,
                    scale: self.parameter_at(name, "weight", unit)?,
                    shift: self.parameter_at(name, "bias", unit)?,
                });
            }
            _ => {}
        }
        kinds.extend(layer.activation().map(StepKind::Activation));
        Ok(kinds)
    }

    /// A unit's map after a step that is not the last one of its layer, which no tensor contains.
    fn values_between(
        &self,
        kind: StepKind,
        layer: &Layer,
        stage: &Stage<'_>,
        before: Option<&Step>,
        unit: usize,
    ) -> Result<(usize, Vec<f32>)> {
        let maps = match (kind, before, layer.sums()) {
            (StepKind::MaxPooling, Some(before), _) => return Ok(max_pooled(before)),
            (StepKind::Normalization { .. }, Some(before), _) => {
                let normalized = before.values.iter().map(|&x| kind.normalized(x));
                return Ok((before.side, normalized.collect()));
            }
            (StepKind::Sum, ..) => {
                let (body, shortcut) = (stage.input(0)?, stage.input(1)?);
                let both = body.map(unit).iter().zip(shortcut.map(unit));
                return Ok((body.side, both.map(|(x, y)| x + y).collect()));
            }
            (StepKind::WeightedSum, _, Some(sums)) => {
                let input = stage.tensor(0)?.clone();
                Maps::of(&self.pass(Mode::Eval).run(slice::from_ref(&sums), input)?)?
            }
            _ => stage.input(0)?,
        };
        Ok((maps.side, maps.map(unit).to_vec()))
    }

    /// The terms of the first step's sum for the number at this place of its map, and the bias.
    fn terms(
        &self,
        layer: &Layer,
        stage: &Stage<'_>,
        unit: usize,
        place: usize,
    ) -> Result<(Vec<Term>, Option<f32>)> {
        let single = |inputs: [f32; 2]| {
            inputs.map(|input| Term {
                width: 1,
                inputs: vec![input],
                weights: vec![1.0],
            })
        };
        let at = |maps: &Maps| maps.map(unit).get(place).copied().unwrap_or_default();
        let terms = match layer {
            Layer::Conv {
                name, kernel, bias, ..
            } => {
                let (input, weights) = (stage.input(0)?, self.weights_of(name, unit)?);
                let size = kernel.size * kernel.size;
                let terms = weights.chunks_exact(size.max(1)).enumerate();
                let terms = terms.map(|(channel, weights)| Term {
                    width: kernel.size,
                    inputs: patch(input.map(channel), input.side, *kernel, place),
                    weights: weights.to_vec(),
                });
                let bias = bias.then(|| self.parameter_at(name, "bias", unit));
                return Ok((terms.collect(), bias.transpose()?));
            }
            Layer::Linear { name, .. } => {
                let (input, weights) = (stage.input(0)?, self.weights_of(name, unit)?);
                let inputs = input.at(place);
                // What was flattened is shown as the maps that it was.
                let side = stage.inputs.first().map_or(1, |flow| flow.flattened);
                let (size, width) = match side {
                    1 => (inputs.len().max(1), row_length(inputs.len())),
                    _ => (side * side, side),
                };
                let both = inputs.chunks(size).zip(weights.chunks(size));
                let terms = both.map(|(inputs, weights)| Term {
                    width,
                    inputs: inputs.to_vec(),
                    weights: weights.to_vec(),
                });
                let bias = self.parameter_at(name, "bias", unit)?;
                return Ok((terms.collect(), Some(bias)));
            }
            Layer::Attention { features, heads } => {
                let (qkv, depth) = (stage.input(0)?, features / heads);
                vec![Term {
                    width: qkv.side,
                    inputs: qkv.map(2 * features + unit).to_vec(),
                    weights: attention(&qkv, unit / depth, depth, place),
                }]
            }
            Layer::GlobalAveragePool => {
                let input = stage.input(0)?;
                let inputs = input.map(unit).to_vec();
                let weights = vec![1.0 / inputs.len().max(1) as f32; inputs.len()];
                let width = input.side;
                vec![Term {
                    width,
                    inputs,
                    weights,
                }]
            }
            Layer::Residual { .. } => single([at(&stage.input(0)?), at(&stage.input(1)?)]).into(),
            Layer::Positions { name, .. } => {
                let positions = self.parameter(name)?.tensor();
                single([at(&stage.input(0)?), at(&Maps::of(&positions)?)]).into()
            }
            _ => Vec::new(),
        };
        Ok((terms, None))
    }

    /// A unit's weights in the order of the model file.
    fn weights_of(&self, layer: &str, unit: usize) -> Result<Vec<f32>> {
        let weight = self.parameter(&format!("{layer}.weight"))?.tensor();
        weight.get(unit)?.flatten_all()?.to_vec1()
    }

    /// A unit's number of the layer's parameter with this name, such as `bias`.
    fn parameter_at(&self, layer: &str, what: &str, unit: usize) -> Result<f32> {
        let values = self.parameter(&format!("{layer}.{what}"))?.tensor();
        values.get(unit)?.to_scalar()
    }
}

/// Sets the place of each step's number, from the last step back. All maps have it at the same
/// place, except before pooling: there it is the largest of the four.
fn trace(steps: &mut [Step]) {
    for index in (1..steps.len()).rev() {
        let (before, after) = steps.split_at_mut(index);
        let (Some(before), Some(after)) = (before.last_mut(), after.first()) else {
            return;
        };
        before.place = match after.kind {
            StepKind::MaxPooling => {
                let candidates = pooled_places(before.side, after.side, after.place);
                let values = candidates.map(|place| before.values.get(place).copied());
                let best = (1..4).fold(0, |best, next| {
                    if values[next] > values[best] {
                        next
                    } else {
                        best
                    }
                });
                candidates[best]
            }
            _ => after.place,
        };
    }
}

/// A step's map after 2x2 max pooling.
fn max_pooled(before: &Step) -> (usize, Vec<f32>) {
    let side = before.side / 2;
    let largest = |place: usize| {
        let candidates = pooled_places(before.side, side, place).into_iter();
        let values = candidates.filter_map(|place| before.values.get(place).copied());
        values.fold(f32::NEG_INFINITY, f32::max)
    };
    (side, (0..side * side).map(largest).collect())
}

/// The pixels under a convolution's filter at a place of its output; zeros beyond the edges.
fn patch(map: &[f32], side: usize, window: ConvGeometry, place: usize) -> Vec<f32> {
    let positions = window.positions(side).max(1);
    let [top, left] = [place / positions, place % positions].map(|at| at * window.stride);
    let pixels = (0..window.size * window.size).map(|index| {
        let row = (top + index / window.size).checked_sub(window.padding)?;
        let column = (left + index % window.size).checked_sub(window.padding)?;
        let is_inside = row < side && column < side;
        map.get(row * side + column).copied().filter(|_| is_inside)
    });
    pixels.map(Option::unwrap_or_default).collect()
}

/// How much the token at this place attends to each token by this head, whose queries and keys have
/// so many features each.
fn attention(qkv: &Maps, head: usize, depth: usize, place: usize) -> Vec<f32> {
    let (tokens, features) = (qkv.side * qkv.side, qkv.units / 3);
    let number =
        |feature: usize, token: usize| qkv.map(feature).get(token).copied().unwrap_or_default();
    let scores: Vec<f32> = (0..tokens)
        .map(|token| {
            let products = (head * depth..(head + 1) * depth)
                .map(|f| number(f, place) * number(features + f, token));
            products.sum::<f32>() / (depth as f32).sqrt()
        })
        .collect();
    let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers: Vec<f32> = scores.iter().map(|score| (score - largest).exp()).collect();
    let sum: f32 = powers.iter().sum();
    powers.iter().map(|power| power / sum).collect()
}

fn farthest_from_zero(map: &[f32]) -> usize {
    let places = map.iter().enumerate();
    let farthest = places.max_by(|(_, x), (_, y)| x.abs().total_cmp(&y.abs()));
    farthest.map_or(0, |(place, _)| place)
}
