//! Owns the geometry of a convolution and its two halves on one image: the dense forward pass, and the gradients from a list of
//! the outputs that have one. Must not know batches or tensors.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::microkernels::accumulate::{Parts, Reach, Rows, Term, accumulate};
use super::microkernels::tile::{PIXELS, Start, Tile};
use super::microkernels::{Buffer, bf16, lanes};
use super::precision::round;
use crate::run_config::Precision;

/// Numbers that are gone through over and over, and so are kept to a part of the first-level cache.
const FIRST_CACHE: usize = 6 << 10;
/// Outputs below which laying out weights is not worth another task.
const OUTPUTS: usize = 8;

/// The sizes of one picture's convolution. Pictures are `[height, width, channels]`, weights `[out, in, kernel, kernel]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Convolution {
    /// Rows of the picture.
    pub height: usize,
    /// Columns of the picture.
    pub width: usize,
    /// Channels of the picture.
    pub channels: usize,
    /// Channels of the result.
    pub outputs: usize,
    /// Pixels along a side of the kernel.
    pub kernel: usize,
    /// Pixels from one place of the kernel to the next.
    pub stride: usize,
    /// Zero pixels around the picture.
    pub padding: usize,
}

impl Convolution {
    const fn padded_height(&self) -> usize {
        self.height + 2 * self.padding
    }

    const fn padded_width(&self) -> usize {
        self.width + 2 * self.padding
    }

    /// Numbers in a picture.
    pub const fn picture_len(&self) -> usize {
        self.height * self.width * self.channels
    }

    /// Numbers in a row of the padded picture.
    const fn row(&self) -> usize {
        self.padded_width() * self.channels
    }

    /// Numbers that a row of the kernel covers, one after the other.
    const fn run(&self) -> usize {
        self.kernel * self.channels
    }

    /// Rows of the result.
    pub const fn out_height(&self) -> usize {
        (self.padded_height() - self.kernel) / self.stride + 1
    }

    /// Columns of the result.
    pub const fn out_width(&self) -> usize {
        (self.padded_width() - self.kernel) / self.stride + 1
    }

    /// Numbers in a weight.
    pub const fn weight_len(&self) -> usize {
        self.outputs * self.taps()
    }

    /// Outputs, filled up to whole vectors.
    pub fn padded_outputs(&self) -> usize {
        self.outputs.next_multiple_of(lanes())
    }

    /// A kernel row's run, filled up to whole vectors.
    fn padded_run(&self) -> usize {
        self.run().next_multiple_of(lanes())
    }

    /// Numbers in the weights of one output as `pack_rows` lays them out.
    fn output_rows(&self) -> usize {
        self.kernel * self.padded_run()
    }

    /// Numbers in a padded picture, with room for the last vector of its last row to reach over the end.
    pub fn padded_len(&self) -> usize {
        self.padded_height() * self.row() + lanes()
    }

    /// Where the kernel's first number lies in the padded picture, for the result's pixel `(y, x)`.
    pub const fn offset(&self, y: usize, x: usize) -> usize {
        y * self.stride * self.row() + x * self.stride * self.channels
    }

    /// Numbers in the weights of one output.
    const fn taps(&self) -> usize {
        self.kernel * self.run()
    }

    /// Calls `visit` with the place of each of one output's weights in `PyTorch`'s layout, its kernel row, and its place in that row's run.
    #[inline(always)]
    fn for_each_tap(&self, mut visit: impl FnMut(usize, usize, usize)) {
        for row in 0..self.kernel {
            for column in 0..self.kernel {
                for channel in 0..self.channels {
                    visit((channel * self.kernel + row) * self.kernel + column, row, column * self.channels + channel);
                }
            }
        }
    }

    /// The weights for `forward`: panels of two vectors of outputs (the last may be one), each `[kernel row, run, outputs]`.
    pub fn pack_panels(&self, weight: &[f32], precision: Precision) -> Buffer {
        let (panel, run) = (2 * lanes(), self.run());
        let mut panels = Buffer::zeros(self.padded_outputs() * self.taps());
        panels.par_chunks_mut(panel * self.taps()).zip(weight.par_chunks(panel * self.taps())).for_each(|(panel, weights)| {
            let width = panel.len() / self.taps();
            for (output, weights) in weights.chunks_exact(self.taps()).enumerate() {
                self.for_each_tap(|place, row, index| panel[(row * run + index) * width + output] = weights[place]);
            }
            round(panel, precision);
        });
        panels
    }

