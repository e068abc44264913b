//! The network as it was during a run, to be looked at afterwards: at steps that are dense at the
//! start, where it changes most, and at the ends of epochs, as many as there is space for.
//!
//! Which steps these are follows from the plan of the run, so that a resumed run keeps the same
//! ones as an uninterrupted one. The weights are only read.

use half::f16;
use half::slice::HalfFloatSliceExt as _;
use serde::{Deserialize, Serialize};

use super::learning_probe::held_out;
use crate::data::Split;
use crate::infer::measure;
use crate::nn::{Net, Parameter};
use crate::problem::Problem;
use crate::progress::Unwatched;
use crate::records::{Calibration, EpochRecord, MAX_SNAPSHOTS, RunPlan, SnapshotRecord};
use crate::run_config::RunConfig;

/// The most bytes that the snapshots of a run take.
pub const HISTORY_BYTES: u64 = 20 << 20;
/// The bytes of a weight.
const WEIGHT_BYTES: usize = size_of::<f16>();

/// The network after a step, in f16.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    pub record: SnapshotRecord,
    /// Fitted for its weights on the images that its accuracy was measured on.
    #[serde(flatten)]
    pub calibration: Calibration,
    #[serde(with = "serde_bytes")]
    weights: Vec<u8>,
}

impl Snapshot {
    /// Gives these weights to a network that [`Snapshot::fits`].
    pub fn restore(&self, net: &Net) -> candle_core::Result<()> {
        let mut numbers = self.weights.as_chunks().0.iter().map(|bytes| {
            let half = f16::from_le_bytes(*bytes);
            half.to_f32()
        });
        let rows = net.parameters().iter().map(Parameter::len);
        let weights: Vec<Vec<f32>> = rows
            .map(|len| numbers.by_ref().take(len).collect())
            .collect();
        net.set_weights(&weights)
    }

    /// True when these can be weights of this network.
    pub fn fits(&self, net: &Net) -> bool {
        self.weights.len() == bytes_of(net)
    }
}

fn bytes_of(net: &Net) -> usize {
    let numbers: usize = net.parameters().iter().map(Parameter::len).sum();
    numbers * WEIGHT_BYTES
}

/// After which steps the network is kept, and the images that its accuracy is measured on.
pub struct History {
    steps: Vec<u64>,
    images: Split,
}

impl History {
    /// Of a run with this network whose snapshots take no more than so many bytes.
    pub fn new(
        config: &RunConfig,
        plan: &RunPlan,
        net: &Net,
        validation: &Split,
        bytes: u64,
    ) -> Self {
        let fitting = bytes / (bytes_of(net) as u64).max(1);
        let most = MAX_SNAPSHOTS.min(fitting as usize);
        let steps = snapshot_steps(plan.total_steps, plan.steps_per_epoch, most);
        let images = if steps.is_empty() {
            Split::default()
        } else {
            held_out(validation, net.classes(), config.seed)
        };
        Self { steps, images }
    }

    /// True when the network after this step is to be kept beside these.
    pub fn is_due(&self, kept: impl IntoIterator<Item = SnapshotRecord>, step: u64) -> bool {
        let last = kept.into_iter().last().map(|record| record.step);
        // A step with larger batches counts as several.
        let due = |&at: &u64| at <= step && last.is_none_or(|last| at > last);
        self.steps.iter().any(due)
    }

    /// The network as it is now, after `step` steps, and at the end of an epoch, what was measured
    /// there; `None` when its weights or its logits are not finite.
    pub fn take(
        &self,
        net: &Net,
        step: u64,
        epoch: Option<(&EpochRecord, u64, Calibration)>,
    ) -> Result<Option<Snapshot>, Problem> {
        let mut weights = Vec::with_capacity(bytes_of(net));
        for parameter in net.parameters() {
            let mut halves = vec![f16::ZERO; parameter.len()];
            halves.convert_from_f32_slice(&parameter.values()?);
            for half in halves {
                if half.is_nan() {
                    return Ok(None);
                }
                // What is too large for f16 becomes the largest number that is not.
                let finite = half.clamp(f16::MIN, f16::MAX);
                weights.extend(finite.to_le_bytes());
            }
        }
        let (accuracy, images, calibration) = if let Some((record, images, calibration)) = epoch {
            (record.validation_accuracy, images, calibration)
        } else {
            let temperature = Calibration::NONE.temperature;
            let measured = measure(net, temperature, &self.images, &mut Unwatched)?;
            let calibration = measured.calibration(&self.images.labels);
            let evaluation = measured.evaluation;
            (evaluation.accuracy as f32, evaluation.images, calibration)
        };
        if !calibration.is_valid() {
            return Ok(None);
        }
        let record = SnapshotRecord {
            step,
            accuracy,
            images,
        };
        Ok(Some(Snapshot {
            record,
            calibration,
            weights,
        }))
    }
}

/// After which of a run's steps its network is kept, `most` of them at most: 0, 1, 2, 5, 10, 20 and
/// so on, and the ends of epochs. If these are too many, those whose neighbors are closest together
/// on a logarithmic scale are left out one by one. The last step is not among them: it leaves the
/// model.
pub fn snapshot_steps(total: u64, per_epoch: u64, most: usize) -> Vec<u64> {
    let powers = std::iter::successors(Some(1_u64), |power| power.checked_mul(10));
    let round = powers
        .take_while(|&power| power < total)
        .flat_map(|power| [1, 2, 5].map(|digit| power.saturating_mul(digit)));
    let ends = (1..).map(|epoch: u64| per_epoch.max(1).saturating_mul(epoch));
    let mut steps: Vec<u64> = std::iter::once(0)
        .chain(round)
        .chain(ends.take_while(|&step| step < total))
        .filter(|&step| step < total)
        .collect();
    steps.sort_unstable();
    steps.dedup();
    while steps.len() > most {
        let gap = |&index: &usize| {
            let after = steps.get(index + 1).copied().unwrap_or(total);
            (after + 1) as f64 / (steps[index - 1] + 1) as f64
        };
        let closest = (1..steps.len()).min_by(|a, b| gap(a).total_cmp(&gap(b)));
        steps.remove(closest.unwrap_or_default());
    }
    steps
}
