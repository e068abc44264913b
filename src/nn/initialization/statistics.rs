//! What weights follow from: mean, deviation and extremes of the pixels that a network will learn
//! from, and the principal components of what its first layer sees, which is patches as large as
//! its kernel, or whole images.

use candle_core::Result;
use nalgebra::{DMatrix, DVector, SymmetricEigen};
use rayon::prelude::*;

use crate::data::Split;
use crate::ink::SIDE;
use crate::math::random::Random;
use crate::nn::{Net, Parameter, Role};
use crate::records::{FilterImages, Normalization, PatchComponents};

/// Images that are analyzed.
const IMAGES: usize = 2048;
/// Patches of each image.
const PATCHES: usize = 8;
/// Components that explain less than this fraction of what the first one does are noise, or pixels
/// that never change.
const MIN_SHARE: f64 = 1e-3;
/// Components that are reported as images.
const SHOWN: usize = 32;

/// How often each gray value occurs.
pub struct PixelStatistics {
    counts: [u64; 256],
}

impl PixelStatistics {
    /// Of all pixels of the images at these indices.
    pub fn of(images: &Split, indices: &[u32]) -> Self {
        let count = |mut counts: [u64; 256], index: &u32| {
            for &pixel in images.image(*index as usize) {
                counts[usize::from(pixel)] += 1;
            }
            counts
        };
        let add = |mut counts: [u64; 256], more: [u64; 256]| {
            counts
                .iter_mut()
                .zip(more)
                .for_each(|(count, more)| *count += more);
            counts
        };
        Self {
            counts: indices
                .par_iter()
                .fold(|| [0; 256], count)
                .reduce(|| [0; 256], add),
        }
    }

    /// Their mean and standard deviation, from 0 to 1; a deviation of 1 if all are the same.
    pub fn normalization(&self) -> Normalization {
        let mean_of = |value: &dyn Fn(f64) -> f64| {
            let sum: f64 = (0..)
                .zip(self.counts)
                .map(|(gray, count)| value(f64::from(gray) / 255.0) * count as f64)
                .sum();
            sum / self.counts.iter().sum::<u64>().max(1) as f64
        };
        let mean = mean_of(&|gray| gray);
        let variance = mean_of(&|gray| (gray - mean).powi(2));
        Normalization {
            mean: mean as f32,
            std: if variance > 0.0 {
                variance.sqrt() as f32
            } else {
                1.0
            },
        }
    }

    /// The least and the greatest gray value.
    pub fn extremes(&self) -> [u8; 2] {
        let occurs = |gray: &u8| self.counts[usize::from(*gray)] > 0;
        [
            (0..=255).find(occurs).unwrap_or_default(),
            (0..=255).rfind(occurs).unwrap_or_default(),
        ]
    }
}

/// Filters whose outputs are uncorrelated, with a variance of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whitening {
    /// The principal components, divided by their deviations.
    Pca,
    /// The same, turned back into pixels: each filter is a pixel minus what its neighbors predict
    /// of it (zero-phase component analysis; Bell & Sejnowski 1997, "The independent components of
    /// natural scenes are edge filters"). The pixels in the middle come first.
    Zca,
}

/// The eigenvectors of the covariance of normalized pixels, in f64: the variance of a pixel that
/// never changes is a rounding error whose square would be too small for f32.
pub struct PatchPca {
    samples: usize,
    side: usize,
    mean: DVector<f64>,
    /// Variances, from the greatest on.
    eigenvalues: Vec<f64>,
    /// As columns, in the order of their variances.
    eigenvectors: DMatrix<f64>,
}

impl PatchPca {
    /// Of what the first layer of the network sees of the images at these indices; `None` if it
    /// has several input channels.
    pub fn of_input(
        net: &Net,
        images: &Split,
        indices: &[u32],
        random: &mut Random,
    ) -> Option<Self> {
        let (weight, _) = first_layer(net)?;
        let (side, patches) = match *weight.dims() {
            [_, 1, side, _] => (side, PATCHES),
            [_, inputs] if inputs == SIDE * SIDE => (SIDE, 1),
            _ => return None,
        };
        let normalization = net.normalization();
        let chosen = &indices[..indices.len().min(IMAGES)];
        let samples = chosen.len() * patches;
        let mut values = Vec::with_capacity(samples * side * side);
        for &index in chosen {
            let image = images.image(index as usize);
            for _ in 0..patches {
                let [row, column] = [random.below(SIDE - side + 1), random.below(SIDE - side + 1)];
                let pixels = (row..row + side)
                    .flat_map(|row| &image[row * SIDE + column..row * SIDE + column + side]);
                values.extend(pixels.map(|&pixel| {
                    f64::from((f32::from(pixel) / 255.0 - normalization.mean) / normalization.std)
                }));
            }
        }
        Some(Self::of(
            DMatrix::from_vec(side * side, samples, values),
            side,
        ))
    }

