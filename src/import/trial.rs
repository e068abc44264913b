//! Which network and which settings weights are meant for, where their file does not say it.
//!
//! A state dict tells neither activation nor normalization, nor where its network pools and pads; an
//! ONNX file tells all of it but the normalization. Each usual possibility classifies digits that
//! Inkling generates, or training images if there are any. If that leaves doubt, nothing is imported
//! unless somebody chooses: weights that are misread would lose accuracy without a word. What is
//! offered first is what is imported when it is accepted.

use super::CLASSES;
use crate::data::{Split, builtin};
use crate::infer::{Scores, fit_digit_detector, fit_temperature, measure};
use crate::nn::onnx::OnnxGraph;
use crate::nn::{ComputeError, Net, parameter_specs};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::records::{Calibration, ImportSpec, MeasuredReading, Normalization, Reading, Trials};
use crate::run_config::{Activation, Classes, DataSpec, Network};

/// Digits that readings are tried on at most.
const DIGITS: usize = 1_000;
/// Another seed than that of the built-in digits, which the model may have been trained on.
const SEED: u64 = 0x1196;
/// How many images all readings are tried on.
const FIRST_IMAGES: usize = 50;
/// How many of the likeliest are tried on all images, and listed if there is doubt.
const FINALISTS: usize = 5;
/// Operations that a reading may take on all images, and the fewest images.
const OPERATIONS: u64 = 2_000_000_000;
const FEWEST_IMAGES: usize = 200;
/// A less accurate model does not recognize digits, so that the most accurate reading says nothing:
/// well above chance.
const MIN_ACCURACY: f64 = 0.3;
/// Weights of which more is open than the normalization, and which are less accurate, are not
/// taken unless somebody chooses: other activations and pooling cost accuracy, and not only those
/// that are tried.
const ENOUGH: f64 = 0.95;
/// Readings that give the same answer this often are the same for whoever uses the model, as `ReLU`
/// and leaky `ReLU` are.
const SAME: f64 = 0.98;
/// A reading is likelier only if its loss is a smaller share of the other's: `ReLU` and `GELU`
/// differ by less.
const LIKELIER: f32 = 0.9;
/// A reading that is this much less accurate than the one that is taken leaves no doubt.
const CLEAR_GAIN: f64 = 0.005;
/// What is added to the loss of a network that takes pixels from 0 to 255: few do, and saturated
/// activations make it seem likely.
const WHOLE_PENALTY: f32 = 0.3;
/// What is added for all normalizations but pixels from 0 to 1 if images have their channels last:
/// such a network comes from Keras or TensorFlow.
const KERAS_PENALTY: f32 = 0.1;
/// The temperature that fits a trained network, as a logarithm: of 56 networks of `PyTorch` and
/// Keras, 54 had one of 0.8 to 1.1 on images like those of their training, or of 1.2 to 2.2 on the
/// built-in digits when they had learned from MNIST. With another normalization than in training it
/// is mostly 0.2 to 0.5, or above 3.
const USUAL_LOG_TEMPERATURE: f32 = 0.3;
/// What the square of the distance from it adds to the cross-entropy.
const TEMPERATURE_PENALTY: f32 = 0.2;

/// The usual normalizations: with MNIST's mean and standard deviation, from 0 to 1, from -1 to 1,
/// and pixels as they are.
pub const NORMALIZATIONS: [Normalization; 4] = {
    const fn of(mean: f32, std: f32) -> Normalization {
        Normalization { mean, std }
    }
    [
        Normalization::MNIST,
        of(0.0, 1.0),
        of(0.5, 0.5),
        of(0.0, 1.0 / 255.0),
    ]
};

/// Images to try readings of weights on.
#[derive(Clone, Debug)]
pub struct TrialImages {
    pub data: DataSpec,
    pub images: Split,
}

/// Loads images that a network may have learned from, if there are any.
pub type MoreImages<'a> = dyn FnMut(&mut dyn Progress) -> Result<Option<TrialImages>, Problem> + 'a;

/// A network that a file may have.
pub struct Candidate<'f> {
    pub network: Network,
    /// Its activation if that is known, as it need not be in the network of an ONNX file.
    pub activation: Option<Activation>,
    pub body: Body<'f>,
}

