//! Owns a convolution over a batch, forward and backward: which image goes to which thread, and in which order sums are taken.
//! Must not know tensors.

use rayon::prelude::*;

use super::convolution::{Convolution, Operands, Outputs};
use super::fused_pool::{MaxPool, Unpool};
use super::microkernels::accumulate::Term;
use super::microkernels::{Buffer, Scratch, bf16};
use super::precision::{round, rounded};
use super::vectorized;
use crate::run_config::{DeviceChoice, Precision};

/// Images whose gradients of the weights are summed by one task. Fixed, so that the sums are the same for any number of threads.
const GROUP: usize = 8;
/// Images a task takes at most: rayon would give each thread but two, and one that is held up would keep all others waiting.
const TASK: usize = 4;

/// A convolution and what is fused with it, over a batch of pictures.
#[derive(Clone, Copy, Debug)]
pub struct Convolve {
    /// Its sizes.
    pub convolution: Convolution,
    /// Whether 2x2 max-pooling with stride 2 follows.
    pub pool: bool,
    /// Whether a `ReLU` follows.
    pub relu: bool,
    /// What the operands of its products are rounded to.
    pub precision: Precision,
}

/// What the gradients are computed from.
#[derive(Clone, Copy)]
pub struct Saved<'a> {
    /// The pictures.
    pub x: &'a [f32],
    /// The weight, in `PyTorch`'s layout.
    pub weight: &'a [f32],
    /// The output of `forward`.
    pub output: &'a [f32],
    /// Which of its four pixels each maximum was; empty without pooling.
    pub argmax: &'a [u8],
    /// The gradient of the result.
    pub gradient: &'a [f32],
}

/// Where the gradients of a convolution's parameters are gathered.
pub struct ParameterGradients<'a> {
    /// The weight's, added to.
    pub weight: &'a mut [f32],
    /// The bias's, added to; `None` without a bias.
    pub bias: Option<&'a mut [f32]>,
}

/// What every image's forward pass shares.
struct Packed<'a> {
    panels: &'a [f32],
    /// The panels as pairs, where the products are the processor's own bf16 ones.
    pairs: Option<&'a [u32]>,
    bias: &'a [f32],
    offsets: &'a [u32],
}

impl Convolve {
    /// Rows and columns of one image's result.
    pub const fn output_size(&self) -> (usize, usize) {
        let (height, width) = (self.convolution.out_height(), self.convolution.out_width());
        if self.pool { (height / 2, width / 2) } else { (height, width) }
    }

    /// Numbers in one image's result.
    pub const fn output_len(&self) -> usize {
        let (height, width) = self.output_size();
        height * width * self.convolution.outputs
    }

    /// Writes the result of every picture and, with pooling, where each maximum was.
    pub fn forward(&self, x: &[f32], weight: &[f32], bias: Option<&[f32]>, result: &mut [f32], argmax: &mut [u8]) {
        let convolution = self.convolution;
        let panels = convolution.pack_panels(weight, self.precision);
        let pairs = convolution.takes_pairs(self.precision).then(|| convolution.pair_panels(&panels));
        let mut padded_bias = vec![0.0; convolution.padded_outputs()];
        if let Some(bias) = bias {
            padded_bias[..bias.len()].copy_from_slice(bias);
        }
        let offsets = convolution.offsets();
        let image = |x: &[f32], result: &mut [f32], argmax: &mut [u8]| {
            let packed = Packed { panels: &panels, pairs: pairs.as_deref(), bias: &padded_bias, offsets: &offsets };
            self.forward_image(x, &packed, result, argmax);
        };
        if result.len() == self.output_len() {
            // One drawing is read sooner than another thread is woken.
            image(x, result, argmax);
        } else if self.pool {
            x.par_chunks(convolution.picture_len())
                .zip(result.par_chunks_mut(self.output_len()))
                .zip(argmax.par_chunks_mut(self.output_len()))
                .with_max_len(TASK)
                .for_each(|((x, result), argmax)| image(x, result, argmax));
        } else {
            x.par_chunks(convolution.picture_len())
                .zip(result.par_chunks_mut(self.output_len()))
                .with_max_len(TASK)
                .for_each(|(x, result)| image(x, result, &mut []));
        }
    }

