//! The data module.

mod arrays;
mod augment;
mod builtin;
mod classes;
mod files;
mod fingerprint;
mod folders;
mod hostile;
mod issues;
mod labels;
mod memory;
mod my_digits;
mod pairs;
mod parquet;
mod validation;
