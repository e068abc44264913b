//! Looking into a network: the maps of every layer for one image, and how one number of one
//! map comes about, from the very tensors of the forward pass.

mod unit;

use std::vec::IntoIter;

use candle_core::{Result, Tensor};

use super::forward::Moment;
use super::{Images, Layer, Mode, Net};
use crate::records::{InspectedLayer, Inspection, LayerKind, UnitSelection, map_of};

/// The tensor between two layers, and which of the stages gave it its maps.
#[derive(Clone)]
struct Flow {
    tensor: Tensor,
    stage: usize,
    /// Height and width of the maps that were flattened to it, or 1.
    flattened: usize,
}

/// A layer, and what is one with it: a convolution with the normalization and activation after it.
struct Stage<'a> {
    layers: Vec<&'a Layer>,
    inputs: Vec<Flow>,
    /// The output of each layer.
    outputs: Vec<Tensor>,
}

/// The maps of a tensor, one after the other.
struct Maps {
    units: usize,
    side: usize,
    values: Vec<f32>,
}

impl Maps {
    /// Of one image's channels or tokens, or of features, which are one number each.
    fn of(tensor: &Tensor) -> Result<Self> {
        let (units, side, by_unit) = match *tensor.dims() {
            [_, side, _, channels] => (channels, side, tensor.permute((0, 3, 1, 2))?),
            [_, tokens, features] => (features, tokens.isqrt(), tensor.transpose(1, 2)?),
            _ => (tensor.elem_count(), 1, tensor.clone()),
        };
        Ok(Self {
            units,
            side,
            values: by_unit.flatten_all()?.to_vec1()?,
        })
    }

    fn map(&self, unit: usize) -> &[f32] {
        map_of(&self.values, self.side, unit)
    }

    /// The numbers of all maps at one place.
    fn at(&self, place: usize) -> Vec<f32> {
        let size = self.side * self.side;
        self.values
            .iter()
            .skip(place)
            .step_by(size)
            .copied()
            .collect()
    }
}

impl Net {
    /// What it computes for an image of 784 pixels, and how the number that is looked at comes
    /// about.
    pub fn inspect(&self, pixels: &[u8], look: Option<UnitSelection>) -> Result<Inspection> {
        let mut outputs = Vec::new();
        let mut keep = |_: &Layer, moment: Moment<'_>| {
            if let Moment::After(output) = moment {
                outputs.push(output.clone());
            }
            Ok(())
        };
        let input = self.input(Images::Bytes(pixels))?;
        self.pass(Mode::Eval)
            .with_observer(&mut keep)
            .run(self.layers(), input.clone())?;
        let mut stages = vec![Stage {
            layers: Vec::new(),
            inputs: Vec::new(),
            outputs: vec![input.clone()],
        }];
        let image = Flow {
            tensor: input,
            stage: 0,
            flattened: 1,
        };
        collect(self.layers(), image, &mut outputs.into_iter(), &mut stages);
        let mut room = Inspection::MAX_VALUES;
        let layers = stages
            .iter()
            .map(|stage| stage.inspected(&mut room))
            .collect::<Result<Vec<_>>>()?;
        let unit = look.and_then(|look| {
            let (stage, layer) = (stages.get(look.layer)?, layers.get(look.layer)?);
            let is_there = look.unit < layer.units && !layer.values.is_empty();
            is_there.then(|| self.unit(stage, layer, look))
        });
        Ok(Inspection {
            unit: unit.transpose()?,
            layers,
        })
    }
}

