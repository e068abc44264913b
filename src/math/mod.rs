//! Mathematics that does not depend on networks: seeded randomness, the statistics of
//! measurements, labels that are probably wrong, and numbers as bytes.

pub mod label_errors;
pub mod packed;
pub mod random;
pub mod statistics;
