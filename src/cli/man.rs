//! `inkling man`: the manual pages, made from the definitions of the commands and their options.

use std::io;
use std::path::PathBuf;

use clap::CommandFactory;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, italic, roman};

use super::failure::Failure;
use super::output::Output;
use super::reference::{ENVIRONMENT, EXIT_STATUSES, FILES, WINDOW};
use crate::system::files::write_whole;
use crate::text::visible;

/// The options of `inkling man`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Command whose page is printed to standard output, such as train or data list [default: the
    /// page of inkling itself]
    #[arg(value_name = "COMMAND", num_args = 0..)]
    command: Vec<String>,
    /// Write the pages of all commands to this folder instead, such as inkling-train.1
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    out: Option<PathBuf>,
}

/// Prints a page, or writes all of them.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut program = super::Arguments::command();
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

/// A command's page, as roff.
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
