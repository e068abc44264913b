//! Which network a file's weights belong to: by their names if those are ours, otherwise by their
//! shapes if only one assignment is possible, or by the order of their names. The widths of its
//! hidden layers need not be those of its model: they follow from the shapes. Weights may also be those
//! of a plain CNN.

use std::collections::BTreeMap;

use super::cnn;
use super::{Mismatch, NamedTensor, WrongShape};
use crate::nn::{Layer, ParameterSpec, layers, parameter_specs};
use crate::run_config::{Activation, CnnLayers, ModelKind, Network, Widths};

/// The classes of a network that is imported: it is tried on digits.
pub const CLASSES: usize = 10;

/// The most networks that weights may belong to.
const MAX_NETWORKS: usize = 64;

/// A network that the weights may belong to.
#[derive(Clone, Debug)]
pub struct Identified {
    pub network: Network,
    /// The names of its weights in the file, in the order of its parameters.
    pub names: Vec<String>,
    /// Weights with another name in the file: theirs and ours.
    pub renamed: Vec<(String, String)>,
}

/// The names of a layer's parameters, without its own name, and their shapes: `weight` of 6x1x5x5,
/// `bias` of 6.
type Signature = Vec<(String, Vec<usize>)>;
/// The parameters of every layer, by its name.
type Signatures = BTreeMap<String, Signature>;

/// The networks that the weights may belong to, the most usual first: all that there are, or those
/// of the model or with the layers that are given. Networks with the same weights differ in how
/// they pad and pool, and where activations are. The error says how the weights differ from the
/// most similar network.
pub fn identify(
    tensors: Vec<NamedTensor>,
    model: Option<ModelKind>,
    cnn_layers: Option<CnnLayers>,
) -> Result<Vec<Identified>, Mismatch> {
    let (prefix, tensors) = without_prefixes(tensors);
    let candidates: Vec<ModelKind> = ModelKind::ALL
        .iter()
        .copied()
        .filter(|kind| model.is_none_or(|model| model == *kind))
        .filter(|kind| cnn_layers.is_none() || *kind == ModelKind::Cnn)
        .collect();
    let identified = |network: Network| {
        let names = match_names(&tensors, network)?;
        Some(Identified {
            network,
            names: names
                .iter()
                .map(|(theirs, _)| format!("{prefix}{theirs}"))
                .collect(),
            renamed: names
                .into_iter()
                .filter(|(theirs, ours)| theirs != ours)
                .collect(),
        })
    };
    let usual = || candidates.iter().map(|&kind| Network::from(kind));
    let found: Vec<Identified> = match cnn_layers {
        Some(_) => identified(Network::from(ModelKind::Cnn).with_layers(cnn_layers))
            .into_iter()
            .collect(),
        None => match usual().find_map(identified) {
            Some(usual) => vec![usual],
            None => of_other_shapes(&tensors, &candidates)
                .into_iter()
                .filter_map(identified)
                .take(MAX_NETWORKS)
                .collect(),
        },
    };
    if found.is_empty() {
        Err(mismatch(&tensors, &candidates))
    } else {
        Ok(found)
    }
}

/// The networks whose hidden layers may be as wide as these weights, and the plain CNNs: of those
/// that compute the same only the first.
fn of_other_shapes(tensors: &[NamedTensor], candidates: &[ModelKind]) -> Vec<Network> {
    // What could be any of the MLPs is the one that has any depth.
    let mut by_generality = candidates.to_vec();
    by_generality.sort_by_key(|kind| *kind != ModelKind::Mlp);
    let mut networks: Vec<Network> = by_generality
        .into_iter()
        .flat_map(|kind| of_other_widths(tensors, kind))
        .collect();
    if candidates.contains(&ModelKind::Cnn) {
        networks.extend(cnn::networks(tensors));
    }
    let built = |network: Network| layers(network, Activation::default(), CLASSES);
    let mut distinct: Vec<(Network, Vec<Layer>)> = Vec::new();
    for network in networks {
        let layers = built(network);
        if !distinct.iter().any(|(_, other)| *other == layers) {
            distinct.push((network, layers));
        }
    }
    distinct.into_iter().map(|(network, _)| network).collect()
}

/// Without counters, and without prefixes that all names have in common (`module.`, `_orig_mod.`,
/// the name of a wrapper): these, and the rest.
fn without_prefixes(mut tensors: Vec<NamedTensor>) -> (String, Vec<NamedTensor>) {
    tensors.retain(|tensor| !tensor.name.ends_with("num_batches_tracked"));
    let mut removed = String::new();
    loop {
        let first = tensors
            .first()
            .and_then(|tensor| tensor.name.split_once('.'))
            .map(|(first, _)| format!("{first}."));
        // `weight` alone would not be a name: the part before it is its layer.
        let Some(prefix) = first.filter(|prefix| {
            let rest = |tensor: &NamedTensor| {
                tensor
                    .name
                    .strip_prefix(prefix.as_str())
                    .is_some_and(|rest| rest.contains('.') || rest == "pos_embed")
            };
            tensors.iter().all(rest)
        }) else {
            return (removed, tensors);
        };
        removed += &prefix;
        tensors
            .iter_mut()
            .for_each(|tensor| tensor.name = tensor.name.split_off(prefix.len()));
    }
}