    /// The weights for the gradient of the picture: `[outputs, kernel row, run]`, each run filled up with zeros.
    pub fn pack_rows(&self, weight: &[f32], precision: Precision) -> Buffer {
        let run = self.padded_run();
        let mut rows = Buffer::zeros(self.rows_len());
        let outputs = rows.par_chunks_mut(self.output_rows()).zip(weight.par_chunks(self.taps()));
        outputs.with_min_len(OUTPUTS).for_each(|(rows, weights)| {
            self.for_each_tap(|place, row, index| rows[row * run + index] = weights[place]);
            round(rows, precision);
        });
        rows
    }

    /// Adds a gradient in the layout of `pack_rows` to one in `PyTorch`'s.
    pub fn unpack_rows(&self, rows: &[f32], gradient: &mut [f32]) {
        let run = self.padded_run();
        let outputs = rows.par_chunks(self.output_rows()).zip(gradient.par_chunks_mut(self.taps()));
        outputs.with_min_len(OUTPUTS).for_each(|(rows, gradient)| {
            self.for_each_tap(|place, row, index| gradient[place] += rows[row * run + index]);
        });
    }

    /// Numbers in a weight as `pack_rows` lays it out.
    pub fn rows_len(&self) -> usize {
        self.outputs * self.output_rows()
    }

    /// Copies a picture into the middle of a padded one, with zeros all around.
    pub fn pad(&self, picture: &[f32], padded: &mut [f32], precision: Precision) {
        let row = self.width * self.channels;
        let mut end = 0;
        for (y, from) in picture.chunks_exact(row).enumerate() {
            let start = self.place(y);
            padded[end..start].fill(0.0);
            end = start + row;
            let to = &mut padded[start..end];
            to.copy_from_slice(from);
            round(to, precision);
        }
        padded[end..].fill(0.0);
    }

    /// Copies the middle of a padded picture out of it.
    pub fn unpad(&self, padded: &[f32], picture: &mut [f32]) {
        let row = self.width * self.channels;
        for (y, to) in picture.chunks_exact_mut(row).enumerate() {
            let start = self.place(y);
            to.copy_from_slice(&padded[start..start + row]);
        }
    }

    /// Where row `y` of the picture starts in the padded one.
    const fn place(&self, y: usize) -> usize {
        (y + self.padding) * self.row() + self.padding * self.channels
    }

    /// Rows of the result to compute at a time, so that what is between the convolution and what follows it stays in the first
    /// cache: the fewest (`step`) when the weights fit into it too, else all, so that the weights are not fetched again for each.
    pub fn strip(&self, step: usize) -> usize {
        if self.weight_len() <= FIRST_CACHE { step } else { self.out_height() }
    }

    /// Where in the padded picture the kernel lies for each pixel of the result.
    pub fn offsets(&self) -> Vec<u32> {
        (0..self.out_height()).flat_map(|y| (0..self.out_width()).map(move |x| self.offset(y, x) as u32)).collect()
    }

    /// Whether products of this precision are the processor's own bf16 ones: kernel rows are then taken in pairs of numbers.
    pub fn takes_pairs(&self, precision: Precision) -> bool {
        precision == Precision::Bf16 && self.run().is_multiple_of(2) && bf16::is_native()
    }

    /// The panels of `pack_panels`, rounded to bf16, as `[kernel row, run / 2, outputs]` pairs.
    pub fn pair_panels(&self, panels: &[f32]) -> Vec<u32> {
        let (rows, lanes) = (self.kernel * self.run(), lanes());
        let pair = |[low, high]: [f32; 2]| u32::from(bf16::bits_of(low)) | u32::from(bf16::bits_of(high)) << 16;
        let panels = panels.chunks(2 * lanes * rows).flat_map(|panel| {
            let width = panel.len() / rows;
            panel.chunks_exact(2 * width).flat_map(move |rows| (0..width).map(move |output| [rows[output], rows[width + output]]))
        });
        panels.map(pair).collect()
    }

