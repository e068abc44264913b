//! `inkling data`: what data sets there are, what is in them, and writing them in another format.

pub mod check;
pub mod export;
pub mod list;

use clap::Subcommand;

use super::failure::Failure;

/// The commands of `inkling data`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the known data sets and where they were found
    List(list::List),
    /// Download a data set
    Fetch(list::Fetch),
    /// Write a sheet of sample images, one row per class
    Show(check::Show),
    /// Count the images of each class, and look for blank, inverted, duplicate and wrongly labelled
    /// images
    Check(check::Check),
    /// Write a data set in another format
    Export(export::Export),
}

/// Runs one of them.
pub fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::List(list) => list::run(list),
        Command::Fetch(fetch) => list::fetch(&fetch),
        Command::Show(show) => check::show(show),
        Command::Check(check) => check::run(check),
        Command::Export(export) => export::run(export),
    }
}
