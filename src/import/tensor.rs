//! A tensor in a file: its shape, and where its numbers are. They are read only once a network needs
//! them.

use std::rc::Rc;

use half::{bf16, f16};
use safetensors::Dtype;

/// Bytes of a file, or what was unpacked of it.
#[derive(Clone, Debug)]
pub enum Bytes<'a> {
    InFile(&'a [u8]),
    Unpacked(Rc<[u8]>),
}

/// Only the description takes memory of its own.
#[derive(Clone, Debug)]
pub struct Tensor<'a> {
    pub shape: Vec<usize>,
    dtype: Dtype,
    bytes: Bytes<'a>,
    /// The place of the first number, counted in numbers.
    offset: usize,
    /// How its numbers follow one another: how many there are along each axis, the last of which is
    /// the fastest, and the distance between two of them.
    axes: Vec<(usize, usize)>,
    /// What 8-bit integers are multiplied by, and how many of them in a row by the same number.
    scales: Option<(Box<Self>, usize)>,
}

impl<'a> Tensor<'a> {
    /// One whose numbers are all of these bytes, in row-major order; `None` for a type that no
    /// weights have.
    pub fn new(dtype: Dtype, shape: Vec<usize>, bytes: &'a [u8]) -> Option<Self> {
        let axes = row_major(&shape);
        Self::strided(dtype, Bytes::InFile(bytes), 0, shape, axes)
    }

    /// One whose numbers are among these bytes.
    pub fn strided(
        dtype: Dtype,
        bytes: Bytes<'a>,
        offset: usize,
        shape: Vec<usize>,
        axes: Vec<(usize, usize)>,
    ) -> Option<Self> {
        use Dtype::{BF16, F16, F32, F64, I8};
        matches!(dtype, F64 | F32 | F16 | BF16 | I8).then_some(Self {
            shape,
            dtype,
            bytes,
            offset,
            axes,
            scales: None,
        })
    }

    /// Whether it can be a weight: 8-bit integers cannot before they are multiplied by scales.
    pub fn is_weight(&self) -> bool {
        self.dtype != Dtype::I8 || self.scales.is_some()
    }

    /// The same with rows and columns exchanged.
    pub fn transposed(mut self) -> Self {
        self.shape.reverse();
        self.axes.reverse();
        self
    }

    /// The same numbers as a vector, in the order in which they are stored.
    pub fn flattened(self) -> Self {
        let shape = vec![self.shape.iter().product()];
        Self {
            axes: row_major(&shape),
            shape,
            ..self
        }
    }

    /// A matrix whose columns belong to the values of an image of this many channels, the channels
    /// last: the same for an image with its channels first.
    pub fn with_channels_first(mut self, channels: usize) -> Self {
        if let [rows, (columns, stride)] = self.axes[..] {
            self.axes = vec![
                rows,
                (channels, stride),
                (columns / channels, stride * channels),
            ];
        }
        self
    }

    /// The same integers multiplied by these scales along an axis; `None` if they do not fit.
    pub fn dequantized(self, scales: &Self, axis: usize) -> Option<Self> {
        let given: usize = scales.shape.iter().product();
        let (wanted, repeated) = match (axis, &self.shape[..]) {
            _ if given == 1 => (1, 1),
            (0, [rows, ..]) => (*rows, self.axes.first()?.1),
            (1, [_, columns]) => (*columns, 1),
            _ => return None,
        };
        let is_plain = self.axes == row_major(&self.shape)
            && [&self, scales].iter().all(|tensor| tensor.scales.is_none())
            && scales.dtype != Dtype::I8;
        // Only their place is kept: any number of weights may have the same ones.
        (is_plain && given == wanted && given > 0).then(|| Self {
            scales: Some((Box::new(scales.clone()), repeated)),
            ..self
        })
    }

    /// Its numbers in row-major order. There are never more than are stored.
    pub fn values(&self) -> Result<Vec<f32>, String> {
        const TOO_SHORT: &str = "its storage is too short";
        let stored = match &self.bytes {
            Bytes::InFile(bytes) => bytes,
            Bytes::Unpacked(bytes) => &bytes[..],
        };
        let size = self.dtype.bitsize() / 8;
        let mut lengths = self.axes.iter().map(|(length, _)| *length);
        let count = lengths
            .try_fold(1_usize, usize::checked_mul)
            .filter(|count| *count <= stored.len() / size)
            .ok_or(TOO_SHORT)?;
        let scales = match &self.scales {
            Some((scales, repeated)) => Some((scales.values()?, *repeated)),
            None => None,
        };
        let (mut bytes, mut factors) = (Vec::with_capacity(count * size), Vec::new());
        for index in 0..count {
            let (mut rest, mut place) = (index, self.offset);
            for &(length, stride) in self.axes.iter().rev() {
                place = (rest % length)
                    .checked_mul(stride)
                    .and_then(|step| place.checked_add(step))
                    .ok_or("its strides are invalid")?;
                rest /= length;
            }
            let number = place
                .checked_mul(size)
                .and_then(|start| stored.get(start..start.checked_add(size)?));
            bytes.extend_from_slice(number.ok_or(TOO_SHORT)?);
            if let Some((scales, repeated)) = &scales {
                factors.push(scales[place / repeated % scales.len()]);
            }
        }
        let mut values = floats(self.dtype, &bytes);
        values
            .iter_mut()
            .zip(factors)
            .for_each(|(value, factor)| *value *= factor);
        Ok(values)
    }
}

/// The lengths and distances of a tensor of this shape whose last axis is the fastest.
fn row_major(shape: &[usize]) -> Vec<(usize, usize)> {
    let mut axes: Vec<_> = shape
        .iter()
        .rev()
        .scan(1_usize, |distance, &length| {
            let stride = *distance;
            *distance = stride.saturating_mul(length);
            Some((length, stride))
        })
        .collect();
    axes.reverse();
    axes
}

/// These little-endian numbers as f32.
fn floats(dtype: Dtype, bytes: &[u8]) -> Vec<f32> {
    fn each<const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> f32) -> Vec<f32> {
        bytes.as_chunks().0.iter().map(|it| number(*it)).collect()
    }
    match dtype {
        Dtype::I8 => each(bytes, |bytes| i8::from_le_bytes(bytes).into()),
        Dtype::F16 => each(bytes, |bytes| f16::from_le_bytes(bytes).to_f32()),
        Dtype::BF16 => each(bytes, |bytes| bf16::from_le_bytes(bytes).to_f32()),
        Dtype::F64 => each(bytes, |bytes| f64::from_le_bytes(bytes) as f32),
        _ => each(bytes, f32::from_le_bytes),
    }
}
