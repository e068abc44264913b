//! Owns sums of scaled rows: `to += Σ value · from[offset]`, with the sums in registers while the list is walked.
//! Must not know what the rows are.

use pulp::Simd;

use super::{accumulators, load, store};

/// One term of a sum: the row that starts `offset` numbers into the source, times `value`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Term {
    /// Where the row starts.
    pub offset: u32,
    /// What it is multiplied by.
    pub value: f32,
}

/// The most vectors of a row that are summed at once.
pub const VECTORS: usize = 10;
/// The most rows that are summed at once.
const ROWS: usize = 5;

/// A block of rows: `rows` of them, `stride` apart, each of whole vectors.
#[derive(Clone, Copy)]
pub struct Rows<P> {
    /// Its first number.
    pub start: P,
    /// From one row to the next.
    pub stride: usize,
}

/// How many sums are held at once.
#[derive(Clone, Copy)]
pub enum Reach {
    /// As many as the registers hold, for lists that are long enough to pay for filling them.
    Long,
    /// About ten, for short lists.
    Short,
}

/// `to[r][v] += Σ value · from[offset][r][v]` over the terms, for `rows` rows of `vectors` vectors.
///
/// # Safety
///
/// `rows` rows of `vectors` vectors must be valid at `to`, and at `from` plus every offset; no one else may use `to` meanwhile.
#[inline(always)]
pub unsafe fn accumulate<S: Simd>(
    simd: S,
    terms: &[Term],
    from: Rows<*const f32>,
    to: Rows<*mut f32>,
    rows: usize,
    vectors: usize,
    reach: Reach,
) {
    let lanes = S::F32_LANES;
    // Equal parts, so that no part is too narrow to hide the latency of a multiply-add.
    let width = vectors.div_ceil(vectors.div_ceil(VECTORS).max(1));
    let held = match reach {
        Reach::Long => accumulators(lanes),
        Reach::Short => VECTORS,
    };
    let height = (held / width.max(1)).clamp(1, ROWS);
    let mut row = 0;
    while row < rows {
        let part_rows = height.min(rows - row);
        let mut vector = 0;
        while vector < vectors {
            let part_vectors = width.min(vectors - vector);
            // SAFETY: the part lies within the block promised.
            unsafe {
                let from = Rows { start: from.start.add(row * from.stride + vector * lanes), ..from };
                let to = Rows { start: to.start.add(row * to.stride + vector * lanes), ..to };
                by_rows(simd, terms, from, to, part_rows, part_vectors);
            }
            vector += part_vectors;
        }
        row += part_rows;
    }
}

/// Calls the kernel compiled for these sizes.
#[inline(always)]
unsafe fn by_rows<S: Simd>(simd: S, terms: &[Term], from: Rows<*const f32>, to: Rows<*mut f32>, rows: usize, vectors: usize) {
    macro_rules! sized {
        ($($rows:literal: $($vectors:literal)*;)*) => {
            match (rows, vectors) {
                $($(($rows, $vectors) => block::<S, $rows, $vectors>(simd, terms, from, to),)*)*
                _ => debug_assert!(false, "no kernel for {rows} rows of {vectors} vectors"),
            }
        };
    }
    // SAFETY: the caller's promise.
    unsafe {
        sized! {
            1: 1 2 3 4 5 6 7 8 9 10;
            2: 1 2 3 4 5 6 7 8 9 10;
            3: 1 2 3 4 5 6 7 8 9 10;
            4: 1 2 3 4 5 6 7;
            5: 1 2 3 4 5 6;
        }
    }
}

#[inline(always)]
unsafe fn block<S: Simd, const ROWS: usize, const VECTORS: usize>(simd: S, terms: &[Term], from: Rows<*const f32>, to: Rows<*mut f32>) {
    let lanes = S::F32_LANES;
    let mut sums = [[simd.splat_f32s(0.0); VECTORS]; ROWS];
    // SAFETY: every offset lies within the rows promised.
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
                    *sum = simd.mul_add_e_f32s(value, load::<S>(start.add(row * from.stride + vector * lanes)), *sum);
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
