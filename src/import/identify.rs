//! Which network a file's weights belong to: by their names if those are ours, otherwise by their
//! shapes if only one assignment is possible, or by the order of their names. The widths of its
//! hidden layers need not be those of its model, and a plain CNN may have any layers: they follow
//! from the shapes.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{Mismatch, NamedTensor};
use crate::ink::PIXELS;
use crate::nn::{ParameterSpec, parameter_specs};
use crate::run_config::{HiddenLayers, ModelKind, Network, Widths};
use crate::text::format::joined;

/// The classes of a network that is imported: it is tried on digits.
pub const CLASSES: usize = 10;
/// The most networks that weights may belong to.
const MAX_NETWORKS: usize = 64;
/// The most ways to pad and pool the convolutions of a CNN that are followed up: a hostile file
/// might have millions.
const MAX_WAYS: usize = 1000;
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

/// The networks that the weights may belong to, the most usual first: all that there are, or those
/// of the model or with the layers that are given. Networks with the same weights differ in how
/// they pad and pool, and where activations are. The error says how the weights differ from the
/// most similar network.
pub fn identify(
    mut tensors: Vec<NamedTensor>,
    model: Option<ModelKind>,
    cnn_layers: Option<HiddenLayers>,
) -> Result<Vec<Identified>, Mismatch> {
    tensors.retain(|tensor| !tensor.name.ends_with("num_batches_tracked"));
    let prefix = shared_prefix(&tensors);
    for tensor in &mut tensors {
        tensor.name = tensor.name.split_off(prefix.len());
    }
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
    let found: Vec<Identified> = match usual {
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
/// with the same hidden layers only the first.
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
        networks.extend(cnns(&chain));
    }
    let mut distinct = HashSet::new();
    networks.retain(|network| distinct.insert(network.hidden_layers()));
    networks
}

/// The prefix that all names have before the names of their layers: `module.`, `_orig_mod.`, the
/// name of a wrapper.
fn shared_prefix(tensors: &[NamedTensor]) -> String {
    let first = tensors.first().map_or("", |tensor| &*tensor.name);
    let is_shared = |prefix: &&str| {
        tensors.iter().all(|tensor| {
            // `weight` alone would not be a name: the part before it is its layer.
            let rest = tensor.name.strip_prefix(*prefix);
            rest.is_some_and(|rest| rest.contains('.') || rest == "pos_embed")
        })
    };
    let mut prefixes = first.match_indices('.').map(|(dot, _)| &first[..=dot]);
    prefixes.rfind(is_shared).unwrap_or("").to_owned()
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
/// pooled alike.
fn cnns(chain: &[&NamedTensor]) -> Vec<Network> {
    let (kernels, matrices): (Vec<&NamedTensor>, Vec<_>) =
        chain.iter().partition(|tensor| tensor.shape.len() > 2);
    // The layers, and whether each convolution is padded and pooled.
    let mut ways = vec![(String::new(), Vec::<[bool; 2]>::new())];
    for kernel in kernels {
        let (filters, size) = (kernel.shape[0], kernel.shape[2]);
        let mut longer = Vec::new();
        for (layers, choices) in ways {
            for [is_padded, is_pooled] in
                [[false, true], [false, false], [true, true], [true, false]]
            {
                let padding = match (is_padded, size) {
                    (false, _) => String::new(),
                    (true, 3..) if size % 2 == 1 => format!("P{}", size / 2),
                    _ => continue,
                };
                let pooling = if is_pooled { "-MP2" } else { "" };
                let layers = format!("{layers}-{filters}C{size}{padding}{pooling}");
                if layers.parse::<HiddenLayers>().is_ok() {
                    longer.push((layers, [&*choices, &[[is_padded, is_pooled]]].concat()));
                }
            }
        }
        longer.sort_by_key(|(_, choices)| {
            let changes = |of: usize| choices.windows(2).filter(move |it| it[0][of] != it[1][of]);
            2 * changes(0).count() + changes(1).count()
        });
        longer.truncate(MAX_WAYS);
        ways = longer;
    }
    let hidden = matrices.split_last().map_or(&[][..], |(_, hidden)| hidden);
    let hidden: String = hidden
        .iter()
        .map(|tensor| format!("-{}", tensor.shape[0]))
        .collect();
    let network = |(layers, _): (String, _)| {
        let layers = (layers + &hidden).parse().ok()?;
        Some(Network::from(ModelKind::Cnn).with_layers(Some(layers)))
    };
    ways.into_iter().filter_map(network).collect()
}

/// A layer's parameters: their names without its own, their shapes, and their whole names.
type Layer<'t> = Vec<(&'t str, &'t [usize], &'t str)>;

/// The name of every parameter of `network` in the file, with ours; `None` if parameters are missing
/// or there are others. Layers are matched by the order of their names, or by the shapes of their
/// parameters if no two layers have the same. Whether it is right, trials on digits tell.
fn match_names(tensors: &[NamedTensor], network: Network) -> Option<Vec<(String, String)>> {
    fn signature<'t>(layer: &Layer<'t>) -> Vec<(&'t str, &'t [usize])> {
        layer
            .iter()
            .map(|(part, shape, _)| (*part, *shape))
            .collect()
    }
    let specs = parameter_specs(network, CLASSES);
    let mut ours = layers_of(specs.iter().map(|spec| (&*spec.name, &*spec.shape)));
    let mut theirs = layers_of(tensors.iter().map(|it| (&*it.name, &*it.shape)));
    let are_alike = |ours: &[Layer<'_>], theirs: &[Layer<'_>]| {
        ours.iter().map(signature).eq(theirs.iter().map(signature))
    };
    if !are_alike(&ours, &theirs) {
        ours.sort_by_cached_key(signature);
        theirs.sort_by_cached_key(signature);
        let is_ambiguous = ours
            .windows(2)
            .any(|pair| signature(&pair[0]) == signature(&pair[1]));
        if is_ambiguous || !are_alike(&ours, &theirs) {
            return None;
        }
    }
    let pairs = ours.iter().flatten().zip(theirs.iter().flatten());
    let theirs: HashMap<&str, &str> = pairs.map(|(ours, theirs)| (ours.2, theirs.2)).collect();
    let named = |spec: &ParameterSpec| {
        let theirs = theirs.get(&*spec.name)?;
        Some(((*theirs).to_owned(), spec.name.clone()))
    };
    specs.iter().map(named).collect()
}

/// The layers with these parameters, sorted by name: numbers as numbers, `net.2` before `net.10`.
fn layers_of<'t>(parameters: impl Iterator<Item = (&'t str, &'t [usize])>) -> Vec<Layer<'t>> {
    let mut layers = BTreeMap::<_, Layer<'_>>::new();
    for (name, shape) in parameters {
        let (layer, part) = name.rsplit_once('.').unwrap_or(("", name));
        let parameters = layers.entry((natural_order(layer), layer)).or_default();
        parameters.push((part, shape, name));
    }
    layers.values_mut().for_each(|layer| layer.sort_unstable());
    layers.into_values().collect()
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
