//! Batches for the CPU: the next one is gathered and augmented on a thread of its own while this
//! one is trained on.
//!
//! What a batch contains depends only on seed, epoch and image, never on timing. At most two
//! batches are ready or in preparation; their memory is reused. The receiver may stop at any time,
//! by dropping the loader or by a panic: the thread then ends by itself.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, Scope};

use super::TrainError;
use super::epoch_steps::EpochSteps;
use crate::data::Split;
use crate::data::augment::Augmenter;
use crate::data::gather_batch;
use crate::ink::PIXELS;
use crate::math::random::Random;
use crate::nn::ComputeError;
use crate::profiler::{self, Recording};
use crate::records::SpanKind;
use crate::run_config::RunConfig;

/// The batches of a run, in order.
pub struct Loader {
    ready: Receiver<Split>,
    used: Sender<Split>,
    current: Split,
}

impl Loader {
    /// Starts with the first epoch that `shuffle` has not reached yet.
    pub fn start<'scope, 'env>(
        scope: &'scope Scope<'scope, 'env>,
        config: &RunConfig,
        images: &'env Split,
        shuffle: Shuffle,
    ) -> Result<Self, TrainError> {
        let (filled, ready) = sync_channel(1);
        let (used, empty) = channel();
        let worker = Worker {
            images,
            steps: EpochSteps::new(config, shuffle.images() as u64),
            shuffle,
            epochs: config.epochs,
            augmenter: Augmenter::new(config.augmentation),
        };
        let recording = Recording::current();
        Builder::new()
            .name("loader".to_owned())
            .spawn_scoped(scope, move || {
                recording
                    .iter()
                    .for_each(|recording| recording.record_this_thread(1));
                worker.run(&filled, &empty);
            })
            .map_err(|error| ComputeError::no_thread(&error))?;
        Ok(Self {
            ready,
            used,
            current: Split::default(),
        })
    }

    /// The next batch; the memory of the one before is reused.
    pub fn next_batch(&mut self) -> Result<&Split, TrainError> {
        let gone = || ComputeError::failed(&"the thread that prepares batches ended early");
        let next = self.ready.recv().map_err(|_| gone())?;
        // The thread may have ended after its last batch: then it needs no memory any more.
        let _ = self.used.send(std::mem::replace(&mut self.current, next));
        Ok(&self.current)
    }
}

/// The order of the images of an epoch.
#[derive(Debug)]
pub struct EpochOrder {
    /// From 1.
    pub epoch: u32,
    /// Their indices.
    pub images: Vec<u32>,
    /// How many of them, from the first, were used already.
    pub used: usize,
}

/// The order of the images in each epoch, and the random numbers for their augmentation.
#[derive(Clone, Debug)]
pub struct Shuffle {
    order: Vec<u32>,
    seed: u64,
    done: u32,
    /// Images at the start of the next epoch that were used already.
    used: usize,
}

impl Shuffle {
    /// Of the images at these indices, after the first `done` epochs.
    pub fn new(order: Vec<u32>, seed: u64, done: u32) -> Self {
        let mut shuffle = Self {
            order,
            seed,
            done: 0,
            used: 0,
        };
        while shuffle.done < done {
            shuffle.next_epoch();
        }
        shuffle
    }

    /// How many images an epoch has.
    pub const fn images(&self) -> usize {
        self.order.len()
    }

    /// The same without the first images of the next epoch.
    #[must_use]
    pub fn skip(mut self, images: usize) -> Self {
        self.used = images;
        if self.used >= self.order.len() {
            self.next_epoch();
        }
        self
    }

    /// The order of the next epoch: that of the one before, shuffled.
    pub fn next_epoch(&mut self) -> EpochOrder {
        self.done += 1;
        Random::stream(self.seed, "shuffle", u64::from(self.done)).shuffle(&mut self.order);
        EpochOrder {
            epoch: self.done,
            images: self.order.clone(),
            used: std::mem::take(&mut self.used),
        }
    }

    /// The random numbers that the augmentation of this image in this epoch depends on.
    pub fn augmentation_rng(&self, epoch: u32, index: u32) -> Random {
        Random::stream(
            self.seed,
            "augmentation",
            u64::from(epoch) << 32 | u64::from(index),
        )
    }
}

struct Worker<'a> {
    images: &'a Split,
    shuffle: Shuffle,
    epochs: u32,
    steps: EpochSteps,
    augmenter: Option<Augmenter>,
}

impl Worker<'_> {
    fn run(mut self, filled: &SyncSender<Split>, empty: &Receiver<Split>) {
        while self.shuffle.done < self.epochs {
            let EpochOrder {
                epoch,
                images,
                used,
            } = self.shuffle.next_epoch();
            for indices in self
                .steps
                .batches_after(used as u64)
                .filter_map(|batch| images.get(batch))
            {
                let batch = empty.try_recv().unwrap_or_default();
                let batch = profiler::span(
                    SpanKind::Loading,
                    || "".into(),
                    || self.fill(batch, epoch, indices),
                    |batch| 2 * batch.images.len() as u64,
                );
                if filled.send(batch).is_err() {
                    return;
                }
            }
        }
    }

    /// A batch of these images, augmented as in this epoch.
    fn fill(&mut self, mut batch: Split, epoch: u32, indices: &[u32]) -> Split {
        gather_batch(self.images, indices, &mut batch);
        if let Some(augmenter) = &mut self.augmenter {
            for (pixels, &index) in batch.images.chunks_exact_mut(PIXELS).zip(indices) {
                augmenter.apply(pixels, &mut self.shuffle.augmentation_rng(epoch, index));
            }
        }
        batch
    }
}
