//! Owns `inkling hardware`: what this machine has, what that means for training, and whether it computes rightly.
//! Must not find anything out itself: `hardware` and `self_test` do.

use serde::Serialize;

use super::arguments::choice;
use super::failure::Failure;
use super::output::Output;
use super::progress::Progress;
use crate::hardware::{Hardware, lines, probe};
use crate::paths::Paths;
use crate::run_config::DeviceChoice;
use crate::self_test::{Report, run as self_test, sections};
use crate::table;

/// The options of `inkling hardware`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Check that every op, its gradients, a short training and a reading come out right
    #[arg(long)]
    self_test: bool,
    /// Where to check
    #[arg(long, value_name = "NAME", default_value = "cpu", requires = "self_test", ignore_case = true, value_parser = choice::<DeviceChoice>(DeviceChoice::ALL.iter().map(|c| c.name())))]
    device: DeviceChoice,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// What a script gets.
#[derive(Serialize)]
struct Found<'a> {
    #[serde(flatten)]
    hardware: &'a Hardware,
    #[serde(skip_serializing_if = "Option::is_none")]
    self_test: Option<&'a Report>,
}

/// Lists what was found, and checks it where that is asked for; a check that fails makes the command fail.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let hardware = probe(&Paths::find().runs);
    let report = if arguments.self_test { Some(check(arguments.device)?) } else { None };
    let mut output = Output::new(arguments.json);
    output.json(&Found { hardware: &hardware, self_test: report.as_ref() })?;
    if !output.is_json() {
        let lines = lines(&hardware);
        let width = lines.iter().map(|line| line.label.chars().count()).max().unwrap_or_default();
        for line in lines {
            output.text(&format!("{:<width$}  {}\n{:width$}  {}", line.label, line.value, "", line.meaning))?;
        }
        if let Some(report) = &report {
            output.text(&table::text(&sections(report)))?;
        }
    }
    let Some(report) = report else { return Ok(()) };
    if report.failed() > 0 {
        return Err(Failure::Failed(report.verdict()));
    }
    output.text(&report.verdict())
}

fn check(device: DeviceChoice) -> Result<Report, Failure> {
    let progress = Progress::new();
    progress.note("Checking that this device computes rightly.");
    let mut done = 0.0_f32;
    // How many there will be is not known before; the bar only says that it goes on.
    let report = self_test(device, &mut |check| {
        done += 1.0;
        progress.show(1.0 - (-done / 15.0).exp(), check.subject.label());
    });
    Ok(report?)
}
