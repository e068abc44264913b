//! The live plots.

mod curves;
mod headline;
mod navigation;
mod panel;
mod pyramid;
mod range;
mod scale;
mod screenshot;