    fn forward_image(&self, x: &[f32], packed: &Packed<'_>, result: &mut [f32], argmax: &mut [u8]) {
        let Packed { panels, pairs, bias, offsets } = *packed;
        let Self { convolution, pool, relu, precision } = *self;
        let (step, channels, width) = (if pool { 2 } else { 1 }, convolution.outputs, convolution.out_width());
        let (_, result_width) = self.output_size();
        let height = convolution.out_height() / step * step;
        let strip = convolution.strip(step).min(height);
        let mut padded = Scratch::new(convolution.padded_len());
        convolution.pad(x, &mut padded, precision);
        let mut halves = Scratch::new(if pairs.is_some() { padded.len() } else { 0 });
        vectorized!(halves.iter_mut().zip(&*padded).for_each(|(half, &value)| *half = bf16::bits_of(value)));
        let operands = match pairs {
            Some(panels) => Operands::Pairs { padded: &halves, panels },
            None => Operands::Single { padded: &padded, panels },
        };
        if !pool && !relu && channels == bias.len() {
            return convolution.forward(operands, bias, offsets, result);
        }
        let mut rows = Scratch::new(strip * width * bias.len());
        for start in (0..height).step_by(strip.max(1)) {
            let strip = start..(start + strip).min(height);
            let part = start / step * result_width * channels..strip.end / step * result_width * channels;
            let rows = &mut rows[..strip.len() * width * bias.len()];
            convolution.forward(operands, bias, &offsets[strip.start * width..strip.end * width], rows);
            let output = &mut result[part.clone()];
            if pool {
                MaxPool { rows, width, stride: bias.len(), channels, relu, output, argmax: &mut argmax[part] }.run();
            } else {
                vectorized!(for (output, pixel) in output.chunks_exact_mut(channels).zip(rows.chunks_exact(bias.len())) {
                    for (output, &value) in output.iter_mut().zip(pixel) {
                        *output = if relu && value <= 0.0 { 0.0 } else { value };
                    }
                });
            }
        }
    }

    /// Adds to the parameters' gradients and, where asked, writes the gradient of the pictures.
    pub fn backward(&self, saved: Saved<'_>, parameters: ParameterGradients<'_>, x_gradient: Option<&mut [f32]>) {
        let convolution = self.convolution;
        let (picture, result) = (GROUP * convolution.picture_len(), GROUP * self.output_len());
        let groups = saved.x.len().div_ceil(picture);
        let dense = self.is_dense(x_gradient.is_some());
        let x_gradient = x_gradient.and_then(|x_gradient| {
            if dense {
                self.mirror(saved, x_gradient);
            }
            (!dense).then_some(x_gradient)
        });
        let rows = x_gradient.is_some().then(|| convolution.pack_rows(saved.weight, self.precision));
        let offsets = if dense { Vec::new() } else { self.offsets() };
        let x_gradients: Vec<Option<&mut [f32]>> = match x_gradient {
            Some(x_gradient) => x_gradient.chunks_mut(picture).map(Some).collect(),
            None => (0..groups).map(|_| None).collect(),
        };
        let partial: Vec<(Buffer, Vec<f32>)> = x_gradients
            .into_par_iter()
            .with_max_len(1)
            .enumerate()
            .map(|(group, x_gradient)| {
                let part = |values: &'_ [f32], len: usize| group * len..((group + 1) * len).min(values.len());
                let saved = Saved {
                    x: &saved.x[part(saved.x, picture)],
                    output: &saved.output[part(saved.output, result)],
                    gradient: &saved.gradient[part(saved.gradient, result)],
                    argmax: if self.pool { &saved.argmax[part(saved.gradient, result)] } else { &[] },
                    ..saved
                };
                if dense {
                    self.dense_group(saved, parameters.bias.is_some())
                } else {
                    self.backward_group(saved, &offsets, rows.as_deref(), x_gradient)
                }
            })
            .collect();

        let ParameterGradients { weight, bias } = parameters;
        let mut sum = Scratch::new(if dense { convolution.dense_len() } else { convolution.rows_len() });
        // Each number is summed over the groups in their order, whichever thread takes it.
        sum.par_chunks_mut(1 << 13).enumerate().for_each(|(chunk, sum)| {
            let start = chunk << 13;
            sum.fill(0.0);
            vectorized!(for (part, _) in &partial {
                sum.iter_mut().zip(&part[start..]).for_each(|(sum, part)| *sum += part);
            });
        });
        if dense {
            convolution.unpack_dense(&sum, weight);
        } else {
            convolution.unpack_rows(&sum, weight);
        }
        if let Some(bias) = bias {
            for (_, part) in &partial {
                bias.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
            }
        }
    }

