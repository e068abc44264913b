//! `inkling schema`: JSON Schemas of what `--json` prints, generated from the types that are
//! printed. Their comments are the descriptions.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::failure::Failure;
use super::output::Output;
use super::{
    bench, compare, data, eval, export, find_batch_size, find_lr, hardware, hosts, import, predict,
    profile, record, runs, sweep, train,
};
use crate::hardware::LoadSample;
use crate::records::{DeletedBundle, ReceivedBundle};
use crate::text::visible;

/// Raised when a field is removed, renamed or given another meaning; not when one is added.
const VERSION: u32 = 1;

/// Returns the schema of a type that is printed.
type Generate = fn(&mut SchemaGenerator) -> Schema;

fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    T::json_schema(generator)
}

/// The commands that have `--json`, whether they print several lines, what else there is to say of
/// these, and what they can be.
const COMMANDS: [(&str, &str, &str, &[Generate]); 24] = [
    ("train", "Lines", "", &[of::<train::JsonLine>]),
    (
        "sweep",
        "Lines",
        "; with --test, those of `inkling train --json` for the run at the end come before the last",
        &[of::<sweep::JsonLine>, of::<train::JsonLine>],
    ),
    ("find-lr", "Lines", "", &[of::<find_lr::JsonLine>]),
    ("profile", "The line", "", &[of::<profile::JsonLine>]),
    (
        "find-batch-size",
        "Lines",
        "",
        &[of::<find_batch_size::JsonLine>],
    ),
    ("record", "Lines", "", &[of::<record::JsonLine>]),
    ("eval", "The line", "", &[of::<eval::Figures>]),
    (
        "compare",
        "The line",
        "; of record cards, the second kind",
        &[of::<compare::Figures>, of::<record::CardComparison>],
    ),
    (
        "predict",
        "Lines",
        ", one for each image or drawing; with --out, a line for the table that was written",
        &[of::<predict::JsonLine>, of::<predict::Written>],
    ),
    ("export", "The line", "", &[of::<export::Exported>]),
    ("import", "The line", "", &[of::<import::Imported>]),
    ("runs", "Lines", "", &[of::<runs::Listed<'_>>]),
    ("runs list", "Lines", "", &[of::<runs::Listed<'_>>]),
    ("runs show", "The line", "", &[of::<runs::Listed<'_>>]),
    ("data list", "Lines", "", &[of::<data::Entry>]),
    ("data show", "The line", "", &[of::<data::Sheet>]),
    ("data fetch", "The line", "", &[of::<data::Fetched>]),
    ("data check", "The line", "", &[of::<data::Found>]),
    ("data export", "The line", "", &[of::<data::Exported>]),
    (
        "hardware",
        "The line",
        "; with --watch, a line of load each second",
        &[of::<hardware::Found>, of::<LoadSample>],
    ),
    ("hosts list", "Lines", "", &[of::<hosts::Listed>]),
    ("hosts received", "Lines", "", &[of::<ReceivedBundle>]),
    ("hosts delete", "Lines", "", &[of::<DeletedBundle>]),
    ("bench", "Lines", "", &[of::<bench::JsonLine>]),
];

#[derive(Debug, clap::Args)]
pub struct SchemaArgs {
    /// Command whose schema is printed, such as train or data list [default: the schemas of all
    /// commands, as one object]
    #[arg(value_name = "COMMAND", num_args = 0..)]
    command: Vec<String>,
}

/// Prints the schema of a command, or all of them.
pub fn run(arguments: &SchemaArgs) -> Result<(), Failure> {
    let wanted = arguments.command.join(" ");
    let found = if wanted.is_empty() {
        all()
    } else if let Some(found) = COMMANDS.iter().find(|(command, ..)| *command == wanted) {
        schema(found)
    } else {
        let known = COMMANDS.map(|(command, ..)| command).join(", ");
        return Err(Failure::Usage(format!(
            "“{}” has no JSON output. These have: {known}.",
            visible::one_line(&wanted)
        )));
    };
    Output::new(false).script(&format!("{found:#}"))
}

/// The schemas of all commands.
fn all() -> Value {
    let commands: Map<String, Value> = COMMANDS
        .iter()
        .map(|one| (one.0.to_owned(), schema(one)))
        .collect();
    json!({ "version": VERSION, "program": env!("CARGO_PKG_VERSION"), "commands": commands })
}

/// The schema of a line that the command prints, with all definitions that it needs.
fn schema((command, lines, more, types): &(&str, &str, &str, &[Generate])) -> Value {
    let mut generator = SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator();
    let dialect = generator.settings().meta_schema.clone();
    let types = types.iter().map(|generate| generate(&mut generator));
    let mut types: Vec<Value> = types.map(Value::from).collect();
    let mut whole = match types.as_mut_slice() {
        [only] => only.take(),
        _ => json!({ "anyOf": types }),
    };
    whole["$defs"] = generator.take_definitions(false).into();
    tidy(&mut whole);
    whole["$schema"] = dialect.into();
    whole["$id"] = format!("urn:inkling:{}:{VERSION}", command.replace(' ', "-")).into();
    whole["version"] = VERSION.into();
    whole["title"] = format!("{lines} of `inkling {command} --json`{more}").into();
    whole
}

/// Says of each object that it has no other properties, and words descriptions for readers of JSON.
fn tidy(schema: &mut Value) {
    if let Value::Object(object) = schema {
        for alternatives in ["oneOf", "anyOf"] {
            share_properties(object, alternatives);
        }
        if object.contains_key("properties") && !object.contains_key("additionalProperties") {
            object.insert("additionalProperties".to_owned(), false.into());
        }
        if let Some(Value::String(text)) = object.get_mut("description") {
            *text = text
                .replace("[`", "`")
                .replace("`]", "`")
                .replace("`None`", "null");
        }
        object.values_mut().for_each(tidy);
    } else if let Value::Array(all) = schema {
        all.iter_mut().for_each(tidy);
    }
}

/// Moves the properties beside alternatives into each of these, which can then exclude
/// all others.
fn share_properties(object: &mut Map<String, Value>, alternatives: &str) {
    let Some(Value::Array(mut each)) = object.remove(alternatives) else {
        return;
    };
    let (properties, required) = (object.remove("properties"), object.remove("required"));
    for alternative in &mut each {
        if let Some(Value::Object(properties)) = &properties
            && let Value::Object(own) = &mut alternative["properties"]
        {
            own.extend(properties.clone());
        }
        if let Some(Value::Array(required)) = &required
            && let Value::Array(own) = &mut alternative["required"]
        {
            own.extend(required.clone());
        }
    }
    object.insert(alternatives.to_owned(), each.into());
}
