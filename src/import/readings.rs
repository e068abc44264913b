//! What a file has to be tried, weights of a network that Inkling builds or a network as a whole,
//! and which readings of it are tried, the most usual first.

use super::ImportError;
use super::identify::CLASSES;
use super::variant::Variants;

use crate::nn::Net;
use crate::nn::onnx::OnnxGraph;
use crate::records::{Normalization, Reading, TriedActivation};
use crate::run_config::{Activation, ModelKind, Network};

/// The usual normalizations: with MNIST's mean and standard deviation, from 0 to 1, from -1 to 1,
/// and pixels as they are.
const NORMALIZATIONS: [Normalization; 4] = [
    Normalization::MNIST,
    Normalization {
        mean: 0.0,
        std: 1.0,
    },
    Normalization {
        mean: 0.5,
        std: 0.5,
    },
    Normalization {
        mean: 0.0,
        std: 1.0 / 255.0,
    },
];

/// All readings that these settings, where they are given, leave open. Without variants there are
/// only those that Inkling can build.
pub fn readings(
    variants: Option<&Variants>,
    activation: Option<Activation>,
    normalization: Option<Normalization>,
) -> Vec<Reading> {
    let own = Activation::ALL
        .iter()
        .copied()
        .filter(|own| activation.is_none_or(|given| given == *own))
        .map(TriedActivation::Own);
    let foreign = TriedActivation::FOREIGN
        .into_iter()
        .filter(|_| activation.is_none() && variants.is_some());
    let activations: Vec<TriedActivation> = own.chain(foreign).collect();
    let normalizations = normalization.map_or_else(|| NORMALIZATIONS.to_vec(), |given| vec![given]);
    let mut readings = Vec::new();
    for structure in variants.map_or_else(|| vec![Structure::default()], structures) {
        for &activation in &activations {
            for &normalization in &normalizations {
                readings.extend(structure.with(activation, normalization, variants));
            }
        }
    }
    readings
}

/// Where a network may differ from Inkling's, whatever its activation and normalization.
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a difference of its own, and any of them go together"
)]
struct Structure {
    average_pooling: bool,
    pooling_last: bool,
    after_convolutions: bool,
    background_padding: bool,
}

/// All of them that can differ for these weights, Inkling's own first.
fn structures(variants: &Variants) -> Vec<Structure> {
    let (pools, _) = variants.pooling();
    let choices = |is_open: bool| {
        if is_open {
            vec![false, true]
        } else {
            vec![false]
        }
    };
    let mut structures = Vec::new();
    for background_padding in choices(variants.pads_the_image()) {
        for after_convolutions in choices(variants.has_bare_convolutions()) {
            for average_pooling in choices(pools) {
                for pooling_last in choices(pools) {
                    structures.push(Structure {
                        average_pooling,
                        pooling_last,
                        after_convolutions,
                        background_padding,
                    });
                }
            }
        }
    }
    structures
}

impl Structure {
    /// The reading, unless it computes the same as another one.
    fn with(
        self,
        activation: TriedActivation,
        normalization: Normalization,
        variants: Option<&Variants>,
    ) -> Option<Reading> {
        let Self {
            average_pooling,
            pooling_last,
            after_convolutions,
            background_padding,
        } = self;
        if pooling_last {
            let is_bare =
                variants.is_some_and(Variants::has_bare_convolutions) && !after_convolutions;
            let is_normalised = variants.is_some_and(|variants| variants.pooling().1);
            // What never falls has the same maximum before and after; batch normalization may turn
            // a channel round.
            if is_bare || (!average_pooling && activation.is_monotone() && !is_normalised) {
                return None;
            }
        }
        if background_padding && normalization.mean == 0.0 {
            return None;
        }
        Some(Reading {
            layers: None,
            activation,
            normalization,
            average_pooling,
            pooling_last,
            after_convolutions,
            background_padding,
        })
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Candidate<'a> {
    /// The weights of this network, in the order of its parameters.
    Weights(Network, &'a [Vec<f32>]),
    Graph(&'a OnnxGraph),
}

impl Candidate<'_> {
    pub fn network(self) -> Network {
        match self {
            Self::Weights(network, _) => network,
            Self::Graph(_) => ModelKind::Onnx.into(),
        }
    }

    /// It as Inkling builds it for this reading, and its activation; the activations of an ONNX
    /// file are its own.
    pub fn net(self, reading: &Reading) -> Result<(Net, Activation), ImportError> {
        let (activation, normalization) = reading
            .settings()
            .unwrap_or((Activation::default(), reading.normalization));
        let net = match self {
            Self::Weights(network, values) => {
                let net =
                    Net::new(network, activation, CLASSES, 0)?.with_normalization(normalization);
                net.set_weights(values)?;
                net
            }
            Self::Graph(graph) => Net::of_graph(graph.clone(), normalization),
        };
        Ok((net, activation))
    }

    /// Other ways to compute it, where there are any.
    pub fn variants(self) -> Result<Option<Variants>, ImportError> {
        match self {
            Self::Weights(network, values) => Ok(Variants::new(network, values)?),
            Self::Graph(_) => Ok(None),
        }
    }
}
