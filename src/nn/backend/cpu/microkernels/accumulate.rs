//! Sums of scaled rows: `to += Σ value · from[offset]`, with the sums in registers while the list
//! is traversed.

use pulp::bytemuck::{Pod, Zeroable};
use pulp::{Simd, WithSimd};

use super::{accumulators, load, store};

/// One term of a sum: the row that starts `offset` numbers into the source, times `value`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Term {
    pub offset: u32,
    pub value: f32,
}

// SAFETY: two numbers of four bytes each, of which any bits and so zeros are some.
unsafe impl Zeroable for Term {}
// SAFETY: as above, without padding.
unsafe impl Pod for Term {}

/// The most vectors of a row that are summed at once.
pub const VECTORS: usize = 10;
/// How many rows may be summed at once; each is a kernel for every width.
const ROWS: [usize; 4] = [5, 3, 2, 1];

/// A block of rows: `rows` of them, `stride` apart, each of whole vectors.
#[derive(Clone, Copy)]
pub struct Rows<P> {
    pub start: P,
    pub stride: usize,
}

/// How many sums are held at once.
#[derive(Clone, Copy)]
pub enum RegisterBlocking {
    /// As many as the registers hold, for lists that are long enough to pay for filling them.
    Long,
    /// About ten, for short lists.
    Short,
}

/// How a block of rows is cut into parts that the registers hold.
#[derive(Clone, Copy)]
pub struct Parts {
    rows: usize,
    vectors: usize,
    width: usize,
    most: usize,
}

impl Parts {
    /// The parts of `rows` rows of `vectors` vectors.
    #[inline(always)]
    pub const fn new<S: Simd>(rows: usize, vectors: usize, reach: RegisterBlocking) -> Self {
        // Equal parts, so that no part is too narrow to hide the latency of a multiply-add.
        let width = if vectors == 0 {
            1
        } else {
            vectors.div_ceil(vectors.div_ceil(VECTORS))
        };
        let held = match reach {
            RegisterBlocking::Long => accumulators(S::F32_LANES),
            RegisterBlocking::Short => VECTORS,
        };
        Self {
            rows,
            vectors,
            width,
            most: if held / width == 0 { 1 } else { held / width },
        }
    }
}

/// `to[r][v] += Σ value · from[offset][r][v]` over the terms, for the rows and vectors of `parts`.
///
/// # Safety
///
/// The block of `parts` must be valid at `to`, and at `from` plus every offset; no one else may use
/// `to` meanwhile.
#[inline(always)]
pub unsafe fn accumulate<S: Simd>(
    simd: S,
    terms: &[Term],
    from: Rows<*const f32>,
    to: Rows<*mut f32>,
    parts: Parts,
) {
    let lanes = S::F32_LANES;
    let Parts {
        rows,
        vectors,
        width,
        most,
    } = parts;
    let mut row = 0;
    while row < rows {
        let fits = |&height: &usize| height <= most.min(rows - row);
        let part_rows = ROWS.into_iter().find(fits).unwrap_or(1);
        let mut vector = 0;
        while vector < vectors {
            let part_vectors = width.min(vectors - vector);
            // SAFETY: the part lies within the block promised.
            unsafe {
                let from = Rows {
                    start: from.start.add(row * from.stride + vector * lanes),
                    ..from
                };
                let to = Rows {
                    start: to.start.add(row * to.stride + vector * lanes),
                    ..to
                };
                by_rows(simd, terms, from, to, part_rows, part_vectors);
            }
            vector += part_vectors;
        }
        row += part_rows;
    }
}

/// Calls the kernel compiled for these sizes; a call, since each of them in each place it is used
/// would take minutes to compile.
#[inline(always)]
unsafe fn by_rows<S: Simd>(
    simd: S,
    terms: &[Term],
    from: Rows<*const f32>,
    to: Rows<*mut f32>,
    rows: usize,
    vectors: usize,
) {
    macro_rules! sized {
        ($($rows:literal: $($vectors:literal)*;)*) => {
            match (rows, vectors) {
                $($(($rows, $vectors) => simd.vectorize(Block::<$rows, $vectors> { terms, from, to }),)*)*
                _ => unreachable!("`Parts` makes no blocks of {rows} rows of {vectors} vectors"),
            }
        };
    }
    sized! {
        1: 1 2 3 4 5 6 7 8 9 10;
        2: 1 2 3 4 5 6 7 8 9 10;
        3: 1 2 3 4 5 6 7 8 9 10;
        5: 1 2 3 4 5 6;
    }
}

/// A kernel's arguments, which `by_rows` checked nothing of: it is built where the promise of
/// `accumulate` holds.
struct Block<'a, const ROWS: usize, const VECTORS: usize> {
    terms: &'a [Term],
    from: Rows<*const f32>,
    to: Rows<*mut f32>,
}

impl<const ROWS: usize, const VECTORS: usize> WithSimd for Block<'_, ROWS, VECTORS> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { terms, from, to } = self;
        let lanes = S::F32_LANES;
        let mut sums = [[simd.splat_f32s(0.0); VECTORS]; ROWS];
        // SAFETY: by the promise of `accumulate`, every offset lies within the rows.
        unsafe {
            for (row, sums) in sums.iter_mut().enumerate() {
                for (vector, sum) in sums.iter_mut().enumerate() {
                    *sum = load::<S>(to.start.add(row * to.stride + vector * lanes));
                }
            }
            for term in terms {
                let value = simd.splat_f32s(term.value);
                let start = from.start.add(term.offset as usize);
                for (row, sums) in sums.iter_mut().enumerate() {
                    for (vector, sum) in sums.iter_mut().enumerate() {
                        *sum = simd.mul_add_e_f32s(
                            value,
                            load::<S>(start.add(row * from.stride + vector * lanes)),
                            *sum,
                        );
                    }
                }
            }
            for (row, sums) in sums.into_iter().enumerate() {
                for (vector, sum) in sums.into_iter().enumerate() {
                    store::<S>(to.start.add(row * to.stride + vector * lanes), sum);
                }
            }
        }
    }
}
