//! Owns matrix products on a GPU, by cuBLAS. Must not know what is multiplied.

use candle_core::cuda_backend::WrapErr;
use candle_core::cuda_backend::cudarc::cublas::{result::gemm_strided_batched_ex, sys as cublas};
use candle_core::cuda_backend::cudarc::driver::LaunchConfig;
use candle_core::{CudaDevice, D, DType, Result, Tensor};

use super::gpu::{gpu, launch, of_kind, place, room};
use crate::run_config::Precision;

/// Numbers along a side of what one part of a GPU computes of a product, about.
const TILE: usize = 64;
/// How many of these keep a GPU busy.
const TILES: usize = 256;
/// Rows that are worth a part of their own.
const ROWS: usize = 1024;

/// The number format of a product's operands.
pub const fn operand(precision: Precision) -> DType {
    match precision {
        Precision::F32 | Precision::Tf32 => DType::F32,
        Precision::Bf16 => DType::BF16,
        Precision::F16 => DType::F16,
    }
}

/// The product of two matrices, `[m, k]` and `[k, n]`, or of each of as many, `[count, m, k]` and `[count, k, n]`. Any may be stored transposed;
/// sums are f32.
pub fn product(left: &Tensor, left_turned: bool, right: &Tensor, right_turned: bool, precision: Precision) -> Result<Tensor> {
    let (rows, columns) = (Matrix::of(left, left_turned)?, Matrix::of(right, right_turned)?);
    let mut shape = left.dims().to_vec();
    shape.splice(left.rank() - 2.., [rows.shape().0, columns.shape().1]);
    let result = room(shape, DType::F32, left)?;
    multiply(gpu(left)?, (rows, columns), place(&result)?, precision)?;
    Ok(result)
}

/// The same, where there is room for it.
pub fn product_into(
    result: &Tensor,
    left: &Tensor,
    left_turned: bool,
    right: &Tensor,
    right_turned: bool,
    precision: Precision,
) -> Result<()> {
    multiply(gpu(left)?, (Matrix::of(left, left_turned)?, Matrix::of(right, right_turned)?), place(result)?, precision)
}

/// `leftᵀ · right` of matrices with many rows, `[rows, m]` and `[rows, n]`. So few numbers come out that a GPU would compute few at a time:
/// parts of the rows are multiplied side by side, and added up in their order.
pub fn product_over_rows(left: &Tensor, right: &Tensor, precision: Precision) -> Result<Tensor> {
    let ((rows, m), (_, n)) = (left.dims2()?, right.dims2()?);
    let most = (TILES / (m.div_ceil(TILE) * n.div_ceil(TILE))).min(rows / ROWS);
    if most < 2 {
        return product(left, true, right, false, precision);
    }
    // Nothing is left over where some such number of parts divides the rows.
    let parts = (most / 2 + 1..=most).rev().find(|parts| rows % parts == 0).unwrap_or(most);
    let (share, rest) = (rows / parts, rows % parts);
    let sums = room((parts + usize::from(rest > 0), m * n), DType::F32, left)?;
    let (lefts, rights) = (Matrix::of(left, true)?, Matrix::of(right, false)?);
    let part = |first, rows, count| (lefts.part(first, rows, count), rights.part(first, rows, count));
    multiply(gpu(left)?, part(0, share, parts), place(&sums)?, precision)?;
    if rest > 0 {
        multiply(gpu(left)?, part(rows - rest, rest, 1), place(&sums.narrow(0, parts, 1)?)?, precision)?;
    }
    column_sums(&sums)?.reshape((m, n))
}

/// A matrix on a GPU, as it is stored, or several, one after the other.
#[derive(Clone, Copy)]
struct Matrix {
    place: u64,
    kind: DType,
    count: usize,
    rows: usize,
    columns: usize,
    turned: bool,
}

