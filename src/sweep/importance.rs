//! How much each setting matters.

use super::definition::Definition;
use super::sampler::Parzen;
use super::space::{Range, Value};
use super::trial::Trial;

/// The share of the trials that count as good.
const GOOD_SHARE: f64 = 0.25;
/// With fewer trials that have ended, nothing is said.
const MIN_TRIALS: usize = 8;
/// Points at which two densities are compared.
const POINTS: usize = 200;

/// The importance of each setting that varies, in the order of the space, adding up to 1; `None`
/// for too few trials, or where none matters.
///
/// PED-ANOVA (Watanabe, Bansal & Hutter 2023, "PED-ANOVA: Efficiently quantifying hyperparameter
/// importance in arbitrary subspaces", IJCAI), as in Optuna: of each setting, the density of the
/// best quarter of the trials is compared with that of all trials, by the Pearson divergence,
/// `E[(good/all - 1)²]`. A setting whose good values are like all that were tried does not matter.
/// As in fANOVA, of which it is the closed form, settings are looked at one by one: what two do
/// only together is not seen.
pub fn importance(definition: &Definition, trials: &[Trial]) -> Option<Vec<f64>> {
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
fn divergence(definition: &Definition, index: usize, good: &[&Trial], all: &[&Trial]) -> f64 {
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
