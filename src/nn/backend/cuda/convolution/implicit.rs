//! Convolution without im2col's matrix, which is up to `size²` times as large as the image: blocks
//! of threads copy the pixels under the kernel to shared memory while they multiply others
//! ("implicit GEMM", Chetlur et al. 2014). In TF32, bf16 and f16 tensor cores multiply.

use candle_core::cuda_backend::cudarc::driver::LaunchConfig;
use candle_core::{DType, Result, Tensor};

use super::super::launch::{empty, gpu, launch, threads};
use super::super::matmul::column_sums;
use super::{ConvGeometry, Sizes};
use crate::run_config::Precision;

/// Whether the kernels were compiled: they need instructions of GPUs with compute capability 8.0
/// (Ampere) or newer.
const COMPILED: bool = cfg!(cuda_capability_80);
/// The length of a patch is a multiple of this, the most that is copied at once.
const PATCH_MULTIPLE: usize = 16;
/// With more outputs, im2col and cuBLAS's products in half precision are faster.
const MAX_HALF_OUTPUTS: usize = 64;
/// Elements of a patch for which a block computes the weights' gradient.
const GRADIENT_COLUMNS: usize = 64;
/// Rows that are worth a separate block.
const MIN_ROWS: usize = 128;

/// Whether a convolution is computed like this, with the weights' gradient.
pub fn suits(sizes: &Sizes, precision: Precision) -> bool {
    let half = matches!(precision, Precision::Bf16 | Precision::F16);
    COMPILED && sizes.channels.is_multiple_of(4) && !(half && sizes.outputs > MAX_HALF_OUTPUTS)
}

/// The convolution of the sums' gradient that is the gradient of `x`, by the same weights turned
/// around, if it is faster than im2col: with a stride of 1, and if the output is not so much
/// smaller than the input that most of what it multiplied would be zeros.
pub fn flipped(sizes: &Sizes, precision: Precision) -> Option<Sizes> {
    let ConvGeometry {
        size,
        stride,
        padding,
    } = sizes.window;
    let flipped = Sizes {
        height: sizes.out_height,
        width: sizes.out_width,
        channels: sizes.outputs,
        outputs: sizes.channels,
        window: ConvGeometry {
            size,
            stride: 1,
            padding: (size - 1).checked_sub(padding)?,
        },
        out_height: sizes.height,
        out_width: sizes.width,
        ..*sizes
    };
    let pixels = sizes.height * sizes.width;
    let out_pixels = sizes.out_height * sizes.out_width;
    (stride == 1 && 2 * pixels <= 3 * out_pixels && suits(&flipped, precision)).then_some(flipped)
}

/// `[rows, outputs]` from `x` `[images, height, width, channels]` and `weight`
/// `[outputs, channels, size, size]`.
pub fn forward(
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    sizes: Sizes,
    precision: Precision,
) -> Result<Tensor> {
    convolve(x, weight, false, bias, sizes, precision)
}

/// The gradient of `x` from that of the sums. `flipped`: those of [`flipped`].
pub fn input_gradient(
    x: &Tensor,
    of_sums: &Tensor,
    weight: &Tensor,
    flipped: Sizes,
    precision: Precision,
) -> Result<Tensor> {
    convolve(of_sums, weight, true, None, flipped, precision)?.reshape(x.shape())
}

fn convolve(
    x: &Tensor,
    weight: &Tensor,
    flipped: bool,
    bias: Option<&Tensor>,
    sizes: Sizes,
    precision: Precision,
) -> Result<Tensor> {
    let geometry = sizes.geometry(patch_len(&sizes));
    let Tile {
        outputs,
        rows,
        threads: block_threads,
    } = Tile::of(sizes.outputs, precision);
    // Our own products of f32 read columns, up to a block's.
    let padded = if precision == Precision::F32 {
        sizes.outputs.next_multiple_of(outputs)
    } else {
        0
    };
    let packed = empty(
        (patch_len(&sizes), padded.max(sizes.outputs)),
        DType::F32,
        x,
    )?;
    let result = empty((sizes.rows(), sizes.outputs), DType::F32, x)?;
    let grid_dim = (
        sizes.rows().div_ceil(rows) as u32,
        sizes.outputs.div_ceil(outputs) as u32,
        1,
    );
    let config = LaunchConfig {
        grid_dim,
        block_dim: (block_threads, 1, 1),
        shared_mem_bytes: 0,
    };
    // SAFETY: a thread for each element of `packed`; blocks for all rows and outputs of `result`.
    // `x`, `weight` and `bias` have the geometry's sizes.
    unsafe {
        launch! {
            gpu(x)?, "pack_implicit_weight", threads(packed.elem_count()), weight, packed, padded,
            flipped, geometry
        }
        let packed = packed.assume_init();
        launch! {
            gpu(x)?, &format!("convolution_{precision}_{outputs}"), config, x, packed, bias, result,
            geometry
        }
        Ok(result.assume_init())
    }
}

/// The gradient of the weights from that of the sums, in the order of a patch,
/// `[outputs, patch_len]`: of chunks of rows side by side, which are then summed in order.
pub fn weight_gradient(
    x: &Tensor,
    of_sums: &Tensor,
    sizes: Sizes,
    precision: Precision,
) -> Result<Tensor> {
    let (patch_len, rows) = (patch_len(&sizes), sizes.rows());
    let Tile { outputs, .. } = Tile::of(sizes.outputs, precision);
    // So many blocks, and threads in each, keep a GPU of 132 multiprocessors busy.
    let (blocks, threads) = if precision == Precision::F32 {
        (396, 128)
    } else {
        (792, 64)
    };
    let columns = patch_len.div_ceil(GRADIENT_COLUMNS);
    let tiles = sizes.outputs.div_ceil(outputs);
    let chunks = (blocks / (columns * tiles)).min(rows / MIN_ROWS).max(1);
    let chunk_rows = rows.div_ceil(chunks).next_multiple_of(16);
    let chunks = rows.div_ceil(chunk_rows);
    let sums = empty((chunks, sizes.outputs * patch_len), DType::F32, x)?;
    let config = LaunchConfig {
        grid_dim: (columns as u32, tiles as u32, chunks as u32),
        block_dim: (threads, 1, 1),
        shared_mem_bytes: 0,
    };
    // SAFETY: blocks for all outputs and elements of a patch of each chunk; `x` and `of_sums` (f32)
    // have the geometry's sizes.
    let sums = unsafe {
        let kernel = format!("convolution_weight_gradient_{precision}_{outputs}");
        launch! {
            gpu(x)?, &kernel, config, of_sums, x, sums, chunk_rows, sizes.geometry(patch_len)
        }
        sums.assume_init()
    };
    column_sums(&sums)?.reshape((sizes.outputs, patch_len))
}

fn patch_len(sizes: &Sizes) -> usize {
    (sizes.window.size.pow(2) * sizes.channels).next_multiple_of(PATCH_MULTIPLE)
}

/// The tile of a block, as in `f32.cuh` and `tensor_cores.cuh`.
struct Tile {
    outputs: usize,
    rows: usize,
    threads: u32,
}

impl Tile {
    const fn of(outputs: usize, precision: Precision) -> Self {
        let outputs = match outputs {
            ..=16 => 16,
            17..=32 => 32,
            _ => 64,
        };
        let (rows, threads) = match (precision, outputs) {
            (Precision::F32, 16) => (256, 64),
            (_, 32) => (128, 64),
            _ => (128, 128),
        };
        Self {
            outputs,
            rows,
            threads,
        }
    }
}
