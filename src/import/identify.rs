//! Which network a file's weights belong to: by their names if those are ours, otherwise by their
//! shapes if only one assignment is possible, or by the order of their names. The widths of its
//! hidden layers need not be those of its model: they follow from the shapes. Weights may also be those
//! of a plain CNN.

use std::collections::BTreeMap;

use super::{Mismatch, NamedTensor, cnn};
use crate::nn::{Layer, ParameterSpec, layers, parameter_specs};
use crate::run_config::{Activation, HiddenLayers, ModelKind, Network, Widths};
use crate::text::format::joined;

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
type Layers = Vec<(String, Signature)>;

/// The networks that the weights may belong to, the most usual first: all that there are, or those
/// of the model or with the layers that are given. Networks with the same weights differ in how
/// they pad and pool, and where activations are. The error says how the weights differ from the
/// most similar network.
pub fn identify(
    tensors: Vec<NamedTensor>,
    model: Option<ModelKind>,
    cnn_layers: Option<HiddenLayers>,
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
    let usual = candidates
        .iter()
        .find_map(|&kind| identified(Network::from(kind).with_layers(cnn_layers)));
    let found = match usual {
        Some(usual) => vec![usual],
        None if cnn_layers.is_some() => Vec::new(),
        None => of_other_shapes(&tensors, &candidates)
            .into_iter()
            .filter_map(identified)
            .take(MAX_NETWORKS)
            .collect(),
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
    let mut distinct = Vec::<Vec<Layer>>::new();
    networks.retain(|network| {
        let layers = layers(*network, Activation::default(), CLASSES);
        let is_new = !distinct.contains(&layers);
        distinct.extend(is_new.then_some(layers));
        is_new
    });
    networks
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
    let ours = layers_of(specs.iter().map(|spec| (&*spec.name, &*spec.shape)));
    let theirs = layers_of(tensors.iter().map(|it| (&*it.name, &*it.shape)));
    let their_layer = match_layers(ours, theirs)?;
    let name = |ours: &str| {
        let (layer, parameter) = split(ours);
        let theirs = their_layer.get(layer)?;
        Some(if theirs.is_empty() {
            parameter.to_owned()
        } else {
            format!("{theirs}.{parameter}")
        })
    };
    specs
        .into_iter()
        .map(|spec| Some((name(&spec.name)?, spec.name)))
        .collect()
}

/// A layer of theirs for each of ours: by the order of their names, or by the shapes of their
/// parameters if no two layers have the same. Whether it is right, trials on digits tell.
fn match_layers(mut ours: Layers, mut theirs: Layers) -> Option<BTreeMap<String, String>> {
    let shapes = |layers: &Layers| layers.iter().map(|(_, it)| it.clone()).collect::<Vec<_>>();
    if shapes(&ours) != shapes(&theirs) {
        for layers in [&mut ours, &mut theirs] {
            layers.sort_by(|a, b| a.1.cmp(&b.1));
        }
        let sorted = shapes(&ours);
        if sorted != shapes(&theirs) || sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            return None;
        }
    }
    let pairs = ours.into_iter().zip(theirs);
    Some(
        pairs
            .map(|((ours, _), (theirs, _))| (ours, theirs))
            .collect(),
    )
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

/// The names of a parameter's layer and of the parameter in it.
fn split(name: &str) -> (&str, &str) {
    name.rsplit_once('.').unwrap_or(("", name))
}

/// The layers with these parameters, sorted by name: numbers as numbers, `net.2` before `net.10`.
fn layers_of<'a>(parameters: impl Iterator<Item = (&'a str, &'a [usize])>) -> Layers {
    let mut layers = BTreeMap::<String, Signature>::new();
    for (name, shape) in parameters {
        let (layer, parameter) = split(name);
        let signature = layers.entry(layer.to_owned()).or_default();
        signature.push((parameter.to_owned(), shape.to_vec()));
    }
    let mut layers: Layers = layers.into_iter().collect();
    layers
        .iter_mut()
        .for_each(|(_, signature)| signature.sort());
    layers.sort_by(|(a, _), (b, _)| natural_order(a).cmp(&natural_order(b)));
    layers
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
    let mut missing = parameter_specs(closest, CLASSES);
    let mut left: Vec<&NamedTensor> = tensors.iter().collect();
    let mut wrong = Vec::new();
    missing.retain(|spec| {
        let Some(index) = left.iter().position(|tensor| tensor.name == spec.name) else {
            return true;
        };
        let found = &left.swap_remove(index).shape;
        if *found != spec.shape {
            let [found, expected] = [found, &spec.shape].map(|shape| size(shape));
            wrong.push(format!("{} is {found} instead of {expected}", spec.name));
        }
        false
    });
    left.sort_by(|a, b| a.name.cmp(&b.name));
    let sized = |name: &str, shape: &[usize]| format!("{name} ({})", size(shape));
    Mismatch {
        closest,
        wrong,
        missing: missing
            .iter()
            .map(|spec| sized(&spec.name, &spec.shape))
            .collect(),
        unexpected: left
            .iter()
            .map(|tensor| sized(&tensor.name, &tensor.shape))
            .collect(),
    }
}

/// 16x6x5x5
fn size(shape: &[usize]) -> String {
    if shape.is_empty() {
        "scalar".to_owned()
    } else {
        joined(shape, "x")
    }
}
