//! Networks that Inkling cannot build, computed with candle's own ops just to find out whether
//! weights are meant for them: other activations, average pooling, pooling at another place, other
//! padding.

use std::collections::HashMap;

use candle_core::{Device, Result, Tensor};

use super::identify::CLASSES;
use crate::ink::{PIXELS, SIDE};
use crate::nn::ops::{self, Context};
use crate::nn::{Layer, Shape, Step, layers, parameter_specs, walk};
use crate::records::{Reading, TriedActivation};
use crate::run_config::{Activation, Network};

const BATCH: usize = 100;
/// What is added to variances, as in `nn::ops`.
const EPSILON: f64 = 1e-5;

/// The weights of a network, to be computed in any way that a [`Reading`] describes.
pub struct Variants {
    layers: Vec<Layer>,
    weights: HashMap<String, Tensor>,
}

impl Variants {
    /// The weights of this network, in the order of its parameters; `None` for one with layers that
    /// have no variants.
    pub fn new(network: Network, values: &[Vec<f32>]) -> Result<Option<Self>> {
        let layers = layers(network, Activation::default(), CLASSES);
        let have_variants = walk(&layers, Shape::INPUT)
            .flat_map(Step::flattened)
            .all(|step| has_variants(step.layer));
        if !have_variants {
            return Ok(None);
        }
        let named = parameter_specs(network, CLASSES).into_iter().zip(values);
        let weights = named.map(|(spec, values)| {
            Ok((
                spec.name,
                Tensor::from_slice(values, spec.shape, &Device::Cpu)?,
            ))
        });
        Ok(Some(Self {
            layers,
            weights: weights.collect::<Result<_>>()?,
        }))
    }

    /// Whether pooling layers are among them, and whether one is followed by batch normalization.
    pub fn pooling(&self) -> (bool, bool) {
        let pools = |layer: &Layer| matches!(layer, Layer::Conv { pool: true, .. });
        let normalised = self
            .layers
            .windows(2)
            .any(|pair| matches!(pair, [first, Layer::BatchNorm { .. }] if pools(first)));
        (self.layers.iter().any(pools), normalised)
    }

    /// Whether convolutions have neither an activation nor batch normalization after them.
    pub fn has_bare_convolutions(&self) -> bool {
        self.layers.iter().any(|layer| {
            matches!(
                layer,
                Layer::Conv {
                    pool: true,
                    activation: None,
                    bias: true,
                    ..
                }
            )
        })
    }

    /// Whether the image itself is padded by a convolution without batch normalization, as in
    /// `LeNet`.
    pub fn pads_the_image(&self) -> bool {
        self.layers.first().is_some_and(
            |layer| matches!(layer, Layer::Conv { kernel, pool: true, bias: true, .. } if kernel.padding > 0),
        )
    }

    /// The logits of any number of images, 784 bytes each, ten for each; `cancelled` is asked
    /// between batches.
    pub fn all_logits<E: From<candle_core::Error>>(
        &self,
        reading: &Reading,
        images: &[u8],
        mut cancelled: impl FnMut() -> std::result::Result<(), E>,
    ) -> std::result::Result<Vec<f32>, E> {
        let mut logits = Vec::new();
        for batch in images.chunks(BATCH * PIXELS) {
            cancelled()?;
            logits.extend(
                self.logits(reading, batch)?
                    .flatten_all()
                    .and_then(|logits| logits.to_vec1::<f32>())?,
            );
        }
        Ok(logits)
    }

    pub fn logits(&self, reading: &Reading, images: &[u8]) -> Result<Tensor> {
        let pixels: Vec<f32> = images
            .iter()
            .map(|&pixel| f32::from(pixel) / 255.0)
            .collect();
        let x = Tensor::from_vec(pixels, (images.len() / PIXELS, 1, SIDE, SIDE), &Device::Cpu)?;
        let x = x.affine(
            1.0 / f64::from(reading.normalization.std),
            f64::from(-reading.normalization.mean / reading.normalization.std),
        )?;
        Forward {
            weights: &self.weights,
            reading,
            is_image: true,
            pool: false,
        }
        .layers(&self.layers, x)
    }
}

/// Whether a layer can be computed here.
const fn has_variants(layer: &Layer) -> bool {
    matches!(
        layer,
        Layer::Conv { .. }
            | Layer::BatchNorm { .. }
            | Layer::Activation(_)
            | Layer::GlobalAveragePool
            | Layer::Residual { .. }
            | Layer::Flatten
            | Layer::Linear { .. }
            | Layer::Dropout(_)
    )
}

struct Forward<'a> {
    weights: &'a HashMap<String, Tensor>,
    reading: &'a Reading,
    /// True before the first convolution.
    is_image: bool,
    /// True where pooling was put off until after the batch normalization that follows.
    pool: bool,
}

