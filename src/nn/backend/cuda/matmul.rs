//! Matrix products, by cuBLAS, and sums of columns; the fully connected layer.

use candle_core::cuda_backend::WrapErr;
use candle_core::cuda_backend::cudarc::cublas::result::gemm_strided_batched_ex;
use candle_core::cuda_backend::cudarc::cublas::sys as cublas;
use candle_core::cuda_backend::cudarc::driver::LaunchConfig;
use candle_core::{CudaDevice, D, DType, Result, Tensor};

use super::autotune;
use super::launch::{KernelArg, Uninit, empty, for_dtype, gpu, launch, threads};
use crate::nn::autograd::Gradients;
use crate::nn::{GradMode, Output, Parameter};
use crate::run_config::Precision;

/// A block of a GPU computes about this many rows and columns of a product.
const TILE: usize = 64;
/// So many blocks keep a GPU busy.
const BLOCKS: usize = 256;
/// So many rows are worth a separate block.
const MIN_ROWS: usize = 1024;

#[derive(Clone, Copy)]
pub struct Products {
    pub precision: Precision,
    /// Whether several algorithms are tried for each shape, and the fastest is used from then on.
    pub autotune: bool,
}

impl Products {
    pub const fn dtype(self) -> DType {
        match self.precision {
            Precision::F32 | Precision::Tf32 => DType::F32,
            Precision::Bf16 => DType::BF16,
            Precision::F16 => DType::F16,
        }
    }
}

/// The product in f32 of two matrices, `[m, k]` and `[k, n]`, or of each of as many,
/// `[count, m, k]` and `[count, k, n]`; either may be stored transposed.
pub fn matmul(
    left: &Tensor,
    left_transposed: bool,
    right: &Tensor,
    right_transposed: bool,
    products: Products,
) -> Result<Tensor> {
    matmul_as(
        DType::F32,
        left,
        left_transposed,
        right,
        right_transposed,
        products,
    )
}

/// `matmul` with the result in f32, or rounded to the operands' type.
pub fn matmul_as(
    dtype: DType,
    left: &Tensor,
    left_transposed: bool,
    right: &Tensor,
    right_transposed: bool,
    products: Products,
) -> Result<Tensor> {
    let lefts = Matrix::of(left, left_transposed)?;
    let rights = Matrix::of(right, right_transposed)?;
    let mut shape = left.dims().to_vec();
    shape.splice(left.rank() - 2.., [lefts.shape().0, rights.shape().1]);
    let result = empty(shape, dtype, left)?;
    multiply(gpu(left)?, lefts, rights, &result, products)?;
    // SAFETY: `multiply` writes all of it.
    Ok(unsafe { result.assume_init() })
}

/// `matmul` into memory of the result's size.
pub fn matmul_into(
    result: &Uninit,
    left: &Tensor,
    left_transposed: bool,
    right: &Tensor,
    right_transposed: bool,
    products: Products,
) -> Result<()> {
    multiply(
        gpu(left)?,
        Matrix::of(left, left_transposed)?,
        Matrix::of(right, right_transposed)?,
        result,
        products,
    )
}

/// `leftᵀ · right` of matrices with many rows, `[rows, m]` and `[rows, n]`. The result is so small
/// that a single product would leave most of a GPU idle: chunks of rows are multiplied side by
/// side, and their products summed in order.
pub fn matmul_over_rows(left: &Tensor, right: &Tensor, products: Products) -> Result<Tensor> {
    let ((rows, m), (_, n)) = (left.dims2()?, right.dims2()?);
    let max_chunks = (BLOCKS / (m.div_ceil(TILE) * n.div_ceil(TILE))).min(rows / MIN_ROWS);
    if max_chunks < 2 {
        return matmul(left, true, right, false, products);
    }
    // Chunks of equal length if there is such a number of them.
    let chunks = (max_chunks / 2 + 1..=max_chunks)
        .rev()
        .find(|chunks| rows % chunks == 0)
        .unwrap_or(max_chunks);
    let of_chunks = |chunks: usize| {
        if chunks < 2 {
            matmul(left, true, right, false, products)
        } else {
            in_chunks(chunks, left, right, products)
        }
    };
    if !products.autotune {
        return of_chunks(chunks);
    }
    let numbers = [chunks, chunks / 2, chunks / 4, 1];
    let name = format!(
        "{m}x{n} of {rows} rows in chunks, {} of {:?}",
        products.precision,
        left.dtype()
    );
    let fastest = autotune::fastest(gpu(left)?, &name, numbers.len(), |candidate| {
        of_chunks(numbers[candidate]).map(drop)
    });
    of_chunks(numbers.get(fastest).copied().unwrap_or(chunks))
}

