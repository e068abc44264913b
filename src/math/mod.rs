//! Owns mathematics that knows nothing of networks: seeded randomness, quantiles, and the statistics of a measurement.

pub mod quantiles;
pub mod random;
pub mod statistics;
