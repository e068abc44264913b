//! The lists behind sparse gradients: which outputs of an image have a gradient, and the kernel
//! that goes through them.

use pulp::{Arch, Simd, WithSimd};

use super::super::matrix::rounded;
use super::super::microkernels::accumulate::{Parts, RegisterBlocking, Rows, Term, accumulate};
use super::super::microkernels::{Scratch, lanes};
use super::FusedConvolution;
use super::geometry::{Convolution, FIRST_CACHE};

/// The outputs of one image that have a gradient.
pub struct GradientLists<'a> {
    fused: FusedConvolution,
    offsets: &'a [u32],
    block: usize,
    candidates: usize,
    by_output: Scratch<Term>,
    output_counts: Vec<u32>,
    by_pixel: Scratch<Term>,
    pixel_counts: Vec<u32>,
}

impl<'a> GradientLists<'a> {
    pub fn new(fused: &FusedConvolution, offsets: &'a [u32], image: bool) -> Self {
        let Convolution {
            outputs, kernel, ..
        } = fused.convolution;
        let reach = (kernel - 1) * fused.convolution.padded_row_len()
            + fused.convolution.padded_kernel_row_len();
        assert!(
            offsets
                .iter()
                .all(|&offset| offset as usize + reach <= fused.convolution.padded_len()),
            "kernels lie in the padded image"
        );
        let candidates = if fused.pool { 4 } else { 1 };
        let block = fused.convolution.block();
        let lists = if image {
            outputs.div_ceil(block) * offsets.len()
        } else {
            0
        };
        Self {
            fused: *fused,
            offsets,
            block,
            candidates,
            by_output: Scratch::new(outputs * offsets.len() / candidates),
            output_counts: vec![0; outputs],
            by_pixel: Scratch::new(lists * block),
            pixel_counts: vec![0; lists],
        }
    }

    /// Sorts one image's gradient into the lists and adds it to the bias's. Zeros, and what a
    /// `ReLU` blocks, are left out.
    pub fn collect(&mut self, gradient: &[f32], result: &[f32], maxima: &[u8], bias: &mut [f32]) {
        let gradient = rounded(gradient, self.fused.precision);
        match (self.fused.pool, self.pixel_counts.is_empty()) {
            (true, true) => self.sort::<true, false>(&gradient, result, maxima, bias),
            (true, false) => self.sort::<true, true>(&gradient, result, maxima, bias),
            (false, true) => self.sort::<false, false>(&gradient, result, maxima, bias),
            (false, false) => self.sort::<false, true>(&gradient, result, maxima, bias),
        }
    }

    /// `collect` with and without pooling, and with and without lists for the gradient of the
    /// image.
    fn sort<const POOL: bool, const INPUT: bool>(
        &mut self,
        gradient: &[f32],
        result: &[f32],
        maxima: &[u8],
        bias: &mut [f32],
    ) {
        let Self {
            fused,
            offsets,
            block,
            candidates,
            by_output,
            output_counts,
            by_pixel,
            pixel_counts,
        } = self;
        let (outputs, candidates, block) = (fused.convolution.outputs, *candidates, *block);
        let positions = offsets.len() / candidates;
        let weights = fused.convolution.rows_len() / outputs;
        let relu = fused.relu;
        output_counts.fill(0);
        pixel_counts.fill(0);
        for (position, offsets) in offsets.chunks_exact(candidates).enumerate() {
            let part = position * outputs..(position + 1) * outputs;
            let (gradient, result) = (&gradient[part.clone()], &result[part.clone()]);
            let maxima = if POOL { &maxima[part] } else { maxima };
            for (index, first) in (0..outputs).step_by(block).enumerate() {
                let lists = (index * positions + position) * candidates;
                let part = first..(first + block).min(outputs);
                let counts = output_counts[part.clone()]
                    .iter_mut()
                    .zip(&mut bias[part.clone()]);
                for ((output, (&gradient, &result)), (count, bias)) in part
                    .clone()
                    .zip(gradient[part.clone()].iter().zip(&result[part]))
                    .zip(counts)
                {
                    let value = if relu && result <= 0.0 { 0.0 } else { gradient };
                    let candidate = if POOL { usize::from(maxima[output]) } else { 0 };
                    *bias += value;
                    // Written in any case and counted when it matters: cheaper than a branch that
                    // cannot be foretold.
                    by_output[output * positions + *count as usize] = Term {
                        offset: offsets[candidate],
                        value,
                    };
                    *count += u32::from(value != 0.0);
                    if INPUT {
                        let count = &mut pixel_counts[lists + candidate];
                        by_pixel[(lists + candidate) * block + *count as usize] = Term {
                            offset: (output * weights) as u32,
                            value,
                        };
                        *count += u32::from(value != 0.0);
                    }
                }
            }
        }
    }

    /// Adds the image's gradient of the weights, as `pack_rows`, and, if asked, of the padded image
    /// (weights, gradient).
    pub fn add_gradients(
        &self,
        padded: &[f32],
        weight_gradient: &mut [f32],
        image: Option<(&[f32], &mut [f32])>,
    ) {
        self.fused
            .convolution
            .gradients(padded, &self.outputs(), weight_gradient, image);
    }

