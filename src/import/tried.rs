//! How the readings of weights do on labeled digits, and what that says.

use super::readings::readings;
use super::{Candidate, ImportError, TrialImages, Trials};
use crate::data::Split;
use crate::infer::{Scores, fit_temperature, measure};
use crate::progress::Progress;
use crate::records::{Calibration, Doubt, ImportSpec, MeasuredReading, Reading};
use crate::run_config::ModelKind;

/// How many digits each round has, how many of the best readings go on to the next, and how many of
/// those that Inkling can build.
const ROUNDS: [(usize, usize, usize); 3] = [
    (60, 16, 6),
    (250, 5, 3),
    (usize::MAX, usize::MAX, usize::MAX),
];
/// A less accurate reading is not taken unless somebody accepts it.
const ENOUGH: f64 = 0.95;
/// A less usual reading is taken only if it is this much more accurate; two readings that differ
/// less are close.
const CLEAR_GAIN: f64 = 0.005;
/// Readings that give the same answer this often are the same for whoever uses the model, as `ReLU`
/// and leaky `ReLU` are.
const SAME: f64 = 0.98;
/// A more usual reading is taken where the loss of the likeliest is no smaller share of its own:
/// `ReLU` and `GELU` differ by less, normalizations by more.
const AS_LIKELY: f32 = 0.9;
/// A network that was trained fits its own temperature: the normalization it was trained with needs
/// one that is nearer to 1 than another, by this much in logarithms. Labels that were smoothed, and
/// images unlike those of the training, move it by less.
const CLEAR_TEMPERATURE: f32 = 0.5;
/// A difference of this many standard deviations is not due to chance (`McNemar`'s test).
const DEVIATIONS: f64 = 2.5;
/// Readings that are listed where there is doubt.
const LISTED: usize = 4;

/// The least accuracy of a network without a hidden layer: none of those recognizes much more than
/// 92 % of MNIST.
const ENOUGH_FOR_LINEAR: f64 = 0.85;

#[derive(Clone, Debug)]
pub struct Tried {
    pub reading: Reading,
    /// The digit that each image was taken for.
    answers: Vec<u8>,
    correct: Vec<bool>,
    /// The cross-entropy of each image, in nats, at the temperature at which it is least on
    /// average, since networks that were trained with smoothed labels are less sure than right. On
    /// images like those of its training the right reading has less of it than a wrong one, also
    /// where both give the same answers.
    losses: Vec<f32>,
    temperature: f32,
}

impl Tried {
    /// A reading that gave these logits, ten for each image, for images with these labels.
    pub fn new(reading: Reading, logits: &[f32], labels: &[u8]) -> Self {
        let temperature = fit_temperature(logits, labels);
        let scores = || Scores::of_rows(logits, logits.len() / labels.len().max(1), temperature);
        let answers: Vec<u8> = scores().map(|scores| scores.digit as u8).collect();
        let correct = answers
            .iter()
            .zip(labels)
            .map(|(answer, label)| answer == label)
            .collect();
        let loss = |(scores, &label): (Scores, &u8)| {
            -scores.probabilities[usize::from(label)]
                .max(f32::MIN_POSITIVE)
                .ln()
        };
        Self {
            reading,
            answers,
            correct,
            losses: scores().zip(labels).map(loss).collect(),
            temperature,
        }
    }

    pub fn accuracy(&self) -> f64 {
        self.correct.iter().filter(|&&correct| correct).count() as f64
            / self.correct.len().max(1) as f64
    }

    fn loss(&self) -> f32 {
        self.losses.iter().sum::<f32>() / self.losses.len().max(1) as f32
    }

    /// How far its temperature is from 1, as a logarithm.
    fn miscalibration(&self) -> f32 {
        self.temperature.ln().abs()
    }

    /// True if it makes the labels likelier, and not by chance: by the mean of the differences and
    /// its standard error.
    fn is_likelier_than(&self, other: &Self) -> bool {
        let differences: Vec<f64> = self
            .losses
            .iter()
            .zip(&other.losses)
            .map(|(own, other)| f64::from(other - own))
            .collect();
        let count = differences.len().max(2) as f64;
        let mean = differences.iter().sum::<f64>() / count;
        let variance = differences
            .iter()
            .map(|difference| (difference - mean).powi(2))
            .sum::<f64>()
            / (count - 1.0);
        mean > DEVIATIONS * (variance / count).sqrt()
    }

