//! Which network an ONNX file has: one of Inkling's if it computes the same, otherwise the one in
//! the file as it is.

use super::trial::{Body, Candidate, Candidates, NORMALIZATIONS};
use super::{CLASSES, ImportError};
use crate::data::Split;
use crate::infer::{Scores, measure};
use crate::nn::Net;
use crate::nn::onnx::OnnxGraph;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::records::{Calibration, ImportSpec, Reading};
use crate::run_config::{Activation, ModelKind, Network};

/// Images that an ONNX file's network and those of Inkling are compared on, and how many suffice to
/// tell most networks apart.
const COMPARED: usize = 500;
const FEW: usize = 2;
/// The most by which a probability of the same network may differ: it adds its products in another
/// order.
const SAME_PROBABILITY: f32 = 1e-5;

/// What is imported of a graph whose weights may be those of the networks `own`; `spec` may name one
/// of them.
pub fn networks_of<'f>(
    graph: &'f OnnxGraph,
    own: Vec<Candidate<'f>>,
    spec: &ImportSpec,
    digits: &Split,
    progress: &mut impl Progress,
) -> Result<Candidates<'f>, ImportError> {
    let given = graph.classes();
    if given != CLASSES {
        let data = "The model".to_owned();
        return Err(ImportError::Classes { data, given });
    }
    let same = computing_the_same(own, graph, digits, progress)?;
    // Whoever named a network wants that one.
    if let (None, Some(model)) = (&same, spec.model)
        && model.is_trainable()
    {
        return Err(ImportError::OtherNetwork {
            path: spec.path.clone(),
            network: Network::from(model).with_layers(spec.layers).label(),
        });
    }
    let as_it_is = Candidate {
        network: ModelKind::Onnx.into(),
        activation: Some(Activation::default()),
        body: Body::Graph(graph),
    };
    Ok(Candidates {
        all: vec![same.unwrap_or(as_it_is)],
        has_channels_last: graph.has_channels_last(),
    })
}

/// The candidate, with the activation, that gives the same probabilities as the graph, if one does.
fn computing_the_same<'f>(
    candidates: Vec<Candidate<'f>>,
    graph: &OnnxGraph,
    digits: &Split,
    progress: &mut impl Progress,
) -> Result<Option<Candidate<'f>>, Problem> {
    let mut logits = |net: &Net, count: usize| -> Result<Vec<f32>, Problem> {
        let images = digits.first(count);
        let measured = measure(net, Calibration::NONE.temperature, &images, progress)?;
        Ok(measured.logits().to_vec())
    };
    let [mnist, unit, half, _] = NORMALIZATIONS;
    let graphs = NORMALIZATIONS.map(|it| Net::of_graph(graph.clone(), it));
    let of_few = graphs.iter().map(|graph| logits(graph, FEW));
    let of_few = of_few.collect::<Result<Vec<_>, _>>()?;
    for candidate in candidates {
        for &activation in Activation::ALL {
            // Pixels from 0 to 255 make every network sure of its answer, and many alike.
            for normalization in [mnist, unit, half] {
                let net = candidate.net(&Reading {
                    network: candidate.network,
                    activation,
                    normalization,
                })?;
                let own = logits(&net, FEW)?;
                // The graph may normalize pixels itself.
                for (graph, of_graph) in graphs.iter().zip(&of_few) {
                    if are_same(&own, of_graph)
                        && are_same(&logits(&net, COMPARED)?, &logits(graph, COMPARED)?)
                    {
                        return Ok(Some(Candidate {
                            activation: Some(activation),
                            ..candidate
                        }));
                    }
                }
            }
        }
    }
    Ok(None)
}

/// Whether these logits give the same probabilities.
fn are_same(own: &[f32], of_graph: &[f32]) -> bool {
    let probabilities = |logits| {
        Scores::of_rows(logits, CLASSES, Calibration::NONE.temperature)
            .flat_map(|scores| scores.probabilities)
    };
    let mut pairs = probabilities(own).zip(probabilities(of_graph));
    pairs.all(|(own, of_graph)| (own - of_graph).abs() <= SAME_PROBABILITY)
}
