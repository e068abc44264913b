//! `inkling schema`: JSON Schemas of what `--json` prints. Each command has a file beside this one;
//! `common.json` and `run.json` have the definitions that several share. Tests compare them with
//! what the commands print: nothing may be missing in either.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::failure::Failure;
use super::output::Output;
use crate::text::visible;

/// Raised when a field is removed, renamed or given another meaning; not when one is added.
const VERSION: u32 = 1;

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The commands that have `--json`, and the schema of a line of it.
const COMMANDS: [(&str, &str); 20] = [
    ("train", include_str!("train.json")),
    ("sweep", include_str!("sweep.json")),
    ("find-lr", include_str!("find-lr.json")),
    ("profile", include_str!("profile.json")),
    ("find-batch-size", include_str!("find-batch-size.json")),
    ("eval", include_str!("eval.json")),
    ("compare", include_str!("compare.json")),
    ("predict", include_str!("predict.json")),
    ("export", include_str!("export.json")),
    ("import", include_str!("import.json")),
    ("data list", include_str!("data-list.json")),
    ("data show", include_str!("data-show.json")),
    ("data fetch", include_str!("data-fetch.json")),
    ("data check", include_str!("data-check.json")),
    ("data export", include_str!("data-export.json")),
    ("hardware", include_str!("hardware.json")),
    ("hosts list", include_str!("hosts-list.json")),
    ("hosts received", include_str!("hosts-received.json")),
    ("hosts delete", include_str!("hosts-delete.json")),
    ("bench", include_str!("bench.json")),
];

/// Definitions that several commands share.
const SHARED: [&str; 2] = [include_str!("common.json"), include_str!("run.json")];

/// The options of `inkling schema`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Command whose schema is printed, such as train or data list [default: the schemas of all
    /// commands, as one object]
    #[arg(value_name = "COMMAND", num_args = 0..)]
    command: Vec<String>,
}

/// Prints the schema of a command, or all of them.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let wanted = arguments.command.join(" ");
    let found = if wanted.is_empty() {
        all()
    } else if let Some((command, text)) = COMMANDS.iter().find(|(command, _)| *command == wanted) {
        schema(command, text)
    } else {
        let known = COMMANDS.map(|(command, _)| command).join(", ");
        return Err(Failure::Usage(format!(
            "“{}” has no JSON output. These have: {known}.",
            visible::one_line(&wanted)
        )));
    };
    let text = found.and_then(|found| serde_json::to_string_pretty(&found));
    let damaged = |error| {
        Failure::Failed(format!(
            "The schema could not be printed: {error}. Please report this as a bug."
        ))
    };
    Output::new(false).script(&text.map_err(damaged)?)
}

/// The schemas of all commands.
fn all() -> serde_json::Result<Value> {
    let commands = COMMANDS
        .iter()
        .map(|(command, text)| Ok(((*command).to_owned(), schema(command, text)?)));
    let commands = commands.collect::<serde_json::Result<Map<_, _>>>()?;
    Ok(json!({ "version": VERSION, "program": env!("CARGO_PKG_VERSION"), "commands": commands }))
}

/// The schema of a line that the command prints, with all definitions that it needs.
fn schema(command: &str, text: &str) -> serde_json::Result<Value> {
    let mut schema: Map<String, Value> = serde_json::from_str(text)?;
    let mut definitions = Map::new();
    for shared in SHARED {
        definitions.extend(serde_json::from_str::<Map<String, Value>>(shared)?);
    }
    if let Some(Value::Object(own)) = schema.remove("$defs") {
        definitions.extend(own);
    }
    let mut needed = BTreeSet::new();
    schema
        .values()
        .for_each(|value| find_references(value, &definitions, &mut needed));
    definitions.retain(|name, _| needed.contains(name));
    let mut whole = Map::new();
    whole.insert("$schema".to_owned(), DIALECT.into());
    whole.insert(
        "$id".to_owned(),
        format!("urn:inkling:{}:{VERSION}", command.replace(' ', "-")).into(),
    );
    whole.insert("version".to_owned(), VERSION.into());
    whole.extend(schema);
    whole.insert("$defs".to_owned(), definitions.into());
    Ok(whole.into())
}

/// Adds the names of the definitions that the schema refers to, and of those that they refer to.
fn find_references(schema: &Value, definitions: &Map<String, Value>, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(object) => {
            if let Some(name) = object
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|path| path.strip_prefix("#/$defs/"))
                && found.insert(name.to_owned())
                && let Some(definition) = definitions.get(name)
            {
                find_references(definition, definitions, found);
            }
            object
                .values()
                .for_each(|value| find_references(value, definitions, found));
        }
        Value::Array(values) => values
            .iter()
            .for_each(|value| find_references(value, definitions, found)),
        _ => {}
    }
}