    /// The result's pixels whose `offsets` are given, `[pixels, padded_outputs]`, of a padded picture; `bias` has `padded_outputs` numbers.
    pub fn forward(&self, operands: Operands<'_>, bias: &[f32], offsets: &[u32], out: &mut [f32]) {
        let (padded, weights) = match operands {
            Operands::Single { padded, panels } => (padded.len(), panels.len()),
            Operands::Pairs { padded, panels } => (padded.len(), 2 * panels.len()),
        };
        assert!(padded >= self.padded_len() && bias.len() == self.padded_outputs());
        assert!(out.len() >= offsets.len() * bias.len() && weights == bias.len() * self.kernel * self.run());
        assert!(offsets.iter().all(|&offset| offset as usize + (self.kernel - 1) * self.row() + self.run() <= padded));
        Arch::new().dispatch(Forward { convolution: *self, operands, bias, offsets, out });
    }
}

impl Convolution {
    /// Whether the gradient of the picture is a convolution too, `mirrored`.
    pub const fn has_mirror(&self) -> bool {
        self.stride == 1 && self.padding < self.kernel
    }

    /// The convolution that makes the gradient of the picture of the result's gradient.
    pub const fn mirrored(&self) -> Self {
        let (channels, outputs, padding) = (self.outputs, self.channels, self.kernel - 1 - self.padding);
        Self { height: self.out_height(), width: self.out_width(), channels, outputs, padding, ..*self }
    }

    /// The weight of `mirrored`: each kernel turned by half a turn, inputs and outputs exchanged, in `PyTorch`'s layout.
    pub fn mirror_weight(&self, weight: &[f32]) -> Vec<f32> {
        let places = self.kernel * self.kernel;
        let mut mirrored = vec![0.0; weight.len()];
        for (output, kernels) in weight.chunks_exact(self.taps()).enumerate() {
            for (channel, kernel) in kernels.chunks_exact(places).enumerate() {
                let to = &mut mirrored[(channel * self.outputs + output) * places..][..places];
                to.iter_mut().rev().zip(kernel).for_each(|(to, from)| *to = *from);
            }
        }
        mirrored
    }

    /// Numbers in a weight as `dense_gradient` lays it out.
    pub fn dense_len(&self) -> usize {
        self.taps() * self.padded_outputs()
    }

    /// Adds one image's gradient of the weights, as `[kernel row, run, padded_outputs]`, from the gradient of every pixel of the result,
    /// `[out_height, out_width, padded_outputs]`. It is a convolution again: of the picture by the result's gradient.
    pub fn dense_gradient(&self, padded: &[f32], pixels: &[f32], weight_gradient: &mut [f32]) {
        assert!(padded.len() >= self.padded_len());
        assert_eq!((pixels.len(), weight_gradient.len()), (self.out_height() * self.out_width() * self.padded_outputs(), self.dense_len()));
        Arch::new().dispatch(DenseGradient { convolution: *self, padded, pixels, weight_gradient });
    }

    /// Adds a gradient in the layout of `dense_gradient` to one in `PyTorch`'s.
    pub fn unpack_dense(&self, dense: &[f32], gradient: &mut [f32]) {
        let outputs = self.padded_outputs();
        for (output, gradient) in gradient.chunks_exact_mut(self.taps()).enumerate() {
            self.for_each_tap(|place, row, index| gradient[place] += dense[(row * self.run() + index) * outputs + output]);
        }
    }
}

struct DenseGradient<'a> {
    convolution: Convolution,
    padded: &'a [f32],
    pixels: &'a [f32],
    weight_gradient: &'a mut [f32],
}

