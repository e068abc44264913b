//! Reverse-mode automatic differentiation: one tape for every backend.
//!
//! Each op that is applied while gradients are wanted is recorded as a node that owns its backward
//! pass, and with it what the forward pass saved. `backward` goes through the nodes in reverse and
//! passes each gradient on as it is; it adds only where an output was used twice. candle's own
//! `backward` is not used for that: it adds every gradient to zeros it allocates, on threads of its
//! own that spin while they wait, which took a quarter of a training step. Tensors, devices and
//! storage are candle's.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use candle_core::{Result, Tensor, TensorId};

use super::{Backend, Parameter};
use crate::profiler;
use crate::records::SpanKind;

/// Whether ops are recorded for a backward pass, as with `torch.set_grad_enabled`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GradMode {
    /// Ops are recorded: `backward` will be called.
    Enabled,
    /// Nothing but the output is computed.
    Disabled,
}

/// The backward pass of one op: from the gradient of its output, and which of its inputs need one,
/// to those of its inputs and parameters.
pub type Backward = Box<dyn FnOnce(&Tensor, &[bool]) -> Result<Gradients>>;

/// The gradients that the backward pass of an op returns.
#[derive(Default)]
pub struct Gradients {
    /// The gradient of each input, in the order of the node's; `None` if none is needed.
    pub inputs: Vec<Option<Tensor>>,
    /// The gradients of parameters. CPU ops add theirs in place instead
    /// ([`Parameter::add_to_grad`]).
    pub parameters: Vec<(Parameter, Tensor)>,
}

impl Gradients {
    pub fn input(gradient: Option<Tensor>) -> Self {
        Self {
            inputs: vec![gradient],
            parameters: Vec::new(),
        }
    }

    /// The same gradient for each input that needs one.
    pub fn to_each(needed: &[bool], gradient: &Tensor) -> Self {
        let inputs = needed.iter().map(|needed| needed.then(|| gradient.clone()));
        Self {
            inputs: inputs.collect(),
            parameters: Vec::new(),
        }
    }
}

/// An op's output, with its backward pass where gradients are enabled.
pub struct Output {
    pub tensor: Tensor,
    backward: Option<Backward>,
}

impl Output {
    /// An output with its backward pass, which is dropped where gradients are disabled.
    pub fn new(
        tensor: Tensor,
        mode: GradMode,
        backward: impl FnOnce(&Tensor, &[bool]) -> Result<Gradients> + 'static,
    ) -> Self {
        let backward = (mode == GradMode::Enabled).then(|| Box::new(backward) as Backward);
        Self { tensor, backward }
    }

    /// An output that no gradient goes through.
    pub const fn constant(tensor: Tensor) -> Self {
        Self {
            tensor,
            backward: None,
        }
    }
}

struct Node {
    /// The inputs, and whether each needs a gradient.
    inputs: Vec<(TensorId, bool)>,
    output: TensorId,
    backward: Backward,
    /// The layer it belongs to, if that is recorded.
    layer: Option<Arc<str>>,
}

#[derive(Default)]
struct Tape {
    nodes: Vec<Node>,
    outputs: HashSet<TensorId>,
}

thread_local! {
    /// The ops recorded on this thread since the last `clear` or `backward`.
    static TAPE: RefCell<Tape> = RefCell::default();
}

/// True if `tensor` was computed from a parameter by recorded ops.
pub fn requires_grad(tensor: &Tensor) -> bool {
    TAPE.with_borrow(|tape| tape.outputs.contains(&tensor.id()))
}

/// Records an op and gives its output. Nothing is recorded where gradients are disabled or where no
/// gradient could reach a parameter.
pub(super) fn record(inputs: &[&Tensor], has_parameters: bool, output: Output) -> Tensor {
    let Output { tensor, backward } = output;
    if let Some(backward) = backward {
        TAPE.with_borrow_mut(|tape| {
            let inputs: Vec<_> = inputs
                .iter()
                .map(|input| (input.id(), tape.outputs.contains(&input.id())))
                .collect();
            if has_parameters || inputs.iter().any(|(_, needed)| *needed) {
                tape.outputs.insert(tensor.id());
                tape.nodes.push(Node {
                    inputs,
                    output: tensor.id(),
                    backward,
                    layer: profiler::current_name(),
                });
            }
        });
    }
    tensor
}

/// What `forward` computes from `x`, recorded as one op that saves only `x` (activation
/// checkpointing, Chen et al. 2016): the backward pass calls `recompute` on `x` and goes back
/// through the ops recorded then. Both must compute the same.
pub(super) fn checkpoint(
    x: &Tensor,
    forward: impl FnOnce(&Tensor) -> Result<Tensor>,
    recompute: impl FnOnce(&Tensor) -> Result<Tensor> + 'static,
    backend: &'static dyn Backend,
) -> Result<Tensor> {
    let recorded = TAPE.with_borrow(|tape| tape.nodes.len());
    let output = forward(x)?;
    TAPE.with_borrow_mut(|tape| {
        for node in tape.nodes.drain(recorded..) {
            tape.outputs.remove(&node.output);
        }
    });
    let input = x.clone();
    let backward = move |gradient: &Tensor, needed: &[bool]| {
        // The pass that calls this has taken the tape.
        if needed.contains(&true) {
            TAPE.with_borrow_mut(|tape| tape.outputs.insert(input.id()));
        }
        let output = recompute(&input)?;
        let Tape { nodes, .. } = TAPE.take();
        let (mut left, parameters) = propagate(nodes, &output, gradient.clone(), backend)?;
        let inputs = vec![left.remove(&input.id())];
        if left.is_empty() {
            Ok(Gradients { inputs, parameters })
        } else {
            candle_core::bail!("{UNKNOWN_TENSOR}")
        }
    };
    Ok(record(
        &[x],
        true,
        Output::new(output, GradMode::Enabled, backward),
    ))
}

