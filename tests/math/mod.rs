//! Statistics of a measurement.

mod comparison;
mod label_errors;
mod projection;
mod statistics;
