//! Layer-sequential unit variance: from the first layer to the last, weights are divided by the
//! deviation of the layer's output on training images (Mishkin & Matas 2016). A layer's output is
//! linear in its weights, so once is enough.

use std::slice;

use candle_core::{Result, Tensor};

use crate::nn::forward::Forward;
use crate::nn::ops::{self, Context, Window};
use crate::nn::{Images, Layer, Mode, Net, Parameter};
use crate::records::LayerVariance;

/// The variance of every output of a convolution or linear layer, before its activation, over
/// images, positions and channels.
pub fn variances(net: &Net, pixels: &[u8]) -> Result<Vec<f32>> {
    Pass {
        parameters: net.parameters(),
        scales: false,
        variances: Vec::new(),
    }
    .run_net(net, pixels)
}

/// Scales the weights of these layers, and their biases with them, so that each variance is 1 when
/// those of the layers before it are.
pub fn scale_to_unit_variance(net: &Net, pixels: &[u8]) -> Result<()> {
    Pass {
        parameters: net.parameters(),
        scales: true,
        variances: Vec::new(),
    }
    .run_net(net, pixels)
    .map(drop)
}

/// Both variances beside the names of their layers.
pub fn layer_variances(net: &Net, before: &[f32], after: &[f32]) -> Vec<LayerVariance> {
    let names = names(net.layers());
    let layers = names.into_iter().zip(before.iter().zip(after));
    layers
        .map(|(layer, (&before, &after))| LayerVariance {
            layer,
            before,
            after,
        })
        .collect()
}

fn names(layers: &[Layer]) -> Vec<String> {
    layers
        .iter()
        .flat_map(|layer| match layer {
            Layer::Residual { body, shortcut, .. } => [names(body), names(shortcut)].concat(),
            Layer::ConvPool { name, .. }
            | Layer::Conv { name, .. }
            | Layer::Linear { name, .. } => vec![name.clone()],
            _ => Vec::new(),
        })
        .collect()
}

/// A forward pass that stops after each layer.
struct Pass<'a> {
    /// Of the layers that are left.
    parameters: &'a [Parameter],
    scales: bool,
    variances: Vec<f32>,
}

impl Pass<'_> {
    fn run_net(mut self, net: &Net, pixels: &[u8]) -> Result<Vec<f32>> {
        let input = net.input(Images::Bytes(pixels))?;
        self.run(net.layers(), input)?;
        Ok(self.variances)
    }

    fn run(&mut self, layers: &[Layer], x: Tensor) -> Result<Tensor> {
        layers.iter().try_fold(x, |x, layer| self.layer(layer, x))
    }

    fn layer(&mut self, layer: &Layer, x: Tensor) -> Result<Tensor> {
        if let Layer::Residual {
            body,
            shortcut,
            activation,
        } = layer
        {
            let residual = self.run(body, x.clone())?;
            return ops::add(
                &residual,
                &self.run(shortcut, x)?,
                *activation,
                Context::EVAL,
            );
        }
        let Some((parameters, others)) = self.parameters.split_at_checked(layer.parameters().len())
        else {
            candle_core::bail!("the network lacks a weight");
        };
        self.parameters = others;
        if let Some(linear) = without_activation(layer) {
            let output = run_alone(&linear, parameters, x.clone())?
                .flatten_all()?
                .to_vec1()?;
            let variance = variance(&output);
            self.variances.push(variance as f32);
            if self.scales && variance > 0.0 {
                let scale = (1.0 / variance.sqrt()) as f32;
                for parameter in parameters {
                    parameter.update_values(|values| {
                        values.iter_mut().for_each(|value| *value *= scale)
                    })?;
                }
            }
        }
        run_alone(layer, parameters, x)
    }
}

fn run_alone(layer: &Layer, parameters: &[Parameter], x: Tensor) -> Result<Tensor> {
    Forward::new(parameters, Mode::Eval, Context::EVAL.backend).run(slice::from_ref(layer), x)
}

/// The sums that the layer computes, before pooling and activation; `None` for a layer without
/// weights of that kind.
fn without_activation(layer: &Layer) -> Option<Layer> {
    match layer.clone() {
        Layer::ConvPool {
            name,
            inputs,
            outputs,
            kernel,
            padding,
            bias,
            ..
        } => Some(Layer::Conv {
            name,
            inputs,
            outputs,
            kernel: Window {
                size: kernel,
                stride: 1,
                padding,
            },
            bias,
        }),
        Layer::Linear {
            name,
            inputs,
            outputs,
            ..
        } => Some(Layer::Linear {
            name,
            inputs,
            outputs,
            activation: None,
        }),
        conv @ Layer::Conv { .. } => Some(conv),
        _ => None,
    }
}

fn variance(values: &[f32]) -> f64 {
    let mean_of = |value: &dyn Fn(f64) -> f64| {
        values.iter().map(|&x| value(f64::from(x))).sum::<f64>() / values.len().max(1) as f64
    };
    let mean = mean_of(&|x| x);
    mean_of(&|x| (x - mean).powi(2))
}
