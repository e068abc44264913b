//! Every optimizer on other devices, against its formula over slices on the CPU: the same formula
//! over tensors, and CUDA's fused kernel, which repeats some of them in C.

use candle_core::{Device, Tensor};
use inkling::device::open_device;
use inkling::math::random::Random;
use inkling::nn::backend::COMPOSED;
use inkling::nn::{DeviceContext, Parameter, Role};
use inkling::optim::{Optimizer, OptimizerConfig, OptimizerState, WeightEma};
use inkling::run_config::{DeviceChoice, OptimizerKind};

/// Longer than the chunks that threads share.
const LEN: usize = 20_000;

/// Weights, state and average after three steps over a weight, a bias and a buffer, with clipping;
/// then the same after two more from the state that was read.
fn stepped(
    config: OptimizerConfig,
    context: &DeviceContext,
) -> Vec<(Vec<Vec<f32>>, OptimizerState, Option<WeightEma>)> {
    let mut random = Random::new(1);
    let mut parameter = |shape: &[usize], role| {
        let values = (0..shape.iter().product())
            .map(|_| random.normal())
            .collect();
        Parameter::new("p", values, shape)
            .unwrap()
            .with_role(role)
            .to_device(context)
            .unwrap()
    };
    let parameters = [
        parameter(&[2, LEN / 2], Role::Weight),
        parameter(&[7], Role::Bias),
        parameter(&[3], Role::Buffer),
    ];
    let mut optimizer = Optimizer::new(config, &parameters, context, Some(0.9)).unwrap();
    let mut seen = Vec::new();
    for steps in [3, 2] {
        for _ in 0..steps {
            for parameter in &parameters[..2] {
                let grad: Vec<f32> = (0..parameter.len())
                    .map(|_| random.range(0.5, 1.5))
                    .collect();
                parameter.set_grad(Some(
                    Tensor::from_vec(grad, parameter.dims(), &context.device).unwrap(),
                ));
            }
            assert!(
                optimizer
                    .step(0.01, 0.5, Some(20.0))
                    .unwrap()
                    .read()
                    .unwrap()
                    .is_finite()
            );
        }
        let (state, ema) = optimizer.state().unwrap();
        assert!(state.fits(&config, &parameters));
        seen.push((
            parameters
                .iter()
                .map(|parameter| parameter.values().unwrap())
                .collect(),
            state.clone(),
            ema.clone(),
        ));
        optimizer.load_state(state, ema).unwrap();
    }
    seen
}

/// The reference backend, and an NVIDIA GPU where this build and machine have one.
fn devices() -> Vec<DeviceContext> {
    let cuda = open_device(DeviceChoice::Cuda).ok().map(DeviceContext::of);
    std::iter::once(DeviceContext::new(Device::Cpu, COMPOSED))
        .chain(cuda)
        .collect()
}

#[test]
fn all_devices_follow_the_same_formula() {
    let devices = devices();
    for &kind in OptimizerKind::ALL {
        for nesterov in [true, false] {
            let config = OptimizerConfig {
                kind,
                weight_decay: 0.1,
                momentum: 0.8,
                nesterov,
                images: 100,
                seed: 3,
            };
            let cpu = stepped(config, &DeviceContext::CPU);
            for context in &devices {
                let device = stepped(config, context);
                for ((cpu, _, cpu_ema), (device, _, device_ema)) in cpu.iter().zip(&device) {
                    let cpu = cpu
                        .iter()
                        .chain(cpu_ema.as_ref().unwrap().values())
                        .flatten();
                    let device = device
                        .iter()
                        .chain(device_ema.as_ref().unwrap().values())
                        .flatten();
                    for (cpu, device) in cpu.zip(device) {
                        assert!(
                            (cpu - device).abs() < 1e-5 * cpu.abs().max(1.0),
                            "{kind} on {context:?}: {device} and not {cpu}"
                        );
                    }
                }
            }
        }
    }
}
