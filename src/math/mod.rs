//! Mathematics that knows nothing of networks: seeded randomness, quantiles, the statistics of an evaluation, and numbers as bytes.

pub mod packed;
pub mod quantiles;
pub mod random;
pub mod statistics;
