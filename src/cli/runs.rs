//! `inkling runs`: the finished runs of this installation, and what can be done with each.

use std::path::PathBuf;

use clap::Subcommand;
use schemars::JsonSchema;
use serde::Serialize;

use super::failure::Failure;
use super::output::Output;
use crate::problem::Problem;
use crate::records::{Accuracy, Annotation};
use crate::run_config::{DataSpec, ModelKind};
use crate::runs::{LATEST, RunEntry, Store, is_reserved, named, same_title};
use crate::system::paths::Paths;
use crate::text::format::{count, duration, grouped, joined, local_time, widest};
use crate::text::table::{self, Line, Section};
use crate::text::visible;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct RunsArgs {
    #[command(flatten)]
    list: List,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the runs, the newest first: title, accuracy, data and date
    List(List),
    /// Show a run: its settings, results and files
    Show(Show),
    /// Give a run another title
    Rename(Rename),
    /// Delete runs with their models
    Delete(Delete),
    /// Print the path of a run's model file, for other commands
    Path(Named),
}

#[derive(Debug, clap::Args)]
pub struct List {
    /// Print one JSON object per line to standard output
    #[arg(long)]
    json: bool,
}

/// A run.
#[derive(Debug, clap::Args)]
pub struct Named {
    /// Its title, an unambiguous beginning of its title or folder, or latest
    #[arg(value_name = "RUN")]
    run: String,
}

#[derive(Debug, clap::Args)]
pub struct Show {
    #[command(flatten)]
    named: Named,
    /// Print one JSON object to standard output
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub struct Rename {
    #[command(flatten)]
    named: Named,
    /// Its new title
    #[arg(value_name = "TITLE")]
    title: String,
}

#[derive(Debug, clap::Args)]
pub struct Delete {
    /// Titles, or unambiguous beginnings of titles or folders; latest is refused, because it is a
    /// different run each time
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<String>,
}

/// A run, as JSON.
#[derive(Serialize, JsonSchema)]
pub struct Listed<'a> {
    /// Its name; no other run has this title.
    title: &'a str,
    folder: String,
    /// Why it cannot be read; absent if it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    #[serde(flatten)]
    run: Option<Run<'a>>,
    note: &'a str,
    tags: &'a [String],
    starred: bool,
}

/// The facts of a run that can be read.
#[derive(Serialize, JsonSchema)]
struct Run<'a> {
    model_path: String,
    network: ModelKind,
    parameters: u64,
    data: &'a DataSpec,
    epochs: u32,
    /// The model's accuracy on the images that `accuracy_on` names; null if it was never measured.
    accuracy: Option<f64>,
    /// The images that the accuracy was measured on.
    accuracy_on: Option<String>,
    /// When it ended, as in RFC 3339.
    finished_at: &'a str,
    train_seconds: f64,
}

/// Runs one of them.
pub fn run(arguments: RunsArgs) -> Result<(), Failure> {
    let store = Store::new(Paths::find().runs);
    match arguments.command.unwrap_or(Command::List(arguments.list)) {
        Command::List(list) => run_list(&store, &list),
        Command::Show(show) => run_show(&store, &show),
        Command::Rename(rename) => run_rename(&store, &rename),
        Command::Delete(delete) => run_delete(&store, &delete),
        Command::Path(Named { run }) => {
            let entry = find(store.list(), &run)?;
            Output::new(false).script(&model_of(&entry)?.display().to_string())
        }
    }
}

/// The run that this names: its title, `latest`, or a beginning that is no other run's.
pub fn find(runs: Vec<RunEntry>, name: &str) -> Result<RunEntry, Failure> {
    let shown = visible::label(name);
    let mut found = named(runs, name);
    match found.len() {
        1 => Ok(found.swap_remove(0)),
        0 => Err(Failure::Usage(format!(
            "There is no run or file called “{shown}”. `inkling runs list` lists the runs."
        ))),
        _ => {
            let titles: Vec<&str> = found.iter().map(|run| run.title.as_str()).collect();
            Err(Failure::Usage(format!(
                "“{shown}” may be any of these runs: {}. Write more of its title.",
                titles.join("; ")
            )))
        }
    }
}

/// The model file of a run, if the run can be read.
pub fn model_of(run: &RunEntry) -> Result<PathBuf, Failure> {
    match &run.summary {
        Ok(summary) => Ok(summary.model_path.clone()),
        Err(error) => Err(Problem::from(error.clone()).into()),
    }
}

fn listed(entry: &RunEntry) -> Listed<'_> {
    let Annotation {
        note,
        tags,
        starred,
        ..
    } = &entry.annotation;
    let run = entry.summary.as_ref().ok().map(|summary| {
        let accuracy = summary.accuracy();
        Run {
            model_path: summary.model_path.display().to_string(),
            network: summary.config.model,
            parameters: summary.plan.parameters,
            data: &summary.config.data,
            epochs: summary.epochs.len() as u32,
            accuracy: accuracy.as_ref().map(|accuracy| accuracy.value),
            accuracy_on: accuracy.map(|accuracy| accuracy.label()),
            finished_at: &summary.finished_at,
            train_seconds: summary.train_seconds,
        }
    });
    Listed {
        title: &entry.title,
        folder: entry.folder.display().to_string(),
        problem: entry.summary.as_ref().err().map(ToString::to_string),
        run,
        note,
        tags,
        starred: *starred,
    }
}

