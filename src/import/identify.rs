//! Which network a file's weights belong to: by their names if those are ours, otherwise by their
//! shapes if only one assignment is possible, or by the order of their names. The widths of its
//! hidden layers need not be those of its model, and a plain CNN may have any layers: they follow
//! from the shapes.

use std::collections::BTreeMap;

use super::{Mismatch, NamedTensor};
use crate::ink::PIXELS;
use crate::nn::{Layer, layers, parameter_specs};
use crate::run_config::{Activation, HiddenLayer, HiddenLayers, ModelKind, Network, Widths};
use crate::text::format::joined;

/// The classes of a network that is imported: it is tried on digits.
pub const CLASSES: usize = 10;
/// The most networks that weights may belong to.
const MAX_NETWORKS: usize = 64;
/// Widths that no other length in a network is a multiple of: they show which lengths are widths.
const MARKS: [u16; 8] = [1009, 1013, 1019, 1021, 1031, 1033, 1039, 1049];

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
        let in_file = names.iter().map(|(theirs, _)| format!("{prefix}{theirs}"));
        Some(Identified {
            network,
            names: in_file.collect(),
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
    let chain = chain(tensors);
    // What could be any of the MLPs is the one that has any depth.
    let mut by_generality = candidates.to_vec();
    by_generality.sort_by_key(|kind| *kind != ModelKind::Mlp);
    let mut networks: Vec<Network> = by_generality
        .into_iter()
        .filter_map(|kind| of_other_widths(tensors, &chain, kind))
        .collect();
    if candidates.contains(&ModelKind::Cnn) {
        networks.extend(cnns(&chain).unwrap_or_default());
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
            tensors.iter().all(|tensor| {
                let rest = tensor.name.strip_prefix(prefix.as_str());
                rest.is_some_and(|rest| rest.contains('.') || rest == "pos_embed")
            })
        }) else {
            return (removed, tensors);
        };
        removed += &prefix;
        tensors
            .iter_mut()
            .for_each(|tensor| tensor.name = tensor.name.split_off(prefix.len()));
    }
}

/// The kernels and matrices in the order in which an image goes through them: each takes what the
/// one before it gives. Of several that would fit it is the first by name, but the one that gives a
/// value for each class comes last. Ends where none fits.
fn chain(tensors: &[NamedTensor]) -> Vec<&NamedTensor> {
    let mut left: Vec<&NamedTensor> = tensors
        .iter()
        .filter(|tensor| tensor.shape.len() > 1)
        .collect();
    left.sort_by_key(|tensor| {
        let is_matrix = tensor.shape.len() == 2;
        (
            is_matrix,
            is_matrix && tensor.shape[0] == CLASSES,
            natural_order(&tensor.name),
        )
    });
    let mut chain: Vec<&NamedTensor> = Vec::new();
    let fits = |tensor: &NamedTensor, before: Option<&[usize]>| match (before, &*tensor.shape) {
        (None, [_, inputs, _, _]) => *inputs == 1,
        (None, [_, inputs]) => *inputs == PIXELS,
        (Some([outputs, _, _, _]), [_, inputs]) => inputs.is_multiple_of(*outputs),
        (Some([outputs, ..]), [_, inputs, ..]) => inputs == outputs,
        _ => false,
    };
    while let Some(next) = left
        .iter()
        .position(|tensor| fits(tensor, chain.last().map(|before| &*before.shape)))
    {
        chain.push(left.remove(next));
    }
    chain
}

/// The network of this model with hidden layers as wide as the weights say: those with our names,
/// or else those in the chain.
fn of_other_widths(
    tensors: &[NamedTensor],
    chain: &[&NamedTensor],
    model: ModelKind,
) -> Option<Network> {
    let counts = model.width_counts();
    let hidden = (*counts.end()).min(chain.len().saturating_sub(1).max(*counts.start()));
    let marked = Network::new(model, Some(Widths::new(MARKS.get(..hidden)?)?));
    let specs = parameter_specs(marked, CLASSES);
    let named = |name: &str| tensors.iter().find(|tensor| tensor.name == name);
    let are_ours = specs.iter().all(|spec| named(&spec.name).is_some());
    let weights: Vec<_> = specs.iter().filter(|spec| spec.shape.len() > 1).collect();
    let width = |mark: &u16| {
        let index = weights
            .iter()
            .position(|spec| spec.shape[0] == usize::from(*mark))?;
        let tensor = if are_ours {
            named(&weights[index].name)?
        } else {
            *chain.get(index)?
        };
        u16::try_from(*tensor.shape.first()?).ok()
    };
    let widths: Vec<u16> = MARKS[..hidden].iter().map(width).collect::<Option<_>>()?;
    Some(Network::new(model, Some(Widths::new(&widths)?)))
}

