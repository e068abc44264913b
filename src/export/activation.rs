//! Each activation in the languages of the exports.

use super::onnx::{Graph, float};
use crate::run_config::Activation;

/// The slope of a leaky `ReLU` below zero, as in `nn::ops`.
const LEAK: f32 = 0.01;
/// The first ONNX operator set with `Gelu`.
const GELU_OPSET: u32 = 20;

/// The `PyTorch` expression of an expression's activation.
pub fn pytorch(x: &str, activation: Option<Activation>) -> String {
    match activation {
        None => x.to_owned(),
        Some(Activation::Relu) => format!("F.relu({x})"),
        Some(Activation::LeakyRelu) => format!("F.leaky_relu({x}, {LEAK})"),
        Some(Activation::Gelu) => format!("F.gelu({x})"),
        Some(Activation::Silu) => format!("F.silu({x})"),
        Some(Activation::Tanh) => format!("torch.tanh({x})"),
    }
}

/// The candle expression of the activation of `x`, which may fail.
pub fn candle(activation: Activation) -> String {
    match activation {
        Activation::Relu => "x.relu()".to_owned(),
        Activation::LeakyRelu => format!("ops::leaky_relu(&x, {LEAK})"),
        Activation::Gelu => "x.gelu_erf()".to_owned(),
        Activation::Silu => "x.silu()".to_owned(),
        Activation::Tanh => "x.tanh()".to_owned(),
    }
}

impl Graph<'_> {
    pub(super) fn activate(&mut self, layer: &str, activation: Option<Activation>) {
        let Some(activation) = activation else { return };
        let name = format!("{layer}.{activation}");
        match activation {
            Activation::Relu => self.op("Relu", &name, &[], []),
            Activation::LeakyRelu => self.op("LeakyRelu", &name, &[], [float("alpha", LEAK)]),
            Activation::Gelu if self.opset >= GELU_OPSET => self.op("Gelu", &name, &[], []),
            Activation::Gelu => self.gelu(&name),
            Activation::Silu => {
                let x = self.value.clone();
                self.op("Sigmoid", &format!("{layer}.sigmoid"), &[], []);
                self.op("Mul", &name, &[&x], []);
            }
            Activation::Tanh => self.op("Tanh", &name, &[], []),
        }
    }

    /// The same behind max pooling. `OpenVINO` (2026.4) moves GELU and `SiLU` before it, which
    /// changes the result: unlike the others they fall before they rise. It does not know them in
    /// several operators.
    pub(super) fn activate_pooled(&mut self, layer: &str, activation: Option<Activation>) {
        match activation {
            Some(Activation::Gelu) => self.gelu(&format!("{layer}.{}", Activation::Gelu)),
            Some(Activation::Silu) => self.silu(&format!("{layer}.{}", Activation::Silu)),
            _ => self.activate(layer, activation),
        }
    }

    /// The exact form, with the error function: `h + h · erf(x / √2)` with `h = x / 2`. As
    /// `x · (1 + erf(x / √2)) / 2`, `OpenVINO` takes it for one operator, which it moves before max
    /// pooling; and `OpenCV` crashes on it behind a normalization.
    fn gelu(&mut self, name: &str) {
        let sqrt_2 = self
            .weights
            .shared_scalar("gelu.sqrt_2", std::f32::consts::SQRT_2);
        let input = self.value.clone();
        self.op("Div", &format!("{name}.divide"), &[&sqrt_2], []);
        self.op("Erf", &format!("{name}.erf"), &[], []);
        let erf = std::mem::replace(&mut self.value, input);
        self.halve(name);
        self.add_product(name, &erf);
    }

    /// `h + h · tanh(h)` with `h = x / 2`, which is `x · sigmoid(x)`; see [`Self::gelu`].
    fn silu(&mut self, name: &str) {
        self.halve(name);
        let half = self.value.clone();
        self.op("Tanh", &format!("{name}.tanh"), &[], []);
        let tanh = std::mem::replace(&mut self.value, half);
        self.add_product(name, &tanh);
    }

    fn halve(&mut self, name: &str) {
        let half = self.weights.shared_scalar("half", 0.5);
        self.op("Mul", &format!("{name}.half"), &[&half], []);
    }

    /// The current value plus its product with this one.
    fn add_product(&mut self, name: &str, factor: &str) {
        let value = self.value.clone();
        self.op("Mul", &format!("{name}.multiply"), &[factor], []);
        self.op("Add", name, &[&value], []);
    }
}