pub enum Body<'f> {
    /// The weights of one of Inkling's networks, in the order of its parameters.
    Weights(Vec<&'f [f32]>),
    /// The network of an ONNX file, computed as it is.
    Graph(&'f OnnxGraph),
}

impl Candidate<'_> {
    /// It as Inkling builds it for this reading.
    pub fn net(&self, reading: &Reading) -> Result<Net, Problem> {
        match &self.body {
            Body::Weights(values) => {
                let specs = parameter_specs(self.network, CLASSES).into_iter();
                let parameters = specs
                    .zip(values)
                    .map(|(spec, values)| spec.with_values(values.to_vec()))
                    .collect::<Result<_, _>>();
                Ok(Net::from_parameters(
                    self.network,
                    reading.activation,
                    CLASSES,
                    reading.normalization,
                    parameters.map_err(ComputeError::from)?,
                ))
            }
            Body::Graph(graph) => Ok(Net::of_graph((*graph).clone(), reading.normalization)),
        }
    }
}

/// The reading that is imported, or offered if there is doubt about it.
pub struct Decided {
    pub net: Net,
    pub reading: Reading,
    pub accuracy: f64,
    pub tried_on: TrialImages,
    /// The measurements, if they leave doubt.
    pub doubt: Option<Trials>,
}

/// What a file may have.
pub struct Candidates<'f> {
    /// At least one, the most usual first.
    pub all: Vec<Candidate<'f>>,
    /// Whether images have their channels last, or none.
    pub has_channels_last: bool,
}

impl<'f> Candidates<'f> {
    /// All readings that these settings, as far as they are given, leave open, the most usual first.
    fn readings(&self, spec: &ImportSpec) -> Vec<Reading> {
        let normalizations = spec
            .normalization
            .map_or_else(|| NORMALIZATIONS.to_vec(), |given| vec![given]);
        let mut readings = Vec::new();
        for candidate in &self.all {
            let known = candidate.activation.or(spec.activation);
            for activation in known.map_or_else(|| Activation::ALL.to_vec(), |known| vec![known]) {
                readings.extend(normalizations.iter().map(|&normalization| Reading {
                    network: candidate.network,
                    activation,
                    normalization,
                }));
            }
        }
        readings
    }

    pub fn of(&self, reading: &Reading) -> &Candidate<'f> {
        let same = |candidate: &&Candidate<'_>| candidate.network == reading.network;
        self.all.iter().find(same).unwrap_or(&self.all[0])
    }

    fn attempt(
        &self,
        reading: Reading,
        images: &Split,
        progress: &mut impl Progress,
    ) -> Result<Tried, Problem> {
        let net = self.of(&reading).net(&reading)?;
        let measured = measure(&net, Calibration::NONE.temperature, images, progress)?;
        let (logits, labels) = (measured.logits(), &images.labels);
        Ok(Tried::new(reading, self.has_channels_last, logits, labels))
    }

    /// Tries all readings on a few images, and the likeliest on all that are affordable: these
    /// images, and the readings in the order of how usual they are.
    fn tournament(
        &self,
        readings: &[Reading],
        mut images: TrialImages,
        progress: &mut impl Progress,
    ) -> Result<(TrialImages, Vec<Tried>), Problem> {
        let operations = self.of(&readings[0]).net(&readings[0])?.operations();
        let affordable = (OPERATIONS / operations.max(1)) as usize;
        images.images = images.images.first(affordable.max(FEWEST_IMAGES));
        let mut left = readings.to_vec();
        let mut tried = Vec::new();
        for (before, count) in [(0.0, FIRST_IMAGES), (0.5, usize::MAX)] {
            let some = images.images.first(count);
            tried.clear();
            for (index, &reading) in left.iter().enumerate() {
                let share = |done: usize| before + 0.5 * done as f32 / left.len() as f32;
                let part = &mut progress.part(share(index), share(index + 1));
                tried.push(self.attempt(reading, &some, part)?);
            }
            let mut ranked: Vec<&Tried> = tried.iter().collect();
            ranked.sort_by(|a, b| a.penalized_loss().total_cmp(&b.penalized_loss()));
            ranked.truncate(FINALISTS);
            left.retain(|reading| ranked.iter().any(|kept| kept.reading == *reading));
        }
        Ok((images, tried))
    }
}

