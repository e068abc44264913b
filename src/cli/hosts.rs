//! `inkling hosts`: the other machines that may receive My digits, what was sent to a machine, and
//! deleting it there.

use clap::Subcommand;
use schemars::JsonSchema;
use serde::Serialize;

use super::failure::Failure;
use super::output::Output;
use crate::data::Recipients;
use crate::engine::{ReceivedFolder, SshHost, delete_received_on, received_on};
use crate::problem::Problem;
use crate::records::{BundleId, KEPT_DAYS, ReceivedBundle};
use crate::settings::Settings;
use crate::system::paths::Paths;
use crate::text::format::{file_size, widest};

/// Digits of a name that are shown: enough to distinguish a few.
const SHOWN_DIGITS: usize = 12;

/// The commands of `inkling hosts`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the machines that the window has trained on, and those that may receive My digits
    List(List),
    /// Stop sending My digits to a machine until you agree again
    Withdraw(Withdraw),
    /// List the data sets and models that were sent to a machine and are still there
    Received(Received),
    /// Delete data sets and models that were sent to a machine
    Delete(Delete),
}

#[derive(Debug, clap::Args)]
pub struct List {
    /// Print one JSON object per line to standard output
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub struct Withdraw {
    /// The machine, as `inkling hosts list` names it
    #[arg(value_name = "HOST")]
    host: String,
}

#[derive(Debug, clap::Args)]
pub struct Received {
    /// SSH host that received data; append a path to Inkling after a colon if needed [default: this
    /// machine, which may have received data from others]
    #[arg(long, value_name = "HOST[:PATH]")]
    on: Option<SshHost>,
    /// Print one JSON object per line to standard output
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub struct Delete {
    /// What to delete, as `inkling hosts received` names it; the first digits are enough
    #[arg(
        value_name = "ID",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    ids: Vec<String>,
    /// Delete all of it
    #[arg(long)]
    all: bool,
    /// SSH host to delete it on; append a path to Inkling after a colon if needed [default: this
    /// machine]
    #[arg(long, value_name = "HOST[:PATH]")]
    on: Option<SshHost>,
    /// Print one JSON object per line to standard output
    #[arg(long)]
    json: bool,
}

/// A machine in the list, as JSON.
#[derive(Serialize, JsonSchema)]
pub struct Listed {
    /// Its name, as after `ssh`; Slurm for all nodes of a Slurm cluster.
    host: String,
    /// Whether My digits may be sent there.
    my_digits: bool,
}

/// Runs one of them.
pub fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::List(list) => run_list(list),
        Command::Withdraw(Withdraw { host }) => withdraw(host),
        Command::Received(received) => run_received(received),
        Command::Delete(delete) => run_delete(delete),
    }
}

fn run_list(list: &List) -> Result<(), Failure> {
    let paths = Paths::find();
    let recipients = Recipients::in_file(&paths.recipients).list();
    let used = Settings::read(&paths.settings)
        .hosts
        .into_iter()
        .map(|host| {
            host.parse()
                .map_or(host, |host: SshHost| host.name().to_owned())
        });
    let mut listed: Vec<Listed> = recipients
        .iter()
        .map(|host| Listed {
            host: host.clone(),
            my_digits: true,
        })
        .collect();
    for host in used {
        if listed.iter().all(|other| other.host != host) {
            listed.push(Listed {
                host,
                my_digits: false,
            });
        }
    }
    let mut output = Output::new(list.json);
    let width = widest(listed.iter().map(|listed| &listed.host));
    for machine in &listed {
        output.json_or(machine, || {
            let may = if machine.my_digits {
                "may receive My digits"
            } else {
                "My digits are not sent there"
            };
            format!("{:<width$}  {may}", machine.host)
        })?;
    }
    if listed.is_empty() && !output.is_json() {
        output.text(
            "The window has not trained on another machine, and none may receive My digits.",
        )?;
    }
    Ok(())
}

