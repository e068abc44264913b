//! The live plots.

mod axes;
mod curves;
mod figure;
mod navigation;
mod panel;
