//! What a file has to be tried: weights of a network that Inkling builds, or a network as a whole.

use super::ImportError;
use super::identify::CLASSES;
use super::variant::Variants;
use crate::nn::Net;
use crate::nn::onnx::OnnxGraph;
use crate::records::Reading;
use crate::run_config::{Activation, ModelKind, Network};

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