    /// Where in the padded picture the kernel lies for each pixel of each site.
    fn offsets(&self) -> Vec<u32> {
        if !self.pool {
            return self.convolution.offsets();
        }
        let (height, width) = self.output_size();
        (0..height)
            .flat_map(|y| (0..width).map(move |x| (2 * y, 2 * x)))
            .flat_map(|(y, x)| [(y, x), (y, x + 1), (y + 1, x), (y + 1, x + 1)])
            .map(|(y, x)| self.convolution.offset(y, x) as u32)
            .collect()
    }

    /// Whether the gradients come from `dense_group` and `mirror`: where hardly any is zero, and for a picture of one channel, whose taps
    /// are too few to make the rows that a list sums long enough.
    const fn is_dense(&self, of_pictures: bool) -> bool {
        let few_zeros = !self.pool && !self.relu && self.convolution.has_mirror();
        few_zeros || self.convolution.channels == 1 && !of_pictures
    }

    /// Writes the gradient of the pictures as the convolution it is.
    fn mirror(&self, saved: Saved<'_>, x_gradient: &mut [f32]) {
        let Self { convolution, precision, .. } = *self;
        let mirrored = Self { convolution: convolution.mirrored(), pool: false, relu: false, precision };
        mirrored.forward(saved.gradient, &convolution.mirror_weight(saved.weight), None, x_gradient, &mut []);
    }

    /// One group's share of the gradients of weight (as `dense_gradient`) and, where there is one, bias.
    fn dense_group(&self, saved: Saved<'_>, has_bias: bool) -> (Buffer, Vec<f32>) {
        let Self { convolution, pool, relu, precision } = *self;
        let (stride, channels) = (convolution.padded_outputs(), convolution.outputs);
        let mut weight_part = Buffer::zeros(convolution.dense_len());
        let mut bias_part = vec![0.0; channels];
        let mut padded = Scratch::new(convolution.padded_len());
        // What `Unpool` leaves as it is stays zero.
        let mut pixels = Scratch::zeros(convolution.out_height() * convolution.out_width() * stride);
        let images = saved.x.chunks_exact(convolution.picture_len()).zip(saved.gradient.chunks_exact(self.output_len()));
        for (image, (x, gradient)) in images.enumerate() {
            convolution.pad(x, &mut padded, precision);
            if !has_bias && !pool && !relu && !precision.differs_on(DeviceChoice::Cpu) && channels == stride {
                convolution.dense_gradient(&padded, gradient, &mut weight_part);
                continue;
            }
            let part = image * self.output_len()..(image + 1) * self.output_len();
            let unpool = Unpool {
                width: convolution.out_width(),
                stride,
                channels,
                gradient,
                relu: relu.then(|| &saved.output[part.clone()]),
                argmax: pool.then(|| &saved.argmax[part]),
                pixels: &mut pixels,
                bias: &mut bias_part,
            };
            unpool.run();
            round(&mut pixels, precision);
            convolution.dense_gradient(&padded, &pixels, &mut weight_part);
        }
        (weight_part, bias_part)
    }

    /// One group's share of the gradients of weight (as `pack_rows`) and bias.
    fn backward_group(
        &self,
        saved: Saved<'_>,
        offsets: &[u32],
        rows: Option<&[f32]>,
        x_gradient: Option<&mut [f32]>,
    ) -> (Buffer, Vec<f32>) {
        let Self { convolution, precision, .. } = *self;
        let mut weight_part = Buffer::zeros(convolution.rows_len());
        let mut bias_part = vec![0.0; convolution.outputs];
        let mut terms = Terms::new(self, offsets, rows.is_some());
        let mut x_gradients = x_gradient.map(|x_gradient| x_gradient.chunks_exact_mut(convolution.picture_len()));
        let mut padded = Scratch::new(convolution.padded_len());
        let mut padded_gradient = Scratch::new(convolution.padded_len());
        let images = saved.x.chunks_exact(convolution.picture_len()).zip(saved.gradient.chunks_exact(self.output_len()));
        for (image, (x, gradient)) in images.enumerate() {
            let part = image * self.output_len()..(image + 1) * self.output_len();
            let argmax = if self.pool { &saved.argmax[part.clone()] } else { &[] };
            convolution.pad(x, &mut padded, precision);
            terms.collect(gradient, &saved.output[part], argmax, &mut bias_part);
            let x_gradient = x_gradients.as_mut().and_then(Iterator::next);
            let picture = match (rows, &x_gradient) {
                (Some(rows), Some(_)) => {
                    padded_gradient.fill(0.0);
                    Some((rows, &mut padded_gradient[..]))
                }
                _ => None,
            };
            convolution.gradients(&padded, &terms.outputs(), &mut weight_part, picture);
            if let Some(x_gradient) = x_gradient {
                convolution.unpad(&padded_gradient, x_gradient);
            }
        }
        (weight_part, bias_part)
    }
}

