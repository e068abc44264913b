//! The CNNs that weights may belong to: their shapes tell filters, kernels and neurons, and where
//! images may be padded and pooled so that the last of them has as many values as the first dense
//! layer takes.

use super::NamedTensor;
use super::identify::{CLASSES, natural_order};
use crate::run_config::{CnnLayer, CnnLayers, ModelKind, Network};

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
        // The layers, how much convolutions differ from those before them, and whether the last one
        // is padded and pooled.
        let mut ways = vec![(Vec::new(), 0, None)];
        for &(filters, kernel) in &self.convolutions {
            let half = (kernel > 1 && kernel % 2 == 1).then_some(kernel / 2);
            let mut longer = Vec::new();
            for (layers, changes, last) in &ways {
                for padding in [Some(0), half].into_iter().flatten() {
                    for is_pooled in [true, false] {
                        let mut layers: Vec<CnnLayer> = layers.clone();
                        layers.push(CnnLayer::Convolution {
                            filters,
                            kernel,
                            padding,
                        });
                        layers.extend(is_pooled.then_some(CnnLayer::MaxPooling));
                        let now = (padding > 0, is_pooled);
                        let before: (bool, bool) = last.unwrap_or(now);
                        let changes = changes
                            + 2 * usize::from(now.0 != before.0)
                            + usize::from(now.1 != before.1);
                        if CnnLayers::new(&layers).is_ok() {
                            longer.push((layers, changes, Some(now)));
                        }
                    }
                }
            }
            ways = longer;
        }
        ways.sort_by_key(|(_, changes, _)| *changes);
        let filters = self.convolutions.last().map_or(1, |(filters, _)| *filters);
        let whole = |(mut layers, ..): (Vec<CnnLayer>, _, _)| {
            layers.extend(self.dense.iter().map(|&neurons| CnnLayer::Dense(neurons)));
            CnnLayers::new(&layers).ok().filter(|layers| {
                usize::from(filters) * layers.output_side().pow(2) == self.flattened
            })
        };
        ways.into_iter().filter_map(whole).collect()
    }
}

/// The CNNs that these weights may belong to, the most usual first. Their parameters have the same
/// names and shapes.
pub fn networks(tensors: &[NamedTensor]) -> Vec<Network> {
    let layers = Shapes::of(tensors).map(|shapes| shapes.fitting_layers());
    let cnn = |layers| Network::from(ModelKind::Cnn).with_layers(Some(layers));
    layers.unwrap_or_default().into_iter().map(cnn).collect()
}
