//! What a network computes for one drawing, layer by layer, and how one of its numbers comes about.

use serde::{Deserialize, Serialize};

use crate::run_config::Activation;

/// The unit of a network that is looked at closely, and the number of its map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitSelection {
    /// Its layer, by the index in [`Inspection::layers`].
    pub layer: usize,
    /// Its index in the layer.
    pub unit: usize,
    /// The index of the number in its map, row by row; `None` for the one that is farthest from
    /// zero.
    pub place: Option<usize>,
}

/// A forward pass of one image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    /// Its input, then its layers in the order in which they are computed. A convolution is one
    /// with the normalization and the activation that follow it.
    pub layers: Vec<InspectedLayer>,
    /// The unit that was asked for, if there is one.
    pub unit: Option<InspectedUnit>,
}

/// A layer with what comes out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InspectedLayer {
    /// The name of its parameters, or what it does if it has none.
    pub name: String,
    pub kind: LayerKind,
    /// The layers that it takes as input, of those with maps.
    pub inputs: Vec<usize>,
    /// Its trainable numbers.
    pub parameters: usize,
    /// How many maps come out.
    pub units: usize,
    /// Height and width of a map; 1 if it is a single number.
    pub side: usize,
    /// The maps, one after the other, row by row. Empty if the layer only rearranges what goes in,
    /// and if the network has more than [`Inspection::MAX_VALUES`] before it.
    pub values: Vec<f32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LayerKind {
    /// None: the normalized image.
    Image,
    /// Convolution, and perhaps what follows.
    Convolution {
        /// Pixels along a side of the filters.
        size: usize,
        /// Pixels from one position to the next.
        stride: usize,
        /// Pixels added at each edge.
        padding: usize,
        /// Whether 2x2 max pooling follows.
        pool: bool,
        /// Whether batch normalization follows.
        normalization: bool,
        /// The last step.
        activation: Option<Activation>,
    },
    /// A dense layer.
    Dense {
        /// The last step.
        activation: Option<Activation>,
    },
    /// The sum of a residual block.
    Residual,
    /// The mean of each map.
    GlobalAveragePooling,
    /// Batch normalization that follows no convolution.
    BatchNormalization,
    /// An activation that follows no convolution.
    Activation(Activation),
    /// A learned embedding of each token's position is added.
    Positions,
    /// Normalization of each token.
    LayerNormalization,
    /// Attention of each token to all.
    Attention {
        /// Into how many parts features are split that attend separately.
        heads: usize,
    },
    /// Flattening, dropout and tokens: no number changes.
    Rearrangement,
}

/// A unit, and how the number at one place of its map comes about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InspectedUnit {
    /// Which unit and number.
    pub look: UnitSelection,
    /// For attention, how much the token at the place attends to each token, by head.
    pub attention: Vec<Vec<f32>>,
    /// The terms of the first step, by the maps that they come from.
    pub terms: Vec<Term>,
    /// The bias.
    pub bias: Option<f32>,
    /// The steps to the unit's map, which is the last one's.
    pub steps: Vec<Step>,
}

/// Numbers of one map and what each is multiplied with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Term {
    /// Numbers in a row, as both are shown.
    pub width: usize,
    /// The numbers of the map.
    pub inputs: Vec<f32>,
    /// The weight of each.
    pub weights: Vec<f32>,
}

/// A step on the way to a unit's map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    pub kind: StepKind,
    /// Height and width of the map.
    pub side: usize,
    /// The unit's map after the step, row by row.
    pub values: Vec<f32>,
    /// The place of the number in it.
    pub place: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum StepKind {
    /// Nothing: what goes into the next step.
    Input,
    /// Adds all products of the terms, and the bias.
    WeightedSum,
    /// The same, for weights that are all the same and add up to 1.
    Mean,
    /// The same, for weights of 1.
    Sum,
    /// Takes the largest of 2x2.
    MaxPooling,
    /// `(x - mean) / √(variance + epsilon) · scale + shift`.
    Normalization {
        /// The mean, which is subtracted.
        mean: f32,
        /// Its square root divides.
        variance: f32,
        /// Added to the variance.
        epsilon: f32,
        /// Multiplies.
        scale: f32,
        /// Is added.
        shift: f32,
    },
    Activation(Activation),
}

impl Inspection {
    /// The most numbers of maps that it contains: more than any network that Inkling offers has,
    /// and a few megabytes.
    pub const MAX_VALUES: usize = 1 << 20;
}

impl InspectedLayer {
    /// The map of a unit; empty if there is none.
    pub fn map(&self, unit: usize) -> &[f32] {
        map_of(&self.values, self.side, unit)
    }
}

impl Term {
    /// Its part of the sum.
    pub fn sum(&self) -> f32 {
        let products = self.inputs.iter().zip(&self.weights);
        products.map(|(input, weight)| input * weight).sum()
    }
}

impl Step {
    /// The number.
    pub fn value(&self) -> f32 {
        self.values.get(self.place).copied().unwrap_or_default()
    }
}

impl StepKind {
    /// A number before and after normalization.
    pub fn normalized(self, x: f32) -> f32 {
        match self {
            Self::Normalization {
                mean,
                variance,
                epsilon,
                scale,
                shift,
            } => (x - mean) / (variance + epsilon).sqrt() * scale + shift,
            _ => x,
        }
    }
}

/// The map of a unit among maps with this `side`, one after the other; empty if there is none.
pub fn map_of(maps: &[f32], side: usize, unit: usize) -> &[f32] {
    let size = side * side;
    let map = maps.get(unit * size..(unit + 1) * size);
    map.unwrap_or_default()
}

/// The places of a map with this `side` that 2x2 max pooling takes together for one of a map with
/// `pooled` numbers in a row.
pub fn pooled_places(side: usize, pooled: usize, place: usize) -> [usize; 4] {
    let (row, column) = (place / pooled.max(1) * 2, place % pooled.max(1) * 2);
    [0, 1, side, side + 1].map(|offset| row * side + column + offset)
}

/// How many of so many numbers are shown in a row, so that the whole is about a square without a
/// gap.
pub fn row_length(count: usize) -> usize {
    let side = count.isqrt().max(1);
    let wide =
        (side..=side * 3).find(|width| count.is_multiple_of(*width) && width * width >= count);
    wide.unwrap_or_else(|| (count as f32).sqrt().ceil().max(1.0) as usize)
}