/// Finds which of the candidates a file has, and its settings, unless they are given. If a network
/// that learned from other images does not recognize enough of the built-in digits to tell,
/// `more_images` may have such images.
pub fn decide(
    candidates: &Candidates<'_>,
    spec: &ImportSpec,
    digits: &Split,
    more_images: &mut MoreImages<'_>,
    progress: &mut impl Progress,
) -> Result<Decided, Problem> {
    let readings = candidates.readings(spec);
    let is_open = readings.len() > 1;
    let built = |reading: &Reading| (reading.network, reading.activation);
    let is_built = readings.iter().all(|it| built(it) == built(&readings[0]));
    let enough = if is_built { MIN_ACCURACY } else { ENOUGH };
    let digits = TrialImages {
        data: DataSpec::builtin(),
        images: digits.clone(),
    };
    let (mut images, mut tried) =
        candidates.tournament(&readings, digits, &mut progress.part(0.0, 0.5))?;
    // Even a lead says more on images that a network knows.
    let is_right = |chosen| is_clear(ENOUGH, &tried, chosen);
    if is_open
        && !choose(&tried).is_none_or(is_right)
        && let Some(others) = more_images(&mut progress.part(0.5, 0.6))?
    {
        let again = candidates.tournament(&readings, others, &mut progress.part(0.6, 0.9))?;
        let best = |tried: &[Tried]| tried.iter().map(|it| it.accuracy).fold(0.0, f64::max);
        if best(&again.1) > best(&tried) {
            (images, tried) = again;
        }
    }
    // If digits are not recognized, the most accurate reading is one of chance.
    let best = choose(&tried).filter(|best| best.accuracy >= MIN_ACCURACY);
    let chosen = match best {
        Some(best) => best.clone(),
        None => candidates.attempt(readings[0], &images.images, &mut progress.part(0.9, 1.0))?,
    };
    let in_doubt = is_open && !is_clear(enough, &tried, &chosen);
    Ok(Decided {
        net: candidates.of(&chosen.reading).net(&chosen.reading)?,
        doubt: in_doubt.then(|| Trials {
            images: images.images.len() as u64,
            tried_on: images.data.clone(),
            readings: listed(&tried, &chosen),
        }),
        reading: chosen.reading,
        accuracy: chosen.accuracy,
        tried_on: images,
    })
}

/// The network with a detector of what is no digit, and what is fitted for it on digits.
pub fn calibrated(
    net: Net,
    digits: &Split,
    progress: &mut impl Progress,
) -> Result<(Net, Calibration), Problem> {
    let part = &mut progress.part(0.0, 0.9);
    let detector = fit_digit_detector(&net, &[], &Classes::Digits, SEED, part)?;
    let net = net.with_digit_detector(Some(detector));
    let part = &mut progress.part(0.9, 1.0);
    let measured = measure(&net, Calibration::NONE.temperature, digits, part)?;
    let mut fitted = measured.calibration(&digits.labels);
    // Digits that it does not recognize say nothing of its temperature.
    if measured.evaluation.accuracy < MIN_ACCURACY {
        fitted.temperature = Calibration::NONE.temperature;
    }
    Ok((net, fitted))
}

/// The digits that readings are tried on.
pub fn trial_digits(progress: &mut impl Progress) -> Result<Split, Problem> {
    Ok(builtin::generate(SEED, 0, DIGITS, progress)?.test)
}

/// How a reading does on labeled images.
#[derive(Clone, Debug)]
pub struct Tried {
    pub reading: Reading,
    pub accuracy: f64,
    /// The digit that each image was taken for.
    answers: Vec<u8>,
    /// The cross-entropy in nats, at the temperature at which it is least, since networks that were
    /// trained with smoothed labels are less sure than right. On images like those of its training
    /// the right reading has less of it than a wrong one, even if both give the same answers.
    loss: f32,
    /// What is added to it: more the less usual its normalization and temperature are.
    penalty: f32,
}

