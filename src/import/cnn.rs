//! The CNNs that weights may belong to: their shapes tell filters, kernels and neurons, and where
//! images may be padded and pooled so that the last of them has as many values as the first dense
//! layer takes. Which of several networks it is, digits tell.

use super::identify::{CLASSES, natural_order};
use super::readings::readings;
use super::trial::{Chosen, MIN_ACCURACY, usual_reading};
use super::tried::{Tried, choose, doubt, try_reading, undecided};
use super::{Candidate, ImportError, MoreImages, NamedTensor, TrialImages};
use crate::data::Split;
use crate::progress::Progress;
use crate::records::{ImportSpec, Reading};
use crate::run_config::{CnnLayer, CnnLayers, DataSpec, ModelKind, Network};

const MAX_NETWORKS: usize = 32;
/// The most images that they are tried on.
const DIGITS: usize = 2_000;
/// How many images each round has, and how many of the best go on to the next.
const ROUNDS: [(usize, usize); 3] = [(60, 40), (250, 12), (usize::MAX, usize::MAX)];

/// What the shape of a convolution's weights does not say of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Convolution {
    /// Pixels of zeros at each edge.
    pub padding: u8,
    /// Whether 2x2 max pooling follows.
    pub is_pooled: bool,
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
            .take(MAX_NETWORKS)
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
/// names and shapes. What the file says of its convolutions, their paddings and which are pooled,
/// leaves one.
pub fn networks(tensors: &[NamedTensor], convolutions: Option<&[Convolution]>) -> Vec<Network> {
    let Some(shapes) = Shapes::of(tensors) else {
        return Vec::new();
    };
    let known = convolutions.filter(|known| known.len() == shapes.convolutions.len());
    let layers = known.map_or_else(
        || shapes.fitting_layers(),
        |known| shapes.layers(known, true).into_iter().collect(),
    );
    layers
        .into_iter()
        .map(|layers| Network::from(ModelKind::Cnn).with_layers(Some(layers)))
        .collect()
}

/// Which of several networks these are the weights of: with its usual activations and
/// normalizations, the one that recognizes digits best. Weights that were trained on other digits
/// than the built-in ones may do better on these in another network, so that `more_images` counts
/// where there is any.
pub fn choose_network(
    networks: &[Network],
    values: &[Vec<f32>],
    spec: &ImportSpec,
    digits: &Split,
    more_images: &mut MoreImages<'_>,
    progress: &mut impl Progress,
) -> Result<Chosen, ImportError> {
    let mut tried_on = TrialImages {
        data: DataSpec::builtin(),
        images: digits.clone(),
    };
    let mut tried = try_networks(networks, values, spec, digits, &mut progress.part(0.0, 0.4))?;
    let others = more_images(&mut progress.part(0.4, 0.5))?;
    if let Some(others) = others {
        let others = TrialImages {
            images: others.images.first(DIGITS),
            ..others
        };
        let again = try_networks(
            networks,
            values,
            spec,
            &others.images,
            &mut progress.part(0.5, 0.9),
        )?;
        let accuracy = |tried: &[Tried]| tried.iter().map(Tried::accuracy).fold(0.0, f64::max);
        if accuracy(&again) > accuracy(&tried) {
            (tried, tried_on) = (again, others);
        }
    }
    let best = choose(ModelKind::Cnn, &tried);
    let doubt = best.and_then(|best| {
        let others: Vec<Tried> = tried
            .iter()
            .filter(|other| other.reading.layers != best.reading.layers)
            .cloned()
            .collect();
        doubt(ModelKind::Cnn, &others, best, false)
    });
    // Where digits are not recognized, the most accurate network is one of chance.
    let chosen = if let Some(best) = best.filter(|best| best.accuracy() >= MIN_ACCURACY) {
        best.clone()
    } else {
        let layers = networks.first().map(|usual| usual.cnn_layers());
        let usual = Reading {
            layers,
            ..usual_reading(spec)
        };
        try_reading(
            candidate(usual, values),
            usual,
            &tried_on.images,
            &mut progress.part(0.9, 1.0),
        )?
    };
    let doubt = doubt.map(|doubt| undecided(ModelKind::Cnn, doubt, &tried_on, &tried, &chosen));
    Ok(Chosen {
        reading: chosen.reading,
        tried_on,
        doubt,
    })
}

/// The weights as those of the CNN with this reading's layers.
fn candidate(reading: Reading, values: &[Vec<f32>]) -> Candidate<'_> {
    Candidate::Weights(
        Network::from(ModelKind::Cnn).with_layers(reading.layers),
        values,
    )
}

/// Tries every network with every activation and normalization that is not given on a few images,
/// and the best of them on all.
fn try_networks(
    networks: &[Network],
    values: &[Vec<f32>],
    spec: &ImportSpec,
    images: &Split,
    progress: &mut impl Progress,
) -> Result<Vec<Tried>, ImportError> {
    let own = readings(None, spec.activation, spec.normalization);
    let mut left: Vec<Reading> = networks
        .iter()
        .flat_map(|network| {
            own.iter().map(|reading| Reading {
                layers: Some(network.cnn_layers()),
                ..*reading
            })
        })
        .collect();
    let mut tried = Vec::new();
    for (round, (count, survivors)) in ROUNDS.into_iter().enumerate() {
        let images = images.first(count);
        tried.clear();
        for (index, reading) in left.iter().enumerate() {
            let start = (round as f32 + index as f32 / left.len() as f32) / ROUNDS.len() as f32;
            progress.report(start)?;
            tried.push(try_reading(
                candidate(*reading, values),
                *reading,
                &images,
                &mut |_: f32| progress.report(start),
            )?);
        }
        let mut ranked: Vec<&Tried> = tried.iter().collect();
        ranked.sort_by(|a, b| b.accuracy().total_cmp(&a.accuracy()));
        let kept: Vec<Reading> = ranked
            .iter()
            .take(survivors)
            .map(|tried| tried.reading)
            .collect();
        left.retain(|reading| kept.contains(reading));
    }
    Ok(tried)
}
