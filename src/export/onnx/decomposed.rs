//! Layers as several older operators, so that programs which lack the newer ones can open the file
//! too: candle-onnx has neither `LayerNormalization` nor `GlobalAveragePool`, and `Gelu` is an
//! operator only since operator set 20.

use super::graph::{Graph, int, ints};
use crate::export::ExportError;

/// What is added to variances, as in `nn::ops`.
const EPSILON: f32 = 1e-5;
/// From here on `ReduceMean` takes its axes as an input.
const AXES_AS_INPUT: u32 = 18;
/// The first operator set with `Gelu`.
pub(super) const GELU: u32 = 20;

impl Graph<'_> {
    /// The mean over these axes, which stay with a length of 1 if `keep` says so.
    pub(super) fn mean(&mut self, name: &str, axes: &[i64], keep: bool) {
        let mut attributes = vec![int("keepdims", i64::from(keep))];
        let mut inputs = Vec::new();
        if self.opset < AXES_AS_INPUT {
            attributes.insert(0, ints("axes", axes));
        } else {
            inputs.push(self.weights.integers(&format!("{name}.axes"), axes));
        }
        self.op("ReduceMean", name, &inputs, attributes);
    }

    /// `(x - mean) / √(variance + ε) · weight + bias` over the last axis; the last operator has the
    /// name of the layer.
    pub(super) fn layer_norm(&mut self, name: &str) -> Result<(), ExportError> {
        let [weight, bias] = [
            self.weights.parameter(&format!("{name}.weight"))?,
            self.weights.parameter(&format!("{name}.bias"))?,
        ];
        let epsilon = self.weights.scalar(&format!("{name}.epsilon"), EPSILON);
        let input = self.value.clone();
        self.mean(&format!("{name}.mean"), &[-1], true);
        let mean = std::mem::replace(&mut self.value, input);
        self.op("Sub", &format!("{name}.center"), &[mean], Vec::new());
        let centered = self.value.clone();
        self.op(
            "Mul",
            &format!("{name}.square"),
            std::slice::from_ref(&centered),
            Vec::new(),
        );
        self.mean(&format!("{name}.variance"), &[-1], true);
        self.op(
            "Add",
            &format!("{name}.add_epsilon"),
            &[epsilon],
            Vec::new(),
        );
        self.op("Sqrt", &format!("{name}.deviation"), &[], Vec::new());
        let deviation = std::mem::replace(&mut self.value, centered);
        self.op(
            "Div",
            &format!("{name}.normalize"),
            &[deviation],
            Vec::new(),
        );
        self.op("Mul", &format!("{name}.scale"), &[weight], Vec::new());
        self.op("Add", name, &[bias], Vec::new());
        Ok(())
    }

    /// The exact form, with the error function: `h + h · erf(x / √2)` with `h = x / 2`. As
    /// `x · (1 + erf(x / √2)) / 2`, `OpenVINO` takes it for one operator, which it moves before max
    /// pooling; and `OpenCV` crashes on it behind a normalisation.
    pub(super) fn gelu(&mut self, name: &str) {
        let sqrt_2 = self
            .weights
            .shared_scalar("gelu.sqrt_2", std::f32::consts::SQRT_2);
        let input = self.value.clone();
        self.op("Div", &format!("{name}.divide"), &[sqrt_2], Vec::new());
        self.op("Erf", &format!("{name}.erf"), &[], Vec::new());
        let erf = std::mem::replace(&mut self.value, input);
        self.halve(name);
        self.add_product(name, erf);
    }

    /// `h + h · tanh(h)` with `h = x / 2`, which is `x · sigmoid(x)`; see [`Self::gelu`].
    pub(super) fn silu(&mut self, name: &str) {
        self.halve(name);
        let half = self.value.clone();
        self.op("Tanh", &format!("{name}.tanh"), &[], Vec::new());
        let tanh = std::mem::replace(&mut self.value, half);
        self.add_product(name, tanh);
    }

    fn halve(&mut self, name: &str) {
        let half = self.weights.shared_scalar("half", 0.5);
        self.op("Mul", &format!("{name}.half"), &[half], Vec::new());
    }

    /// The current value plus its product with this one.
    fn add_product(&mut self, name: &str, factor: String) {
        let value = self.value.clone();
        self.op("Mul", &format!("{name}.multiply"), &[factor], Vec::new());
        self.op("Add", name, &[value], Vec::new());
    }
}
