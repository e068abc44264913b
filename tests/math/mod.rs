//! Statistics of a measurement.

mod comparison;
mod statistics;