/// Every plain CNN that this chain may be of, the most usual first: all convolutions padded and
/// pooled alike. The last of them has as many values as the first dense layer takes.
fn cnns(chain: &[&NamedTensor]) -> Option<Vec<Network>> {
    let dense = chain.iter().position(|tensor| tensor.shape.len() == 2)?;
    let (convolutions, matrices) = chain.split_at(dense);
    let short = |length: usize| u16::try_from(length).ok();
    let flattened = matrices.first()?.shape[1];
    // The layers, how much convolutions differ from those before them, and whether the last one
    // is padded and pooled.
    let mut ways = vec![(Vec::new(), 0, None)];
    for tensor in convolutions {
        let [filters, _, kernel, columns] = *tensor.shape else {
            return None;
        };
        let (filters, kernel) = (short(filters)?, u8::try_from(kernel).ok()?);
        if columns != usize::from(kernel) {
            return None;
        }
        let half = (kernel > 1 && kernel % 2 == 1).then_some(kernel / 2);
        let mut longer = Vec::new();
        for (layers, changes, last) in &ways {
            for padding in [Some(0), half].into_iter().flatten() {
                for is_pooled in [true, false] {
                    let mut layers: Vec<HiddenLayer> = layers.clone();
                    layers.push(HiddenLayer::Convolution {
                        filters,
                        kernel,
                        stride: 1,
                        padding,
                        has_activation: true,
                    });
                    layers.extend(is_pooled.then_some(HiddenLayer::MaxPooling));
                    let now = (padding > 0, is_pooled);
                    let before: (bool, bool) = last.unwrap_or(now);
                    let changed = 2 * u32::from(now.0 != before.0) + u32::from(now.1 != before.1);
                    if HiddenLayers::new(&layers).is_ok() {
                        longer.push((layers, changes + changed, Some(now)));
                    }
                }
            }
        }
        ways = longer;
    }
    ways.sort_by_key(|(_, changes, _)| *changes);
    let (_, hidden) = matrices.split_last()?;
    let hidden: Vec<HiddenLayer> = hidden
        .iter()
        .map(|tensor| {
            Some(HiddenLayer::Dense {
                neurons: short(tensor.shape[0])?,
                has_activation: true,
            })
        })
        .collect::<Option<_>>()?;
    let network = |(layers, ..): (Vec<HiddenLayer>, _, _)| {
        let (outputs, _) = HiddenLayers::outputs(&layers);
        let fits = outputs.last()?.values() == flattened;
        let layers = HiddenLayers::new(&[layers, hidden.clone()].concat()).ok()?;
        fits.then(|| Network::from(ModelKind::Cnn).with_layers(Some(layers)))
    };
    Some(ways.into_iter().filter_map(network).collect())
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
    let are_alike = |ours: &Layers, theirs: &Layers| {
        ours.iter()
            .map(|it| &it.1)
            .eq(theirs.iter().map(|it| &it.1))
    };
    if !are_alike(&ours, &theirs) {
        for layers in [&mut ours, &mut theirs] {
            layers.sort_by(|a, b| a.1.cmp(&b.1));
        }
        if !are_alike(&ours, &theirs) || ours.windows(2).any(|pair| pair[0].1 == pair[1].1) {
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
fn natural_order(name: &str) -> Vec<(u64, &str)> {
    let is_digit = |character: char| character.is_ascii_digit();
    let parts = name
        .split_inclusive(|character| !is_digit(character))
        .flat_map(|part| {
            let digits = part.find(|character| !is_digit(character));
            let (number, text) = part.split_at(digits.unwrap_or(part.len()));
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

/// How the weights differ from the candidate that has the most of their shapes in common.
fn mismatch(tensors: &[NamedTensor], candidates: &[ModelKind]) -> Mismatch {
    let sized = |name: &str, shape: &[usize]| match shape {
        [] => format!("{name} (scalar)"),
        _ => format!("{name} ({})", joined(shape, "x")),
    };
    let theirs: Vec<String> = tensors
        .iter()
        .map(|tensor| sized(&tensor.name, &tensor.shape))
        .collect();
    let ours = |model: ModelKind| parameter_specs(model, CLASSES).into_iter();
    let difference = |model: &&ModelKind| {
        let mut left: Vec<&[usize]> = tensors.iter().map(|tensor| &*tensor.shape).collect();
        let missing = ours(**model).filter(|spec| {
            let same = left.iter().position(|shape| *shape == spec.shape);
            same.map(|same| left.swap_remove(same)).is_none()
        });
        missing.count() + left.len()
    };
    let closest = candidates.iter().min_by_key(difference).copied();
    let closest = closest.unwrap_or(ModelKind::LeNet);
    let ours: Vec<String> = ours(closest)
        .map(|spec| sized(&spec.name, &spec.shape))
        .collect();
    let without = |these: &[String], others: &[String]| {
        let these = these.iter().filter(|one| !others.contains(one));
        these.cloned().collect()
    };
    Mismatch {
        closest,
        missing: without(&ours, &theirs),
        unexpected: without(&theirs, &ours),
    }
}
