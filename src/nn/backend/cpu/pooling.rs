//! Max pooling and average pooling with any window, and the average over everything. (2x2 max pooling right
//! after a convolution is fused with it: `conv`.)

use candle_core::{Result, Tensor};
use rayon::prelude::*;

use super::{Zeros, add_to, tensor, vectorized, with_slices};
use crate::nn::autograd::Gradients;
use crate::nn::ops::ConvGeometry;
use crate::nn::{GradMode, Output};
use crate::profiler::RecordedIterator;

pub fn max_pool(x: &Tensor, window: ConvGeometry, grad: GradMode) -> Result<Output> {
    pool(x, window, Kind::Maximum, grad)
}

pub fn average_pool(x: &Tensor, window: ConvGeometry, grad: GradMode) -> Result<Output> {
    pool(x, window, Kind::Mean, grad)
}

fn pool(x: &Tensor, window: ConvGeometry, kind: Kind, grad: GradMode) -> Result<Output> {
    let (images, height, width, channels) = x.dims4()?;
    let (out_height, out_width) = (window.output_size(height)?, window.output_size(width)?);
    let op = Pool {
        window,
        kind,
        height,
        width,
        channels,
        out_height,
        out_width,
    };
    let mut output = Zeros::new(images * op.output_len());
    // For each maximum which pixel of the window it was, in reading order; empty for means.
    let maxima = if kind == Kind::Maximum {
        output.len()
    } else {
        0
    };
    let mut argmax = vec![0; maxima];
    with_slices([x], |[x]| {
        let images = x
            .par_chunks(op.image_len())
            .zip(output.par_chunks_mut(op.output_len()));
        match kind {
            Kind::Mean => {
                images.for_each_recorded(|(image, output)| vectorized!(op.means(image, output)));
            }
            Kind::Maximum => images
                .zip(argmax.par_chunks_mut(op.output_len()))
                .for_each_recorded(|((image, output), argmax)| {
                    vectorized!(op.maxima(image, output, argmax));
                }),
        }
    })?;
    let shape = x.shape().clone();
    let output = tensor(output.into_vec(), (images, out_height, out_width, channels))?;
    Ok(Output::new(output, grad, move |gradient, _| {
        let mut values = Zeros::new(shape.elem_count());
        with_slices([gradient], |[gradient]| {
            let images = values
                .par_chunks_mut(op.image_len())
                .zip(gradient.par_chunks(op.output_len()))
                .enumerate();
            images.for_each_recorded(|(index, (image, gradient))| {
                let argmax = argmax.get(index * op.output_len()..).unwrap_or_default();
                vectorized!(op.backward(gradient, argmax, image));
            });
        })?;
        let values = values.into_vec();
        Ok(Gradients::input(Some(tensor(values, shape)?)))
    }))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Maximum,
    Mean,
}

struct Pool {
    window: ConvGeometry,
    kind: Kind,
    height: usize,
    width: usize,
    channels: usize,
    out_height: usize,
    out_width: usize,
}

impl Pool {
    const fn image_len(&self) -> usize {
        self.height * self.width * self.channels
    }

    const fn output_len(&self) -> usize {
        self.out_height * self.out_width * self.channels
    }

    /// The pixels under the window at one place: which of the window's places each meets, and where
    /// its channels start in the image.
    fn pixels(&self, position: usize) -> impl Iterator<Item = (u8, usize)> {
        let (window, width, channels) = (self.window, self.width, self.channels);
        let (ys, first_row) = window.cover(position / self.out_width, self.height);
        let (xs, first_col) = window.cover(position % self.out_width, width);
        ys.enumerate().flat_map(move |(row, y)| {
            let columns = xs.clone().enumerate();
            columns.map(move |(col, x)| {
                (
                    ((first_row + row) * window.size + first_col + col) as u8,
                    (y * width + x) * channels,
                )
            })
        })
    }

    fn maxima(&self, image: &[f32], output: &mut [f32], argmax: &mut [u8]) {
        let pixels = output
            .chunks_exact_mut(self.channels)
            .zip(argmax.chunks_exact_mut(self.channels));
        for (position, (best, argmax)) in pixels.enumerate() {
            best.fill(f32::NEG_INFINITY);
            for (candidate, start) in self.pixels(position) {
                let values = &image[start..start + self.channels];
                for ((best, index), &value) in best.iter_mut().zip(&mut *argmax).zip(values) {
                    let better = value > *best || value.is_nan();
                    *best = if better { value } else { *best };
                    *index = if better { candidate } else { *index };
                }
            }
        }
    }

    fn means(&self, image: &[f32], output: &mut [f32]) {
        let scale = self.scale();
        for (position, mean) in output.chunks_exact_mut(self.channels).enumerate() {
            for (_, start) in self.pixels(position) {
                add_to(mean, &image[start..]);
            }
            for sum in mean {
                *sum *= scale;
            }
        }
    }

    /// The weight of each pixel in a mean.
    fn scale(&self) -> f32 {
        1.0 / (self.window.size * self.window.size) as f32
    }

    /// Adds to an image's gradient, which starts at zero.
    fn backward(&self, gradient: &[f32], argmax: &[u8], image: &mut [f32]) {
        let scale = self.scale();
        for (position, gradient) in gradient.chunks_exact(self.channels).enumerate() {
            let argmax = argmax.get(position * self.channels..).unwrap_or_default();
            for (candidate, start) in self.pixels(position) {
                let sums = image[start..].iter_mut().zip(gradient);
                match self.kind {
                    Kind::Maximum => sums.zip(argmax).for_each(|((sum, g), &index)| {
                        *sum += if index == candidate { *g } else { 0.0 }
                    }),
                    Kind::Mean => sums.for_each(|(sum, g)| *sum += scale * g),
                }
            }
        }
    }
}

pub fn global_average_pool(x: &Tensor, grad: GradMode) -> Result<Output> {
    let [batch, between @ .., channels] = x.dims() else {
        candle_core::bail!("{:?} has no channels", x.shape())
    };
    let (batch, channels, shape) = (*batch, *channels, x.shape().clone());
    let positions = between.iter().product::<usize>();
    let (len, scale) = (positions * channels, 1.0 / positions as f32);
    let mut means = vec![0.0_f32; batch * channels];
    with_slices([x], |[x]| {
        x.par_chunks(len)
            .zip(means.par_chunks_mut(channels))
            .for_each_recorded(|(image, means)| {
                vectorized!({
                    for pixel in image.chunks_exact(channels) {
                        add_to(means, pixel);
                    }
                    for sum in means.iter_mut() {
                        *sum *= scale;
                    }
                });
            });
    })?;
    let output = tensor(means, (batch, channels))?;
    Ok(Output::new(output, grad, move |gradient, _| {
        let mut values = Zeros::new(batch * len);
        with_slices([gradient], |[gradient]| {
            values
                .par_chunks_mut(len)
                .zip(gradient.par_chunks(channels))
                .for_each_recorded(|(image, gradient)| {
                    vectorized!(for pixel in image.chunks_exact_mut(channels) {
                        let pairs = pixel.iter_mut().zip(gradient);
                        pairs.for_each(|(value, g)| *value = scale * g);
                    });
                });
        })?;
        let values = values.into_vec();
        Ok(Gradients::input(Some(tensor(values, shape)?)))
    }))
}