impl Tried {
    /// A reading that gave these logits, ten for each image, for images with these labels;
    /// [`Candidates::has_channels_last`] says where these images have their channels.
    pub fn new(reading: Reading, has_channels_last: bool, logits: &[f32], labels: &[u8]) -> Self {
        let temperature = fit_temperature(logits, labels);
        let (mut answers, mut loss, mut correct) = (Vec::new(), 0.0, 0);
        for (scores, &label) in Scores::of_rows(logits, CLASSES, temperature).zip(labels) {
            let probability = scores.probabilities[usize::from(label)];
            loss -= probability.max(f32::MIN_POSITIVE).ln();
            answers.push(scores.digit as u8);
            correct += u32::from(scores.digit == usize::from(label));
        }
        let [_, unit, _, whole] = NORMALIZATIONS;
        let unusual = if reading.normalization == whole {
            WHOLE_PENALTY
        } else if has_channels_last && reading.normalization != unit {
            KERAS_PENALTY
        } else {
            0.0
        };
        let distance = temperature.ln() - USUAL_LOG_TEMPERATURE;
        let images = answers.len().max(1);
        Self {
            reading,
            accuracy: f64::from(correct) / images as f64,
            answers,
            loss: loss / images as f32,
            penalty: unusual + TEMPERATURE_PENALTY * distance.powi(2),
        }
    }

    fn penalized_loss(&self) -> f32 {
        self.loss + self.penalty
    }

    /// Whether nothing but the normalization differs.
    fn differs_in_normalization(&self, other: &Self) -> bool {
        let normalization = self.reading.normalization;
        Reading {
            normalization,
            ..other.reading
        } == self.reading
    }

    /// True if it makes the labels likelier, however usual both are.
    fn is_likelier_than(&self, other: &Self) -> bool {
        self.loss < LIKELIER * other.loss
    }

    /// True if both give the same answers but for a few.
    fn is_like(&self, other: &Self) -> bool {
        let pairs = self.answers.iter().zip(&other.answers);
        let same = pairs.filter(|(a, b)| a == b).count();
        same as f64 >= SAME * self.answers.len() as f64
    }
}

/// The reading to take: first the normalization of each network and activation, by its penalty too,
/// and then the likeliest network and activation, or a more usual one that gives the same answers
/// and is about as likely.
pub fn choose(tried: &[Tried]) -> Option<&Tried> {
    let built_alike = tried.chunk_by(Tried::differs_in_normalization);
    let normalized: Vec<&Tried> = built_alike
        .filter_map(|alike| {
            let losses = |a: &&Tried, b: &&Tried| a.penalized_loss().total_cmp(&b.penalized_loss());
            alike.iter().min_by(losses)
        })
        .collect();
    let likeliest = *normalized.iter().min_by(|a, b| a.loss.total_cmp(&b.loss))?;
    let is_as_likely =
        |tried: &&Tried| tried.is_like(likeliest) && !likeliest.is_likelier_than(tried);
    normalized.into_iter().find(is_as_likely)
}

/// Whether `chosen` is right enough to be taken without asking. Of normalizations the lead counts.
fn is_clear(enough: f64, tried: &[Tried], chosen: &Tried) -> bool {
    chosen.accuracy >= enough
        && tried.iter().all(|other| {
            other.accuracy < chosen.accuracy - CLEAR_GAIN
                || other.differs_in_normalization(chosen)
                || other.is_like(chosen)
                || chosen.is_likelier_than(other)
        })
}

/// The readings that matter to whoever has to decide: `chosen`, and then the best of those that give
/// other answers.
fn listed(tried: &[Tried], chosen: &Tried) -> Vec<MeasuredReading> {
    let mut ranked: Vec<&Tried> = tried.iter().collect();
    ranked.sort_by(|a, b| b.accuracy.total_cmp(&a.accuracy));
    let mut distinct = vec![chosen];
    for tried in ranked {
        if distinct.iter().all(|other| !other.is_like(tried)) {
            distinct.push(tried);
        }
    }
    let measured = |tried: &Tried| MeasuredReading {
        reading: tried.reading,
        accuracy: tried.accuracy,
    };
    distinct.into_iter().map(measured).collect()
}