/// The networks of this model that the weights may belong to if its hidden layers are as wide as
/// their shapes say.
fn of_other_widths(tensors: &[NamedTensor], model: ModelKind) -> Vec<Network> {
    let matrices = tensors
        .iter()
        .filter(|tensor| tensor.shape.len() > 1)
        .count();
    let counts = model.width_counts();
    let hidden = if counts.start() == counts.end() {
        *counts.start()
    } else {
        matrices.saturating_sub(1)
    };
    let mut networks = Vec::new();
    if hidden > 0 && counts.contains(&hidden) {
        widen(tensors, model, &mut vec![1; hidden], 0, &mut networks);
    }
    networks
}

/// Finds every width that the layer number `index` can have behind those before it, and after it
/// those of all others.
fn widen(
    tensors: &[NamedTensor],
    model: ModelKind,
    widths: &mut Vec<u16>,
    index: usize,
    networks: &mut Vec<Network>,
) {
    if index == widths.len() {
        networks.extend(Widths::new(widths).map(|widths| Network::new(model, Some(widths))));
        return;
    }
    let specs = |widths: &[u16]| parameter_specs(Network::new(model, Widths::new(widths)), CLASSES);
    let narrow = specs(widths);
    widths[index] += 1;
    let wider = specs(widths);
    widths[index] -= 1;
    // The first weight whose outputs become more is that of the layer.
    let is_of_layer = |(narrow, wider): &(&ParameterSpec, &ParameterSpec)| {
        narrow.shape.len() > 1 && narrow.shape.first() != wider.shape.first()
    };
    let Some((spec, _)) = narrow.iter().zip(&wider).find(is_of_layer) else {
        return;
    };
    let mut fitting: Vec<&NamedTensor> = tensors
        .iter()
        .filter(|tensor| {
            tensor.shape.len() == spec.shape.len() && tensor.shape.get(1..) == spec.shape.get(1..)
        })
        .collect();
    if let Some(named) = fitting
        .iter()
        .copied()
        .find(|tensor| tensor.name == spec.name)
    {
        fitting = vec![named];
    }
    let mut outputs: Vec<u16> = fitting
        .iter()
        .filter_map(|tensor| u16::try_from(*tensor.shape.first()?).ok())
        .collect();
    outputs.sort_unstable();
    outputs.dedup();
    for width in outputs {
        if networks.len() < MAX_NETWORKS {
            widths[index] = width;
            widen(tensors, model, widths, index + 1, networks);
        }
    }
    widths[index] = 1;
}

/// The name of every parameter of `network` in the file, with ours; `None` if parameters are
/// missing or there are others.
fn match_names(tensors: &[NamedTensor], network: Network) -> Option<Vec<(String, String)>> {
    let specs = parameter_specs(network, CLASSES);
    if specs.len() != tensors.len() {
        return None;
    }
    let has = |name: &str, shape: &[usize]| {
        tensors
            .iter()
            .any(|tensor| tensor.name == name && tensor.shape == shape)
    };
    if specs.iter().all(|spec| has(&spec.name, &spec.shape)) {
        return Some(
            specs
                .into_iter()
                .map(|spec| (spec.name.clone(), spec.name))
                .collect(),
        );
    }
    let ours = signatures(
        specs
            .iter()
            .map(|spec| (spec.name.as_str(), spec.shape.as_slice())),
    );
    let theirs = signatures(
        tensors
            .iter()
            .map(|tensor| (tensor.name.as_str(), tensor.shape.as_slice())),
    );
    let their_layer = match_shapes(&ours, &theirs).or_else(|| match_order(&ours, &theirs))?;
    let name = |ours: &str| match ours.rsplit_once('.') {
        Some((layer, parameter)) => their_layer.get(layer).map(|theirs| {
            if theirs.is_empty() {
                parameter.to_owned()
            } else {
                format!("{theirs}.{parameter}")
            }
        }),
        None => Some(ours.to_owned()),
    };
    specs
        .into_iter()
        .map(|spec| Some((name(&spec.name)?, spec.name)))
        .collect()
}

