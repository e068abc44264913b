//! Weights that follow from statistics of the training images, before the first step: normalisation
//! from their mean and deviation, principal components as the first filters, and unit variance
//! after every layer.

mod lsuv;
mod orthonormal;
mod principal_components;
mod statistics;

use std::time::Instant;

use candle_core::Result;

use super::Net;
use crate::data::{Split, gather_batch};
use crate::math::random::Random;
use crate::records::InitializationReport;
use crate::run_config::{Activation, Initialization, Network};
use principal_components::{PrincipalComponents, Whitening};
use statistics::PixelStatistics;

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
    let before = lsuv::variances(&net, &batch.images)?;

    orthonormal::set_weights(
        &net,
        &mut Random::stream(seed, "orthonormal initialization", 0),
    )?;
    let components = match method {
        Initialization::Pca | Initialization::Zca => {
            let mut random = Random::stream(seed, "principal components", 0);
            let components = PrincipalComponents::of_input(&net, images, indices, &mut random);
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
    lsuv::scale_to_unit_variance(&net, &batch.images)?;
    let after = lsuv::variances(&net, &batch.images)?;

    let report = InitializationReport {
        method,
        seconds: started.elapsed().as_secs_f32(),
        images: batch.len() as u32,
        normalization: statistics.normalization(),
        extremes: statistics.extremes(),
        layers: lsuv::layer_variances(&net, &before, &after),
        components,
    };
    Ok((net, Some(report)))
}
