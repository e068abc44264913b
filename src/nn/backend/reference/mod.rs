//! Every op as a composition of candle's own ops, with candle's gradients: for devices without
//! kernels of ours (Metal), and as what the self-test compares with. Only candle ops are used whose
//! gradients are right on every device: no `max_pool2d`, no `conv2d`, no `relu` and no `maximum`
//! (half a gradient to each of two equal values).
//!
//! Without gradients, softmax and layer normalisation are candle-nn's fused kernels. Its fused
//! attention (`sdpa`, on Metal alone) needs heads of at least 32 features; those of
//! `ModelKind::Attention` have 16. Before a device is used for inference, its results are compared
//! with the CPU's.

pub mod compose;
mod gather;
mod loss;
mod norm;
mod sliding_window;

use candle_core::{Result, Tensor, Var};

pub use gather::gather_batch;

use super::{Backend, BackendKind, cpu};
use crate::nn::autograd::{Gradients, requires_grad};
use crate::nn::ops::{BatchNorm, Context, Conv2d, DropoutMask, LAYER_NORM_EPSILON, Window};
use crate::nn::{GradMode, Output, Parameter};
use crate::run_config::{Activation, Precision};

/// Compositions of candle's ops.
#[derive(Debug)]
pub struct Reference;

impl Backend for Reference {
    fn kind(&self) -> BackendKind {
        BackendKind::Reference
    }

    fn activation(&self, x: &Tensor, activation: Activation, grad: GradMode) -> Result<Output> {
        differentiate(&[x], &[], grad, |x, _| compose::activate(&x[0], activation))
    }

    fn add(
        &self,
        a: &Tensor,
        b: &Tensor,
        activation: Option<Activation>,
        grad: GradMode,
    ) -> Result<Output> {
        differentiate(&[a, b], &[], grad, |x, _| {
            compose::add(&x[0], &x[1], activation)
        })
    }

    fn add_positions(&self, x: &Tensor, embedding: &Parameter, grad: GradMode) -> Result<Output> {
        differentiate(&[x], &[embedding], grad, |x, p| x[0].broadcast_add(&p[0]))
    }

    fn attention(&self, qkv: &Tensor, heads: usize, context: Context) -> Result<Output> {
        let softmax: fn(&Tensor) -> Result<Tensor> = match context.grad {
            GradMode::Enabled => compose::softmax,
            GradMode::Disabled => candle_nn::ops::softmax_last_dim,
        };
        differentiate(&[qkv], &[], context.grad, |x, _| {
            compose::attention(&x[0], heads, context.precision, softmax)
        })
    }

    fn average_pool(&self, x: &Tensor, window: Window, grad: GradMode) -> Result<Output> {
        differentiate(&[x], &[], grad, |x, _| compose::average_pool(&x[0], window))
    }

    fn batch_norm(
        &self,
        x: &Tensor,
        norm: BatchNorm<'_>,
        activation: Option<Activation>,
        grad: GradMode,
    ) -> Result<Output> {
        let BatchNorm {
            weight,
            bias,
            running_mean,
            running_variance,
        } = norm;
        if grad == GradMode::Disabled {
            let statistics = [&running_mean.tensor(), &running_variance.tensor()];
            return Ok(Output::constant(compose::batch_norm(
                x,
                statistics,
                &weight.tensor(),
                &bias.tensor(),
                activation,
            )?));
        }
        let [mean, variance] = compose::moments(&x.detach())?;
        let count = (x.elem_count() / weight.len()) as f64;
        let unbiased = (variance * (count / (count - 1.0)))?;
        for (running, batch) in [(running_mean, mean), (running_variance, unbiased)] {
            running.set(
                &((running.tensor() * (1.0 - BatchNorm::MOMENTUM))?
                    + (batch * BatchNorm::MOMENTUM)?)?,
            )?;
        }
        differentiate(&[x], &[weight, bias], grad, |x, p| {
            let [mean, variance] = compose::moments(&x[0])?;
            compose::batch_norm(&x[0], [&mean, &variance], &p[0], &p[1], activation)
        })
    }

    fn conv2d(&self, x: &Tensor, conv: Conv2d<'_>, context: Context) -> Result<Output> {
        let Conv2d {
            weight,
            bias,
            window,
            pool,
            relu,
        } = conv;
        let parameters: Vec<&Parameter> = std::iter::once(weight).chain(bias).collect();
        differentiate(&[x], &parameters, context.grad, |x, p| {
            let y = compose::conv2d(&x[0], &p[0], p.get(1), window, context.precision)?;
            let y = if pool {
                compose::max_pool(&y, Window::HALVING)?
            } else {
                y
            };
            if relu {
                compose::activate(&y, Activation::Relu)
            } else {
                Ok(y)
            }
        })
    }

