//! The CNNs that weights may belong to: their shapes tell filters, kernels and neurons, and where
//! images may be padded and pooled so that the last of them has as many values as the first dense
//! layer takes.

use super::NamedTensor;
use super::identify::{CLASSES, natural_order};
use crate::nn::{Layer, layers};
use crate::run_config::{Activation, HiddenLayer, HiddenLayers, ModelKind, Network};

/// The shapes of a plain CNN's weights, in the order of its layers.
struct Shapes {
    /// Filters, and the pixels along a side of the kernel.
    convolutions: Vec<(u16, u8)>,
    /// Neurons of the dense layers but the last one.
    dense: Vec<u16>,
    /// Values that the first dense layer takes.
    flattened: usize,
}

impl Shapes {
    fn of(tensors: &[NamedTensor]) -> Option<Self> {
        let mut weights: Vec<&NamedTensor> = tensors
            .iter()
            .filter(|tensor| tensor.shape.len() > 1)
            .collect();
        weights.sort_by_key(|tensor| natural_order(&tensor.name));
        let (mut convolutions, mut matrices) = (Vec::new(), Vec::new());
        let mut channels = 1;
        for weight in weights {
            match *weight.shape {
                [outputs, inputs, rows, columns]
                    if inputs == channels && rows == columns && matrices.is_empty() =>
                {
                    convolutions.push((u16::try_from(outputs).ok()?, u8::try_from(rows).ok()?));
                    channels = outputs;
                }
                [outputs, inputs] => matrices.push((outputs, inputs)),
                _ => return None,
            }
        }
        let chained = matrices.windows(2).all(|pair| pair[0].0 == pair[1].1);
        let ((last, _), hidden) = matrices.split_last()?;
        if convolutions.is_empty() || !chained || *last != CLASSES {
            return None;
        }
        let dense = hidden
            .iter()
            .map(|&(outputs, _)| u16::try_from(outputs).ok())
            .collect::<Option<_>>()?;
        Some(Self {
            convolutions,
            dense,
            flattened: matrices.first()?.1,
        })
    }

    /// Every way to pad and pool, the most usual first: all convolutions alike.
    fn fitting_layers(&self) -> Vec<HiddenLayers> {
        // The layers, how much convolutions differ from those before them, and whether the last one
        // is padded and pooled.
        let mut ways = vec![(Vec::new(), 0, None)];
        for &(filters, kernel) in &self.convolutions {
            let half = (kernel > 1 && kernel % 2 == 1).then_some(kernel / 2);
            let mut longer = Vec::new();
            for (layers, changes, last) in &ways {
                for padding in [Some(0), half].into_iter().flatten() {
                    for is_pooled in [true, false] {
                        let mut layers: Vec<HiddenLayer> = layers.clone();
                        layers.push(HiddenLayer::Convolution {
                            filters,
                            kernel,
                            stride: 1,
                            padding,
                            has_activation: true,
                        });
                        layers.extend(is_pooled.then_some(HiddenLayer::MaxPooling));
                        let now = (padding > 0, is_pooled);
                        let before: (bool, bool) = last.unwrap_or(now);
                        let changes = changes
                            + 2 * usize::from(now.0 != before.0)
                            + usize::from(now.1 != before.1);
                        if HiddenLayers::new(&layers).is_ok() {
                            longer.push((layers, changes, Some(now)));
                        }
                    }
                }
            }
            ways = longer;
        }
        ways.sort_by_key(|(_, changes, _)| *changes);
        let whole = |(mut layers, ..): (Vec<HiddenLayer>, _, _)| {
            layers.extend(self.dense.iter().map(|&neurons| HiddenLayer::Dense {
                neurons,
                has_activation: true,
            }));
            HiddenLayers::new(&layers)
                .ok()
                .filter(|layers| flattened(*layers) == Some(self.flattened))
        };
        ways.into_iter().filter_map(whole).collect()
    }
}

fn cnn(layers: HiddenLayers) -> Network {
    Network::from(ModelKind::Cnn).with_layers(Some(layers))
}

/// The features that go into its first dense layer.
fn flattened(hidden: HiddenLayers) -> Option<usize> {
    let features = |layer: &Layer| match layer {
        Layer::Linear { inputs, .. } => Some(*inputs),
        _ => None,
    };
    let layers = layers(cnn(hidden), Activation::default(), CLASSES);
    layers.iter().find_map(features)
}

/// The CNNs that these weights may belong to, the most usual first. Their parameters have the same
/// names and shapes.
pub fn networks(tensors: &[NamedTensor]) -> Vec<Network> {
    let layers = Shapes::of(tensors).map(|shapes| shapes.fitting_layers());
    layers.unwrap_or_default().into_iter().map(cnn).collect()
}