/// `matmul_over_rows` in this many chunks, and one for the rows that remain.
fn in_chunks(chunks: usize, left: &Tensor, right: &Tensor, products: Products) -> Result<Tensor> {
    let ((rows, m), (_, n)) = (left.dims2()?, right.dims2()?);
    let (chunk_rows, rest) = (rows / chunks, rows % chunks);
    let (lefts, rights) = (Matrix::of(left, true)?, Matrix::of(right, false)?);
    let sums = empty((chunks + usize::from(rest > 0), m, n), DType::F32, left)?;
    multiply(
        gpu(left)?,
        lefts.rows(0, chunk_rows, chunks),
        rights.rows(0, chunk_rows, chunks),
        &sums,
        products,
    )?;
    if rest > 0 {
        let lefts = lefts.rows(rows - rest, rest, 1);
        let rights = rights.rows(rows - rest, rest, 1);
        multiply(gpu(left)?, lefts, rights, &sums.get(chunks)?, products)?;
    }
    // SAFETY: the products of all chunks, and that of the rest, were written.
    column_sums(&unsafe { sums.assume_init() }.flatten_from(1)?)?.reshape((m, n))
}

/// A matrix as it is stored on a GPU, or several of the same size, one after the other.
#[derive(Clone, Copy)]
pub struct Matrix {
    pub pointer: u64,
    pub dtype: DType,
    pub count: usize,
    pub rows: usize,
    pub columns: usize,
    /// Whether its transpose is what is multiplied.
    pub transposed: bool,
}

impl Matrix {
    fn of(tensor: &Tensor, transposed: bool) -> Result<Self> {
        let (rows, columns) = (tensor.dim(D::Minus2)?, tensor.dim(D::Minus1)?);
        let count = tensor.elem_count() / (rows * columns).max(1);
        Ok(Self {
            pointer: tensor.raw()?,
            dtype: tensor.dtype(),
            count,
            rows,
            columns,
            transposed,
        })
    }

    /// Stored rows from `first` on, as `count` matrices of `rows` rows.
    fn rows(self, first: usize, rows: usize, count: usize) -> Self {
        Self {
            pointer: self.pointer + (first * self.columns * self.dtype.size_in_bytes()) as u64,
            rows,
            count,
            ..self
        }
    }

    /// Rows and columns of what is multiplied.
    pub const fn shape(self) -> (usize, usize) {
        if self.transposed {
            (self.columns, self.rows)
        } else {
            (self.rows, self.columns)
        }
    }

    const fn operation(self) -> cublas::cublasOperation_t {
        if self.transposed {
            cublas::cublasOperation_t::CUBLAS_OP_T
        } else {
            cublas::cublasOperation_t::CUBLAS_OP_N
        }
    }
}

fn data_type(dtype: DType) -> Result<cublas::cudaDataType> {
    match dtype {
        DType::F32 => Ok(cublas::cudaDataType_t::CUDA_R_32F),
        DType::F16 => Ok(cublas::cudaDataType_t::CUDA_R_16F),
        DType::BF16 => Ok(cublas::cudaDataType_t::CUDA_R_16BF),
        dtype => candle_core::bail!("there is no matrix product of {dtype:?}"),
    }
}

/// Writes the product of each pair of matrices to `result`, one after the other, from its first
/// element on.
fn multiply(
    gpu: &CudaDevice,
    left: Matrix,
    right: Matrix,
    result: &Uninit,
    products: Products,
) -> Result<()> {
    let ((m, k), (inner, n)) = (left.shape(), right.shape());
    let fits = inner == k
        && left.count == right.count
        && result.elem_count() >= left.count * m * n
        && [DType::F32, left.dtype].contains(&result.dtype());
    if !fits {
        candle_core::bail!(
            "{} matrices of {m}x{k} cannot be multiplied with {} of {inner}x{n}",
            left.count,
            right.count
        );
    }
    let gemm = Gemm {
        left,
        right,
        result: result.raw()?,
        dtype: result.dtype(),
        precision: products.precision,
    };
    if products.autotune {
        autotune::multiply(gpu, &gemm)
    } else {
        gemm.by_default(gpu)
    }
}

/// The products of pairs of matrices, whose shapes fit together, and where they are written to.
pub struct Gemm {
    pub left: Matrix,
    pub right: Matrix,
    /// A pointer to memory for all of them.
    pub result: u64,
    pub dtype: DType,
    pub precision: Precision,
}

