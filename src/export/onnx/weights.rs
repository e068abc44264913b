//! How weights are stored in an ONNX file: as f32, as f16 with a cast, or as 8-bit integers with
//! scales. Computation is always in f32.

use super::graph::int;
use crate::export::{ExportError, little_endian};
use crate::nn::onnx::proto::{AttributeProto, NodeProto, TensorProto, data_type};
use crate::nn::{DeviceContext, Net, Parameter, Role};
use crate::records::{TensorFormat, TensorInfo};
use crate::run_config::WeightFormat;

/// The weights and constants of a graph.
pub struct Weights<'a> {
    net: &'a Net,
    format: WeightFormat,
    quantize: bool,
    /// In the order of their first use.
    pub initializers: Vec<TensorProto>,
    /// The nodes that convert them to f32; these come first in the graph.
    pub conversions: Vec<NodeProto>,
    /// Name, shape and format of each weight, for display.
    pub infos: Vec<TensorInfo>,
}

impl<'a> Weights<'a> {
    /// The weights of `net` in this format; with `quantize`, matrices and kernels as 8-bit integers
    /// instead.
    pub const fn new(net: &'a Net, format: WeightFormat, quantize: bool) -> Self {
        Self {
            net,
            format,
            quantize,
            initializers: Vec::new(),
            conversions: Vec::new(),
            infos: Vec::new(),
        }
    }

    /// Adds a parameter and returns the name of its f32 value, in `PyTorch`'s layout.
    pub fn parameter(&mut self, name: &str) -> Result<String, ExportError> {
        self.add(name, false)
    }

    /// The same for a transposed matrix: `[in, out]`.
    pub fn transposed(&mut self, name: &str) -> Result<String, ExportError> {
        self.add(name, true)
    }

    fn add(&mut self, name: &str, transpose: bool) -> Result<String, ExportError> {
        let parameter = self.net.parameter(name)?;
        let shape = parameter.dims().to_vec();
        let values = parameter.values()?;
        let mut dims = shape.clone();
        if transpose {
            dims.reverse();
        }
        if self.quantize && is_quantized(parameter) {
            let channels = shape.first().copied().unwrap_or(1);
            let Quantized { values, scales } = Quantized::of(&values, channels);
            let bytes = in_order(values, &shape, transpose);
            let bytes = bytes.into_iter().map(i8::cast_unsigned).collect();
            let [stored, scale] = [format!("{name}_int8"), format!("{name}_scale")];
            self.list(name, &dims, TensorFormat::Int8);
            self.list(&scale, &[scales.len()], TensorFormat::F32);
            self.constant(&stored, &dims, data_type::INT8, bytes);
            let bytes = little_endian(&scales, WeightFormat::F32);
            self.constant(&scale, &[scales.len()], data_type::FLOAT, bytes);
            let inputs = [stored, scale];
            let axis = int("axis", i64::from(transpose));
            self.convert("DequantizeLinear", inputs, name, "dequantize", axis);
            return Ok(name.to_owned());
        }
        let bytes = little_endian(&in_order(values, &shape, transpose), self.format);
        self.list(name, &dims, self.format.into());
        match self.format {
            WeightFormat::F32 => self.constant(name, &dims, data_type::FLOAT, bytes),
            WeightFormat::F16 => {
                let stored = format!("{name}_f16");
                self.constant(&stored, &dims, data_type::FLOAT16, bytes);
                let to = int("to", i64::from(data_type::FLOAT));
                self.convert("Cast", [stored], name, "widen", to);
            }
        }
        Ok(name.to_owned())
    }

    /// Adds a one-dimensional integer constant, such as a shape, and returns its name.
    pub fn integers(&mut self, name: &str, values: &[i64]) -> String {
        self.constant(
            name,
            &[values.len()],
            data_type::INT64,
            values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect(),
        );
        name.to_owned()
    }

    /// Adds a scalar constant and returns its name.
    pub fn scalar(&mut self, name: &str, value: f32) -> String {
        self.constant(name, &[], data_type::FLOAT, value.to_le_bytes().to_vec());
        name.to_owned()
    }

    /// The same for a scalar that several operators take: it is added once.
    pub fn shared_scalar(&mut self, name: &str, value: f32) -> String {
        if self.initializers.iter().any(|tensor| tensor.name == name) {
            name.to_owned()
        } else {
            self.scalar(name, value)
        }
    }

