//! Matrix products by the fastest of cuBLAS's algorithms, which is found by trying those that
//! cuBLASLt suggests. <https://docs.nvidia.com/cuda/cublas/#cublasltmatmulalgogetheuristic>

use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::c_void;
use std::fmt;
use std::mem::MaybeUninit;

use candle_core::cuda_backend::WrapErr;
use candle_core::cuda_backend::cudarc::cublaslt::{result as lt, sys};
use candle_core::cuda_backend::cudarc::driver::{CudaSlice, DevicePtr, sys as driver};
use candle_core::{CudaDevice, DType, Error, Result};

use super::matmul::{Gemm, Matrix};
use crate::nn::autotuning;
use crate::run_config::Precision;

/// Memory that algorithms may use; NVIDIA recommends this much for Hopper GPUs.
const WORKSPACE_BYTES: usize = 32 << 20;
/// Algorithms that are asked for, and tried.
const ALGORITHMS: usize = 8;
/// Each candidate is timed this many times, of which the fastest counts; with this many products
/// each time.
const ROUNDS: usize = 3;
const PRODUCTS: usize = 3;

thread_local! {
    /// The library as the thread that trains uses it; `Err` if it cannot be used.
    static LIBRARY: RefCell<Option<std::result::Result<Library, ()>>> = const { RefCell::new(None) };
}

/// cuBLASLt on one GPU, and the products that were computed with it.
struct Library {
    handle: sys::cublasLtHandle_t,
    workspace: CudaSlice<u8>,
    /// The GPU's name and the library's version: on others, other algorithms may be the fastest.
    gpu: String,
    plans: HashMap<GemmShape, Plan>,
}

impl Library {
    fn open(gpu: &CudaDevice) -> Result<Self> {
        let stream = gpu.cuda_stream();
        // SAFETY: only cuBLASLt writes and reads it.
        let workspace = unsafe { stream.alloc::<u8>(WORKSPACE_BYTES) }.w()?;
        let name = stream.context().name().w()?;
        let handle = lt::create_handle().map_err(Error::wrap)?;
        // SAFETY: it has no arguments.
        let version = unsafe { sys::cublasLtGetVersion() };
        Ok(Self {
            handle,
            workspace,
            gpu: format!("{name}, cuBLAS {version}"),
            plans: HashMap::new(),
        })
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        self.plans.clear();
        // SAFETY: it was created by `open`, and is used no more.
        let _ = unsafe { lt::destroy_handle(self.handle) };
    }
}

/// Does this with the library, if it can be used.
fn with_library<R>(gpu: &CudaDevice, work: impl FnOnce(&mut Library) -> R) -> Option<R> {
    LIBRARY.with_borrow_mut(|library| {
        let library = library.get_or_insert_with(|| {
            Library::open(gpu)
                .map_err(|error| tracing::warn!(%error, "without cuBLASLt, nothing is autotuned"))
        });
        library.as_mut().ok().map(work)
    })
}

/// Computes a product with the algorithm that is the fastest for its shapes and types.
pub fn multiply(gpu: &CudaDevice, gemm: &Gemm) -> Result<()> {
    let computed = with_library(gpu, |library| {
        let Library {
            handle,
            workspace,
            gpu: name,
            plans,
        } = library;
        let shape = GemmShape::of(gemm);
        let plan = match plans.entry(shape) {
            Entry::Occupied(plan) => plan.into_mut(),
            Entry::Vacant(none) => none.insert(Plan::new(*handle, &shape).map_err(Error::wrap)?),
        };
        let compute = |candidate: usize| match candidate
            .checked_sub(1)
            .and_then(|index| plan.algorithms.get(index))
        {
            None => gemm.by_default(gpu),
            Some(algorithm) => plan.compute(*handle, gpu, gemm, algorithm, workspace),
        };
        let candidates = 1 + plan.algorithms.len();
        let find = || {
            autotuning::fastest(name, &shape.to_string(), candidates, |candidate| {
                seconds(gpu, || compute(candidate))
            })
        };
        let fastest = plan.fastest.unwrap_or_else(find);
        let computed = compute(fastest);
        plan.fastest = Some(fastest);
        computed
    });
    match computed {
        Some(Ok(())) => Ok(()),
        Some(Err(error)) => {
            tracing::warn!(%error, "an algorithm of cuBLASLt failed");
            gemm.by_default(gpu)
        }
        None => gemm.by_default(gpu),
    }
}

/// The fastest of this many candidates for a computation, the first of which is the default. `name`
/// names the computation and its shapes.
pub fn fastest(
    gpu: &CudaDevice,
    name: &impl fmt::Display,
    candidates: usize,
    mut compute: impl FnMut(usize) -> Result<()>,
) -> usize {
    let Some(of) = with_library(gpu, |library| library.gpu.clone()) else {
        return 0;
    };
    autotuning::fastest(&of, &name.to_string(), candidates, |candidate| {
        seconds(gpu, || compute(candidate))
    })
}

