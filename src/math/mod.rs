//! Mathematics that does not depend on networks: seeded randomness, quantiles, the statistics of an
//! evaluation, and numbers as bytes.

pub mod packed;
pub mod quantiles;
pub mod random;
pub mod statistics;
