//! `inkling licences`: the licences of all dependencies.

use super::failure::Failure;
use super::output::Output;
use crate::text::licences;

/// Prints the licences.
pub fn run() -> Result<(), Failure> {
    Output::new(false).text(licences::text().trim_end())
}
