//! The command line: one file per subcommand, driving the same engine as the window. Exit status: 0
//! success, 1 failure, 2 invalid usage, 130 after Ctrl-C, 143 and 129 after SIGTERM and SIGHUP.

mod arguments;
mod bench;
mod compare;
mod completions;
#[cfg(windows)]
mod console;
mod data;
mod devices;
mod engine;
mod eval;
mod export;
mod failure;
mod find_batch_size;
mod find_lr;
mod hardware;
mod hosts;
mod import;
mod interrupt;
mod machines;
mod man;
mod output;
mod predict;
mod profile;
mod record;
mod reference;
mod runs;
mod schema;
mod serve;
mod settings;
mod sweep;
mod train;
mod window;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::{CommandFactory, Parser, Subcommand};

pub use reference::command_line_page;
pub use settings::Settings;

use crate::engine::ReceivedFolder;
use crate::runs::Checkpoints;
use crate::system::files::remove_leftovers;
use crate::system::log;
use crate::system::paths::{NotUtf8, Paths, check_utf8};
use crate::system::signals::turn_limits_into_failures;
use crate::text::visible;
use failure::Failure;

#[derive(Parser)]
#[command(name = "inkling", version, about)]
#[command(override_usage = "inkling [FILE]...\n       inkling <COMMAND> [OPTIONS]")]
#[command(after_help = man::after_help())]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    verbosity: output::Verbosity,
}

#[derive(Subcommand)]
enum Command {
    /// Train a model (by default on the built-in digits)
    Train(train::TrainArgs),
    /// Hyperparameter search: many short runs, compared by validation accuracy
    Sweep(sweep::SweepArgs),
    /// Find a good learning rate in a few seconds of training
    FindLr(find_lr::FindLrArgs),
    /// Show where the time of a training step goes, layer by layer
    Profile(profile::ProfileArgs),
    /// Compare how long training takes to reach an accuracy with each batch size
    FindBatchSize(find_batch_size::FindBatchSizeArgs),
    /// Measure a recipe over several seeds: accuracy on a test split that stays sealed until all
    /// runs have ended, and the time of each run from the start of its process
    Record(record::RecordArgs),
    /// Evaluate a model on a data set
    Eval(eval::EvalArgs),
    /// Compare models on the same test images: settings, accuracies and whether they differ
    /// significantly
    Compare(compare::CompareArgs),
    /// Recognize digits in images, ink files and tables
    Predict(predict::PredictArgs),
    /// Export a model as weights, ONNX, source code, a report, or all of these
    Export(export::ExportArgs),
    /// Import weights that were trained elsewhere
    Import(import::ImportArgs),
    /// List, show, rename and delete runs; without a command, list them
    Runs(runs::RunsArgs),
    /// List, show, check, export and download data sets
    #[command(subcommand)]
    Data(data::Command),
    /// Show the hardware of this machine, test it, or monitor its load
    Hardware(hardware::HardwareArgs),
    /// Manage other machines: which may receive My digits, and the data that was sent to them
    #[command(subcommand)]
    Hosts(hosts::Command),
    /// Benchmark this machine: matrix multiplication, training, data pipeline, recognition
    Bench(bench::BenchArgs),
    /// Print a script that lets a shell complete commands, options and names
    Completions(completions::CompletionsArgs),
    /// Print the JSON Schema of what a command prints with --json
    Schema(schema::SchemaArgs),
    /// Print the manual page of a command, or write all pages to a folder
    Man(man::ManArgs),
    /// Show the licenses of all software built into Inkling
    Licenses,
    /// Run the engine on standard input and output, for the window or another machine
    Engine(serve::ServeArgs),
}

