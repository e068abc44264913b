//! How much memory and time the operators of an ONNX file may take for an image: known before each
//! of them is computed.

use std::collections::HashMap;

use super::operators::Operator;

/// The most numbers that all operators may give for one image: 128 MiB of them.
const MAX_VALUES: usize = 32 << 20;
/// The most dimensions of a value.
const MAX_DIMENSIONS: usize = 16;
/// The most multiplications for one image: some seconds of them.
const MAX_MULTIPLICATIONS: usize = 4 << 30;

/// The memory and time left that a network may take for an image.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    values: usize,
    multiplications: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            values: MAX_VALUES,
            multiplications: MAX_MULTIPLICATIONS,
        }
    }
}

impl Budget {
    /// The multiplications that were taken from it.
    pub const fn multiplications(&self) -> usize {
        MAX_MULTIPLICATIONS - self.multiplications
    }

    /// Takes from it what this operator needs for inputs of these shapes, whose integers `integers`
    /// gets; an error if that is too much.
    pub fn take(
        &mut self,
        operator: &Operator<'_>,
        shapes: &[Option<Vec<usize>>],
        integers: impl Fn(usize) -> Option<Vec<i32>>,
    ) -> Result<(), String> {
        let unknown = || {
            format!(
                "the input shapes of its operator {} are unknown",
                operator.op_type
            )
        };
        if shapes
            .iter()
            .flatten()
            .any(|shape| shape.len() > MAX_DIMENSIONS)
        {
            return Err(format!(
                "its operator {} has an input with more than {MAX_DIMENSIONS} dimensions",
                operator.op_type
            ));
        }
        let (values, multiplications) = operator.cost(shapes, integers).ok_or_else(unknown)?;
        let left = self
            .values
            .checked_sub(values)
            .zip(self.multiplications.checked_sub(multiplications));
        let (values, multiplications) = left.ok_or_else(|| {
            format!(
                "its operator {} takes more memory or time than a network for small images needs",
                operator.op_type
            )
        })?;
        *self = Self {
            values,
            multiplications,
        };
        Ok(())
    }
}

