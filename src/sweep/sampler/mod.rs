//! Samplers: which settings are tried next.
//!
//! What a sampler suggests depends on the definition, the number of the trial and the trials so
//! far, and on nothing else: a sweep that is resumed from its journal goes on as it would have.

mod parzen;
mod tpe;

use super::definition::{Definition, SamplerKind};
use super::space::Dimension;
use super::trial::Trial;
use super::value::Value;
use crate::math::random::Random;

pub(super) use parzen::Parzen;

/// How often values are drawn until no trial has had them.
const ATTEMPTS: usize = 32;
/// Up to this many combinations, those that no trial has had are looked for one by one.
const MAX_LISTED: u128 = 10_000;

/// The values of the trial with this number (from 1), in the order of the space; `None` where every
/// combination has been tried. Of up to 10,000 combinations, none is tried twice: with the same
/// seed, a run would end with the same weights.
///
/// The first trial of a random or a model-based search has the settings that the sweep starts from,
/// where they lie within its ranges: what it finds is then at least as good.
pub fn suggest(definition: &Definition, number: u32, trials: &[Trial]) -> Option<Vec<Value>> {
    let space = &definition.space;
    let start: Vec<Value> = space
        .iter()
        .map(|dimension| Value::of(dimension.setting, &definition.base))
        .collect();
    let starts_within = space
        .iter()
        .zip(&start)
        .all(|(dimension, value)| dimension.contains(value));
    let random = &mut Random::stream(definition.seed, "sweep trial", number.into());
    let mut drawn = match definition.sampler {
        SamplerKind::Grid => return combinations(definition).nth(number.checked_sub(1)? as usize),
        _ if number == 1 && starts_within => return Some(start),
        SamplerKind::Random => anywhere_in(space, random),
        SamplerKind::Tpe => tpe::suggest(space, trials, random),
    };
    let is_new = |values: &Vec<Value>| trials.iter().all(|trial| trial.values != *values);
    for _ in 0..ATTEMPTS {
        if is_new(&drawn) {
            return Some(drawn);
        }
        drawn = anywhere_in(space, random);
    }
    match definition.combinations() {
        Some(count) if count <= MAX_LISTED => combinations(definition).find(is_new),
        _ => Some(drawn),
    }
}

/// The combinations in random order: where the budget ends before the grid, what was tried is
/// spread over it.
fn combinations(definition: &Definition) -> impl Iterator<Item = Vec<Value>> {
    let values: Vec<Vec<Value>> = definition
        .space
        .iter()
        .map(|dimension| dimension.all().unwrap_or_default())
        .collect();
    let mut order: Vec<u32> = (0..definition
        .combinations()
        .and_then(|count| u32::try_from(count).ok())
        .unwrap_or(0))
        .collect();
    Random::stream(definition.seed, "sweep grid", 0).shuffle(&mut order);
    order.into_iter().map(move |index| {
        let mut index = index as usize;
        let mut point = Vec::with_capacity(values.len());
        for values in values.iter().rev() {
            point.extend(values.get(index % values.len().max(1)).cloned());
            index /= values.len().max(1);
        }
        point.reverse();
        point
    })
}

/// Values uniformly at random on their axes.
fn anywhere_in(space: &[Dimension], random: &mut Random) -> Vec<Value> {
    space
        .iter()
        .map(|dimension| anywhere(dimension, random))
        .collect()
}

/// A value of this setting, uniformly at random on its axis.
fn anywhere(dimension: &Dimension, random: &mut Random) -> Value {
    let (low, high) = dimension.ends();
    dimension.value_at(low + (high - low) * uniform(random))
}

/// Uniform in `[0, 1)`, with all 53 bits of a float.
fn uniform(random: &mut Random) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}
