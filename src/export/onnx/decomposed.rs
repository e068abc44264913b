//! Layers as several older operators, so that programs which lack the newer ones can open the file too: candle-onnx has neither
//! `LayerNormalization` nor `GlobalAveragePool`, and `Gelu` is an operator only since operator set 20.

use super::graph::{Graph, int, ints};
use crate::export::ExportError;

/// What is added to variances, as in `nn::ops`.
const EPSILON: f32 = 1e-5;
/// From here on `ReduceMean` takes its axes as an input.
const AXES_AS_INPUT: u32 = 18;
/// The first operator set with `Gelu`.
const GELU: u32 = 20;

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

    /// `(x - mean) / √(variance + ε) · weight + bias` over the last axis; the last operator has the name of the layer.
    pub(super) fn layer_norm(&mut self, name: &str) -> Result<(), ExportError> {
        let [weight, bias] = [self.weights.parameter(&format!("{name}.weight"))?, self.weights.parameter(&format!("{name}.bias"))?];
        let epsilon = self.weights.scalar(&format!("{name}.epsilon"), EPSILON);
        let input = self.value.clone();
        self.mean(&format!("{name}.mean"), &[-1], true);
        let mean = std::mem::replace(&mut self.value, input);
        self.op("Sub", &format!("{name}.center"), &[mean], Vec::new());
        let centered = self.value.clone();
        self.op("Mul", &format!("{name}.square"), std::slice::from_ref(&centered), Vec::new());
        self.mean(&format!("{name}.variance"), &[-1], true);
        self.op("Add", &format!("{name}.add_epsilon"), &[epsilon], Vec::new());
        self.op("Sqrt", &format!("{name}.deviation"), &[], Vec::new());
        let deviation = std::mem::replace(&mut self.value, centered);
        self.op("Div", &format!("{name}.normalize"), &[deviation], Vec::new());
        self.op("Mul", &format!("{name}.scale"), &[weight], Vec::new());
        self.op("Add", name, &[bias], Vec::new());
        Ok(())
    }

    /// The exact form, with the error function: `x · (1 + erf(x / √2)) / 2`.
    pub(super) fn gelu(&mut self, name: &str) {
        if self.opset >= GELU {
            self.op("Gelu", name, &[], Vec::new());
            return;
        }
        let constants = [("gelu.sqrt_2", std::f32::consts::SQRT_2), ("gelu.one", 1.0), ("gelu.half", 0.5)];
        let [sqrt_2, one, half] = constants.map(|(constant, value)| self.weights.shared_scalar(constant, value));
        let input = self.value.clone();
        self.op("Div", &format!("{name}.divide"), &[sqrt_2], Vec::new());
        self.op("Erf", &format!("{name}.erf"), &[], Vec::new());
        self.op("Add", &format!("{name}.add_one"), &[one], Vec::new());
        self.op("Mul", &format!("{name}.multiply"), &[input], Vec::new());
        self.op("Mul", name, &[half], Vec::new());
    }
}