impl WithSimd for DenseGradient<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { convolution, padded, pixels, weight_gradient } = self;
        let Convolution { stride, channels, .. } = convolution;
        let (row, taps, outputs) = (convolution.row(), convolution.taps(), convolution.padded_outputs());
        let (height, run) = (convolution.out_height(), convolution.out_width());
        // As many rows at a time as stay in the first cache while all taps go over them.
        let strip = (FIRST_CACHE / (run * (stride * stride * channels + outputs.min(2 * S::F32_LANES)))).clamp(1, height);
        for output in (0..outputs).step_by(2 * S::F32_LANES) {
            let width = (outputs - output).min(2 * S::F32_LANES);
            for first in (0..height).step_by(strip) {
                let rows = strip.min(height - first);
                for tap in (0..taps).step_by(PIXELS) {
                    let count = (taps - tap).min(PIXELS);
                    let starts = std::array::from_fn(|index| {
                        let tap = tap + index.min(count - 1);
                        padded[(first * stride + tap / convolution.run()) * row + tap % convolution.run()..].as_ptr()
                    });
                    let tile = Tile {
                        rows,
                        stride: stride * row,
                        run,
                        step: stride * channels,
                        panel: pixels[first * run * outputs + output..].as_ptr(),
                        panel_stride: outputs,
                        out: weight_gradient[tap * outputs + output..(tap + count - 1) * outputs + output + width].as_mut_ptr(),
                        out_stride: outputs,
                        start: Start::Result,
                    };
                    // SAFETY: from each tap on, the picture has a number for each of the result's pixels, `step` and `stride` apart;
                    // the result's gradient has a panel for each of its pixels; and the sums are this call's alone.
                    unsafe { tile.compute(simd, &starts, count, width / S::F32_LANES) };
                }
            }
        }
    }
}

/// A padded picture and the weights to convolve it with.
#[derive(Clone, Copy)]
pub enum Operands<'a> {
    /// Of f32 numbers.
    Single {
        /// From `pad`.
        padded: &'a [f32],
        /// From `pack_panels`.
        panels: &'a [f32],
    },
    /// Of bf16 numbers, where `takes_pairs`.
    Pairs {
        /// The bits of what `pad` gives.
        padded: &'a [u16],
        /// From `pair_panels`.
        panels: &'a [u32],
    },
}

struct Forward<'a> {
    convolution: Convolution,
    operands: Operands<'a>,
    bias: &'a [f32],
    offsets: &'a [u32],
    out: &'a mut [f32],
}

impl WithSimd for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { convolution, operands, bias, offsets, out } = self;
        let (run, step, out_stride, kernel) = (convolution.run(), convolution.row(), bias.len(), convolution.kernel);
        let mut output = 0;
        while output < out_stride {
            let panel = (out_stride - output).min(2 * S::F32_LANES);
            let weights = kernel * run * panel;
            // All of the panel's weights at once while they fit into the first cache, else those of one kernel row after the other.
            let rows = if weights <= FIRST_CACHE { kernel } else { 1 };
            for row in (0..kernel).step_by(rows) {
                let first = output * kernel * run + row * run * panel;
                let mut pixel = 0;
                for offsets in offsets.chunks(PIXELS) {
                    let count = offsets.len();
                    // Pixels past the end repeat the last; they are not computed.
                    let starts: [usize; PIXELS] = std::array::from_fn(|index| offsets[index.min(count - 1)] as usize + row * step);
                    let out = out[pixel * out_stride + output..(pixel + count - 1) * out_stride + output + panel].as_mut_ptr();
                    let start = if row == 0 { Start::Bias(bias[output..output + panel].as_ptr()) } else { Start::Result };
                    match operands {
                        Operands::Single { padded, panels } => {
                            let panels = panels[first..first + rows * run * panel].as_ptr();
                            let tile =
                                Tile { rows, stride: step, run, step: 1, panel: panels, panel_stride: panel, out, out_stride, start };
                            let pixels = starts.map(|start| padded[start..].as_ptr());
                            // SAFETY: `forward` checked that every offset has its kernel rows in the picture; weights, bias and
                            // results are the slices just taken, and the results are this call's alone.
                            unsafe { tile.compute(simd, &pixels, count, panel / S::F32_LANES) };
                        }
                        #[cfg(target_arch = "x86_64")]
                        Operands::Pairs { padded, panels } => {
                            let panels = panels[first / 2..][..rows * run / 2 * panel].as_ptr();
                            let tile = bf16::PairTile { rows, stride: step, run, panel: panels, out, out_stride, start };
                            let pixels = starts.map(|start| padded[start..].as_ptr());
                            // SAFETY: as above; and pairs are only made where `bf16::is_native`.
                            unsafe { tile.compute(&pixels, count, panel / S::F32_LANES) };
                        }
                        #[cfg(not(target_arch = "x86_64"))]
                        Operands::Pairs { .. } => unreachable!("pairs are only made where bf16 is native"),
                    }
                    pixel += count;
                }
            }
            output += panel;
        }
    }
}

