//! Statistics of a measurement.

mod statistics;
