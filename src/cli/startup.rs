//! What every start begins with: the log, and the leftovers of processes that were killed.

use std::path::Path;

use clap::CommandFactory;

use crate::engine::ReceivedFolder;
use crate::runs::Checkpoints;
use crate::system::files::remove_leftovers;
use crate::system::log;
use crate::system::paths::Paths;
use crate::system::signals::turn_limits_into_failures;

/// Starts the log and cleans up.
pub fn run(paths: &Paths) {
    turn_limits_into_failures();
    log::start(&paths.local);
    let (commands, given) = (super::Arguments::command(), std::env::args_os().nth(1));
    let command = given.and_then(|given| Some(commands.find_subcommand(given)?.get_name()));
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
    // Checkpoints are written in folders of their own.
    Checkpoints::new(&paths.checkpoints).remove_leftovers();
}