impl Operator<'_> {
    /// At most how many numbers it gives, and the multiplications for all of them, from the shapes
    /// of its inputs; `None` if they do not tell.
    fn cost(
        &self,
        shapes: &[Option<Vec<usize>>],
        integers: impl Fn(usize) -> Option<Vec<i32>>,
    ) -> Option<(usize, usize)> {
        let shape = |index: usize| shapes.get(index)?.as_deref();
        let size = |index: usize| Some(product(shape(index)?));
        // Negative ones take away, or are refused.
        let lengths = |index: usize| -> Option<Vec<usize>> {
            // Padding has two for each dimension.
            let lengths = integers(index).filter(|it| it.len() <= 2 * MAX_DIMENSIONS)?;
            Some(
                lengths
                    .into_iter()
                    .map(|it| usize::try_from(it).unwrap_or(0))
                    .collect(),
            )
        };
        let same = |outputs: usize| (outputs, outputs);
        Some(match self.op_type {
            "Shape" => (shape(0)?.len(), 0),
            "Unsqueeze" => (size(0)?, 0),
            "MaxPool" | "AveragePool" => {
                let kernel = self
                    .integers("kernel_shape")
                    .iter()
                    .map(|&length| usize::try_from(length).unwrap_or(usize::MAX));
                let outputs = self.window_outputs(shape(0)?, product(shape(0)?.get(..2)?))?;
                (
                    outputs,
                    outputs.saturating_mul(kernel.fold(1, usize::saturating_mul)),
                )
            }
            "ConstantOfShape" => same(product(&lengths(0)?)),
            "Expand" => same(broadcast([shape(0)?, &lengths(1)?])),
            "Tile" => same(size(0)?.saturating_mul(product(&lengths(1)?))),
            "Pad" => {
                let before_and_after = lengths(1)?.into_iter().fold(0, usize::saturating_add);
                let padded = shape(0)?
                    .iter()
                    .map(|it| it.saturating_add(before_and_after));
                same(padded.fold(1, usize::saturating_mul))
            }
            "LSTM" | "GRU" => {
                let (&[steps, images, _], &[directions, gates, inputs]) = (shape(0)?, shape(1)?)
                else {
                    return None;
                };
                let recurrent = *shape(2)?.last()?;
                let computed = product(&[steps.saturating_add(2), images, directions, gates]);
                (
                    computed,
                    computed.saturating_mul(inputs.saturating_add(recurrent)),
                )
            }
            "Conv" | "ConvInteger" => {
                let weight = shape(1)?;
                let outputs = self.window_outputs(shape(0)?, *weight.first()?)?;
                (outputs, outputs.saturating_mul(product(weight.get(1..)?)))
            }
            "Gather" => {
                let gathered = size(0)?.saturating_mul(size(1)?.max(1));
                (gathered, gathered)
            }
            "Concat" => {
                let all = (0..self.inputs.len())
                    .try_fold(0_usize, |sum, index| Some(sum.saturating_add(size(index)?)))?;
                (all, all)
            }
            "Gemm" => {
                let (&[a, b], &[c, d]) = (shape(0)?, shape(1)?) else {
                    return None;
                };
                let (rows, inner) = if self.integers("transA") == [1] {
                    (b, a)
                } else {
                    (a, b)
                };
                let columns = if self.integers("transB") == [1] { c } else { d };
                let outputs = rows.saturating_mul(columns);
                (outputs, outputs.saturating_mul(inner))
            }
            "MatMul" | "MatMulInteger" => {
                let ([first @ .., rows, inner], [second @ .., _, columns]) = (shape(0)?, shape(1)?)
                else {
                    return None;
                };
                let outputs = broadcast([first, second])
                    .saturating_mul(*rows)
                    .saturating_mul(*columns);
                (outputs, outputs.saturating_mul(*inner))
            }
            "Einsum" => {
                // Each letter is an axis. Its products may all be computed before they are added.
                let mut axes = HashMap::new();
                let inputs = self.equation.split("->").next()?;
                for (index, letters) in inputs.split(',').enumerate() {
                    let (letters, shape) = (letters.trim().as_bytes(), shape(index)?);
                    if letters.len() != shape.len() || !letters.iter().all(u8::is_ascii_alphabetic)
                    {
                        return None;
                    }
                    for (letter, &length) in letters.iter().zip(shape) {
                        let known = axes.entry(letter).or_insert(length);
                        *known = length.max(*known);
                    }
                }
                same(product(&axes.into_values().collect::<Vec<_>>()))
            }
            _ if self.broadcasts() => {
                let shapes = (0..self.inputs.len())
                    .map(shape)
                    .collect::<Option<Vec<_>>>()?;
                let inputs = shapes.len();
                let outputs = broadcast(shapes);
                (outputs, outputs.saturating_mul(inputs))
            }
            _ => (size(0)?, size(0)?),
        })
    }

    /// At most how many numbers come of an input of this shape if a window is moved over it,
    /// with this many channels in all images.
    fn window_outputs(&self, input: &[usize], channels: usize) -> Option<usize> {
        let places = input.get(2..)?;
        let number = |name: &str, index: usize| {
            self.integers(name)
                .get(index)
                .map(|&number| usize::try_from(number).unwrap_or(usize::MAX))
        };
        let mut outputs = product(input.get(..1)?).saturating_mul(channels);
        for (axis, &length) in places.iter().enumerate() {
            let padding =
                [axis, axis + places.len()].map(|index| number("pads", index).unwrap_or(0));
            // Padding never makes more places than there are; one more comes of rounding
            // up.
            let padded = if self.has_auto_padding {
                length
            } else {
                length.saturating_add(padding[0]).saturating_add(padding[1])
            };
            let stride = number("strides", axis).unwrap_or(1).max(1);
            outputs = outputs.saturating_mul((padded / stride).saturating_add(1));
        }
        Some(outputs)
    }
}

/// Lengths of 0 count as 1: a reduction makes numbers of an axis without any.
fn product(lengths: &[usize]) -> usize {
    lengths.iter().fold(1_usize, |product, length| {
        product.saturating_mul((*length).max(1))
    })
}

/// The size of what these shapes are broadcast to.
fn broadcast<'s>(shapes: impl IntoIterator<Item = &'s [usize]>) -> usize {
    let mut lengths: Vec<usize> = Vec::new();
    for shape in shapes {
        lengths.resize(lengths.len().max(shape.len()), 1);
        // The last dimensions are aligned.
        lengths
            .iter_mut()
            .zip(shape.iter().rev())
            .for_each(|(length, &other)| *length = (*length).max(other));
    }
    product(&lengths)
}
