//! What `inkling --help` and the manual pages say besides the commands and their options.

use crate::device::FOLDER_VARIABLE as CUDA_FOLDER;

/// What happens without a command.
pub const WINDOW: &str =
    "Without a command, the window opens, with the model and ink files that are given.";

/// The exit statuses and what each means.
pub const EXIT_STATUSES: [(&str, &str); 6] = [
    ("0", "success"),
    ("1", "failure"),
    ("2", "invalid usage"),
    ("130", "after Ctrl-C"),
    ("143", "after SIGTERM"),
    ("129", "after SIGHUP"),
];

/// The environment variables that Inkling reads and what each does. Lines of the help are not
/// indented where they are wrapped, so these are short.
pub const ENVIRONMENT: [(&str, &str); 8] = [
    (
        "INKLING_HOME",
        "folder for settings, runs and data sets, instead of the usual ones",
    ),
    ("INKLING_DATA_DIR", "folder to search first for data sets"),
    (
        "INKLING_DATA_MIRROR",
        "folder of a server with one for each data set, or a ZIP archive",
    ),
    (CUDA_FOLDER, "folder to search first for the CUDA libraries"),
    (
        "CUDA_HOME, CUDA_PATH",
        "CUDA toolkits to search for them as well",
    ),
    (
        "VIRTUAL_ENV, CONDA_PREFIX",
        "Python environments to search for them as well",
    ),
    (
        "INKLING_ENGINE",
        "process: train in a process of its own, not on a thread",
    ),
    (
        "RUST_LOG",
        "what is logged to standard error, such as info [default: warn]",
    ),
];

/// The files that Inkling reads and writes where `INKLING_HOME` is not set, and what each is.
pub const FILES: [(&str, &str); 2] = if cfg!(windows) {
    [
        (r"%APPDATA%\Inkling\config\settings.json", SETTINGS),
        (r"%LOCALAPPDATA%\Inkling\data", RUNS),
    ]
} else if cfg!(target_os = "macos") {
    [
        (
            "~/Library/Application Support/Inkling/settings.json",
            SETTINGS,
        ),
        ("~/Library/Application Support/Inkling", RUNS),
    ]
} else {
    [
        ("~/.config/inkling/settings.json", SETTINGS),
        ("~/.local/share/inkling", RUNS),
    ]
};

const SETTINGS: &str = "settings of the window";
const RUNS: &str =
    "runs, checkpoints, sweeps, benchmark results, data sets, and the log inkling.log";

/// What follows the list of commands in `inkling --help`.
pub fn after_help() -> String {
    let width = ENVIRONMENT
        .iter()
        .map(|(name, _)| name.len())
        .max()
        .unwrap_or_default();
    let variables = ENVIRONMENT
        .map(|(name, text)| format!("  {name:width$}  {text}"))
        .join("\n");
    let statuses = EXIT_STATUSES
        .map(|(status, text)| format!("{status} {text}"))
        .join(", ");
    format!("{WINDOW}\n\nEnvironment variables:\n{variables}\n\nExit status: {statuses}.")
}