    fn constant(&mut self, name: &str, dims: &[usize], data_type: i32, raw_data: Vec<u8>) {
        let dims = dims.iter().map(|&length| length as i64).collect();
        self.initializers.push(TensorProto {
            dims,
            data_type,
            name: name.to_owned(),
            raw_data,
        });
    }

    fn convert<const N: usize>(
        &mut self,
        op_type: &str,
        inputs: [String; N],
        output: &str,
        how: &str,
        attribute: AttributeProto,
    ) {
        self.conversions.push(NodeProto {
            input: inputs.into(),
            output: vec![output.to_owned()],
            name: format!("{output}.{how}"),
            op_type: op_type.to_owned(),
            attribute: vec![attribute],
        });
    }

    fn list(&mut self, name: &str, shape: &[usize], format: TensorFormat) {
        self.infos.push(TensorInfo {
            name: name.to_owned(),
            shape: shape.iter().map(|&length| length as u64).collect(),
            format,
        });
    }
}

/// The numbers of a row-major matrix of this shape, or of its transpose.
fn in_order<T: Copy>(values: Vec<T>, shape: &[usize], transpose: bool) -> Vec<T> {
    if !transpose {
        return values;
    }
    let columns = shape.get(1).copied().unwrap_or(1).max(1);
    (0..columns)
        .flat_map(|column| values.iter().skip(column).step_by(columns).copied())
        .collect()
}

/// The largest integer used; -128 is left out to keep the range symmetric.
const MAX_INTEGER: f32 = 127.0;

/// A tensor as 8-bit integers, symmetric with one scale per output channel (Jacob et al. 2018;
/// Nagel et al. 2021).
struct Quantized {
    /// From -127 to 127, in the order of the original values.
    values: Vec<i8>,
    /// One per channel.
    scales: Vec<f32>,
}

/// Whether a parameter is quantized: only weights are; biases and normalization parameters are few
/// and stay in floating point.
fn is_quantized(parameter: &Parameter) -> bool {
    parameter.role() == Role::Weight
}

impl Quantized {
    /// Rounds to the nearest integers. `values` holds `channels` channels of equal size, one after
    /// the other.
    fn of(values: &[f32], channels: usize) -> Self {
        let size = values.len() / channels.max(1);
        let scale = |channel: &[f32]| {
            let largest = channel
                .iter()
                .fold(0.0_f32, |largest, value| largest.max(value.abs()));
            // For a channel of zeros any scale but zero will do.
            if largest > 0.0 {
                largest / MAX_INTEGER
            } else {
                1.0
            }
        };
        let scales: Vec<f32> = values.chunks(size.max(1)).map(scale).collect();
        let round = |(channel, scale): (&[f32], &f32)| -> Vec<i8> {
            channel
                .iter()
                .map(|value| (value / scale).round().clamp(-MAX_INTEGER, MAX_INTEGER) as i8)
                .collect()
        };
        Self {
            values: values
                .chunks(size.max(1))
                .zip(&scales)
                .flat_map(round)
                .collect(),
            scales,
        }
    }

    /// The floating-point values that the integers stand for.
    fn dequantized(&self) -> Vec<f32> {
        let size = self.values.len() / self.scales.len().max(1);
        let widen = |(channel, scale): (&[i8], &f32)| -> Vec<f32> {
            channel
                .iter()
                .map(|&value| f32::from(value) * scale)
                .collect()
        };
        self.values
            .chunks(size.max(1))
            .zip(&self.scales)
            .flat_map(widen)
            .collect()
    }
}

/// A copy of the network with quantized and dequantized weights, on the CPU: what its accuracy is
/// after quantization.
pub fn quantized(net: &Net) -> Result<Net, ExportError> {
    let copy = net.to_device(&DeviceContext::CPU)?;
    let weights = copy.parameters().iter().map(|parameter| {
        let values = parameter.values()?;
        let channels = parameter.tensor().dims().first().copied().unwrap_or(1);
        Ok(if is_quantized(parameter) {
            Quantized::of(&values, channels).dequantized()
        } else {
            values
        })
    });
    copy.set_weights(&weights.collect::<candle_core::Result<Vec<_>>>()?)?;
    Ok(copy)
}
