//! The thread pools that are compared: one thread, and all.

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::BenchError;

/// A pool and how many threads it has.
pub(super) struct Pool {
    pub threads: u32,
    pub pool: ThreadPool,
}

/// A pool of one thread and, with more than one core, a pool of as many threads as cores.
pub(super) fn pools(threads: u32) -> Result<Vec<Pool>, BenchError> {
    let sizes = if threads > 1 {
        vec![1, threads]
    } else {
        vec![1]
    };
    let build = |threads: u32| {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads as usize)
            .thread_name(|index| format!("bench-{index}"))
            .build();
        pool.map(|pool| Pool { threads, pool })
            .map_err(|error| crate::nn::ComputeError::no_thread(&error).into())
    };
    sizes.into_iter().map(build).collect()
}
