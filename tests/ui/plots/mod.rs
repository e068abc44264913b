//! The live plots.

mod curves;
mod panel;
mod pyramid;
mod scale;
mod screenshot;
