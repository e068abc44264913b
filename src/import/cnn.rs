//! The CNNs that weights may belong to: their shapes tell filters, kernels and neurons, and where
//! images may be padded and pooled so that the last of them has as many values as the first dense
//! layer takes.

use super::NamedTensor;
use super::identify::{CLASSES, natural_order};
use crate::run_config::{CnnLayer, CnnLayers, ModelKind, Network};

/// What the shape of a convolution's weights does not say of it.
#[derive(Clone, Copy)]
struct Convolution {
    /// Pixels of zeros at each edge.
    padding: u8,
    /// Whether 2x2 max pooling follows.
    is_pooled: bool,
}

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
    fn fitting_layers(&self) -> Vec<CnnLayers> {
        let mut ways = vec![Vec::new()];
        for &(_, kernel) in &self.convolutions {
            let paddings = if kernel > 1 && kernel % 2 == 1 {
                vec![0, kernel / 2]
            } else {
                vec![0]
            };
            let next = paddings.iter().flat_map(|&padding| {
                [true, false].map(|is_pooled| Convolution { padding, is_pooled })
            });
            let next: Vec<_> = next.collect();
            let further = |way: Vec<Convolution>| {
                next.iter()
                    .map(|&next| [way.as_slice(), &[next]].concat())
                    .collect::<Vec<_>>()
            };
            ways = ways
                .into_iter()
                .flat_map(further)
                .filter(|way| self.layers(way, false).is_some())
                .collect();
        }
        let changes = |way: &[Convolution]| {
            let differ = |pair: &[Convolution]| {
                let is_padded = |convolution: &Convolution| convolution.padding > 0;
                usize::from(is_padded(&pair[0]) != is_padded(&pair[1])) * 2
                    + usize::from(pair[0].is_pooled != pair[1].is_pooled)
            };
            way.windows(2).map(differ).sum::<usize>()
        };
        ways.sort_by_key(|way| changes(way));
        let fits = |layers: &CnnLayers| {
            let channels = self
                .convolutions
                .last()
                .map_or(1, |&(filters, _)| usize::from(filters));
            channels * layers.output_side().pow(2) == self.flattened
        };
        ways.iter()
            .filter_map(|way| self.layers(way, true))
            .filter(fits)
            .collect()
    }

    /// The layers, if an image can go through them; without dense layers where `dense` is false.
    fn layers(&self, way: &[Convolution], dense: bool) -> Option<CnnLayers> {
        let convolutions = self.convolutions.iter().zip(way).flat_map(
            |(&(filters, kernel), &Convolution { padding, is_pooled })| {
                std::iter::once(CnnLayer::Convolution {
                    filters,
                    kernel,
                    padding,
                })
                .chain(is_pooled.then_some(CnnLayer::MaxPooling))
            },
        );
        let dense = self
            .dense
            .iter()
            .filter(|_| dense)
            .map(|&neurons| CnnLayer::Dense(neurons));
        CnnLayers::new(&convolutions.chain(dense).collect::<Vec<_>>()).ok()
    }
}

/// The CNNs that these weights may belong to, the most usual first. Their parameters have the same
/// names and shapes.
pub fn networks(tensors: &[NamedTensor]) -> Vec<Network> {
    let layers = Shapes::of(tensors).map(|shapes| shapes.fitting_layers());
    let cnn = |layers| Network::from(ModelKind::Cnn).with_layers(Some(layers));
    layers.unwrap_or_default().into_iter().map(cnn).collect()
}
