//! Every optimiser with tensors of candle's own ops, against the same formula over slices on the CPU.

use candle_core::{Device, Tensor};
use inkling::math::random::Random;
use inkling::nn::backend::REFERENCE;
use inkling::nn::{DeviceContext, Parameter, Role};
use inkling::optim::{Optimizer, OptimizerConfig, OptimizerState, WeightEma};
use inkling::run_config::OptimizerKind;

/// Longer than the chunks that threads share.
const LEN: usize = 20_000;

/// Weights, state and average after three steps over a weight, a bias and a buffer, with clipping; then the same after two more from the
/// state that was read.
fn stepped(config: OptimizerConfig, context: &DeviceContext) -> Vec<(Vec<Vec<f32>>, OptimizerState, Option<WeightEma>)> {
    let mut random = Random::new(1);
    let mut parameter = |shape: &[usize], role| {
        let values = (0..shape.iter().product()).map(|_| random.normal()).collect();
        Parameter::new("p", values, shape).unwrap().with_role(role).to_device(context).unwrap()
    };
    let parameters = [parameter(&[2, LEN / 2], Role::Weight), parameter(&[7], Role::Bias), parameter(&[3], Role::Buffer)];
    let mut optimizer = Optimizer::new(config, &parameters, context, Some(0.9)).unwrap();
    let mut seen = Vec::new();
    for steps in [3, 2] {
        for _ in 0..steps {
            for parameter in &parameters[..2] {
                let grad: Vec<f32> = (0..parameter.len()).map(|_| random.range(0.5, 1.5)).collect();
                parameter.set_grad(Some(Tensor::from_vec(grad, parameter.dims(), &context.device).unwrap()));
            }
            assert!(optimizer.step(0.01, 0.5, Some(20.0)).unwrap().read().unwrap().is_finite());
        }
        let (state, ema) = optimizer.state().unwrap();
        assert!(state.fits(&config, &parameters));
        seen.push((parameters.iter().map(|parameter| parameter.values().unwrap()).collect(), state.clone(), ema.clone()));
        optimizer.load_state(state, ema).unwrap();
    }
    seen
}

#[test]
fn tensors_and_slices_follow_the_same_formula() {
    for &kind in OptimizerKind::ALL {
        for nesterov in [true, false] {
            let config = OptimizerConfig { kind, weight_decay: 0.1, momentum: 0.8, nesterov, images: 100, seed: 3 };
            let cpu = stepped(config, &DeviceContext::CPU);
            let reference = stepped(config, &DeviceContext::new(Device::Cpu, REFERENCE));
            for ((cpu, _, cpu_ema), (reference, _, reference_ema)) in cpu.iter().zip(&reference) {
                let cpu = cpu.iter().chain(cpu_ema.as_ref().unwrap().values()).flatten();
                let reference = reference.iter().chain(reference_ema.as_ref().unwrap().values()).flatten();
                for (cpu, reference) in cpu.zip(reference) {
                    assert!((cpu - reference).abs() < 1e-5 * cpu.abs().max(1.0), "{kind}: {reference} and not {cpu}");
                }
            }
        }
    }
}