/// How long this takes on the GPU; `None` if it cannot be done.
fn seconds(gpu: &CudaDevice, mut compute: impl FnMut() -> Result<()>) -> Option<f32> {
    let stream = gpu.cuda_stream();
    let mark = || {
        stream
            .record_event(Some(driver::CUevent_flags::CU_EVENT_DEFAULT))
            .ok()
    };
    compute().ok()?;
    let mut fastest = f32::INFINITY;
    for _ in 0..ROUNDS {
        let before = mark()?;
        for _ in 0..PRODUCTS {
            compute().ok()?;
        }
        fastest = fastest.min(before.elapsed_ms(&mark()?).ok()? / 1e3);
    }
    Some(fastest / PRODUCTS as f32)
}

/// How cuBLASLt computes products of some shapes and types.
struct Plan {
    operation: sys::cublasLtMatmulDesc_t,
    a: Layout,
    b: Layout,
    result: Layout,
    algorithms: Vec<sys::cublasLtMatmulAlgo_t>,
    /// The fastest candidate, once it is known: 0 for cuBLAS's own choice, else an algorithm,
    /// counted from 1.
    fastest: Option<usize>,
}

impl Plan {
    fn new(
        handle: sys::cublasLtHandle_t,
        shape: &GemmShape,
    ) -> std::result::Result<Self, lt::CublasError> {
        use sys::cublasLtMatmulDescAttributes_t::{
            CUBLASLT_MATMUL_DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSB,
        };
        let a = Layout::new(shape.a)?;
        let b = Layout::new(shape.b)?;
        let result = Layout::new(shape.result)?;
        let operation =
            lt::create_matmul_desc(shape.compute_type(), sys::cudaDataType_t::CUDA_R_32F)?;
        let mut plan = Self {
            operation,
            a,
            b,
            result,
            algorithms: Vec::new(),
            fastest: None,
        };
        for (attribute, transposed) in [CUBLASLT_MATMUL_DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSB]
            .into_iter()
            .zip(shape.transposed)
        {
            // `CUBLAS_OP_N` and `CUBLAS_OP_T`.
            let operation = i32::from(transposed);
            // SAFETY: the attribute is a 32-bit number.
            unsafe {
                lt::set_matmul_desc_attribute(
                    plan.operation,
                    attribute,
                    (&raw const operation).cast(),
                    size_of::<i32>(),
                )?
            };
        }
        plan.algorithms = plan.suggested(handle, shape.alignment)?;
        Ok(plan)
    }

    /// The algorithms that cuBLASLt expects to be fast if pointers are multiples of `alignment`
    /// bytes.
    fn suggested(
        &self,
        handle: sys::cublasLtHandle_t,
        alignment: u32,
    ) -> std::result::Result<Vec<sys::cublasLtMatmulAlgo_t>, lt::CublasError> {
        use sys::cublasLtMatmulPreferenceAttributes_t::{
            CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
            CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
            CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
        };
        let alignments = [
            CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
            CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
            CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
            CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
        ];
        let preference = Preference(lt::create_matmul_pref()?);
        let mut suggested =
            [MaybeUninit::<sys::cublasLtMatmulHeuristicResult_t>::uninit(); ALGORITHMS];
        let (workspace, mut count) = (WORKSPACE_BYTES as u64, 0);
        // SAFETY: the handles are valid, the attributes are numbers of these sizes, and there is
        // room for as many results as are asked for.
        unsafe {
            lt::set_matmul_pref_attribute(
                preference.0,
                CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                (&raw const workspace).cast(),
                size_of::<u64>(),
            )?;
            for attribute in alignments {
                lt::set_matmul_pref_attribute(
                    preference.0,
                    attribute,
                    (&raw const alignment).cast(),
                    size_of::<u32>(),
                )?;
            }
            sys::cublasLtMatmulAlgoGetHeuristic(
                handle,
                self.operation,
                self.a.0,
                self.b.0,
                self.result.0,
                self.result.0,
                preference.0,
                ALGORITHMS as i32,
                suggested.as_mut_ptr().cast(),
                &raw mut count,
            )
            .result()?;
        }
        // SAFETY: cuBLASLt has written this many.
        let suggested = suggested
            .iter()
            .take(count.max(0) as usize)
            .map(|suggested| unsafe { suggested.assume_init() });
        let can_compute = |suggested: &sys::cublasLtMatmulHeuristicResult_t| {
            suggested.state == sys::cublasStatus_t::CUBLAS_STATUS_SUCCESS
        };
        Ok(suggested
            .filter(can_compute)
            .map(|suggested| suggested.algo)
            .collect())
    }

