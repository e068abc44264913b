//! Owns the fully connected layer, `x Wᵀ + b`, optionally with `ReLU`. Must not know models.

use candle_core::{CpuStorage, CustomOp3, Device, Layout, Result, Shape, Tensor};

use super::matrix::{Matrix, Mode, product_parallel};
use super::{Context, Gradient, floats, with_floats};
use crate::nn::Parameter;

/// `x weightᵀ + bias`, or `relu` of that, from `[batch, in]`; `weight` is `[out, in]`. The gradient of `x` is computed only
/// where `x` depends on a parameter.
pub fn linear(x: &Tensor, weight: &Parameter, bias: &Parameter, relu: bool, context: Context) -> Result<Tensor> {
    let (_, features) = x.dims2()?;
    let (outputs, inputs) = weight.tracked().dims2()?;
    if features != inputs {
        candle_core::bail!("a layer of {inputs} inputs does not fit {:?}", x.shape());
    }
    let op = Linear { inputs, outputs, relu, weight: weight.clone(), bias: bias.clone() };
    match context.gradient {
        Gradient::Kept => x.apply_op3(weight.tracked(), bias.tracked(), op),
        Gradient::None => x.apply_op3_no_bwd(weight.tracked(), bias.tracked(), &op),
    }
}

struct Linear {
    inputs: usize,
    outputs: usize,
    relu: bool,
    weight: Parameter,
    bias: Parameter,
}

impl Linear {
    fn backward(&self, x: &[f32], weight: &[f32], result: &[f32], gradient: &[f32], x_gradient: Option<&mut [f32]>) {
        let Self { inputs, outputs, relu, .. } = *self;
        let batch = x.len() / inputs;
        // ReLU passes a gradient only where its result is above 0.
        let live: Vec<f32> = gradient.iter().zip(result).map(|(&g, &y)| if relu && y <= 0.0 { 0.0 } else { g }).collect();
        let mut bias_gradient = self.bias.gradient();
        for live in live.chunks_exact(outputs) {
            bias_gradient.iter_mut().zip(live).for_each(|(sum, value)| *sum += value);
        }
        let live = Matrix::new(&live, batch, outputs);
        product_parallel(&mut self.weight.gradient(), live.transposed(), Matrix::new(x, batch, inputs), Mode::Add);
        if let Some(x_gradient) = x_gradient {
            product_parallel(x_gradient, live, Matrix::new(weight, outputs, inputs), Mode::Overwrite);
        }
    }
}

impl CustomOp3 for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        x_layout: &Layout,
        weight: &CpuStorage,
        weight_layout: &Layout,
        bias: &CpuStorage,
        bias_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (x, weight, bias) = (floats(x, x_layout)?, floats(weight, weight_layout)?, floats(bias, bias_layout)?);
        let Self { inputs, outputs, relu, .. } = *self;
        let batch = x.len() / inputs;
        let mut output = vec![0.0; batch * outputs];
        product_parallel(&mut output, Matrix::new(x, batch, inputs), Matrix::new(weight, outputs, inputs).transposed(), Mode::Overwrite);
        for output in output.chunks_exact_mut(outputs) {
            for (value, &bias) in output.iter_mut().zip(bias) {
                let sum = *value + bias;
                *value = if relu && sum <= 0.0 { 0.0 } else { sum };
            }
        }
        Ok((CpuStorage::F32(output), (batch, outputs).into()))
    }

    fn bwd(
        &self,
        x: &Tensor,
        weight: &Tensor,
        _bias: &Tensor,
        result: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let mut x_gradient = x.track_op().then(|| vec![0.0; x.elem_count()]);
        with_floats(x, |x| {
            with_floats(weight, |weight| {
                with_floats(result, |result| {
                    with_floats(gradient, |gradient| {
                        self.backward(x, weight, result, gradient, x_gradient.as_deref_mut());
                        Ok(())
                    })
                })
            })
        })?;
        // The parameters' gradients went where `Parameter` gathers them.
        Ok((x_gradient.map(|values| Tensor::from_vec(values, x.shape(), &Device::Cpu)).transpose()?, None, None))
    }
}
