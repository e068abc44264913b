//! A batch is computed in micro-batches, and that changes nothing but rounding.

use candle_core::{Device, Tensor};
use inkling::data::ValidationSplit;
use inkling::math::random::Random;
use inkling::nn::{Mode, Net};
use inkling::optim::{Optimizer, OptimizerConfig};
use inkling::run_config::{ModelKind, OptimizerKind, Precision, RunConfig, ScheduleKind};
use inkling::train::micro_batch_size;

use super::watcher::{Watcher, config};
use crate::synthetic::{square_set, train};

/// One step over one batch of 150 images, by the loop and by a single pass over all of them.
#[test]
fn gradients_add_up_to_the_whole_batchs() {
    let data = square_set(327, 0);
    let of = RunConfig {
        epochs: 1,
        batch_size: 300,
        optimizer: OptimizerKind::Sgd,
        schedule: ScheduleKind::Constant,
        learning_rate: 0.1,
        ..config(ModelKind::LeNet)
    };
    let mut watcher = Watcher::default();
    let trained = train(&of, &data, &mut watcher).unwrap().unwrap();
    assert_eq!(watcher.steps.len(), 1);
    // Three micro-batches, and one look while validating.
    assert_eq!(watcher.between_before, [4]);

    let ValidationSplit {
        train: positions, ..
    } = ValidationSplit::new(&data.train, of.seed);
    assert!(positions.len() > 2 * micro_batch_size(of.model));
    let images: Vec<u8> = positions
        .iter()
        .flat_map(|&position| data.train.image(position as usize).to_vec())
        .collect();
    let labels: Vec<u8> = positions
        .iter()
        .map(|&position| data.train.labels[position as usize])
        .collect();
    let net = Net::new(of.model, of.activation, 10, of.seed).unwrap();
    let logits = net
        .forward(
            &images,
            Mode::Train {
                dropout: &mut Random::new(0),
                precision: Precision::F32,
            },
        )
        .unwrap();
    let targets = Tensor::new(labels.as_slice(), &Device::Cpu).unwrap();
    let loss = net.loss(&logits, &targets, labels.len(), 0.0).unwrap();
    net.backward(&loss, 1.0).unwrap();
    let optimizer = OptimizerConfig::new(&of, labels.len() as u64);
    Optimizer::new(optimizer, &net.trainable(), net.context(), None)
        .unwrap()
        .step(0.1, 1.0, None)
        .unwrap();

    assert!((watcher.steps[0].loss - loss.to_vec1::<f32>().unwrap()[0]).abs() < 1e-5);
    let whole = net.weights().unwrap();
    for (by_parts, whole) in trained
        .net
        .weights()
        .unwrap()
        .iter()
        .flatten()
        .zip(whole.iter().flatten())
    {
        assert!(
            (by_parts - whole).abs() < 1e-6,
            "{by_parts} and not {whole}"
        );
    }
}
