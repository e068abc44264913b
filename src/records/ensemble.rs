//! Several sets of weights that classify together, and how much they agree.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Models whose probabilities are averaged (deep ensembles: Lakshminarayanan et al. 2017), or
/// passes of a model with dropout (Monte Carlo dropout: Gal & Ghahramani 2016), or both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ensemble {
    /// The model files.
    pub models: Vec<PathBuf>,
    /// Passes of each model with dropout; `None` for one without.
    pub dropout_passes: Option<u32>,
}

impl Ensemble {
    /// The models that an ensemble may have.
    pub const MODELS: RangeInclusive<usize> = 1..=64;
    /// The passes with dropout that a model may have.
    pub const DROPOUT_PASSES: RangeInclusive<u32> = 2..=1000;
    /// As many give a stable mean, and take a few milliseconds for a drawing.
    pub const USUAL_DROPOUT_PASSES: u32 = 50;

    /// Whether they are samples from the posterior of one network's weights: files of the same run.
    pub fn is_posterior(&self) -> bool {
        self.models.len() > 1
            && self
                .models
                .iter()
                .all(|model| model.parent() == self.models[0].parent())
    }

    /// Models without dropout.
    pub const fn of(models: Vec<PathBuf>) -> Self {
        Self {
            models,
            dropout_passes: None,
        }
    }

    /// A model with dropout, as many passes as usual.
    pub fn with_dropout(model: PathBuf) -> Self {
        Self {
            models: vec![model],
            dropout_passes: Some(Self::USUAL_DROPOUT_PASSES),
        }
    }
}

/// How unsure an ensemble is of an image, and why: the entropy of its mean probabilities is the
/// mean entropy of its members' probabilities, which more training data would not reduce, plus the
/// mutual information between the answer and the weights, by which the members disagree (Gal 2016,
/// "Uncertainty in Deep Learning", section 3.3.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Uncertainty {
    /// The predictions that were averaged.
    pub members: u32,
    /// The standard deviation of each class's probability among them.
    pub deviations: Vec<f32>,
    /// The entropy of the mean probabilities, in bits: 0 to log2 of the number of classes.
    pub entropy: f32,
    /// The mutual information between the answer and the weights, in bits: 0 to `entropy`.
    pub mutual_information: f32,
}

impl Uncertainty {
    /// That of an image for which the members gave these probabilities, and the mean of these.
    pub fn of(members: &[&[f32]]) -> (Self, Vec<f32>) {
        let count = members.len().max(1) as f32;
        let classes = members
            .iter()
            .map(|member| member.len())
            .min()
            .unwrap_or_default();
        let mean_of = |value: &dyn Fn(&[f32], usize) -> f32| -> Vec<f32> {
            (0..classes)
                .map(|class| {
                    members
                        .iter()
                        .map(|member| value(member, class))
                        .sum::<f32>()
                        / count
                })
                .collect()
        };
        let mean = mean_of(&|member, class| member[class]);
        let variances = mean_of(&|member, class| (member[class] - mean[class]).powi(2));
        let deviations = variances.into_iter().map(f32::sqrt).collect();
        let expected = members.iter().map(|member| entropy(member)).sum::<f32>() / count;
        let total = entropy(&mean);
        // Rounding may leave it below 0.
        let mutual_information = (total - expected).clamp(0.0, total);
        (
            Self {
                members: count as u32,
                deviations,
                entropy: total,
                mutual_information,
            },
            mean,
        )
    }

    /// The mean entropy of the members' probabilities, in bits: how ambiguous the image itself is
    /// to them.
    pub fn expected_entropy(&self) -> f32 {
        self.entropy - self.mutual_information
    }
}

/// In bits.
fn entropy(probabilities: &[f32]) -> f32 {
    probabilities
        .iter()
        .filter(|&&probability| probability > 0.0)
        .map(|probability| -probability * probability.log2())
        .sum::<f32>()
        .max(0.0)
}