    fn measured(&self) -> MeasuredReading {
        MeasuredReading {
            reading: self.reading,
            accuracy: self.accuracy(),
        }
    }

    fn is_own(&self) -> bool {
        self.reading.settings().is_some()
    }

    /// True where both give the same answers but for a few.
    fn is_like(&self, other: &Self) -> bool {
        let same = self
            .answers
            .iter()
            .zip(&other.answers)
            .filter(|(a, b)| a == b)
            .count();
        same as f64 >= SAME * self.answers.len() as f64
    }

    /// True if it gets more digits right, and not by chance.
    fn is_better_than(&self, other: &Self) -> bool {
        let only = |this: &Self, that: &Self| {
            this.correct
                .iter()
                .zip(&that.correct)
                .filter(|(a, b)| **a && !**b)
                .count() as f64
        };
        let [gained, lost] = [only(self, other), only(other, self)];
        self.accuracy() > other.accuracy() + CLEAR_GAIN
            && gained - lost > DEVIATIONS * (gained + lost).sqrt()
    }
}

/// Tries all readings on a few digits, the better ones on more, and the best on all; they come back
/// in the order of how usual they are.
pub fn try_readings(
    candidate: Candidate<'_>,
    spec: &ImportSpec,
    digits: &Split,
    progress: &mut impl Progress,
) -> Result<Vec<Tried>, ImportError> {
    let variants = candidate.variants()?;
    let mut left = readings(variants.as_ref(), spec.activation, spec.normalization);
    let mut tried = Vec::new();
    for (round, (count, survivors, own)) in ROUNDS.into_iter().enumerate() {
        let digits = digits.first(count);
        tried.clear();
        for (index, reading) in left.iter().enumerate() {
            let start = (round as f32 + index as f32 / left.len() as f32) / ROUNDS.len() as f32;
            progress.report(start)?;
            tried.push(match &variants {
                Some(variants) if reading.settings().is_none() => {
                    let logits = variants.all_logits(reading, &digits.images, || {
                        Ok::<(), ImportError>(progress.report(start)?)
                    })?;
                    Tried::new(*reading, &logits, &digits.labels)
                }
                _ => try_reading(candidate, *reading, &digits, &mut |_: f32| {
                    progress.report(start)
                })?,
            });
        }
        left = best(&tried, survivors, own);
    }
    Ok(tried)
}

/// Tries a reading that Inkling can build.
pub fn try_reading(
    candidate: Candidate<'_>,
    reading: Reading,
    images: &Split,
    progress: &mut impl Progress,
) -> Result<Tried, ImportError> {
    let (net, _) = candidate.net(&reading)?;
    let measured = measure(&net, Calibration::NONE.temperature, images, progress)?;
    Ok(Tried::new(reading, measured.logits(), &images.labels))
}

/// The best readings, among them at least so many that Inkling can build, and the likeliest of
/// those, in the order they are in.
fn best(tried: &[Tried], survivors: usize, own: usize) -> Vec<Reading> {
    let mut ranked: Vec<&Tried> = tried.iter().collect();
    ranked.sort_by(|a, b| b.accuracy().total_cmp(&a.accuracy()));
    let of_all = ranked.iter().take(survivors);
    let of_own = ranked.iter().filter(|tried| tried.is_own()).take(own);
    let mut likely: Vec<&Tried> = tried.iter().filter(|tried| tried.is_own()).collect();
    likely.sort_by(|a, b| a.loss().total_cmp(&b.loss()));
    let kept: Vec<Reading> = of_all
        .chain(of_own)
        .chain(likely.iter().take(own))
        .map(|tried| tried.reading)
        .collect();
    tried
        .iter()
        .map(|tried| tried.reading)
        .filter(|reading| kept.contains(reading))
        .collect()
}

