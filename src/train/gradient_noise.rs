//! The gradient noise scale (`McCandlish`, Kaplan, Amodei et al. 2018, "An empirical model of
//! large-batch training", <https://arxiv.org/abs/1812.06162>): the variance of the gradient from
//! image to image, relative to the gradient itself. Batches far smaller than this are mostly noise,
//! so that twice the batch size halves the steps that are needed; far larger ones hardly save any.
//!
//! With it, batches can grow from epoch to epoch: the gradient gets smaller than its noise as a
//! network learns, so that larger batches cost little progress for each image, take fewer steps,
//! and let a device compute more at a time (Smith et al. 2018, "Don't decay the learning rate,
//! increase the batch size"). A step over a batch that has grown counts as several of the usual
//! ones, as many as its factor says. Thus epochs have as many steps as ever, and the learning rate
//! follows its schedule.

use candle_core::Tensor;

use crate::data::augment::Augmenter;
use crate::data::{Split, gather_batch};
use crate::ink::PIXELS;
use crate::math::random::Random;
use crate::nn::{Mode, Net};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::run_config::RunConfig;

/// Images of a small batch, and how many of these make up the large one.
const SMALL: usize = 64;
const BATCHES: usize = 16;
/// Images of a measurement: a noise scale that is much larger disappears in the scatter.
pub const MEASURED: usize = SMALL * BATCHES;

/// Measurements of the two figures that the noise scale is the ratio of. Each is averaged by
/// itself: a mean of ratios would be biased.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GradientNoise {
    /// Sum of estimates of the variance, the trace of the covariance matrix of the gradient of one
    /// image.
    variance: f64,
    /// Sum of estimates of the squared norm of the mean gradient.
    squared_norm: f64,
}

impl GradientNoise {
    /// Adds what follows from gradients of `small` and of `large` images whose squared norms are
    /// these on average: unbiased estimates of both figures (appendix A.1 of the paper).
    pub fn add(&mut self, [small, large]: [f64; 2], [small_norm, large_norm]: [f64; 2]) {
        self.squared_norm += (large * large_norm - small * small_norm) / (large - small);
        self.variance += (small_norm - large_norm) / (1.0 / small - 1.0 / large);
    }

    /// The noise scale in images; `None` if the gradient is so small that it disappears in the
    /// noise.
    pub fn scale(&self) -> Option<f64> {
        (self.squared_norm > 0.0 && self.variance > 0.0).then(|| self.variance / self.squared_norm)
    }

    /// Measures the gradients of random ones of the images at these indices at the network's
    /// weights, augmented and at the precision of the run. The network is left as it is. If that
    /// is cancelled, nothing is added.
    pub fn measure(
        &mut self,
        net: &Net,
        (images, indices): (&Split, &[u32]),
        config: &RunConfig,
        random: &mut Random,
        progress: &mut impl Progress,
    ) -> Result<(), Problem> {
        // Training changes running statistics and gradients.
        let net = net.to_device(net.context())?;
        let trainable = net.trainable();
        let mut augmenter = Augmenter::new(config.augmentation);
        let mut sums: Vec<Vec<f64>> = trainable
            .iter()
            .map(|parameter| vec![0.0; parameter.len()])
            .collect();
        let (mut batch, mut small_norm) = (Split::default(), 0.0);
        for number in 0..BATCHES {
            progress
                .report(number as f32 / BATCHES as f32)
                .map_err(Problem::from)?;
            let chosen: Vec<u32> = (0..SMALL)
                .map(|_| indices[random.below(indices.len())])
                .collect();
            gather_batch(images, &chosen, &mut batch);
            if let Some(augmenter) = &mut augmenter {
                batch
                    .images
                    .chunks_exact_mut(PIXELS)
                    .for_each(|pixels| augmenter.apply(pixels, random));
            }
            let labels = Tensor::from_slice(&batch.labels, SMALL, &net.context().device)?;
            let logits = net.forward(
                &batch.images,
                Mode::Train {
                    dropout: random,
                    precision: config.precision,
                },
            )?;
            net.backward(
                &net.loss(&logits, &labels, SMALL, config.label_smoothing as f32)?,
                1.0,
            )?;
            for (parameter, sum) in trainable.iter().zip(&mut sums) {
                let Some(gradient) = parameter.take_grad() else {
                    continue;
                };
                let gradient = gradient.flatten_all()?.to_vec1::<f32>()?;
                small_norm += gradient
                    .iter()
                    .map(|&value| f64::from(value).powi(2))
                    .sum::<f64>();
                sum.iter_mut()
                    .zip(gradient)
                    .for_each(|(sum, value)| *sum += f64::from(value));
            }
        }
        let count = BATCHES as f64;
        let large_norm = sums.iter().flatten().map(|sum| (sum / count).powi(2)).sum();
        self.add(
            [SMALL as f64, SMALL as f64 * count],
            [small_norm / count, large_norm],
        );
        Ok(())
    }
}

/// The most that batches grow to, relative to the first epoch's.
pub const MAX_GROWTH: u32 = 64;
/// Fewer steps in an epoch would leave the network little time to follow.
const MIN_STEPS: u64 = 20;

/// The settings with batches that have grown by this factor.
pub fn with_grown_batches(config: &RunConfig, factor: u32) -> RunConfig {
    RunConfig {
        batch_size: config.batch_size.saturating_mul(factor),
        ..config.clone()
    }
}

/// The gradient noise scale in images before this epoch; `None` if it is larger than can be
/// measured. The same weights, images and seed give the same.
pub fn noise_scale(
    net: &Net,
    (images, indices): (&Split, &[u32]),
    config: &RunConfig,
    epoch: u32,
    progress: &mut impl Progress,
) -> Result<Option<f64>, Problem> {
    let mut noise = GradientNoise::default();
    let mut random = Random::stream(config.seed, "batch growth", epoch.into());
    noise.measure(net, (images, indices), config, &mut random, progress)?;
    Ok(noise.scale())
}

/// The factor for the next epoch: the largest power of two with which a step's images are no more
/// than the noise scale, as far as that can be measured, an epoch has enough steps, and `fits` says
/// that there is memory for it. Batches do not shrink again.
pub fn next_factor(
    config: &RunConfig,
    factor: u32,
    noise_scale: Option<f64>,
    train_images: u64,
    fits: impl Fn(&RunConfig) -> bool,
) -> u32 {
    let noise_scale = noise_scale.unwrap_or(MEASURED as f64);
    let step_images = u64::from(config.batch_size) * u64::from(config.accumulation);
    let is_sensible = |factor: u32| {
        let images = step_images * u64::from(factor);
        images as f64 <= noise_scale
            && images * MIN_STEPS <= train_images
            && fits(&with_grown_batches(config, factor))
    };
    let larger = std::iter::successors(factor.checked_mul(2), |factor| factor.checked_mul(2));
    larger
        .take_while(|&larger| larger <= MAX_GROWTH && is_sensible(larger))
        .last()
        .unwrap_or(factor)
}
