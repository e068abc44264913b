//! Owns finding out which network a file's weights are: by their names where those are ours, else by their shapes where these leave one way
//! only. Must not know what the numbers are.

use std::collections::BTreeMap;

use super::{Mismatch, NamedTensor, WrongShape};
use crate::nn::parameter_specs;
use crate::run_config::ModelKind;

/// A network that the weights are those of.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The network.
    pub model: ModelKind,
    /// Its weights, in the order in which it lists them.
    pub values: Vec<Vec<f32>>,
    /// Weights that go by another name here: theirs and ours.
    pub renamed: Vec<(String, String)>,
}

/// What a layer's parameters are called after its name, and their shapes: `weight` of 6x1x5x5, `bias` of 6.
type Signature = Vec<(String, Vec<usize>)>;

/// Finds the network: the one that is named, or any. Else says what stands between the weights and the network they resemble most.
pub fn fit(tensors: Vec<NamedTensor>, model: Option<ModelKind>) -> Result<Fit, Mismatch> {
    let tensors = plain(tensors);
    let candidates: Vec<ModelKind> = ModelKind::ALL.iter().copied().filter(|kind| model.is_none_or(|model| model == *kind)).collect();
    let found = candidates.iter().find_map(|&kind| Some((kind, names_in(&tensors, kind)?)));
    let Some((model, names)) = found else { return Err(mismatch(&tensors, &candidates)) };
    let by_name: BTreeMap<&str, &NamedTensor> = tensors.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect();
    let ordered: Vec<&NamedTensor> = names.iter().filter_map(|(theirs, _)| by_name.get(theirs.as_str()).copied()).collect();
    if let Some(tensor) = ordered.iter().find(|tensor| tensor.values.iter().any(|value| !value.is_finite())) {
        let not_finite = Some(tensor.name.clone());
        return Err(Mismatch { closest: model, wrong: Vec::new(), missing: Vec::new(), unexpected: Vec::new(), not_finite });
    }
    let values = ordered.into_iter().map(|tensor| tensor.values.clone()).collect();
    let renamed = names.into_iter().filter(|(theirs, ours)| theirs != ours).collect();
    Ok(Fit { model, values, renamed })
}

/// Without counters, and without what stands before every name (`module.`, `_orig_mod.`, the name of a wrapper).
fn plain(mut tensors: Vec<NamedTensor>) -> Vec<NamedTensor> {
    tensors.retain(|tensor| !tensor.name.ends_with("num_batches_tracked"));
    loop {
        let first = tensors.first().and_then(|tensor| tensor.name.split_once('.')).map(|(first, _)| format!("{first}."));
        // `weight` alone would be no name: what is before it is its layer.
        let Some(prefix) = first.filter(|prefix| {
            let rest = |tensor: &NamedTensor| {
                tensor.name.strip_prefix(prefix.as_str()).is_some_and(|rest| rest.contains('.') || rest == "pos_embed")
            };
            tensors.iter().all(rest)
        }) else {
            return tensors;
        };
        tensors.iter_mut().for_each(|tensor| tensor.name = tensor.name.split_off(prefix.len()));
    }
}

/// The names in the file of every parameter of `kind`, with ours; `None` where they are not all there, or more is.
fn names_in(tensors: &[NamedTensor], kind: ModelKind) -> Option<Vec<(String, String)>> {
    let specs = parameter_specs(kind);
    if specs.len() != tensors.len() {
        return None;
    }
    let has = |name: &str, shape: &[usize]| tensors.iter().any(|tensor| tensor.name == name && tensor.shape == shape);
    if specs.iter().all(|spec| has(&spec.name, &spec.shape)) {
        return Some(specs.into_iter().map(|spec| (spec.name.clone(), spec.name)).collect());
    }
    // By shape, a layer of theirs for each of ours, and only where no other layer has the same shapes.
    let ours = layers(specs.iter().map(|spec| (spec.name.as_str(), spec.shape.as_slice())));
    let theirs = layers(tensors.iter().map(|tensor| (tensor.name.as_str(), tensor.shape.as_slice())));
    let mut their_layer = BTreeMap::new();
    for (layer, signature) in &ours {
        let alike = |layers: &BTreeMap<String, Signature>| layers.iter().filter(|(_, other)| *other == signature).count();
        if alike(&ours) != 1 || alike(&theirs) != 1 {
            return None;
        }
        their_layer.insert(layer.clone(), theirs.iter().find(|(_, other)| *other == signature).map(|(name, _)| name.clone())?);
    }
    let name = |ours: &str| match ours.rsplit_once('.') {
        Some((layer, what)) => {
            their_layer.get(layer).map(|theirs| if theirs.is_empty() { what.to_owned() } else { format!("{theirs}.{what}") })
        }
        None => Some(ours.to_owned()),
    };
    specs.into_iter().map(|spec| Some((name(&spec.name)?, spec.name))).collect()
}

/// The parameters of each layer, by its name.
fn layers<'a>(parameters: impl Iterator<Item = (&'a str, &'a [usize])>) -> BTreeMap<String, Signature> {
    let mut layers: BTreeMap<String, Signature> = BTreeMap::new();
    for (name, shape) in parameters {
        let (layer, what) = name.rsplit_once('.').unwrap_or(("", name));
        layers.entry(layer.to_owned()).or_default().push((what.to_owned(), shape.to_vec()));
    }
    layers.values_mut().for_each(|signature| signature.sort());
    layers
}

/// What stands between the weights and the candidate they resemble most.
fn mismatch(tensors: &[NamedTensor], candidates: &[ModelKind]) -> Mismatch {
    let alike = |kind: ModelKind| -> (usize, usize, usize) {
        let specs = parameter_specs(kind);
        let same = |by_shape: bool, by_name: bool| {
            let fits = |spec: &&crate::nn::ParameterSpec| {
                tensors.iter().any(|tensor| (!by_name || tensor.name == spec.name) && (!by_shape || tensor.shape == spec.shape))
            };
            specs.iter().filter(fits).count()
        };
        // Of equals the one with the number of weights nearest to the file's.
        (same(true, true) + same(true, false), same(false, true), usize::MAX - specs.len().abs_diff(tensors.len()))
    };
    let closest = candidates.iter().copied().max_by_key(|&kind| alike(kind)).unwrap_or(ModelKind::LeNet);
    let lengths = |shape: &[usize]| shape.iter().map(|&length| length as u64).collect::<Vec<_>>();
    let mut specs = parameter_specs(closest);
    let mut left: Vec<&NamedTensor> = tensors.iter().collect();
    let mut wrong = Vec::new();
    specs.retain(|spec| {
        let Some(place) = left.iter().position(|tensor| tensor.name == spec.name) else { return true };
        let tensor = left.swap_remove(place);
        if tensor.shape != spec.shape {
            wrong.push(WrongShape { name: spec.name.clone(), found: lengths(&tensor.shape), expected: lengths(&spec.shape) });
        }
        false
    });
    left.sort_by(|a, b| a.name.cmp(&b.name));
    Mismatch {
        closest,
        wrong,
        missing: specs.into_iter().map(|spec| (spec.name, lengths(&spec.shape))).collect(),
        unexpected: left.into_iter().map(|tensor| (tensor.name.clone(), lengths(&tensor.shape))).collect(),
        not_finite: None,
    }
}