/// Parses the arguments and runs the subcommand, or opens the window.
pub fn main() -> ExitCode {
    let process_start = Instant::now();
    #[cfg(windows)]
    if std::env::args_os().len() > 1 {
        console::attach();
    }
    let paths = Paths::find();
    let files = window::files(std::env::args_os().skip(1));
    let arguments = if files.is_some() {
        Ok(Cli {
            command: None,
            verbosity: output::Verbosity::default(),
        })
    } else {
        Cli::try_parse()
    };
    let verbosity = arguments.as_ref().map_or_else(
        |_| output::Verbosity::default(),
        |arguments| arguments.verbosity,
    );
    verbosity.set();
    start(&paths, verbosity.log_level());
    let arguments = match arguments {
        Ok(arguments) => arguments,
        Err(error) => {
            // It quotes the arguments, which may be file names that a shell has filled in.
            if std::env::args_os()
                .any(|argument| argument.to_string_lossy().contains(visible::is_hidden))
            {
                output::warn(&visible::one_line(
                    &error.render().to_string().trim_end().replace("\n\n", " "),
                ));
            } else {
                // If this cannot be printed, there is nobody to report it to.
                let _ = error.print();
            }
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let result = check_home(&paths)
        .and_then(|()| run(arguments.command, &files.unwrap_or_default(), process_start));
    result.err().map_or(ExitCode::SUCCESS, Failure::report)
}

/// Opens the log, and deletes the leftovers of processes that were killed.
fn start(paths: &Paths, log_level: Option<tracing::Level>) {
    turn_limits_into_failures();
    log::start(&paths.local, log_level);
    let commands = Cli::command();
    let command = std::env::args_os()
        .skip(1)
        .find_map(|given| Some(commands.find_subcommand(given)?.get_name()));
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        command = command.unwrap_or("window"),
        "started"
    );
    let folders: [&Path; 5] = [
        &paths.local,
        &paths.runs,
        &paths.checkpoints,
        &paths.benchmarks,
        &paths.sweeps,
    ];
    folders
        .into_iter()
        .chain(paths.settings.parent())
        .for_each(remove_leftovers);
    ReceivedFolder::of(paths).delete_unused();
    // Checkpoints are written in separate folders.
    Checkpoints::new(&paths.checkpoints).remove_leftovers();
}

/// Whether paths in Inkling's folder can be stored.
fn check_home(paths: &Paths) -> Result<(), Failure> {
    check_utf8(&paths.local).map_err(|NotUtf8(path)| {
        let path = visible::path(&path);
        Failure::Failed(format!(
            "Inkling's folder {path} cannot be used: its path is not valid UTF-8. Set INKLING_HOME to a folder whose path is."
        ))
    })
}

/// `process_start` is when this process began.
fn run(command: Option<Command>, files: &[PathBuf], process_start: Instant) -> Result<(), Failure> {
    match command {
        None => window::open(files),
        Some(Command::Train(arguments)) => train::run(&arguments),
        Some(Command::Sweep(arguments)) => sweep::run(&arguments),
        Some(Command::FindLr(arguments)) => find_lr::run(arguments),
        Some(Command::Profile(arguments)) => profile::run(&arguments),
        Some(Command::FindBatchSize(arguments)) => find_batch_size::run(arguments),
        Some(Command::Record(arguments)) => record::run(arguments, process_start),
        Some(Command::Eval(arguments)) => eval::run(arguments),
        Some(Command::Compare(arguments)) => compare::run(arguments),
        Some(Command::Predict(arguments)) => predict::run(&arguments),
        Some(Command::Export(arguments)) => export::run(arguments),
        Some(Command::Import(arguments)) => import::run(arguments),
        Some(Command::Runs(arguments)) => runs::run(arguments),
        Some(Command::Data(command)) => data::run(command),
        Some(Command::Hardware(arguments)) => hardware::run(&arguments),
        Some(Command::Hosts(command)) => hosts::run(&command),
        Some(Command::Bench(arguments)) => bench::run(&arguments),
        Some(Command::Completions(arguments)) => completions::run(&arguments),
        Some(Command::Schema(arguments)) => schema::run(&arguments),
        Some(Command::Man(arguments)) => man::run(&arguments),
        Some(Command::Licenses) => man::licenses(),
        Some(Command::Engine(arguments)) => serve::run(&arguments),
    }
}
