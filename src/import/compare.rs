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
use crate::records::{Calibration, ImportSpec, Normalization, Reading};
use crate::run_config::{Activation, ModelKind, Network};

/// Images that an ONNX file's network and those of Inkling are compared on.
const COMPARED: usize = 500;
/// The most by which a probability of the same network may differ: it adds its products in another
/// order.
const SAME_PROBABILITY: f32 = 1e-5;

/// How pixels may be normalized for a network, and for a graph that is the same: alike, or the graph
/// normalizes pixels from 0 to 1 or from 0 to 255 itself.
const PREPROCESSING: [(Normalization, &[Normalization]); 3] = {
    let [mnist, unit, half, whole] = NORMALIZATIONS;
    [
        (mnist, &[mnist, unit, whole]),
        (unit, &[whole]),
        (half, &[unit]),
    ]
};

/// What is imported of a graph whose weights may be those of the networks `own`; `spec` may name one
/// of them.
pub fn networks_of(
    graph: &OnnxGraph,
    own: Vec<Candidate>,
    spec: &ImportSpec,
    digits: &Split,
    progress: &mut impl Progress,
) -> Result<Candidates, ImportError> {
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
            body: Body::Graph(graph.clone()),
            renamed: Vec::new(),
        },
    };
    Ok(Candidates {
        all: vec![only],
        has_channels_last: graph.has_channels_last(),
    })
}

/// The candidate, with the activation, that gives the same probabilities as the graph, if one does.
fn computing_the_same(
    candidates: Vec<Candidate>,
    graph: &OnnxGraph,
    digits: &Split,
    progress: &mut impl Progress,
) -> Result<Option<Candidate>, Problem> {
    // Most networks differ in these.
    let few = digits.first(2);
    let digits = digits.first(COMPARED);
    let mut logits = |net: &Net, images: &Split| -> Result<Vec<f32>, Problem> {
        let measured = measure(net, Calibration::NONE.temperature, images, progress)?;
        Ok(measured.logits().to_vec())
    };
    let graph = |normalization| Net::of_graph(graph.clone(), normalization);
    let of_few = NORMALIZATIONS
        .iter()
        .map(|&normalization| Ok((normalization, logits(&graph(normalization), &few)?)))
        .collect::<Result<Vec<_>, Problem>>()?;
    for candidate in candidates {
        for &activation in Activation::ALL {
            for (normalization, of_graph) in PREPROCESSING {
                let net = candidate.net(&Reading {
                    network: candidate.network,
                    activation,
                    normalization,
                })?;
                let own = logits(&net, &few)?;
                for (normalization, logits_of_few) in &of_few {
                    if of_graph.contains(normalization)
                        && are_same(&own, logits_of_few)
                        && are_same(
                            &logits(&net, &digits)?,
                            &logits(&graph(*normalization), &digits)?,
                        )
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
