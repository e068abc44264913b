//! Tests of networks: every op against plain loops and finite differences, models, model files.

mod activations;
mod attention;
mod autotuning;
mod candle_nn;
mod checkpointing;
mod composed;
mod convolution;
mod convolution2d;
mod cost;
mod digests;
mod features;
mod files;
mod gradients;
mod initialization;
mod inspection;
mod loss;
mod models;
mod norms;
mod pooling;
mod precision;
mod widths;

pub use self::widths::networks as networks_of_other_widths;
