//! Mathematics that does not depend on networks: seeded randomness, the statistics of
//! measurements, labels that are probably wrong, points of many dimensions shown in two, and numbers
//! as bytes.

pub mod label_errors;
pub mod neighbor_embedding;
pub mod packed;
pub mod projection;
pub mod random;
pub mod statistics;
