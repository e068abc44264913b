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

/// How pixels may be normalized for a network, and for a graph that is the same, each by its place
/// among the usual normalizations: alike, or the graph normalizes pixels from 0 to 1 or from 0 to
/// 255 itself.
const PREPROCESSING: [(usize, &[usize]); 3] = {
    let [mnist, unit, half, whole] = [0, 1, 2, 3];
    [
        (mnist, &[mnist, unit, whole]),
        (unit, &[whole]),
        (half, &[unit, whole]),
    ]
};

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
    let named = spec.model.filter(|model| model.is_trainable());
    let only = match (computing_the_same(own, graph, digits, progress)?, named) {
        (Some(same), _) => same,
        // Whoever named a network wants that one.
        (None, Some(model)) => {
            return Err(ImportError::OtherNetwork {
                path: spec.path.clone(),
                network: Network::from(model).with_layers(spec.layers).label(),
            });
        }
        (None, None) => Candidate {
            network: ModelKind::Onnx.into(),
            activation: Some(Activation::default()),
            body: Body::Graph(graph),
            renamed: Vec::new(),
        },
    };
    Ok(Candidates {
        all: vec![only],
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
    let graphs = NORMALIZATIONS.map(|it| Net::of_graph(graph.clone(), it));
    let of_few = graphs.iter().map(|graph| logits(graph, FEW));
    let of_few = of_few.collect::<Result<Vec<_>, _>>()?;
    for candidate in candidates {
        for &activation in Activation::ALL {
            for (own, of_graph) in PREPROCESSING {
                let net = candidate.net(&Reading {
                    network: candidate.network,
                    activation,
                    normalization: NORMALIZATIONS[own],
                })?;
                let own = logits(&net, FEW)?;
                for &index in of_graph {
                    if are_same(&own, &of_few[index])
                        && are_same(&logits(&net, COMPARED)?, &logits(&graphs[index], COMPARED)?)
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

/// Whether these logits give the same probabilities, at the temperature that the graph may have in
/// it.
fn are_same(own: &[f32], of_graph: &[f32]) -> bool {
    // What is added to all logits of an image changes no probability.
    let centered = |logits: &[f32]| -> Vec<f32> {
        let rows = logits.chunks_exact(CLASSES).flat_map(|logits| {
            let mean = logits.iter().sum::<f32>() / CLASSES as f32;
            logits.iter().map(move |logit| logit - mean)
        });
        rows.collect()
    };
    let (own, of_graph) = (centered(own), centered(of_graph));
    let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let temperature = product(&own, &own) / product(&own, &of_graph);
    let probabilities = |logits, temperature| {
        Scores::of_rows(logits, CLASSES, temperature).flat_map(|scores| scores.probabilities)
    };
    temperature.is_finite()
        && temperature > 0.0
        && probabilities(&own, temperature)
            .zip(probabilities(&of_graph, Calibration::NONE.temperature))
            .all(|(own, of_graph)| (own - of_graph).abs() <= SAME_PROBABILITY)
}
