//! Samplers: which settings are tried next.
//!
//! What a sampler suggests depends on the definition, the number of the trial and the trials so far, and on nothing else: a sweep that is
//! resumed from its journal goes on as it would have.

mod parzen;
mod tpe;

use super::definition::{Definition, SamplerKind};
use super::setting::Value;
use super::space::Dimension;
use super::trial::Trial;
use crate::math::random::Random;

pub(super) use parzen::Parzen;

/// The values of the trial with this number (from 1), in the order of the space; `None` where a grid has no further one.
///
/// The first trial of a random or a model-based search has the settings that the sweep starts from, where they lie within its ranges: what it
/// finds is then at least as good.
pub fn suggest(definition: &Definition, number: u32, trials: &[Trial]) -> Option<Vec<Value>> {
    let space = &definition.space;
    let start: Vec<Value> = space.iter().map(|dimension| dimension.setting.value(&definition.base)).collect();
    let starts_within = space.iter().zip(&start).all(|(dimension, value)| dimension.contains(value));
    let random = &mut Random::stream(definition.seed, "sweep trial", number.into());
    match definition.sampler {
        SamplerKind::Grid => grid(definition, number),
        _ if number == 1 && starts_within => Some(start),
        SamplerKind::Random => Some(space.iter().map(|dimension| anywhere(dimension, random)).collect()),
        SamplerKind::Tpe => Some(tpe::suggest(space, trials, random)),
    }
}

/// The combinations in random order: where the budget ends before the grid, what was tried is spread over it.
fn grid(definition: &Definition, number: u32) -> Option<Vec<Value>> {
    let values: Vec<Vec<Value>> = definition.space.iter().map(|dimension| dimension.all().unwrap_or_default()).collect();
    let mut order: Vec<u32> = (0..u32::try_from(definition.grid_size()).ok()?).collect();
    Random::stream(definition.seed, "sweep grid", 0).shuffle(&mut order);
    let mut index = *order.get(number.checked_sub(1)? as usize)? as usize;
    let mut point = Vec::with_capacity(values.len());
    for values in values.iter().rev() {
        point.push(values.get(index % values.len().max(1))?.clone());
        index /= values.len().max(1);
    }
    point.reverse();
    Some(point)
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