/// The outputs of one image that have a gradient.
struct Terms<'a> {
    convolve: Convolve,
    offsets: &'a [u32],
    block: usize,
    places: usize,
    by_output: Scratch<Term>,
    output_counts: Vec<u32>,
    by_place: Scratch<Term>,
    place_counts: Vec<u32>,
}

impl<'a> Terms<'a> {
    fn new(convolve: &Convolve, offsets: &'a [u32], picture: bool) -> Self {
        let outputs = convolve.convolution.outputs;
        let places = if convolve.pool { 4 } else { 1 };
        let block = convolve.convolution.block();
        let lists = if picture { outputs.div_ceil(block) * offsets.len() } else { 0 };
        Self {
            convolve: *convolve,
            offsets,
            block,
            places,
            by_output: Scratch::new(outputs * offsets.len() / places),
            output_counts: vec![0; outputs],
            by_place: Scratch::new(lists * block),
            place_counts: vec![0; lists],
        }
    }

    /// Sorts one image's gradient into the lists and adds it to the bias's. Zeros, and what a `ReLU` blocks, are left out.
    fn collect(&mut self, gradient: &[f32], result: &[f32], maxima: &[u8], bias: &mut [f32]) {
        let gradient = rounded(gradient, self.convolve.precision);
        match (self.convolve.pool, self.place_counts.is_empty()) {
            (true, true) => self.sort::<true, false>(&gradient, result, maxima, bias),
            (true, false) => self.sort::<true, true>(&gradient, result, maxima, bias),
            (false, true) => self.sort::<false, false>(&gradient, result, maxima, bias),
            (false, false) => self.sort::<false, true>(&gradient, result, maxima, bias),
        }
    }

    /// `collect` with and without pooling, and with and without lists for the gradient of the picture.
    fn sort<const POOL: bool, const PICTURE: bool>(&mut self, gradient: &[f32], result: &[f32], maxima: &[u8], bias: &mut [f32]) {
        let Self { convolve, offsets, block, places, by_output, output_counts, by_place, place_counts } = self;
        let (outputs, places, block) = (convolve.convolution.outputs, *places, *block);
        let sites = offsets.len() / places;
        let weights = convolve.convolution.rows_len() / outputs;
        let relu = convolve.relu;
        output_counts.fill(0);
        place_counts.fill(0);
        for (site, offsets) in offsets.chunks_exact(places).enumerate() {
            let part = site * outputs..(site + 1) * outputs;
            let (gradient, result) = (&gradient[part.clone()], &result[part.clone()]);
            let maxima = if POOL { &maxima[part] } else { maxima };
            for (index, first) in (0..outputs).step_by(block).enumerate() {
                let lists = (index * sites + site) * places;
                let part = first..(first + block).min(outputs);
                let counts = output_counts[part.clone()].iter_mut().zip(&mut bias[part.clone()]);
                for ((output, (&gradient, &result)), (count, bias)) in
                    part.clone().zip(gradient[part.clone()].iter().zip(&result[part])).zip(counts)
                {
                    let value = if relu && result <= 0.0 { 0.0 } else { gradient };
                    let place = if POOL { usize::from(maxima[output]) } else { 0 };
                    *bias += value;
                    // Written in any case and counted when it matters: cheaper than a branch that cannot be foretold.
                    by_output[output * sites + *count as usize] = Term { offset: offsets[place], value };
                    *count += u32::from(value != 0.0);
                    if PICTURE {
                        let count = &mut place_counts[lists + place];
                        by_place[(lists + place) * block + *count as usize] = Term { offset: (output * weights) as u32, value };
                        *count += u32::from(value != 0.0);
                    }
                }
            }
        }
    }

    fn outputs(&self) -> Outputs<'_> {
        Outputs {
            by_output: &self.by_output,
            output_counts: &self.output_counts,
            by_place: &self.by_place,
            place_counts: &self.place_counts,
            offsets: self.offsets,
            places: self.places,
            block: self.block,
        }
    }
}