    fn compute(
        &self,
        handle: sys::cublasLtHandle_t,
        gpu: &CudaDevice,
        gemm: &Gemm,
        algorithm: &sys::cublasLtMatmulAlgo_t,
        workspace: &CudaSlice<u8>,
    ) -> Result<()> {
        let (one, zero, stream) = (1.0_f32, 0.0_f32, gpu.cuda_stream());
        // cuBLAS is column-major: to it these matrices are transposed, and so is their product.
        let [a, b, result] = [gemm.right.pointer, gemm.left.pointer, gemm.result]
            .map(|pointer| pointer as *mut c_void);
        let (workspace, _guard) = workspace.device_ptr(&stream);
        // SAFETY: the product has the shapes, types and alignment that the layouts and the
        // algorithm were made for, since that is what its `GemmShape` says; the workspace is so
        // large.
        unsafe {
            lt::matmul(
                handle,
                self.operation,
                (&raw const one).cast(),
                (&raw const zero).cast(),
                a,
                self.a.0,
                b,
                self.b.0,
                result,
                self.result.0,
                result,
                self.result.0,
                &raw const *algorithm,
                workspace as *mut c_void,
                WORKSPACE_BYTES,
                stream.cu_stream().cast(),
            )
        }
        .map_err(Error::wrap)
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        // SAFETY: it was created by `new`, and is used no more.
        let _ = unsafe { lt::destroy_matmul_desc(self.operation) };
    }
}

struct Preference(sys::cublasLtMatmulPreference_t);

impl Drop for Preference {
    fn drop(&mut self) {
        // SAFETY: as above.
        let _ = unsafe { lt::destroy_matmul_pref(self.0) };
    }
}

/// What decides which algorithms can compute a product, and how fast each of them is. Column by
/// column, as cuBLAS sees matrices, these are transposed, and so is their product.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct GemmShape {
    a: ColumnMajor,
    b: ColumnMajor,
    result: ColumnMajor,
    transposed: [bool; 2],
    precision: Precision,
    /// All matrices begin at multiples of this many bytes.
    alignment: u32,
}

impl GemmShape {
    fn of(
        Gemm {
            left,
            right,
            result,
            dtype,
            precision,
        }: &Gemm,
    ) -> Self {
        let stored = |matrix: &Matrix| ColumnMajor {
            dtype: matrix.dtype,
            rows: matrix.columns,
            columns: matrix.rows,
            count: matrix.count,
        };
        let result_shape = ColumnMajor {
            dtype: *dtype,
            rows: right.shape().1,
            columns: left.shape().0,
            count: left.count,
        };
        let together = left.pointer | right.pointer | result;
        Self {
            a: stored(right),
            b: stored(left),
            result: result_shape,
            transposed: [right.transposed, left.transposed],
            precision: *precision,
            // cuBLAS knows no greater alignment.
            alignment: 1 << together.trailing_zeros().min(8),
        }
    }

    const fn compute_type(&self) -> sys::cublasComputeType_t {
        match self.precision {
            Precision::Tf32 => sys::cublasComputeType_t::CUBLAS_COMPUTE_32F_FAST_TF32,
            _ => sys::cublasComputeType_t::CUBLAS_COMPUTE_32F,
        }
    }
}

impl fmt::Display for GemmShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            a,
            b,
            result,
            transposed: [a_transposed, b_transposed],
            precision,
            alignment,
        } = self;
        let mark = |transposed: &bool| if *transposed { "'" } else { "" };
        write!(
            f,
            "{} x {}x{}{} by ",
            a.count,
            b.columns,
            b.rows,
            mark(b_transposed)
        )?;
        write!(
            f,
            "{}x{}{}, {precision} to {:?}, aligned to {alignment}",
            a.columns,
            a.rows,
            mark(a_transposed),
            result.dtype
        )
    }
}

/// A matrix, or several of the same size one after the other, column by column.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ColumnMajor {
    dtype: DType,
    rows: usize,
    columns: usize,
    count: usize,
}

struct Layout(sys::cublasLtMatrixLayout_t);

impl Layout {
    fn new(
        ColumnMajor {
            dtype,
            rows,
            columns,
            count,
        }: ColumnMajor,
    ) -> std::result::Result<Self, lt::CublasError> {
        use sys::cublasLtMatrixLayoutAttribute_t::{
            CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
        };
        let dtype = match dtype {
            DType::F16 => sys::cudaDataType_t::CUDA_R_16F,
            DType::BF16 => sys::cudaDataType_t::CUDA_R_16BF,
            _ => sys::cudaDataType_t::CUDA_R_32F,
        };
        let layout = Self(lt::create_matrix_layout(
            dtype,
            rows as u64,
            columns as u64,
            rows as i64,
        )?);
        let (count, stride) = (count as i32, (rows * columns) as i64);
        // SAFETY: the layout is valid, and the attributes are numbers of these sizes.
        unsafe {
            lt::set_matrix_layout_attribute(
                layout.0,
                CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                (&raw const count).cast(),
                size_of::<i32>(),
            )?;
            lt::set_matrix_layout_attribute(
                layout.0,
                CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                (&raw const stride).cast(),
                size_of::<i64>(),
            )?;
        }
        Ok(layout)
    }
}

impl Drop for Layout {
    fn drop(&mut self) {
        // SAFETY: it was created by `new`, and is used no more.
        let _ = unsafe { lt::destroy_matrix_layout(self.0) };
    }
}