    /// Of samples, each of them a column.
    fn of(mut samples: DMatrix<f64>, side: usize) -> Self {
        let mean = samples.column_mean();
        samples
            .column_iter_mut()
            .for_each(|mut sample| sample -= &mean);
        let covariance =
            &samples * samples.transpose() / samples.ncols().max(2).saturating_sub(1) as f64;
        let SymmetricEigen {
            eigenvalues,
            eigenvectors,
        } = SymmetricEigen::new(covariance);
        let mut order: Vec<usize> = (0..eigenvalues.len()).collect();
        order.sort_by(|&a, &b| eigenvalues[b].total_cmp(&eigenvalues[a]));
        Self {
            samples: samples.ncols(),
            side,
            mean,
            eigenvalues: order
                .iter()
                .map(|&index| eigenvalues[index].max(0.0))
                .collect(),
            eigenvectors: eigenvectors.select_columns(&order),
        }
    }

    /// Makes whitening filters the first ones, each once as it is and once negated, because an
    /// activation such as `ReLU` passes only one side of it. Every output has a mean of zero and
    /// the same variance over the samples. Filters for which nothing is left stay as they are.
    pub fn set_first_filters(&self, net: &Net, whitening: Whitening) -> Result<()> {
        let Some((weight, bias)) = first_layer(net) else {
            return Ok(());
        };
        let size = self.side * self.side;
        let filters = self.filters(whitening, weight.len().div_ceil(2 * size));
        let filters: Vec<DVector<f64>> = filters
            .into_iter()
            .flat_map(|filter| [filter.clone(), -filter])
            .collect();
        weight.update_values(|values| {
            for (values, filter) in values.chunks_exact_mut(size).zip(&filters) {
                values
                    .iter_mut()
                    .zip(filter)
                    .for_each(|(value, weight)| *value = *weight as f32);
            }
        })?;
        let Some(bias) = bias else { return Ok(()) };
        bias.update_values(|values| {
            values
                .iter_mut()
                .zip(&filters)
                .for_each(|(value, filter)| *value = -filter.dot(&self.mean) as f32);
        })
    }

    /// At most this many filters.
    fn filters(&self, whitening: Whitening, most: usize) -> Vec<DVector<f64>> {
        let greatest = self.eigenvalues.first().copied().unwrap_or_default();
        let components = self.eigenvectors.column_iter().zip(&self.eigenvalues);
        let components: Vec<_> = components
            .take_while(|(_, eigenvalue)| **eigenvalue > greatest * MIN_SHARE)
            .collect();
        let whitened = components
            .iter()
            .map(|(vector, eigenvalue)| vector / eigenvalue.sqrt());
        match whitening {
            Whitening::Pca => whitened.take(most).collect(),
            Whitening::Zca => {
                let whitened: Vec<DVector<f64>> = whitened.collect();
                let filter = |pixel: usize| {
                    let turned_back = components
                        .iter()
                        .zip(&whitened)
                        .map(|((vector, _), whitened)| whitened * vector[pixel]);
                    let filter = turned_back
                        .fold(DVector::zeros(self.side * self.side), |sum, part| {
                            sum + part
                        });
                    // If components are left out, the variance is less than one.
                    let variance: f64 = components
                        .iter()
                        .map(|(vector, _)| vector[pixel].powi(2))
                        .sum();
                    (variance > MIN_SHARE).then(|| filter / variance.sqrt())
                };
                self.pixels_from_middle()
                    .into_iter()
                    .filter_map(filter)
                    .take(most)
                    .collect()
            }
        }
    }

    /// The pixels, those in the middle first.
    fn pixels_from_middle(&self) -> Vec<usize> {
        let middle = self.side as i64 - 1;
        let distance = |&pixel: &usize| {
            let [row, column] =
                [pixel / self.side, pixel % self.side].map(|at| 2 * at as i64 - middle);
            row * row + column * column
        };
        let mut pixels: Vec<usize> = (0..self.side * self.side).collect();
        pixels.sort_by_key(distance);
        pixels
    }

    /// The parts of them that people are shown.
    pub fn report(&self) -> PatchComponents {
        let total = self.eigenvalues.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let shown = self
            .eigenvectors
            .columns(0, self.eigenvalues.len().min(SHOWN));
        let weights: Vec<f32> = shown.iter().map(|weight| *weight as f32).collect();
        PatchComponents {
            samples: self.samples as u32,
            side: self.side as u32,
            explained: self
                .eigenvalues
                .iter()
                .map(|eigenvalue| (eigenvalue / total) as f32)
                .collect(),
            images: FilterImages::of(self.side, self.side, &weights),
        }
    }
}

/// The weight of the first layer that has one, and its bias.
fn first_layer(net: &Net) -> Option<(&Parameter, Option<&Parameter>)> {
    let mut parameters = net.parameters().iter();
    let weight = parameters.find(|parameter| parameter.role() == Role::Weight)?;
    Some((
        weight,
        parameters
            .next()
            .filter(|parameter| parameter.role() == Role::Bias && parameter.dims().len() == 1),
    ))
}
