//! Which network a file's weights belong to: by their shapes, and by the order of their names if
//! several have the same. The widths of its hidden layers need not be those of its model, and a
//! plain CNN may have any layers: they follow from the shapes.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::ink::PIXELS;
use crate::nn::{ParameterSpec, parameter_specs};
use crate::run_config::{HiddenLayers, ModelKind, Network, Widths};

/// The classes of a network that is imported: it is tried on digits.
pub const CLASSES: usize = 10;
/// The most networks that weights may belong to.
const MAX_NETWORKS: usize = 64;
/// The most ways to pad and pool the convolutions of a CNN that are followed up: a hostile file
/// might have millions.
const MAX_WAYS: usize = 1000;
/// Widths that no other length in a network is a multiple of: they show which lengths are widths.
const MARKS: [u16; 8] = [1009, 1013, 1019, 1021, 1031, 1033, 1039, 1049];

/// The name and the shape of a weight.
type Named<'t> = (&'t str, &'t [usize]);

/// A network that the weights may belong to.
#[derive(Clone, Debug)]
pub struct Identified {
    pub network: Network,
    /// The names of its weights in the file, in the order of its parameters.
    pub names: Vec<String>,
}

/// The networks that the weights may belong to, the most usual first: all that there are, or those
/// of the model or with the layers that are given. Networks with the same weights differ in how
/// they pad and pool, and where activations are.
pub fn identify(
    mut tensors: Vec<Named<'_>>,
    model: Option<ModelKind>,
    cnn_layers: Option<HiddenLayers>,
) -> Vec<Identified> {
    tensors.retain(|(name, _)| !name.ends_with("num_batches_tracked"));
    let prefix = shared_prefix(&tensors);
    for (name, _) in &mut tensors {
        *name = &name[prefix.len()..];
    }
    let mut candidates = ModelKind::ALL.to_vec();
    candidates.retain(|kind| model.is_none_or(|model| model == *kind));
    candidates.retain(|kind| cnn_layers.is_none() || *kind == ModelKind::Cnn);
    let identified = |network: Network| {
        let names = match_names(&tensors, network)?.into_iter();
        let names = names.map(|name| format!("{prefix}{name}")).collect();
        Some(Identified { network, names })
    };
    let usual = candidates
        .iter()
        .find_map(|&kind| identified(Network::from(kind).with_layers(cnn_layers)));
    match usual {
        Some(usual) => vec![usual],
        None if cnn_layers.is_some() => Vec::new(),
        None => of_other_shapes(&tensors, &candidates)
            .into_iter()
            .filter_map(identified)
            .take(MAX_NETWORKS)
            .collect(),
    }
}

/// The networks whose hidden layers may be as wide as these weights, and the plain CNNs: of those
/// with the same hidden layers only the first.
fn of_other_shapes(tensors: &[Named<'_>], candidates: &[ModelKind]) -> Vec<Network> {
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
fn shared_prefix<'t>(tensors: &[Named<'t>]) -> &'t str {
    let first = tensors.first().map_or("", |(name, _)| name);
    let is_shared = |prefix: &&str| {
        tensors.iter().all(|(name, _)| {
            // `weight` alone would not be a name: the part before it is its layer.
            let rest = name.strip_prefix(*prefix);
            rest.is_some_and(|rest| rest.contains('.') || rest == "pos_embed")
        })
    };
    let mut prefixes = first.match_indices('.').map(|(dot, _)| &first[..=dot]);
    prefixes.rfind(is_shared).unwrap_or("")
}

/// The shapes of the kernels and matrices in the order in which an image goes through them: each
/// takes what the one before it gives. Of several that would fit it is the first by name, but the
/// one that gives a value for each class comes last. Ends where none fits.
fn chain<'t>(tensors: &[Named<'t>]) -> Vec<&'t [usize]> {
    let mut left = tensors.to_vec();
    left.retain(|(_, shape)| shape.len() > 1);
    left.sort_by_key(|(name, shape)| {
        let is_matrix = shape.len() == 2;
        let is_last = is_matrix && shape[0] == CLASSES;
        (is_matrix, is_last, natural_order(name))
    });
    let mut chain: Vec<&[usize]> = Vec::new();
    let fits = |shape: &[usize], before: Option<&&[usize]>| match (before, shape) {
        (None, [_, inputs, _, _]) => *inputs == 1,
        (None, [_, inputs]) => *inputs == PIXELS,
        (Some([outputs, _, _, _]), [_, inputs]) => inputs.is_multiple_of(*outputs),
        (Some([outputs, ..]), [_, inputs, ..]) => inputs == outputs,
        _ => false,
    };
    while let Some(next) = left.iter().position(|(_, shape)| fits(shape, chain.last())) {
        chain.push(left.remove(next).1);
    }
    chain
}