impl Gemm {
    /// Computes them with the algorithm that cuBLAS chooses by itself, always the same for the same
    /// shapes.
    pub fn by_default(&self, gpu: &CudaDevice) -> Result<()> {
        let Self {
            left,
            right,
            result,
            dtype,
            precision,
        } = self;
        let ((m, k), (_, n)) = (left.shape(), right.shape());
        let (one, zero) = (1.0_f32, 0.0_f32);
        let compute_type = match precision {
            Precision::Tf32 => cublas::cublasComputeType_t::CUBLAS_COMPUTE_32F_FAST_TF32,
            _ => cublas::cublasComputeType_t::CUBLAS_COMPUTE_32F,
        };
        // cuBLAS is column-major: to it these matrices are transposed, and so is their product.
        // SAFETY: the operands are contiguous tensors of these sizes and types, or rows of them; so
        // is the result, which has enough elements.
        unsafe {
            gemm_strided_batched_ex(
                *gpu.cublas_handle().handle(),
                right.operation(),
                left.operation(),
                n as i32,
                m as i32,
                k as i32,
                (&raw const one).cast(),
                right.pointer as *const _,
                data_type(right.dtype)?,
                right.columns as i32,
                (right.rows * right.columns) as i64,
                left.pointer as *const _,
                data_type(left.dtype)?,
                left.columns as i32,
                (left.rows * left.columns) as i64,
                (&raw const zero).cast(),
                *result as *mut _,
                data_type(*dtype)?,
                n as i32,
                (m * n) as i64,
                left.count as i32,
                compute_type,
                cublas::cublasGemmAlgo_t::CUBLAS_GEMM_DFALT,
            )
        }
        .w()
    }
}

/// The sum of each column; of many rows by chunks of them.
pub fn column_sums(values: &Tensor) -> Result<Tensor> {
    /// Threads along either side of a block: columns, and rows at a time, if there are as many.
    const SIDE: u32 = 32;
    let (rows, columns) = values.dims2()?;
    let blocks_x = (columns as u32).div_ceil(SIDE);
    let max_chunks = (BLOCKS / blocks_x as usize).min(rows / MIN_ROWS).max(1);
    let chunks = rows.div_ceil(rows.div_ceil(max_chunks));
    let sums = empty((chunks, columns), DType::F32, values)?;
    let rows_at_a_time = SIDE.min(rows.div_ceil(chunks).next_power_of_two() as u32);
    let config = LaunchConfig {
        grid_dim: (blocks_x, chunks as u32, 1),
        block_dim: (SIDE, rows_at_a_time, 1),
        shared_mem_bytes: 0,
    };
    // SAFETY: a block for each chunk of `rows` and 32 of `columns` writes the chunk's sums;
    // `values` is of the kernel's type.
    let sums = unsafe {
        launch! {
            gpu(values)?, &for_dtype("column_sums", values.dtype()), config, values, sums, rows,
            columns
        }
        sums.assume_init()
    };
    if chunks > 1 {
        column_sums(&sums)
    } else {
        sums.reshape(columns)
    }
}

pub fn linear(
    x: &Tensor,
    weight: &Parameter,
    bias: &Parameter,
    relu: bool,
    grad: GradMode,
    products: Products,
) -> Result<Output> {
    let dtype = products.dtype();
    let rows = x.contiguous()?.to_dtype(dtype)?;
    let kernel = weight.tensor().to_dtype(dtype)?;
    let result = matmul(&rows, false, &kernel, true, products)?;
    let count = result.elem_count();
    // SAFETY: a thread for each of the result's `count` elements rewrites it; its rows are as long
    // as the bias. Nobody else has the result yet.
    unsafe {
        launch! {
            gpu(x)?, "add_bias", threads(count), result, bias.tensor(), count, bias.len(), relu
        }
    }
    let (weight, bias) = (weight.clone(), bias.clone());
    Ok(Output::new(
        result.clone(),
        grad,
        move |gradient, needed| {
            let of_sums = relu_backward(gradient, &result, relu, dtype)?;
            let of_weight = matmul_over_rows(&of_sums, &rows, products)?;
            let of_bias = column_sums(&of_sums)?;
            let of_x = needed[0]
                .then(|| matmul(&of_sums, false, &kernel, false, products))
                .transpose()?;
            Ok(Gradients {
                inputs: vec![of_x],
                parameters: vec![(weight, of_weight), (bias, of_bias)],
            })
        },
    ))
}

/// The gradient before `ReLU` (or as it is, if there is none) as the operand of a matrix
/// product.
fn relu_backward(gradient: &Tensor, result: &Tensor, relu: bool, dtype: DType) -> Result<Tensor> {
    let gradient = gradient.contiguous()?;
    if !relu && dtype == DType::F32 {
        return Ok(gradient);
    }
    let (operand, count) = (empty(result.shape(), dtype, result)?, result.elem_count());
    // SAFETY: a thread for each of the `count` elements that all three tensors have; `operand` is
    // of the kernel's type.
    unsafe {
        launch! {
            gpu(result)?, &for_dtype("relu_backward", dtype), threads(count), gradient, result,
            operand, count, relu
        }
        Ok(operand.assume_init())
    }
}