impl Forward<'_> {
    fn layers(&mut self, layers: &[Layer], x: Tensor) -> Result<Tensor> {
        let mut rest = layers;
        let mut x = x;
        while let [layer, following @ ..] = rest {
            x = self.layer(layer, following.first(), x)?;
            rest = following;
        }
        Ok(x)
    }

    fn layer(&mut self, layer: &Layer, next: Option<&Layer>, x: Tensor) -> Result<Tensor> {
        match layer {
            Layer::Conv {
                name,
                kernel,
                pool,
                activation,
                ..
            } => {
                let x = self.convolution(name, kernel.padding, kernel.stride, x)?;
                if !pool {
                    return self.activate(x, activation.is_some());
                }
                let is_normalised = matches!(next, Some(Layer::BatchNorm { .. }));
                if is_normalised && self.reading.pooling_last {
                    self.pool = true;
                    return Ok(x);
                }
                let is_active =
                    activation.is_some() || (self.reading.after_convolutions && !is_normalised);
                if self.reading.pooling_last {
                    return self.pooled(&self.activate(x, is_active)?);
                }
                let pooled = self.pooled(&x)?;
                self.activate(pooled, is_active)
            }
            Layer::BatchNorm {
                name, activation, ..
            } => {
                let x = self.batch_norm(name, &x)?;
                let x = self.activate(x, activation.is_some())?;
                if std::mem::take(&mut self.pool) {
                    self.pooled(&x)
                } else {
                    Ok(x)
                }
            }
            Layer::Activation(_) => self.activate(x, true),
            Layer::GlobalAveragePool => x.mean((2, 3)),
            Layer::Residual {
                body,
                shortcut,
                activation,
            } => {
                let sum = (self.layers(body, x.clone())? + self.layers(shortcut, x)?)?;
                self.activate(sum, activation.is_some())
            }
            Layer::Flatten => x.flatten_from(1),
            Layer::Linear {
                name, activation, ..
            } => {
                let product = x
                    .matmul(&self.weight(name, "weight")?.t()?)?
                    .broadcast_add(self.weight(name, "bias")?)?;
                self.activate(product, activation.is_some())
            }
            Layer::Dropout(_) => Ok(x),
            other => candle_core::bail!("{} has no variants", other.name()),
        }
    }

    fn weight(&self, layer: &str, what: &str) -> Result<&Tensor> {
        self.weights
            .get(&format!("{layer}.{what}"))
            .ok_or_else(|| candle_core::Error::msg(format!("no {layer}.{what}")))
    }

    fn convolution(
        &mut self,
        name: &str,
        padding: usize,
        stride: usize,
        x: Tensor,
    ) -> Result<Tensor> {
        let weight = self.weight(name, "weight")?.clone();
        // Zeros that are added before the background is, so to speak, zero as well.
        let pads_first = std::mem::take(&mut self.is_image) && self.reading.background_padding;
        let background = if pads_first {
            f64::from(-self.reading.normalization.mean / self.reading.normalization.std)
        } else {
            0.0
        };
        let padded = (x - background)?
            .pad_with_zeros(2, padding, padding)?
            .pad_with_zeros(3, padding, padding)?;
        let y = (padded + background)?.conv2d(&weight, 0, stride, 1, 1)?;
        match self.weight(name, "bias") {
            Ok(bias) => y.broadcast_add(&bias.reshape((1, (), 1, 1))?),
            Err(_) => Ok(y),
        }
    }

    fn batch_norm(&self, name: &str, x: &Tensor) -> Result<Tensor> {
        let [weight, bias, mean, variance] = ["weight", "bias", "running_mean", "running_var"]
            .map(|what| self.weight(name, what)?.reshape((1, (), 1, 1)));
        let scale = (weight? / (variance? + EPSILON)?.sqrt()?)?;
        x.broadcast_sub(&mean?)?
            .broadcast_mul(&scale)?
            .broadcast_add(&bias?)
    }

    fn pooled(&self, x: &Tensor) -> Result<Tensor> {
        if self.reading.average_pooling {
            x.avg_pool2d(2)
        } else {
            x.max_pool2d(2)
        }
    }

    fn activate(&self, x: Tensor, is_active: bool) -> Result<Tensor> {
        if !is_active {
            return Ok(x);
        }
        let hard_sigmoid = |x: &Tensor| x.affine(1.0 / 6.0, 0.5)?.clamp(0.0, 1.0);
        match self.reading.activation {
            TriedActivation::Own(own) => ops::activate(&x, own, Context::EVAL),
            TriedActivation::Sigmoid => (x * 0.5)?.tanh()?.affine(0.5, 0.5),
            TriedActivation::Elu => x.elu(1.0),
            TriedActivation::Relu6 => x.clamp(0.0, 6.0),
            TriedActivation::HardTanh => x.clamp(-1.0, 1.0),
            TriedActivation::HardSigmoid => hard_sigmoid(&x),
            TriedActivation::HardSwish => &x * hard_sigmoid(&x)?,
        }
    }
}
