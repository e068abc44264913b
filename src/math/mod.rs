//! Mathematics that knows nothing of networks: seeded randomness, quantiles, and the statistics of an evaluation.

pub mod quantiles;
pub mod random;
pub mod statistics;
