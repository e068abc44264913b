//! `inkling completions`: what a shell needs to complete commands and options, made from their
//! definitions.

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use super::failure::Failure;
use super::output::Output;

/// The options of `inkling completions`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The shell: its script is printed to standard output
    shell: Shell,
}

/// Prints the script.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut script = Vec::new();
    generate(
        arguments.shell,
        &mut super::Arguments::command(),
        "inkling",
        &mut script,
    );
    Output::new(false).script(String::from_utf8_lossy(&script).trim_end())
}
