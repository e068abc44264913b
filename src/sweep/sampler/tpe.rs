//! The tree-structured Parzen estimator (Bergstra, Bardenet, Bengio & Kégl 2011, "Algorithms for
//! hyper-parameter optimization", NIPS 24), section 4, each setting by itself.
//!
//! The trials so far are split into the best and the rest. A density is estimated from either;
//! candidates are drawn from that of the best, and the one is taken for which the ratio of both
//! densities, and with it the expected improvement, is greatest.

use super::super::space::{Dimension, Range};
use super::super::trial::Trial;
use super::super::value::Value;
use super::{Parzen, anywhere_in};
use crate::math::random::Random;

/// Trials that are chosen at random before there is anything to model.
const RANDOM_TRIALS: usize = 8;
/// The share of the trials that count as the best (γ in the paper).
const BEST_SHARE: f64 = 0.15;
/// The most of them: later, the model is to become sharper, not wider.
const MAX_BEST: usize = 25;
/// Candidates among which the one with the greatest expected improvement is taken.
const CANDIDATES: usize = 24;

pub fn suggest(space: &[Dimension], trials: &[Trial], random: &mut Random) -> Vec<Value> {
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
        let mut left = super::uniform(random);
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
