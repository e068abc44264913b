//! The live plots.

mod curves;
mod picture;
mod pyramid;
mod scale;