/// The accuracy from which on a reading of this network's weights is taken without asking.
pub fn enough(model: ModelKind) -> f64 {
    if model == ModelKind::Linear {
        ENOUGH_FOR_LINEAR
    } else {
        ENOUGH
    }
}

/// The reading to take: of those that Inkling can build and that are about as accurate as the best
/// the likeliest one, or a more usual one that is as likely and gives the same answers, with the
/// normalization that fits how sure the network is. Where too few images are recognized, it is the
/// most accurate one: how likely they are says nothing then.
pub fn choose(model: ModelKind, tried: &[Tried]) -> Option<&Tried> {
    let own = || tried.iter().filter(|tried| tried.is_own());
    // The first of equal ones is the most usual.
    let best = own()
        .rev()
        .max_by(|a, b| a.accuracy().total_cmp(&b.accuracy()))?;
    let near = || own().filter(|tried| tried.accuracy() >= best.accuracy() - CLEAR_GAIN);
    if best.accuracy() < enough(model) {
        return near().find(|tried| tried.is_like(best));
    }
    let likeliest = near().min_by(|a, b| a.loss().total_cmp(&b.loss()))?;
    let is_as_likely = |tried: &Tried| {
        likeliest.loss() > AS_LIKELY * tried.loss() || !likeliest.is_likelier_than(tried)
    };
    let alike = || near().filter(|tried| tried.is_like(likeliest) && is_as_likely(tried));
    let usual = alike().next()?;
    let others = alike().filter(|tried| {
        Reading {
            normalization: usual.reading.normalization,
            ..tried.reading
        } == usual.reading
    });
    let fitting = others.min_by(|a, b| a.miscalibration().total_cmp(&b.miscalibration()))?;
    Some(
        if fitting.miscalibration() + CLEAR_TEMPERATURE < usual.miscalibration() {
            fitting
        } else {
            usual
        },
    )
}

/// Why `chosen` may be wrong for this network; `given` if nothing of it was guessed but how the
/// network pools and pads.
pub fn doubt(model: ModelKind, tried: &[Tried], chosen: &Tried, given: bool) -> Option<Doubt> {
    if tried
        .iter()
        .any(|other| !other.is_own() && other.is_better_than(chosen))
    {
        return Some(Doubt::NotSupported);
    }
    if given {
        return None;
    }
    if chosen.accuracy() < enough(model) {
        return Some(Doubt::LowAccuracy);
    }
    let is_close = |other: &Tried| {
        other.accuracy() >= chosen.accuracy() - CLEAR_GAIN
            && !other.is_like(chosen)
            && !chosen.is_likelier_than(other)
    };
    tried.iter().any(is_close).then_some(Doubt::Close)
}

/// What is said where there is doubt about `chosen`.
pub fn undecided(
    model: ModelKind,
    doubt: Doubt,
    tried_on: &TrialImages,
    tried: &[Tried],
    chosen: &Tried,
) -> Trials {
    let TrialImages { data, images } = tried_on;
    let readings = listed(tried, chosen);
    Trials {
        model,
        doubt,
        images: images.len() as u64,
        tried_on: data.clone(),
        readings,
        supported: chosen.measured(),
    }
}

/// The readings that matter to whoever has to decide, the best first: of those that give the same
/// answers only one, and `chosen` in any case.
fn listed(tried: &[Tried], chosen: &Tried) -> Vec<MeasuredReading> {
    let mut ranked: Vec<&Tried> = tried.iter().collect();
    ranked.sort_by(|a, b| b.accuracy().total_cmp(&a.accuracy()));
    let mut distinct: Vec<&Tried> = Vec::new();
    for tried in ranked {
        // Of `chosen` and what is like it, `chosen` is the one that is listed.
        let tried = if tried.is_like(chosen) && tried.is_own() {
            chosen
        } else {
            tried
        };
        if !distinct.iter().any(|other| {
            other.reading == tried.reading || (other.is_like(tried) && !tried.is_own())
        }) {
            distinct.push(tried);
        }
    }
    distinct.truncate(LISTED);
    if !distinct.iter().any(|tried| tried.reading == chosen.reading) {
        distinct.push(chosen);
    }
    distinct.into_iter().map(Tried::measured).collect()
}