    fn cross_entropy(
        &self,
        logits: &Tensor,
        labels: &Tensor,
        batch: usize,
        smoothing: f32,
        grad: GradMode,
    ) -> Result<Output> {
        differentiate(&[logits], &[], grad, |x, _| {
            compose::cross_entropy(&x[0], labels, batch, smoothing)
        })
    }

    fn dropout(&self, x: &Tensor, mask: DropoutMask, grad: GradMode) -> Result<Output> {
        let factors = Tensor::from_vec(
            cpu::dropout_factors(mask, x.elem_count()),
            x.shape(),
            x.device(),
        )?;
        differentiate(&[x], &[], grad, |x, _| &x[0] * &factors)
    }

    fn flatten(&self, x: &Tensor, grad: GradMode) -> Result<Output> {
        differentiate(&[x], &[], grad, |x, _| compose::flatten(&x[0]))
    }

    fn global_average_pool(&self, x: &Tensor, grad: GradMode) -> Result<Output> {
        differentiate(&[x], &[], grad, |x, _| compose::global_average_pool(&x[0]))
    }

    fn layer_norm(
        &self,
        x: &Tensor,
        weight: &Parameter,
        bias: &Parameter,
        grad: GradMode,
    ) -> Result<Output> {
        if grad == GradMode::Disabled {
            let normalized = candle_nn::ops::layer_norm(
                &x.contiguous()?,
                &weight.tensor(),
                &bias.tensor(),
                LAYER_NORM_EPSILON,
            )?;
            return Ok(Output::constant(normalized));
        }
        differentiate(&[x], &[weight, bias], grad, |x, p| {
            compose::layer_norm(&x[0], &p[0], &p[1], f64::from(LAYER_NORM_EPSILON))
        })
    }

    fn linear(
        &self,
        x: &Tensor,
        weight: &Parameter,
        bias: &Parameter,
        relu: bool,
        context: Context,
    ) -> Result<Output> {
        differentiate(&[x], &[weight, bias], context.grad, |x, p| {
            compose::linear(&x[0], &p[0], &p[1], relu, context.precision)
        })
    }

    fn max_pool(&self, x: &Tensor, window: Window, grad: GradMode) -> Result<Output> {
        differentiate(&[x], &[], grad, |x, _| compose::max_pool(&x[0], window))
    }
}

/// `op` of inputs and parameters, with the backward pass that candle derives: candle's graph covers
/// this op alone.
fn differentiate(
    inputs: &[&Tensor],
    parameters: &[&Parameter],
    grad: GradMode,
    op: impl FnOnce(&[Tensor], &[Tensor]) -> Result<Tensor>,
) -> Result<Output> {
    if grad == GradMode::Disabled {
        let inputs: Vec<Tensor> = inputs.iter().map(|&input| input.clone()).collect();
        let parameters: Vec<Tensor> = parameters
            .iter()
            .map(|parameter| parameter.tensor())
            .collect();
        return Ok(Output::constant(op(&inputs, &parameters)?));
    }
    // Inputs that need no gradient stay outside candle's graph.
    let leaves = inputs.iter().map(|input| {
        if requires_grad(input) {
            Ok(Var::from_tensor(input)?.into_inner())
        } else {
            Ok((*input).clone())
        }
    });
    let leaves = leaves.collect::<Result<Vec<_>>>()?;
    let parameters: Vec<Parameter> = parameters
        .iter()
        .map(|&parameter| parameter.clone())
        .collect();
    let variables: Vec<Tensor> = parameters
        .iter()
        .map(|parameter| parameter.var().clone())
        .collect();
    let computed = op(&leaves, &variables)?;
    Ok(Output::new(computed.detach(), grad, move |gradient, _| {
        let gradients = (computed * gradient)?.sum_all()?.backward()?;
        let of_parameters = parameters.into_iter().zip(&variables);
        Ok(Gradients {
            inputs: leaves
                .iter()
                .map(|leaf| gradients.get(leaf).map(Tensor::detach))
                .collect(),
            parameters: of_parameters
                .filter_map(|(parameter, var)| Some((parameter, gradients.get(var)?.detach())))
                .collect(),
        })
    }))
}

/// A matrix product of operands in this number format; the output is f32.
fn product(a: &Tensor, b: &Tensor, precision: Precision) -> Result<Tensor> {
    use candle_core::DType;
    let format = match precision {
        Precision::F32 | Precision::Tf32 => return a.matmul(b),
        Precision::Bf16 => DType::BF16,
        Precision::F16 => DType::F16,
    };
    a.to_dtype(format)?
        .matmul(&b.to_dtype(format)?)?
        .to_dtype(DType::F32)
}
