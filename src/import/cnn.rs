//! The CNNs that weights may belong to: their shapes tell filters, kernels and neurons, and where images may be padded and pooled so that the last of
//! them has as many values as the first dense layer takes. Which of several networks it is, digits tell.

use super::identify::{CLASSES, natural_order};
use super::{ImportError, NamedTensor, net_of};
use crate::data::Split;
use crate::infer::measure;
use crate::progress::Progress;
use crate::records::{Calibration, ImportSpec, Normalization};
use crate::run_config::{CnnLayer, CnnLayers, ModelKind, Network};

/// The most networks that are tried.
const MOST: usize = 32;
/// Digits that each is tried on.
const DIGITS: usize = 200;

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
        let mut weights: Vec<&NamedTensor> = tensors.iter().filter(|tensor| tensor.shape.len() > 1).collect();
        weights.sort_by_key(|tensor| natural_order(&tensor.name));
        let (mut convolutions, mut matrices) = (Vec::new(), Vec::new());
        let mut channels = 1;
        for weight in weights {
            match *weight.shape {
                [outputs, inputs, rows, columns] if inputs == channels && rows == columns && matrices.is_empty() => {
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
        let dense = hidden.iter().map(|&(outputs, _)| u16::try_from(outputs).ok()).collect::<Option<_>>()?;
        Some(Self { convolutions, dense, flattened: matrices.first()?.1 })
    }

    /// Every way to pad and pool, the most usual first: all convolutions alike.
    fn networks(&self) -> Vec<CnnLayers> {
        let mut ways = vec![Vec::new()];
        for &(_, kernel) in &self.convolutions {
            let paddings = if kernel > 1 && kernel % 2 == 1 { vec![0, kernel / 2] } else { vec![0] };
            let with = |way: &Vec<(u8, bool)>, padding, pools| [way.as_slice(), &[(padding, pools)]].concat();
            let further = |way: Vec<(u8, bool)>| {
                paddings.iter().flat_map(|&padding| [true, false].map(|pools| with(&way, padding, pools))).collect::<Vec<_>>()
            };
            ways = ways.into_iter().flat_map(further).filter(|way| self.layers(way, false).is_some()).collect();
        }
        let changes = |way: &[(u8, bool)]| {
            let differ = |pair: &[(u8, bool)]| usize::from((pair[0].0 > 0) != (pair[1].0 > 0)) * 2 + usize::from(pair[0].1 != pair[1].1);
            way.windows(2).map(differ).sum::<usize>()
        };
        ways.sort_by_key(|way| changes(way));
        let fits = |layers: &CnnLayers| {
            let channels = self.convolutions.last().map_or(1, |&(filters, _)| usize::from(filters));
            channels * layers.output_side().pow(2) == self.flattened
        };
        ways.iter().filter_map(|way| self.layers(way, true)).filter(fits).take(MOST).collect()
    }

    /// The layers, if an image can go through them; without dense layers where `dense` is false.
    fn layers(&self, way: &[(u8, bool)], dense: bool) -> Option<CnnLayers> {
        let convolutions = self.convolutions.iter().zip(way).flat_map(|(&(filters, kernel), &(padding, pools))| {
            std::iter::once(CnnLayer::Convolution { filters, kernel, padding }).chain(pools.then_some(CnnLayer::MaxPooling))
        });
        let dense = self.dense.iter().filter(|_| dense).map(|&neurons| CnnLayer::Dense(neurons));
        CnnLayers::new(&convolutions.chain(dense).collect::<Vec<_>>()).ok()
    }
}

/// The CNNs that these weights may belong to, the most usual first. Their parameters have the same names and shapes.
pub fn networks(tensors: &[NamedTensor]) -> Vec<Network> {
    let layers = Shapes::of(tensors).map(|shapes| shapes.networks()).unwrap_or_default();
    layers.into_iter().map(|layers| Network::from(ModelKind::Cnn).with_layers(Some(layers))).collect()
}

/// Which of several networks these are the weights of: the one that recognises most digits.
pub fn most_accurate(
    usual: Network,
    others: &[Network],
    values: &[Vec<f32>],
    spec: &ImportSpec,
    digits: &Split,
    progress: &mut impl Progress,
) -> Result<Network, ImportError> {
    let (activation, normalization) = (spec.activation.unwrap_or_default(), spec.normalization.unwrap_or(Normalization::MNIST));
    let digits = digits.first(DIGITS);
    let mut best = (usual, 0.0);
    for (index, network) in std::iter::once(usual).chain(others.iter().copied()).enumerate() {
        let start = index as f32 / (others.len() + 1) as f32;
        progress.report(start)?;
        let net = net_of(network, activation, normalization, values)?;
        let accuracy = measure(&net, Calibration::NONE.temperature, &digits, &mut |_: f32| progress.report(start))?.evaluation.accuracy;
        // Of equal ones the first is the most usual.
        if accuracy > best.1 {
            best = (network, accuracy);
        }
    }
    Ok(best.0)
}