/// The outputs of one image that have a gradient, in the two orders its sums are taken in.
///
/// A site is a pixel of the (pooled) result; behind it lie one or, after 2x2 pooling, four places, each a pixel of the convolution.
pub struct Outputs<'a> {
    /// For each output, its terms: `[outputs, sites]`, offsets into the padded picture.
    pub by_output: &'a [Term],
    /// How many of them there are.
    pub output_counts: &'a [u32],
    /// For each block of outputs, site and place, its terms: offsets into `pack_rows`. Empty when the picture needs no gradient.
    pub by_place: &'a [Term],
    /// How many of them there are.
    pub place_counts: &'a [u32],
    /// Where each site's places start in the padded picture.
    pub offsets: &'a [u32],
    /// Places per site.
    pub places: usize,
    /// Outputs per block.
    pub block: usize,
}

impl Convolution {
    /// Outputs whose weights for one pass of `gradients` fit into the first cache together.
    pub fn block(&self) -> usize {
        let vectors = self.padded_run() / lanes();
        let rows = (10 / vectors).clamp(1, self.kernel);
        let blocks = (self.outputs * rows * self.padded_run().min(10 * lanes())).div_ceil(FIRST_CACHE);
        self.outputs.div_ceil(blocks.max(1))
    }

    /// Adds one image's gradient of the weights, as `pack_rows`, and, if asked, of the padded picture (weights, gradient).
    pub fn gradients(&self, padded: &[f32], outputs: &Outputs<'_>, weight_gradient: &mut [f32], picture: Option<(&[f32], &mut [f32])>) {
        assert!(padded.len() >= self.padded_len() && weight_gradient.len() == self.rows_len());
        if let Some((rows, gradient)) = &picture {
            assert!(gradient.len() >= self.padded_len() && rows.len() == self.rows_len());
        }
        Arch::new().dispatch(Gradients { convolution: *self, padded, outputs, weight_gradient, picture });
    }
}

struct Gradients<'a, 'b> {
    convolution: Convolution,
    padded: &'a [f32],
    outputs: &'a Outputs<'a>,
    weight_gradient: &'b mut [f32],
    picture: Option<(&'a [f32], &'b mut [f32])>,
}

impl WithSimd for Gradients<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { convolution, padded, outputs, weight_gradient, picture } = self;
        let (kernel, row, run) = (convolution.kernel, convolution.row(), convolution.padded_run());
        let vectors = run / S::F32_LANES;
        let parts = Parts::new::<S>(kernel, vectors, Reach::Long);
        let sites = outputs.offsets.len() / outputs.places;
        for (output, gradient) in weight_gradient.chunks_exact_mut(kernel * run).enumerate() {
            let terms = &outputs.by_output[output * sites..][..outputs.output_counts[output] as usize];
            let (from, to) = (Rows { start: padded.as_ptr(), stride: row }, Rows { start: gradient.as_mut_ptr(), stride: run });
            // SAFETY: a term's offset is that of a pixel of the result, so its rows lie in the padded picture, whose last
            // has room for a whole vector; `gradient` has `kernel` rows of `run` numbers.
            unsafe { accumulate(simd, terms, from, to, parts) };
        }
        let Some((rows, gradient)) = picture else { return };
        let blocks = convolution.outputs.div_ceil(outputs.block);
        for block in 0..blocks {
            // One pass over the sites per part of the kernel, so that the part's weights stay in the first cache.
            let height = (10 / vectors).clamp(1, kernel);
            let mut kernel_row = 0;
            while kernel_row < kernel {
                let height = height.min(kernel - kernel_row);
                let parts = Parts::new::<S>(height, vectors, Reach::Short);
                for (index, &offset) in outputs.offsets.iter().enumerate() {
                    let list = block * outputs.offsets.len() + index;
                    let terms = &outputs.by_place[list * outputs.block..][..outputs.place_counts[list] as usize];
                    if terms.is_empty() {
                        continue;
                    }
                    let from = Rows { start: rows[kernel_row * run..].as_ptr(), stride: run };
                    let to = Rows { start: gradient[offset as usize + kernel_row * row..].as_mut_ptr(), stride: row };
                    // SAFETY: a term's offset is that of an output's weights, which have `kernel` rows of `run` numbers; a
                    // place's rows lie in the padded picture, whose last has room for a whole vector.
                    unsafe { accumulate(simd, terms, from, to, parts) };
                }
                kernel_row += height;
            }
        }
    }
}