impl Matrix {
    fn of(tensor: &Tensor, turned: bool) -> Result<Self> {
        let (rows, columns) = (tensor.dim(D::Minus2)?, tensor.dim(D::Minus1)?);
        let count = tensor.elem_count() / (rows * columns).max(1);
        Ok(Self { place: place(tensor)?, kind: tensor.dtype(), count, rows, columns, turned })
    }

    /// Of the rows that are stored, those from the first on, as so many matrices of so many rows.
    fn part(self, first: usize, rows: usize, count: usize) -> Self {
        Self { place: self.place + (first * self.columns * self.kind.size_in_bytes()) as u64, rows, count, ..self }
    }

    /// Rows and columns of what is multiplied.
    const fn shape(self) -> (usize, usize) {
        if self.turned { (self.columns, self.rows) } else { (self.rows, self.columns) }
    }

    const fn way(self) -> cublas::cublasOperation_t {
        if self.turned { cublas::cublasOperation_t::CUBLAS_OP_T } else { cublas::cublasOperation_t::CUBLAS_OP_N }
    }

    fn number_format(self) -> Result<cublas::cudaDataType> {
        match self.kind {
            DType::F32 => Ok(cublas::cudaDataType_t::CUDA_R_32F),
            DType::F16 => Ok(cublas::cudaDataType_t::CUDA_R_16F),
            DType::BF16 => Ok(cublas::cudaDataType_t::CUDA_R_16BF),
            kind => candle_core::bail!("there are no products of {kind:?}"),
        }
    }
}

/// A product for each matrix on either side; the results, too, stand one after the other.
fn multiply(gpu: &CudaDevice, (left, right): (Matrix, Matrix), result: u64, precision: Precision) -> Result<()> {
    let ((m, k), (inner, n)) = (left.shape(), right.shape());
    if inner != k || left.count != right.count {
        candle_core::bail!("matrices of {m} by {k} and {inner} by {n} numbers have no product");
    }
    let (one, zero) = (1.0_f32, 0.0_f32);
    let computed = match precision {
        Precision::Tf32 => cublas::cublasComputeType_t::CUBLAS_COMPUTE_32F_FAST_TF32,
        _ => cublas::cublasComputeType_t::CUBLAS_COMPUTE_32F,
    };
    // cuBLAS counts column by column: to it the matrices are transposed, and so is their product.
    // SAFETY: the places hold so many matrices of these sizes, in one piece.
    unsafe {
        gemm_strided_batched_ex(
            *gpu.cublas_handle().handle(),
            right.way(),
            left.way(),
            n as i32,
            m as i32,
            k as i32,
            (&raw const one).cast(),
            right.place as *const _,
            right.number_format()?,
            right.columns as i32,
            (right.rows * right.columns) as i64,
            left.place as *const _,
            left.number_format()?,
            left.columns as i32,
            (left.rows * left.columns) as i64,
            (&raw const zero).cast(),
            result as *mut _,
            cublas::cudaDataType_t::CUDA_R_32F,
            n as i32,
            (m * n) as i64,
            left.count as i32,
            computed,
            cublas::cublasGemmAlgo_t::CUBLAS_GEMM_DFALT,
        )
    }
    .w()
}

/// The sum of each column; of many rows by parts of them.
pub fn column_sums(values: &Tensor) -> Result<Tensor> {
    /// Columns, and rows at a time, of a block.
    const SIDE: u32 = 32;
    let (rows, columns) = values.dims2()?;
    let wide = (columns as u32).div_ceil(SIDE);
    let most = (TILES / wide as usize).min(rows / ROWS).max(1);
    let parts = rows.div_ceil(rows.div_ceil(most));
    let sums = room((parts, columns), DType::F32, values)?;
    let blocks = LaunchConfig { grid_dim: (wide, parts as u32, 1), block_dim: (SIDE, SIDE, 1), shared_mem_bytes: 0 };
    launch!(gpu(values)?, &of_kind("column_sums", values.dtype()), blocks, place(values)?, place(&sums)?, rows as u32, columns as u32);
    if parts > 1 { column_sums(&sums) } else { sums.reshape(columns) }
}
