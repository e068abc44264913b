//! Tests of networks: every op against plain loops and finite differences, models, model files.

mod activations;
mod convolution;
mod cost;
mod features;
mod files;
mod gradients;
mod loss;
mod models;
mod tidy;
