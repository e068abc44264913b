//! The live plots.

mod curves;
mod figure;
mod headline;
mod navigation;
mod panel;
mod pyramid;
mod range;
mod scale;