fn withdraw(host: &str) -> Result<(), Failure> {
    let recipients = Recipients::in_file(&Paths::find().recipients);
    if !recipients.contains(host) {
        return Err(Failure::Failed(format!(
            "{host} is not among the machines that may receive My digits: see `inkling hosts list`."
        )));
    }
    recipients.remove(host)?;
    Output::new(false).text(&format!(
        "My digits are no longer sent to {host}. What was sent before is still there: `inkling hosts delete --on {host} --all` deletes it."
    ))
}

fn run_received(received: &Received) -> Result<(), Failure> {
    let bundles = bundles(received.on.as_ref())?;
    let mut output = Output::new(received.json);
    for bundle in &bundles {
        output.json(bundle)?;
    }
    if output.is_json() {
        return Ok(());
    }
    if bundles.is_empty() {
        return output.text("No data from other machines is stored there.");
    }
    let width = widest(bundles.iter().map(|bundle| &bundle.what));
    for ReceivedBundle {
        id,
        what,
        bytes,
        last_used,
        in_use,
    } in &bundles
    {
        let in_use = if *in_use { "  in use" } else { "" };
        output.text(&format!(
            "{:.SHOWN_DIGITS$}  {what:<width$}  {:>9}  last used {last_used:.10}{in_use}",
            id.0,
            file_size(*bytes)
        ))?;
    }
    output.hint(&format!(
        "\nEach is deleted when Inkling next starts there {KEPT_DAYS} days after its last use, or with `inkling hosts delete`."
    ))
}

fn run_delete(delete: &Delete) -> Result<(), Failure> {
    let host = delete.on.as_ref();
    let mut output = Output::new(delete.json);
    let ids = if delete.all {
        bundles(host)?.into_iter().map(|bundle| bundle.id).collect()
    } else {
        named(&delete.ids, host)?
    };
    if ids.is_empty() && !output.is_json() {
        return output.text("No data from other machines is stored there.");
    }
    let deleted = match host {
        None => ReceivedFolder::of(&Paths::find()).delete(&ids),
        Some(host) => delete_received_on(host, &ids).map_err(Problem::from)?,
    };
    for bundle in &deleted {
        output.json(bundle)?;
        let what = format!("{:.SHOWN_DIGITS$}  {}", bundle.id.0, bundle.what);
        output.text(&match &bundle.problem {
            None => format!("{what}: deleted."),
            Some(problem) => format!("{what}: not deleted, because {problem}."),
        })?;
    }
    if deleted.iter().any(|bundle| bundle.problem.is_some()) {
        Err(Failure::Reported)
    } else {
        Ok(())
    }
}

/// The bundles on this machine or another.
fn bundles(host: Option<&SshHost>) -> Result<Vec<ReceivedBundle>, Failure> {
    let Some(host) = host else {
        let folder = ReceivedFolder::of(&Paths::find());
        return folder.list().map_err(|error| {
            Failure::Failed(format!(
                "{} could not be read: {error}.",
                folder.path().display()
            ))
        });
    };
    Ok(received_on(host).map_err(Problem::from)?)
}

/// The whole names of those that were given with their first digits.
fn named(given: &[String], host: Option<&SshHost>) -> Result<Vec<BundleId>, Failure> {
    const WHOLE: usize = 64;
    if given.iter().all(|id| id.len() == WHOLE) {
        return Ok(given.iter().cloned().map(BundleId).collect());
    }
    let bundles = bundles(host)?;
    let whole = |given: &String| {
        let found: Vec<&BundleId> = bundles
            .iter()
            .map(|bundle| &bundle.id)
            .filter(|id| id.0.starts_with(given.as_str()))
            .collect();
        match found.as_slice() {
            [id] => Ok((*id).clone()),
            [] => Err(Failure::Failed(format!(
                "Nothing there is named {given}: see `inkling hosts received`."
            ))),
            several => Err(Failure::Usage(format!(
                "{given} stands for {} of them: give more digits.",
                several.len()
            ))),
        }
    };
    given.iter().map(whole).collect()
}