fn run_list(store: &Store, list: &List) -> Result<(), Failure> {
    let runs = store.list();
    let mut output = Output::new(list.json);
    for run in &runs {
        output.json(&listed(run))?;
    }
    if output.is_json() {
        return Ok(());
    }
    if runs.is_empty() {
        return output.text("There are no runs yet. `inkling train` makes the first one.");
    }
    let line = |entry: &RunEntry| match &entry.summary {
        Ok(run) => {
            let accuracy = run.accuracy();
            let on = accuracy.as_ref().map(Accuracy::label);
            Line::of([
                entry.title.clone(),
                accuracy.map_or_else(String::new, |accuracy| accuracy.percent()),
                on.unwrap_or_default(),
                local_time(&run.finished_at),
            ])
        }
        Err(_) => Line::of([entry.title.as_str(), "", "cannot be read", ""]),
    };
    let lines = runs.iter().map(line).collect();
    let columns = ["Run", "Accuracy", "", "Ended"];
    let table = Section::plain("Runs", "", columns, lines);
    output.text(table::text(&[table]).trim())
}

fn run_show(store: &Store, show: &Show) -> Result<(), Failure> {
    let entry = find(store.list(), &show.named.run)?;
    let mut output = Output::new(show.json);
    output.json(&listed(&entry))?;
    if output.is_json() {
        return Ok(());
    }
    let run = entry
        .summary
        .as_ref()
        .map_err(|error| Problem::from(error.clone()))?;
    let mut facts = vec![
        ("Network", run.config.network().label()),
        ("Parameters", grouped(run.plan.parameters)),
        ("Data", run.config.data.label()),
    ];
    if let Some(accuracy) = run.accuracy() {
        facts.push((
            accuracy.name(),
            format!("{} ({})", accuracy.percent(), accuracy.measured_on()),
        ));
    }
    if run.epochs.is_empty() {
        facts.extend(run.imported.clone().map(|file| ("Imported", file)));
    } else {
        let time = duration(run.train_seconds);
        facts.push((
            "Training",
            format!("{} in {time}", count(run.epochs.len() as u64, "epoch")),
        ));
        facts.push(("Command", run.config.command(None)));
    }
    facts.push(("Ended", local_time(&run.finished_at)));
    if !entry.annotation.note.is_empty() {
        facts.push(("Note", entry.annotation.note.clone()));
    }
    if !entry.annotation.tags.is_empty() {
        facts.push(("Tags", joined(&entry.annotation.tags, ", ")));
    }
    facts.push(("Model", run.model_path.display().to_string()));
    let width = widest(facts.iter().map(|(name, _)| name));
    output.text(&entry.title)?;
    for (name, value) in facts {
        output.text(&format!("{name:<width$}  {value}"))?;
    }
    Ok(())
}

fn run_rename(store: &Store, rename: &Rename) -> Result<(), Failure> {
    let runs = store.list();
    let entry = find(runs.clone(), &rename.named.run)?;
    let annotation = Annotation {
        name: rename.title.clone(),
        ..entry.annotation
    }
    .cleaned();
    let name = &annotation.name;
    if name.is_empty() || name != rename.title.trim() {
        return Err(Failure::Usage(format!(
            "A title has 1 to {} visible characters in one line.",
            Annotation::MAX_NAME
        )));
    }
    let is_taken = is_reserved(name)
        || same_title(name, LATEST)
        || runs
            .iter()
            .any(|other| other.folder != entry.folder && same_title(&other.title, name));
    if is_taken {
        return Err(Failure::Usage(format!(
            "Another model is called “{name}”. Choose another title."
        )));
    }
    store
        .annotate(&entry.folder, &annotation)
        .map_err(Problem::from)?;
    Output::new(false).text(&format!("Renamed {} to {name}.", entry.title))
}

fn run_delete(store: &Store, delete: &Delete) -> Result<(), Failure> {
    let runs = store.list();
    let mut chosen: Vec<RunEntry> = Vec::new();
    for name in &delete.runs {
        if same_title(name, LATEST) {
            return Err(Failure::Usage(
                "latest is a different run each time. Name the run to delete by its title."
                    .to_owned(),
            ));
        }
        let entry = find(runs.clone(), name)?;
        if !chosen.contains(&entry) {
            chosen.push(entry);
        }
    }
    let mut output = Output::new(false);
    for entry in chosen {
        store
            .delete_for_good(&entry.folder)
            .map_err(Problem::from)?;
        output.text(&format!("Deleted {}.", entry.title))?;
    }
    Ok(())
}