impl Stage<'_> {
    fn tensor(&self, index: usize) -> Result<&Tensor> {
        match self.inputs.get(index) {
            Some(flow) => Ok(&flow.tensor),
            None => candle_core::bail!("a layer has no input {index}"),
        }
    }

    fn input(&self, index: usize) -> Result<Maps> {
        Maps::of(self.tensor(index)?)
    }

    /// The record of this layer, with its maps if there is `room` for so many numbers.
    fn inspected(&self, room: &mut usize) -> Result<InspectedLayer> {
        let maps = self.outputs.last().map(Maps::of).transpose()?;
        let Maps {
            units,
            side,
            values,
        } = maps.unwrap_or(Maps {
            units: 0,
            side: 1,
            values: Vec::new(),
        });
        let kind = self.kind();
        let fits = kind != LayerKind::Rearrangement && values.len() <= *room;
        *room -= if fits { values.len() } else { 0 };
        let own = self
            .layers
            .iter()
            .filter(|layer| layer.parameter_name().is_some());
        let specs = own.flat_map(|layer| layer.parameters());
        let trainable = specs.filter(|spec| spec.role.is_trainable());
        Ok(InspectedLayer {
            name: self
                .layers
                .first()
                .map_or("image", |layer| layer.name())
                .to_owned(),
            kind,
            inputs: self.inputs.iter().map(|flow| flow.stage).collect(),
            parameters: trainable
                .map(|spec| spec.shape.iter().product::<usize>())
                .sum(),
            units,
            side,
            values: if fits { values } else { Vec::new() },
        })
    }

    fn kind(&self) -> LayerKind {
        let Some((first, rest)) = self.layers.split_first() else {
            return LayerKind::Image;
        };
        match first {
            Layer::Conv { kernel, pool, .. } => LayerKind::Convolution {
                size: kernel.size,
                stride: kernel.stride,
                padding: kernel.padding,
                pool: *pool,
                normalization: rest
                    .iter()
                    .any(|layer| matches!(layer, Layer::BatchNorm { .. })),
                activation: self
                    .layers
                    .iter()
                    .rev()
                    .find_map(|layer| layer.activation()),
            },
            Layer::Linear { activation, .. } => LayerKind::Dense {
                activation: *activation,
            },
            Layer::Residual { .. } => LayerKind::Residual,
            Layer::GlobalAveragePool => LayerKind::GlobalAveragePooling,
            Layer::BatchNorm { .. } => LayerKind::BatchNormalization,
            Layer::Activation(activation) => LayerKind::Activation(*activation),
            Layer::Positions { .. } => LayerKind::Positions,
            Layer::LayerNorm { .. } => LayerKind::LayerNormalization,
            Layer::Attention { heads, .. } => LayerKind::Attention { heads: *heads },
            Layer::Tokens | Layer::Flatten | Layer::Dropout(_) => LayerKind::Rearrangement,
        }
    }
}

/// The stages of these layers, whose outputs come in the order in which they are computed, and what
/// comes out of the last.
fn collect<'a>(
    layers: &'a [Layer],
    mut flow: Flow,
    outputs: &mut IntoIter<Tensor>,
    stages: &mut Vec<Stage<'a>>,
) -> Flow {
    // The convolution that the next layer may be one with.
    let mut open = None;
    for layer in layers {
        let inputs = match layer {
            Layer::Residual { body, shortcut, .. } => vec![
                collect(body, flow.clone(), outputs, stages),
                collect(shortcut, flow.clone(), outputs, stages),
            ],
            _ => vec![flow.clone()],
        };
        let Some(tensor) = outputs.next() else { break };
        let follows = matches!(layer, Layer::BatchNorm { .. } | Layer::Activation(_));
        let one_with = open.filter(|_| follows);
        if let Some(stage) = one_with.and_then(|open: usize| stages.get_mut(open)) {
            stage.layers.push(layer);
            stage.outputs.push(tensor.clone());
        } else {
            let is_convolution = matches!(layer, Layer::Conv { .. });
            open = is_convolution.then_some(stages.len());
            stages.push(Stage {
                layers: vec![layer],
                inputs,
                outputs: vec![tensor.clone()],
            });
        }
        let rearranges = matches!(layer, Layer::Tokens | Layer::Flatten | Layer::Dropout(_));
        let stage = if rearranges {
            flow.stage
        } else {
            stages.len() - 1
        };
        let flattened = match (layer, flow.tensor.dims()) {
            (Layer::Flatten, [_, side, ..]) => *side,
            (Layer::Dropout(_), _) => flow.flattened,
            _ => 1,
        };
        flow = Flow {
            tensor,
            stage,
            flattened,
        };
    }
    flow
}
