//! The gradients of weights and input from lists of the outputs that have a gradient: after a 2x2
//! maximum or a `ReLU` most have none.

use super::super::microkernels::{Buffer, Scratch};
use super::FusedConvolution;
use super::backward::Saved;
use super::terms::Terms;

impl FusedConvolution {
    /// The offset of the kernel in the padded image for each candidate of each position.
    pub fn window_offsets(&self) -> Vec<u32> {
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

    /// One group's share of the gradients of weight (as `pack_rows`) and bias.
    pub fn sparse_group(
        &self,
        saved: Saved<'_>,
        offsets: &[u32],
        rows: Option<&[f32]>,
        x_gradient: Option<&mut [f32]>,
    ) -> (Buffer, Vec<f32>) {
        let Self {
            convolution,
            precision,
            ..
        } = *self;
        let mut weight_part = Buffer::zeros(convolution.rows_len());
        let mut bias_part = vec![0.0; convolution.outputs];
        let mut terms = Terms::new(self, offsets, rows.is_some());
        let mut x_gradients =
            x_gradient.map(|x_gradient| x_gradient.chunks_exact_mut(convolution.image_len()));
        let mut padded = Scratch::new(convolution.padded_len());
        let mut padded_gradient = Scratch::new(convolution.padded_len());
        let images = saved
            .x
            .chunks_exact(convolution.image_len())
            .zip(saved.gradient.chunks_exact(self.output_len()));
        for (image, (x, gradient)) in images.enumerate() {
            let part = image * self.output_len()..(image + 1) * self.output_len();
            let argmax = if self.pool {
                &saved.argmax[part.clone()]
            } else {
                &[]
            };
            convolution.pad(x, &mut padded, precision);
            terms.collect(gradient, &saved.output[part], argmax, &mut bias_part);
            let x_gradient = x_gradients.as_mut().and_then(Iterator::next);
            let image = match (rows, &x_gradient) {
                (Some(rows), Some(_)) => {
                    padded_gradient.fill(0.0);
                    Some((rows, &mut padded_gradient[..]))
                }
                _ => None,
            };
            terms.add_gradients(&padded, &mut weight_part, image);
            if let Some(x_gradient) = x_gradient {
                convolution.unpad(&padded_gradient, x_gradient);
            }
        }
        (weight_part, bias_part)
    }
}