    fn outputs(&self) -> Outputs<'_> {
        Outputs {
            by_output: &self.by_output,
            output_counts: &self.output_counts,
            by_pixel: &self.by_pixel,
            pixel_counts: &self.pixel_counts,
            offsets: self.offsets,
            candidates: self.candidates,
            block: self.block,
        }
    }
}

/// The outputs of one image that have a gradient, in the two orders its sums are taken in.
///
/// A position is a pixel of the (pooled) output; behind it lie one or, after 2x2 pooling, four
/// candidates, each a pixel of the convolution's output. Only `GradientLists` makes it: all its offsets are
/// those of `window_offsets` or of an output's weights, which the kernel relies on.
struct Outputs<'a> {
    /// For each output, its terms: `[outputs, positions]`, offsets into the padded image.
    by_output: &'a [Term],
    output_counts: &'a [u32],
    /// For each block of outputs, position and candidate, its terms: offsets into `pack_rows`.
    /// Empty when the image needs no gradient.
    by_pixel: &'a [Term],
    pixel_counts: &'a [u32],
    /// Where each position's candidates start in the padded image.
    offsets: &'a [u32],
    candidates: usize,
    block: usize,
}

impl Convolution {
    /// Outputs whose weights for one pass of `gradients` fit into the first cache together.
    fn block(&self) -> usize {
        let vectors = self.padded_kernel_row_len() / lanes();
        let rows = (10 / vectors).clamp(1, self.kernel);
        let blocks = (self.outputs * rows * self.padded_kernel_row_len().min(10 * lanes()))
            .div_ceil(FIRST_CACHE);
        self.outputs.div_ceil(blocks.max(1))
    }

    /// Adds one image's gradient of the weights, as `pack_rows`, and, if asked, of the padded image
    /// (weights, gradient).
    fn gradients(
        &self,
        padded: &[f32],
        outputs: &Outputs<'_>,
        weight_gradient: &mut [f32],
        image: Option<(&[f32], &mut [f32])>,
    ) {
        assert!(padded.len() >= self.padded_len() && weight_gradient.len() == self.rows_len());
        if let Some((rows, gradient)) = &image {
            assert!(gradient.len() >= self.padded_len() && rows.len() == self.rows_len());
        }
        Arch::new().dispatch(Gradients {
            convolution: *self,
            padded,
            outputs,
            weight_gradient,
            image,
        });
    }
}

struct Gradients<'a, 'b> {
    convolution: Convolution,
    padded: &'a [f32],
    outputs: &'a Outputs<'a>,
    weight_gradient: &'b mut [f32],
    image: Option<(&'a [f32], &'b mut [f32])>,
}

impl WithSimd for Gradients<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            convolution,
            padded,
            outputs,
            weight_gradient,
            image,
        } = self;
        let kernel = convolution.kernel;
        let row = convolution.padded_row_len();
        let run = convolution.padded_kernel_row_len();
        let vectors = run / S::F32_LANES;
        let parts = Parts::new::<S>(kernel, vectors, RegisterBlocking::Long);
        let positions = outputs.offsets.len() / outputs.candidates;
        for (output, gradient) in weight_gradient.chunks_exact_mut(kernel * run).enumerate() {
            let terms =
                &outputs.by_output[output * positions..][..outputs.output_counts[output] as usize];
            let from = Rows {
                start: padded.as_ptr(),
                stride: row,
            };
            let to = Rows {
                start: gradient.as_mut_ptr(),
                stride: run,
            };
            // SAFETY: a term's offset is that of a pixel of the result, so its rows lie in the
            // padded image, whose last has room for a whole vector; `gradient` has `kernel` rows of
            // `run` numbers.
            unsafe { accumulate(simd, terms, from, to, parts) };
        }
        let Some((rows, gradient)) = image else {
            return;
        };
        let blocks = convolution.outputs.div_ceil(outputs.block);
        for block in 0..blocks {
            // One pass over the positions per part of the kernel, so that the part's weights stay
            // in the first cache.
            let height = (10 / vectors).clamp(1, kernel);
            let mut kernel_row = 0;
            while kernel_row < kernel {
                let height = height.min(kernel - kernel_row);
                let parts = Parts::new::<S>(height, vectors, RegisterBlocking::Short);
                for (index, &offset) in outputs.offsets.iter().enumerate() {
                    let list = block * outputs.offsets.len() + index;
                    let terms = &outputs.by_pixel[list * outputs.block..]
                        [..outputs.pixel_counts[list] as usize];
                    if terms.is_empty() {
                        continue;
                    }
                    let from = Rows {
                        start: rows[kernel_row * run..].as_ptr(),
                        stride: run,
                    };
                    let to = Rows {
                        start: gradient[offset as usize + kernel_row * row..].as_mut_ptr(),
                        stride: row,
                    };
                    // SAFETY: a term's offset is that of an output's weights, which have `kernel`
                    // rows of `run` numbers; a candidate's rows lie in the padded image, whose last
                    // has room for a whole vector.
                    unsafe { accumulate(simd, terms, from, to, parts) };
                }
                kernel_row += height;
            }
        }
    }
}
