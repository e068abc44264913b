//! Mathematics that does not depend on networks: seeded randomness, the statistics of
//! measurements, and numbers as bytes.

pub mod packed;
pub mod random;
pub mod statistics;
