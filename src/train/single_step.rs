//! A step that is looked at closely: what it did to the loss of its batch and to one unit's
//! weights. It trains as every other step does, so a run that is looked at gives the same weights.

use candle_core::{Result, Tensor};

use super::batches::Batch;
use super::observer::StepRequest;
use crate::math::random::Random;
use crate::nn::{Mode, Net, Parameter};
use crate::records::{SingleStep, UnitName, UnitUpdate, Update};
use crate::run_config::RunConfig;

/// The state before a step, until it has been taken.
pub struct StepRecorder {
    name: Option<UnitName>,
    /// Dropout's randomness at the start of the step.
    dropout: Random,
    micro_batches: Vec<Batch>,
    before: Option<UnitUpdate>,
}

impl StepRecorder {
    /// Before the step's first forward pass.
    pub fn new(request: StepRequest, dropout: &Random) -> Self {
        Self {
            name: request.unit,
            dropout: dropout.clone(),
            micro_batches: Vec::new(),
            before: None,
        }
    }

    /// Notes a micro-batch whose gradients were added.
    pub fn add(&mut self, micro_batch: Batch) {
        self.micro_batches.push(micro_batch);
    }

    /// Notes weights and gradients before the update. They are the gradients of the loss times
    /// `scale`.
    pub fn note_gradients(&mut self, net: &Net, scale: f32) -> Result<()> {
        let name = self.name.take();
        self.before = match name {
            Some(name) => update_of(net, name, scale)?,
            None => None,
        };
        Ok(())
    }

    /// Looks at the step after the update, which had this number, learning rate and loss.
    pub fn finish(
        self,
        net: &Net,
        config: &RunConfig,
        (step, learning_rate, loss): (u64, f32, f32),
    ) -> Result<SingleStep> {
        let images = self.micro_batches.iter().map(Batch::len).sum();
        let mut unit = self.before;
        if let Some(unit) = &mut unit {
            let UnitName { layer, unit: row } = &unit.name;
            unit.weights.after = row_of(net, layer, "weight", *row)?.unwrap_or_default();
            if let Some(bias) = &mut unit.bias {
                bias.after = row_of(net, layer, "bias", *row)?.unwrap_or_default();
            }
        }
        let after = loss_again(net, config, &self.micro_batches, images, self.dropout)?;
        Ok(SingleStep {
            step,
            learning_rate,
            images,
            losses: [loss, after],
            unit,
        })
    }
}

/// The unit before an update; `None` if the network has no such unit with weights.
fn update_of(net: &Net, name: UnitName, scale: f32) -> Result<Option<UnitUpdate>> {
    let update = |what| -> Result<Option<Update>> {
        let (Some(parameter), Some(before)) = (
            parameter(net, &name.layer, what),
            row_of(net, &name.layer, what, name.unit)?,
        ) else {
            return Ok(None);
        };
        let gradient = match parameter.grad() {
            Some(gradient) => (row(&gradient, name.unit)? / f64::from(scale))?.to_vec1()?,
            None => vec![0.0; before.len()],
        };
        let after = Vec::new();
        Ok(Some(Update {
            before,
            gradient,
            after,
        }))
    };
    let (weights, bias) = (update("weight")?, update("bias")?);
    Ok(weights.map(|weights| UnitUpdate {
        name,
        weights,
        bias,
    }))
}

fn parameter<'n>(net: &'n Net, layer: &str, what: &str) -> Option<&'n Parameter> {
    net.parameter(&format!("{layer}.{what}")).ok()
}

/// A unit's numbers of this kind; `None` if there is no such unit, or no number.
fn row_of(net: &Net, layer: &str, what: &str, unit: usize) -> Result<Option<Vec<f32>>> {
    parameter(net, layer, what)
        .filter(|parameter| parameter.dims().first().is_some_and(|rows| unit < *rows))
        .map(|parameter| row(&parameter.tensor(), unit)?.to_vec1())
        .transpose()
}

fn row(tensor: &Tensor, unit: usize) -> Result<Tensor> {
    tensor.get(unit)?.flatten_all()
}

/// The training loss of a batch once more, with the same features dropped. Running statistics stay
/// as they are.
fn loss_again(
    net: &Net,
    config: &RunConfig,
    micro_batches: &[Batch],
    images: usize,
    mut dropout: Random,
) -> Result<f32> {
    let parameters = net.parameters().iter();
    let statistics = parameters
        .filter(|parameter| !parameter.role().is_trainable())
        .map(|parameter| Ok((parameter, parameter.tensor().copy()?)))
        .collect::<Result<Vec<_>>>()?;
    let mut loss = 0.0;
    for Batch {
        images: pixels,
        labels,
    } in micro_batches
    {
        let mode = Mode::Train {
            dropout: &mut dropout,
            precision: config.precision,
        };
        let logits = net.forward(pixels, mode)?;
        let smoothing = config.label_smoothing as f32;
        let sums = net.loss(&logits, labels, images, smoothing)?;
        loss += sums.get(0)?.to_scalar::<f32>()?;
    }
    for (parameter, values) in statistics {
        parameter.set(&values)?;
    }
    Ok(loss)
}
