//! Samplers: which settings are tried next.
//!
//! What a sampler suggests depends on the definition, the number of the trial and the trials so
//! far, and on nothing else: a sweep that is resumed from its journal goes on as it would have.

use std::f64::consts::{SQRT_2, TAU};

use super::definition::{SamplerKind, SweepDefinition};
use super::space::{Dimension, Range, Value};
use super::trial::Trial;
use crate::math::random::Random;

/// How often values are drawn until no trial has had them.
const ATTEMPTS: usize = 32;
/// Up to this many combinations, those that no trial has had are looked for one by one.
const MAX_LISTED: u128 = 10_000;

/// The values of the trial with this number (from 1), in the order of the space; `None` if every
/// combination has been tried. Of up to 10,000 combinations, none is tried twice: with the same
/// seed, a run would end with the same weights.
///
/// The first trial of a random or a model-based search has the settings that the sweep starts from,
/// if they lie within its ranges: what it finds is then at least as good.
pub fn suggest(definition: &SweepDefinition, number: u32, trials: &[Trial]) -> Option<Vec<Value>> {
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
        SamplerKind::Tpe => by_densities(space, trials, random),
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

/// The combinations in random order: if the budget ends before the grid, what was tried is
/// spread over it.
fn combinations(definition: &SweepDefinition) -> impl Iterator<Item = Vec<Value>> {
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

/// Trials that are chosen at random before there is anything to model.
const RANDOM_TRIALS: usize = 8;
/// The fraction of the trials that count as the best (γ in the paper).
const BEST_SHARE: f64 = 0.15;
/// The most of them: later, the model is to become sharper, not wider.
const MAX_BEST: usize = 25;
/// Candidates among which the one with the greatest expected improvement is taken.
const CANDIDATES: usize = 24;

fn by_densities(space: &[Dimension], trials: &[Trial], random: &mut Random) -> Vec<Value> {
    let ranked = Trial::ranked(trials);
    if ranked.len() < RANDOM_TRIALS {
        return anywhere_in(space, random);
    }
    let best = ((ranked.len() as f64 * BEST_SHARE).ceil() as usize).clamp(1, MAX_BEST);
    let (best, mut rest) = (&ranked[..best], ranked[best..].to_vec());
    // Those that train now count among the rest, so that the next is not the same again.
    rest.extend(trials.iter().filter(|trial| trial.outcome.is_none()));
    let next = |(index, dimension): (usize, &Dimension)| match &dimension.range {
        Range::Interval { .. } => on_axis(dimension, index, best, &rest, random),
        Range::Values { values } => listed(values, index, best, &rest, random),
    };
    space.iter().enumerate().map(next).collect()
}

fn on_axis(
    dimension: &Dimension,
    index: usize,
    best: &[&Trial],
    rest: &[&Trial],
    random: &mut Random,
) -> Value {
    let places = |trials: &[&Trial]| {
        trials
            .iter()
            .filter_map(|trial| dimension.place_of(trial.values.get(index)?))
            .collect()
    };
    let (good, bad) = (
        Parzen::new(places(best), dimension.ends()),
        Parzen::new(places(rest), dimension.ends()),
    );
    let candidate = |_| {
        let place = good.sample(random);
        (good.density(place).ln() - bad.density(place).ln(), place)
    };
    let candidates = (0..CANDIDATES).map(candidate);
    dimension.value_at(
        candidates
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map_or(f64::NAN, |(_, place)| place),
    )
}

/// The same with probabilities: how often each value was among them, once more than it was.
fn listed(
    values: &[Value],
    index: usize,
    best: &[&Trial],
    rest: &[&Trial],
    random: &mut Random,
) -> Value {
    let probabilities = |trials: &[&Trial]| -> Vec<f64> {
        let count = |value: &Value| {
            trials
                .iter()
                .filter(|trial| trial.values.get(index) == Some(value))
                .count()
        };
        values
            .iter()
            .map(|value| (count(value) + 1) as f64 / (trials.len() + values.len()) as f64)
            .collect()
    };
    let (good, bad) = (probabilities(best), probabilities(rest));
    let mut draw = || {
        let mut left = uniform(random);
        good.iter().position(|probability| {
            left -= probability;
            left < 0.0
        })
    };
    let candidates: Vec<usize> = (0..CANDIDATES)
        .map(|_| draw().unwrap_or(values.len() - 1))
        .collect();
    let ratio = |&&candidate: &&usize| good[candidate] / bad[candidate];
    let chosen = candidates
        .iter()
        .max_by(|a, b| ratio(a).total_cmp(&ratio(b)))
        .copied()
        .unwrap_or_default();
    values
        .get(chosen)
        .cloned()
        .unwrap_or(Value::Number(f64::NAN))
}

/// Normal distributions around the points, cut off at the ends of the axis, and a wide one in the
/// middle of it as prior, all with the same weight. Each is as wide as the distance to the farther
/// of its neighbors (Bergstra et al. 2011, section 4.2), within limits: with few points none is so
/// narrow that nothing else would be tried. The lower limit is a third of hyperopt's and Optuna's:
/// sweeps here have dozens of trials, not hundreds, and of those the best are a handful.
#[derive(Clone, Debug)]
pub struct Parzen {
    low: f64,
    high: f64,
    /// Mean and standard deviation of each.
    parts: Vec<(f64, f64)>,
}

impl Parzen {
    /// The density of these points between the two ends.
    pub fn new(mut points: Vec<f64>, (low, high): (f64, f64)) -> Self {
        points.sort_unstable_by(f64::total_cmp);
        let range = high - low;
        let narrowest = range / (3 * (points.len() + 1)).min(100) as f64;
        let part = |index: usize| {
            let left = if index == 0 { low } else { points[index - 1] };
            let right = points.get(index + 1).copied().unwrap_or(high);
            let width = (points[index] - left).max(right - points[index]);
            (points[index], width.clamp(narrowest, range))
        };
        let parts = (0..points.len())
            .map(part)
            .chain([(f64::midpoint(low, high), range)])
            .collect();
        Self { low, high, parts }
    }

    /// The density at a point between the ends; its integral from end to end is 1.
    pub fn density(&self, x: f64) -> f64 {
        let part = |&(mean, deviation): &(f64, f64)| {
            let within = cumulative((self.high - mean) / deviation)
                - cumulative((self.low - mean) / deviation);
            let z = (x - mean) / deviation;
            (-0.5 * z * z).exp() / (TAU.sqrt() * deviation * within)
        };
        self.parts.iter().map(part).sum::<f64>() / self.parts.len() as f64
    }

    /// A random point between the ends.
    pub fn sample(&self, random: &mut Random) -> f64 {
        let (mean, deviation) = self.parts[random.below(self.parts.len())];
        // At least a third of each part lies within: its mean does.
        for _ in 0..64 {
            let x = mean + deviation * f64::from(random.normal());
            if (self.low..=self.high).contains(&x) {
                return x;
            }
        }
        self.low + (self.high - self.low) * uniform(random)
    }
}

/// The standard normal distribution function, to 1.5e-7: the error function as in Abramowitz &
/// Stegun 1964, formula 7.1.26.
fn cumulative(z: f64) -> f64 {
    let x = z.abs() / SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let series = t
        * (0.254_829_592
            + t * (-0.284_496_736
                + t * (1.421_413_741 + t * (-1.453_152_027 + t * 1.061_405_429))));
    let erf = 1.0 - series * (-x * x).exp();
    0.5 * (1.0 + erf.copysign(z))
}

/// The fraction of the trials that count as good.
const GOOD_SHARE: f64 = 0.25;
/// With fewer finished trials, there is no result.
const MIN_TRIALS: usize = 8;
/// Points at which two densities are compared.
const POINTS: usize = 200;

/// The importance of each setting that varies, in the order of the space, adding up to 1; `None`
/// for too few trials, or if none matters.
///
/// PED-ANOVA (Watanabe, Bansal & Hutter 2023, "PED-ANOVA: Efficiently quantifying hyperparameter
/// importance in arbitrary subspaces", IJCAI), as in Optuna: of each setting, the density of the
/// best quarter of the trials is compared with that of all trials, by the Pearson divergence,
/// `E[(good/all - 1)²]`. A setting whose good values are like all that were tried does not matter.
/// As in fANOVA, of which it is the closed form, settings are looked at one by one: what two do
/// only together is not seen.
pub fn importance(definition: &SweepDefinition, trials: &[Trial]) -> Option<Vec<f64>> {
    let ranked = Trial::ranked(trials);
    if ranked.len() < MIN_TRIALS {
        return None;
    }
    let good = &ranked[..(ranked.len() as f64 * GOOD_SHARE).ceil() as usize];
    let divergences: Vec<f64> = (0..definition.space.len())
        .map(|index| divergence(definition, index, good, &ranked))
        .collect();
    let sum: f64 = divergences.iter().sum();
    (sum > 0.0 && sum.is_finite()).then(|| {
        divergences
            .iter()
            .map(|divergence| divergence / sum)
            .collect()
    })
}

/// The Pearson divergence of the good trials from all, along one setting.
fn divergence(definition: &SweepDefinition, index: usize, good: &[&Trial], all: &[&Trial]) -> f64 {
    let dimension = &definition.space[index];
    let pairs: Vec<(f64, f64)> = match &dimension.range {
        Range::Interval { .. } => {
            let places = |trials: &[&Trial]| {
                trials
                    .iter()
                    .filter_map(|trial| dimension.place_of(trial.values.get(index)?))
                    .collect()
            };
            let (low, high) = dimension.ends();
            let [good, all] = [good, all].map(|trials| Parzen::new(places(trials), (low, high)));
            let step = (high - low) / POINTS as f64;
            let at = |point: usize| low + step * (point as f64 + 0.5);
            (0..POINTS)
                .map(|point| {
                    (
                        good.density(at(point)) * step,
                        all.density(at(point)) * step,
                    )
                })
                .collect()
        }
        Range::Values { values } => {
            let share = |trials: &[&Trial], value: &Value| {
                let count = trials
                    .iter()
                    .filter(|trial| trial.values.get(index) == Some(value))
                    .count();
                (count + 1) as f64 / (trials.len() + values.len()) as f64
            };
            values
                .iter()
                .map(|value| (share(good, value), share(all, value)))
                .collect()
        }
    };
    pairs
        .iter()
        .map(|(good, all)| all * (good / all - 1.0).powi(2))
        .sum()
}
