//! What the program says of itself: `inkling man` and `inkling licenses`, and what `--help` says
//! besides the commands and their options.

use std::io;
use std::path::PathBuf;

use clap::CommandFactory;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, italic, roman};

use super::failure::Failure;
use super::output::Output;
use crate::device::FOLDER_VARIABLE as CUDA_FOLDER;
use crate::system::files::write_whole;
use crate::text::format::widest;
use crate::text::visible;

#[derive(Debug, clap::Args)]
pub struct ManArgs {
    /// Command whose page is printed to standard output, such as train or data list [default: the
    /// page of inkling itself]
    #[arg(value_name = "COMMAND", num_args = 0..)]
    command: Vec<String>,
    /// Write the pages of all commands to this folder instead, such as inkling-train.1
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    out: Option<PathBuf>,
}

/// Prints a page, or writes all of them.
pub fn run(arguments: &ManArgs) -> Result<(), Failure> {
    // `inkling help` needs no separate page.
    let mut program = super::Cli::command().disable_help_subcommand(true);
    // Names the pages of the subcommands after the command they belong to.
    program.build();
    let mut output = Output::new(false);
    if let Some(folder) = &arguments.out {
        let mut commands = vec![&program];
        while let Some(command) = commands.pop() {
            write_whole(
                &folder.join(format!("{}.1", title(command))),
                &page(command)?,
            )?;
            commands.extend(command.get_subcommands());
        }
        return output.text(&format!(
            "Wrote the manual pages to {}.",
            visible::path(folder)
        ));
    }
    let mut command = &program;
    for name in &arguments.command {
        command = command.find_subcommand(name).ok_or_else(|| {
            let name = visible::one_line(&arguments.command.join(" "));
            Failure::Usage(format!(
                "There is no command “{name}”. `inkling --help` lists all commands."
            ))
        })?;
    }
    output.script(String::from_utf8_lossy(&page(command)?).trim_end())
}

/// The name of a command's page, such as `inkling-data-list`.
fn title(command: &clap::Command) -> &str {
    command
        .get_display_name()
        .unwrap_or_else(|| command.get_name())
}

fn page(command: &clap::Command) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    render(command, &mut text)
        .map_err(|error| Failure::Failed(format!("The manual page could not be made: {error}.")))?;
    Ok(text)
}

fn render(command: &clap::Command, text: &mut Vec<u8>) -> io::Result<()> {
    let is_main = command.get_name() == title(command);
    // The same version has the same pages, whenever they are made: the date is a space, because
    // what is empty is left out, and what follows would take its place.
    let page = Man::new(command.clone())
        .title(title(command).to_uppercase())
        .date(" ")
        .source(concat!("Inkling ", env!("CARGO_PKG_VERSION")))
        .manual("User Commands");
    page.render_title(text)?;
    page.render_name_section(text)?;
    page.render_synopsis_section(text)?;
    page.render_description_section(text)?;
    if is_main {
        Roff::new()
            .control("PP", [])
            .text([roman(WINDOW)])
            .to_writer(text)?;
    }
    page.render_options_section(text)?;
    if command.has_subcommands() {
        page.render_subcommands_section(text)?;
    }
    let mut more = Roff::new();
    list(&mut more, "EXIT STATUS", &EXIT_STATUSES);
    if is_main {
        list(&mut more, "ENVIRONMENT", &ENVIRONMENT);
        more.control("SH", ["FILES"]);
        for (file, about) in FILES {
            more.control("TP", [])
                .text([italic(file)])
                .text([roman(about)]);
        }
    } else {
        more.control("SH", ["SEE ALSO"])
            .text([bold("inkling"), roman("(1)")]);
    }
    more.to_writer(text)
}

/// A section with a paragraph for each name.
fn list(roff: &mut Roff, heading: &str, entries: &[(&str, &str)]) {
    roff.control("SH", [heading]);
    for (name, about) in entries {
        roff.control("TP", [])
            .text([bold(*name)])
            .text([roman(*about)]);
    }
}

/// The text on starting without a command.
pub const WINDOW: &str =
    "Without a command, Inkling opens the window with the given model and ink files.";

pub const EXIT_STATUSES: [(&str, &str); 6] = [
    ("0", "success"),
    ("1", "failure"),
    ("2", "invalid usage"),
    ("130", "after Ctrl-C"),
    ("143", "after SIGTERM"),
    ("129", "after SIGHUP"),
];

/// The environment variables that Inkling reads and what each does. Lines of the help are not
/// indented if they are wrapped, so these are short.
pub const ENVIRONMENT: [(&str, &str); 8] = [
    (
        "INKLING_HOME",
        "folder for settings, runs and data sets, instead of the usual ones",
    ),
    ("INKLING_DATA_DIR", "folder to search first for data sets"),
    (
        "INKLING_DATA_MIRROR",
        "URL of a mirror with a folder for each data set, or of a ZIP archive",
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
        "process: train in a separate process, not on a thread",
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

/// The text after the list of commands in `inkling --help`.
pub fn after_help() -> String {
    let width = widest(ENVIRONMENT.map(|(name, _)| name));
    let variables = ENVIRONMENT
        .map(|(name, text)| format!("  {name:width$}  {text}"))
        .join("\n");
    let statuses = EXIT_STATUSES
        .map(|(status, text)| format!("{status} {text}"))
        .join(", ");
    format!("{WINDOW}\n\nEnvironment variables:\n{variables}\n\nExit status: {statuses}.")
}

/// Prints the licenses of all dependencies.
pub fn licenses() -> Result<(), Failure> {
    Output::new(false).text(crate::text::licenses::text().trim_end())
}
