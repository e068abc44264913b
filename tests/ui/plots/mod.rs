//! The live plots.

mod curves;
mod panel;
mod picture;
mod pyramid;
mod scale;