/// The network of this model with hidden layers as wide as the weights say: those with our names,
/// or else those in the chain.
fn of_other_widths(tensors: &[Named<'_>], chain: &[&[usize]], model: ModelKind) -> Option<Network> {
    let counts = model.width_counts();
    let hidden = (*counts.end()).min(chain.len().saturating_sub(1).max(*counts.start()));
    let marked = Network::new(model, Some(Widths::new(MARKS.get(..hidden)?)?));
    let specs = parameter_specs(marked, CLASSES);
    let named = |ours: &str| tensors.iter().find(|(name, _)| *name == ours);
    let are_ours = specs.iter().all(|spec| named(&spec.name).is_some());
    let weights: Vec<_> = specs.iter().filter(|spec| spec.shape.len() > 1).collect();
    let width = |mark: &u16| {
        let is_marked = |spec: &&ParameterSpec| spec.shape[0] == usize::from(*mark);
        let index = weights.iter().position(is_marked)?;
        let shape = if are_ours {
            named(&weights[index].name)?.1
        } else {
            chain.get(index)?
        };
        u16::try_from(*shape.first()?).ok()
    };
    let widths: Vec<u16> = MARKS[..hidden].iter().map(width).collect::<Option<_>>()?;
    Some(Network::new(model, Some(Widths::new(&widths)?)))
}

/// Every plain CNN that this chain may be of, the most usual first: all convolutions padded and
/// pooled alike.
fn cnns(chain: &[&[usize]]) -> Vec<Network> {
    let (kernels, matrices): (Vec<&[usize]>, Vec<_>) =
        chain.iter().partition(|shape| shape.len() > 2);
    // The layers, and whether each convolution is padded and pooled.
    let mut ways = vec![(String::new(), Vec::<[bool; 2]>::new())];
    for kernel in kernels {
        let (filters, size) = (kernel[0], kernel[2]);
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
        .map(|shape| format!("-{}", shape[0]))
        .collect();
    let network = |(layers, _): (String, _)| {
        let layers = (layers + &hidden).parse().ok()?;
        Some(Network::from(ModelKind::Cnn).with_layers(Some(layers)))
    };
    ways.into_iter().filter_map(network).collect()
}

/// A layer's parameters: their names without its own, their shapes, and their whole names.
type Layer<'t> = Vec<(&'t str, &'t [usize], &'t str)>;

/// The names of the parameters of `network` in the file; `None` if parameters are missing or there
/// are others. Layers are matched by the shapes of their parameters, and those of the same shapes
/// by the order of their names. Whether it is right, trials on digits tell.
fn match_names<'t>(tensors: &[Named<'t>], network: Network) -> Option<Vec<&'t str>> {
    fn signature<'t>(layer: &Layer<'t>) -> Vec<Named<'t>> {
        let parameters = layer.iter();
        parameters.map(|(part, shape, _)| (*part, *shape)).collect()
    }
    let specs = parameter_specs(network, CLASSES);
    let mut ours = layers_of(specs.iter().map(|spec| (&*spec.name, &*spec.shape)));
    let mut theirs = layers_of(tensors.iter().copied());
    ours.sort_by_cached_key(signature);
    theirs.sort_by_cached_key(signature);
    if !ours.iter().map(signature).eq(theirs.iter().map(signature)) {
        return None;
    }
    let pairs = ours.iter().flatten().zip(theirs.iter().flatten());
    let theirs: HashMap<&str, &str> = pairs.map(|(ours, theirs)| (ours.2, theirs.2)).collect();
    let named = |spec: &ParameterSpec| theirs.get(&*spec.name).copied();
    specs.iter().map(named).collect()
}

/// The layers with these parameters, sorted by name: numbers as numbers, `net.2` before `net.10`.
fn layers_of<'t>(parameters: impl Iterator<Item = Named<'t>>) -> Vec<Layer<'t>> {
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
