//! Owns `inkling hardware`: what this machine has and what that means for training.
//! Must not find anything out itself: `hardware` does.

use super::failure::Failure;
use super::output::Output;
use crate::hardware::{lines, probe};
use crate::paths::Paths;

/// The options of `inkling hardware`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// Lists what was found.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let hardware = probe(&Paths::find().runs);
    let mut output = Output::new(arguments.json);
    output.json(&hardware)?;
    if !output.is_json() {
        let lines = lines(&hardware);
        let width = lines.iter().map(|line| line.label.chars().count()).max().unwrap_or_default();
        for line in lines {
            output.text(&format!("{:<width$}  {}\n{:width$}  {}", line.label, line.value, "", line.meaning))?;
        }
    }
    Ok(())
}
