//! `inkling licences`: the licences of all dependencies.

use super::failure::Failure;
use super::output::Output;
use crate::text::licences;

pub fn run() -> Result<(), Failure> {
    Output::new(false).text(licences::text().trim_end())
}