/// A layer of theirs for each of ours by the shapes of its parameters; `None` if several layers
/// have the same.
fn match_shapes<'a>(
    ours: &'a Signatures,
    theirs: &'a Signatures,
) -> Option<BTreeMap<&'a str, &'a str>> {
    let with = |layers: &'a Signatures, signature: &Signature| -> Option<&'a str> {
        let mut same = layers.iter().filter(|(_, other)| *other == signature);
        same.next()
            .filter(|_| same.next().is_none())
            .map(|(name, _)| name.as_str())
    };
    ours.iter()
        .map(|(layer, signature)| {
            with(ours, signature).and_then(|_| Some((layer.as_str(), with(theirs, signature)?)))
        })
        .collect()
}

/// The same by the order of the layers' names, in which numbers count as numbers (`net.2` before
/// `net.10`): `None` if that gives other shapes. Whether it is right, trials on digits tell.
fn match_order<'a>(
    ours: &'a Signatures,
    theirs: &'a Signatures,
) -> Option<BTreeMap<&'a str, &'a str>> {
    let sorted = |layers: &'a Signatures| -> Vec<(&'a str, &'a Signature)> {
        let mut sorted: Vec<_> = layers
            .iter()
            .map(|(name, signature)| (name.as_str(), signature))
            .collect();
        sorted.sort_by_key(|(name, _)| natural_order(name));
        sorted
    };
    let (ours, theirs) = (sorted(ours), sorted(theirs));
    let same = ours.len() == theirs.len()
        && ours
            .iter()
            .zip(&theirs)
            .all(|((_, our), (_, their))| our == their);
    same.then(|| {
        ours.iter()
            .zip(&theirs)
            .map(|((our, _), (their, _))| (*our, *their))
            .collect()
    })
}

/// Sorts names as people do: the numbers in them by their values.
pub(super) fn natural_order(name: &str) -> Vec<(u64, &str)> {
    let is_digit = |character: char| character.is_ascii_digit();
    let parts = name
        .split_inclusive(|character| !is_digit(character))
        .flat_map(|part| {
            let (number, text) = part.split_at(
                part.find(|character| !is_digit(character))
                    .unwrap_or(part.len()),
            );
            [(number.parse().unwrap_or_default(), ""), (0, text)]
        });
    parts.collect()
}

/// The parameters of each layer, by its name.
fn signatures<'a>(parameters: impl Iterator<Item = (&'a str, &'a [usize])>) -> Signatures {
    let mut signatures = Signatures::new();
    for (name, shape) in parameters {
        let (layer, parameter) = name.rsplit_once('.').unwrap_or(("", name));
        signatures
            .entry(layer.to_owned())
            .or_default()
            .push((parameter.to_owned(), shape.to_vec()));
    }
    signatures
        .values_mut()
        .for_each(|signature| signature.sort());
    signatures
}

/// How the weights differ from the most similar candidate.
fn mismatch(tensors: &[NamedTensor], candidates: &[ModelKind]) -> Mismatch {
    // Weights of the same shape, one of theirs for one of ours, against those that are left over;
    // equal names count as well.
    let similarity = |kind: ModelKind| -> i64 {
        let specs = parameter_specs(kind, CLASSES);
        let mut left: Vec<&NamedTensor> = tensors.iter().collect();
        let mut same_shape = 0;
        for spec in &specs {
            if let Some(index) = left.iter().position(|tensor| tensor.shape == spec.shape) {
                left.swap_remove(index);
                same_shape += 1;
            }
        }
        let named = specs
            .iter()
            .filter(|spec| tensors.iter().any(|tensor| tensor.name == spec.name))
            .count();
        3 * same_shape + named as i64 - specs.len() as i64 - tensors.len() as i64
    };
    let closest = candidates
        .iter()
        .copied()
        .max_by_key(|&kind| similarity(kind))
        .unwrap_or(ModelKind::LeNet);
    let lengths = |shape: &[usize]| {
        shape
            .iter()
            .map(|&length| length as u64)
            .collect::<Vec<_>>()
    };
    let mut specs = parameter_specs(closest, CLASSES);
    let mut left: Vec<&NamedTensor> = tensors.iter().collect();
    let mut wrong = Vec::new();
    specs.retain(|spec| {
        let Some(index) = left.iter().position(|tensor| tensor.name == spec.name) else {
            return true;
        };
        let tensor = left.swap_remove(index);
        if tensor.shape != spec.shape {
            wrong.push(WrongShape {
                name: spec.name.clone(),
                found: lengths(&tensor.shape),
                expected: lengths(&spec.shape),
            });
        }
        false
    });
    left.sort_by(|a, b| a.name.cmp(&b.name));
    Mismatch {
        closest,
        wrong,
        missing: specs
            .into_iter()
            .map(|spec| (spec.name, lengths(&spec.shape)))
            .collect(),
        unexpected: left
            .into_iter()
            .map(|tensor| (tensor.name.clone(), lengths(&tensor.shape)))
            .collect(),
        not_finite: None,
    }
}
