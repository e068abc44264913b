//! Weights that follow from statistics of the training images, before the first step: normalization
//! from their mean and deviation, principal components as the first filters, and unit variance
//! after every layer.

mod statistics;

use std::slice;
use std::time::Instant;

use candle_core::Result;
use nalgebra::DMatrix;

use super::forward::Moment;
use super::{Images, Layer, Mode, Net, Role};
use crate::data::{Split, gather_batch};
use crate::math::random::Random;
use crate::records::{InitializationReport, LayerVariance};
use crate::run_config::{Activation, Initialization, Network};
use statistics::{PatchPca, PixelStatistics, Whitening};

/// Images that go through the network: enough to know a variance to a few percent, and little work
/// for a large network.
const BATCH: usize = 256;

/// An untrained network for this many classes, whose weights follow from the training images at
/// these indices, and what was found. The same seed and images give the same weights.
pub fn initialize(
    network: impl Into<Network>,
    activation: Activation,
    classes: usize,
    method: Initialization,
    (images, indices): (&Split, &[u32]),
    seed: u64,
) -> Result<(Net, Option<InitializationReport>)> {
    let started = Instant::now();
    let random_net = Net::new(network, activation, classes, seed)?;
    if method == Initialization::Random || indices.is_empty() {
        return Ok((random_net, None));
    }
    let statistics = PixelStatistics::of(images, indices);
    let net = random_net.with_normalization(statistics.normalization());
    // The indices of a validation split are in random order.
    let mut batch = Split::default();
    gather_batch(images, &indices[..indices.len().min(BATCH)], &mut batch);
    let before = variances(&net, &batch.images, false)?;

    set_orthonormal_weights(
        &net,
        &mut Random::stream(seed, "orthonormal initialization", 0),
    )?;
    let components = match method {
        Initialization::Pca | Initialization::Zca => {
            let mut random = Random::stream(seed, "principal components", 0);
            let components = PatchPca::of_input(&net, images, indices, &mut random);
            let whitening = if method == Initialization::Zca {
                Whitening::Zca
            } else {
                Whitening::Pca
            };
            components
                .map(|components| {
                    components
                        .set_first_filters(&net, whitening)
                        .map(|()| components.report())
                })
                .transpose()?
        }
        Initialization::Random | Initialization::Lsuv => None,
    };
    variances(&net, &batch.images, true)?;
    let after = variances(&net, &batch.images, false)?;

    let report = InitializationReport {
        method,
        seconds: started.elapsed().as_secs_f32(),
        images: batch.len() as u32,
        normalization: statistics.normalization(),
        extremes: statistics.extremes(),
        layers: layer_variances(before, after),
        components,
    };
    Ok((net, Some(report)))
}

/// Sets every weight of the network to random ones whose rows, or columns if there are fewer of
/// them, are orthonormal (Saxe et al. 2014), and every bias to zero; normalizations and positional
/// embeddings stay as they are.
fn set_orthonormal_weights(net: &Net, random: &mut Random) -> Result<()> {
    for parameter in net.parameters() {
        match (parameter.role(), parameter.dims()) {
            (Role::Weight, [outputs, ..]) => {
                let matrix = orthonormal_matrix(*outputs, parameter.len() / outputs, random);
                parameter.update_values(|values| values.copy_from_slice(&matrix))?;
            }
            (Role::Bias, [_]) => parameter.update_values(|values| values.fill(0.0))?,
            _ => {}
        }
    }
    Ok(())
}

/// Row by row.
fn orthonormal_matrix(rows: usize, columns: usize, random: &mut Random) -> Vec<f32> {
    let (long, short) = (rows.max(columns), rows.min(columns));
    let orthonormal = DMatrix::from_fn(long, short, |_, _| random.normal())
        .qr()
        .q();
    // nalgebra stores column by column, so a tall matrix is transposed to be read row by row.
    if rows < columns {
        orthonormal.as_slice().to_vec()
    } else {
        orthonormal.transpose().as_slice().to_vec()
    }
}

/// The variance of every output of a convolution or linear layer, before pooling and activation,
/// over images, positions and channels, by the layer's name.
///
/// If it `scales`, weights and biases of each of these layers are divided by its deviation
/// before the next one is looked at: layer-sequential unit variance (Mishkin & Matas 2016). A
/// layer's output is linear in its weights, so once is enough.
fn variances(net: &Net, pixels: &[u8], scales: bool) -> Result<Vec<(String, f32)>> {
    let mut variances = Vec::new();
    let mut measure = |layer: &Layer, moment: Moment<'_>| {
        let (Moment::Before(x), Some(linear)) = (moment, layer.sums()) else {
            return Ok(());
        };
        let output = net
            .pass(Mode::Eval)
            .run(slice::from_ref(&linear), x.clone())?
            .flatten_all()?
            .to_vec1()?;
        let variance = variance(&output);
        variances.push((layer.name().to_owned(), variance as f32));
        if scales && variance > 0.0 {
            let scale = (1.0 / variance.sqrt()) as f32;
            for spec in layer.parameters() {
                net.parameter(&spec.name)?
                    .update_values(|values| values.iter_mut().for_each(|value| *value *= scale))?;
            }
        }
        Ok(())
    };
    let input = net.input(Images::Bytes(pixels))?;
    net.pass(Mode::Eval)
        .with_observer(&mut measure)
        .run(net.layers(), input)?;
    Ok(variances)
}

fn layer_variances(before: Vec<(String, f32)>, after: Vec<(String, f32)>) -> Vec<LayerVariance> {
    let both = before.into_iter().zip(after);
    both.map(|((layer, before), (_, after))| LayerVariance {
        layer,
        before,
        after,
    })
    .collect()
}

fn variance(values: &[f32]) -> f64 {
    let mean_of = |value: &dyn Fn(f64) -> f64| {
        values.iter().map(|&x| value(f64::from(x))).sum::<f64>() / values.len().max(1) as f64
    };
    let mean = mean_of(&|x| x);
    mean_of(&|x| (x - mean).powi(2))
}
