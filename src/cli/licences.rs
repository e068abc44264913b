//! Owns `inkling licences`: on which terms everything that is built into this program may be used. Must not know any licence.

use super::failure::Failure;
use super::output::Output;
use crate::text::licences;

/// Prints them.
pub fn run() -> Result<(), Failure> {
    Output::new(false).text(licences::text().trim_end())
}
