//! Owns the command line: arguments in, an exit status out (0 done, 1 it failed, 2 bad usage, 130 interrupted).
//! Must not compute anything: it drives the same engine as the window and prints what comes of it.

mod arguments;
mod bench;
#[cfg(windows)]
mod console;
mod data;
mod devices;
mod engine;
mod eval;
mod export;
mod failure;
mod format;
mod frames;
mod hardware;
mod import;
mod interrupt;
mod licences;
mod output;
mod predict;
mod progress;
mod serve;
mod train;
mod window;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tracing_subscriber::EnvFilter;

use failure::Failure;

#[derive(Parser)]
#[command(name = "inkling", version, about, disable_help_subcommand = true)]
#[command(
    after_help = "Without a command, the window opens; with model or ink files instead of one, it opens with them. Exit status: 0 done, 1 it failed, 2 bad usage."
)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Train a model; without options, on the built-in digits.
    Train(train::Arguments),
    /// Measure a model on the test split of a data set.
    Eval(eval::Arguments),
    /// Read digits from pictures and ink files.
    Predict(predict::Arguments),
    /// Take a model along: as weights, as a whole model, as a program, as words about it, or all of that.
    Export(export::Arguments),
    /// Bring weights in from elsewhere.
    Import(import::Arguments),
    /// List data sets, or look at one.
    #[command(subcommand)]
    Data(data::Command),
    /// Show what this machine has and what that means for training.
    Hardware(hardware::Arguments),
    /// Measure this machine: matrix products, training steps, data, reading.
    Bench(bench::Arguments),
    /// Show the licences of everything that is built into this program.
    Licences,
    /// Be an engine on standard input and output, for Inkling's window
    Engine,
}

/// Does what the arguments say.
pub fn main() -> ExitCode {
    #[cfg(windows)]
    if std::env::args_os().len() > 1 {
        console::join();
    }
    // winit warns of oddities of the display that nobody at a terminal can act on.
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn,winit=error"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_ansi(io::stderr().is_terminal()).init();
    if let Some(files) = window::files(std::env::args_os().skip(1)) {
        return window::open(&files).err().map_or(ExitCode::SUCCESS, Failure::report);
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(answer) => {
            // Nobody is left to tell when even this cannot be printed.
            let _ = answer.print();
            return ExitCode::from(u8::try_from(answer.exit_code()).unwrap_or(2));
        }
    };
    let done = match arguments.command {
        None => window::open(&[]),
        Some(Command::Train(arguments)) => train::run(arguments),
        Some(Command::Eval(arguments)) => eval::run(arguments),
        Some(Command::Predict(arguments)) => predict::run(&arguments),
        Some(Command::Export(arguments)) => export::run(arguments),
        Some(Command::Import(arguments)) => import::run(arguments),
        Some(Command::Data(command)) => data::run(command),
        Some(Command::Hardware(arguments)) => hardware::run(&arguments),
        Some(Command::Bench(arguments)) => bench::run(&arguments),
        Some(Command::Licences) => licences::run(),
        Some(Command::Engine) => serve::run(),
    };
    done.err().map_or(ExitCode::SUCCESS, Failure::report)
}