/// The values of a parameter as the input of an op, so that `backward` computes its gradient too.
pub fn variable(parameter: &Parameter) -> Tensor {
    let values = parameter.tensor();
    let parameter = parameter.clone();
    // A copy: on the CPU `.grad` is changed in place.
    let backward = move |gradient: &Tensor, _: &[bool]| {
        Ok(Gradients {
            inputs: Vec::new(),
            parameters: vec![(parameter, gradient.copy()?)],
        })
    };
    record(&[], true, Output::new(values, GradMode::Enabled, backward))
}

/// Discards what was recorded on this thread, for a fresh forward pass.
pub fn clear() {
    TAPE.take();
}

/// Adds to `.grad` of every parameter behind `output` the gradient of `sum(output · gradient)`,
/// through the ops recorded on this thread since the last `clear`, as
/// `torch.Tensor.backward(gradient)`. `backend` is the one that computed them. The tape is empty
/// afterwards.
pub fn backward(output: &Tensor, gradient: Tensor, backend: &dyn Backend) -> Result<()> {
    let Tape { nodes, .. } = TAPE.take();
    let (left, of_parameters) = propagate(nodes, output, gradient, backend)?;
    if !left.is_empty() {
        candle_core::bail!("{UNKNOWN_TENSOR}");
    }
    // All or none: where memory runs out in between, the same micro-batch is computed again.
    let mut sums: Vec<(Parameter, Tensor)> = Vec::new();
    for (parameter, gradient) in of_parameters {
        if let Some((_, sum)) = sums.iter_mut().find(|(known, _)| known.is(&parameter)) {
            *sum = (&*sum + gradient)?;
        } else {
            let sum = parameter
                .grad()
                .map_or_else(|| Ok(gradient.clone()), |earlier| earlier + &gradient)?;
            sums.push((parameter, sum));
        }
    }
    for (parameter, sum) in sums {
        parameter.set_grad(Some(sum));
    }
    Ok(())
}

/// The error where a gradient has nowhere to go.
const UNKNOWN_TENSOR: &str = "a gradient reached a tensor that no recorded op computed";

/// Gradients of tensors that no op computed, and those of parameters.
type Propagated = (HashMap<TensorId, Tensor>, Vec<(Parameter, Tensor)>);

/// Passes the gradient of `output` back through these ops.
fn propagate(
    mut nodes: Vec<Node>,
    output: &Tensor,
    gradient: Tensor,
    backend: &dyn Backend,
) -> Result<Propagated> {
    let mut gradients = HashMap::from([(output.id(), gradient)]);
    let mut of_parameters: Vec<(Parameter, Tensor)> = Vec::new();
    // Each node is dropped, with what it saved, as soon as its gradients are computed.
    while let Some(Node {
        inputs,
        output,
        backward,
        layer,
    }) = nodes.pop()
    {
        let Some(gradient) = gradients.remove(&output) else {
            continue;
        };
        let needed: Vec<bool> = inputs.iter().map(|(_, needed)| *needed).collect();
        let computed = match layer {
            None => backward(&gradient, &needed)?,
            Some(layer) => profiled(layer, &gradient, || backward(&gradient, &needed))?,
        };
        of_parameters.extend(computed.parameters);
        for ((input, needed), gradient) in inputs.into_iter().zip(computed.inputs) {
            let Some(gradient) = gradient.filter(|_| needed) else {
                continue;
            };
            let sum = match gradients.remove(&input) {
                None => gradient,
                Some(earlier) => {
                    backend
                        .add(&earlier, &gradient, None, GradMode::Disabled)?
                        .tensor
                }
            };
            gradients.insert(input, sum);
        }
    }
    Ok((gradients, of_parameters))
}

/// Records the backward pass of a layer. Waits for a device without events, so that the time is
/// that of this layer.
fn profiled(
    layer: Arc<str>,
    gradient: &Tensor,
    backward: impl FnOnce() -> Result<Gradients>,
) -> Result<Gradients> {
    let whole = || {
        let computed = backward()?;
        if !profiler::has_device_events() {
            gradient.device().synchronize()?;
        }
        Ok(computed)
    };
    let bytes = |computed: &Result<Gradients>| {
        let of_inputs = computed.as_ref().map_or(0, |computed| {
            computed
                .inputs
                .iter()
                .flatten()
                .map(Tensor::elem_count)
                .sum()
        });
        ((gradient.elem_count() + of_inputs) * size_of::<f32>()) as u64
    };
    profiler::span(SpanKind::Backward, || layer, whole, bytes)
}
