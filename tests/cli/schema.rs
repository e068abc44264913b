//! What `--json` prints is what `inkling schema` says, in every test of the command line:
//! [`check_output`] is called wherever one runs the program.

use std::fmt::Display;
use std::process::Command;
use std::sync::LazyLock;

use inkling::run_config::{
    Activation, Augmentation, DatasetFormat, DeviceChoice, EvaluationSplit, ExportFormat,
    Initialization, ModelKind, OptimizerKind, Precision, Preset, ScheduleKind,
};
use serde_json::{Value, json};

use super::{fails, run, stdout, succeed};

/// What `inkling schema` prints.
pub static SCHEMAS: LazyLock<Value> = LazyLock::new(|| {
    let output = Command::new(env!("CARGO_BIN_EXE_inkling"))
        .arg("schema")
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
});

/// Checks every line that a command printed with `--json`.
pub fn check_output(arguments: &[&str], output: &str) {
    let Some(schema) = arguments.first().and_then(|first| {
        let second = arguments.get(1).copied().unwrap_or_default();
        let commands = &SCHEMAS["commands"];
        commands
            .get(*first)
            .or_else(|| commands.get(format!("{first} {second}")))
    }) else {
        return;
    };
    for line in output.lines().filter(|_| arguments.contains(&"--json")) {
        let value = serde_json::from_str(line).unwrap();
        if let Err(why) = check(schema, schema, &value) {
            panic!("{arguments:?} printed what its schema does not allow ({why}): {line}");
        }
    }
}

/// Whether the value conforms.
pub fn check(root: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    for (keyword, asked) in schema.as_object().unwrap() {
        let conforms = match keyword.as_str() {
            "$schema" | "$id" | "version" | "title" | "description" | "format" | "default"
            | "$defs" => true,
            "$ref" => {
                let definition = root
                    .pointer(asked.as_str().unwrap().trim_start_matches('#'))
                    .expect("every reference leads somewhere");
                check(root, definition, value)?;
                true
            }
            "type" => asked.as_array().map_or_else(
                || is_a(asked, value),
                |types| types.iter().any(|name| is_a(name, value)),
            ),
            "enum" => asked.as_array().unwrap().contains(value),
            "const" => asked == value,
            "minimum" => value
                .as_f64()
                .is_none_or(|number| number >= asked.as_f64().unwrap()),
            "maximum" => value
                .as_f64()
                .is_none_or(|number| number <= asked.as_f64().unwrap()),
            "minLength" => value
                .as_str()
                .is_none_or(|text| text.chars().count() as u64 >= asked.as_u64().unwrap()),
            "maxLength" => value
                .as_str()
                .is_none_or(|text| text.chars().count() as u64 <= asked.as_u64().unwrap()),
            "minItems" => value
                .as_array()
                .is_none_or(|items| items.len() as u64 >= asked.as_u64().unwrap()),
            "maxItems" => value
                .as_array()
                .is_none_or(|items| items.len() as u64 <= asked.as_u64().unwrap()),
            "oneOf" | "anyOf" => {
                let results: Vec<_> = asked
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|one| check(root, one, value))
                    .collect();
                let count = results.iter().filter(|result| result.is_ok()).count();
                if count == 0 {
                    return Err(results
                        .into_iter()
                        .filter_map(Result::err)
                        .collect::<Vec<_>>()
                        .join("; "));
                }
                count == 1 || keyword == "anyOf"
            }
            "items" => {
                value
                    .as_array()
                    .into_iter()
                    .flatten()
                    .try_for_each(|item| check(root, asked, item))?;
                true
            }
            "required" => {
                let missing = |name: &&Value| {
                    value.is_object() && value.get(name.as_str().unwrap()).is_none()
                };
                asked
                    .as_array()
                    .unwrap()
                    .iter()
                    .find(missing)
                    .map_or(Ok(true), |name| Err(format!("{name} is missing")))?
            }
            "prefixItems" => {
                asked
                    .as_array()
                    .unwrap()
                    .iter()
                    .zip(value.as_array().into_iter().flatten())
                    .try_for_each(|(one, item)| check(root, one, item))?;
                true
            }
            "properties" => {
                for (name, documented) in asked.as_object().unwrap() {
                    if let Some(property) = value.get(name) {
                        check(root, documented, property)
                            .map_err(|why| format!("{name}: {why}"))?;
                    }
                }
                true
            }
            "additionalProperties" => {
                for (name, property) in value.as_object().into_iter().flatten() {
                    match asked {
                        _ if schema["properties"].get(name).is_some() => {}
                        Value::Bool(false) => return Err(format!("{name} is not documented")),
                        _ => check(root, asked, property)?,
                    }
                }
                true
            }
            other => panic!("the tests do not know the keyword {other}"),
        };
        if !conforms {
            return Err(format!("{value} is not {keyword} {asked}"));
        }
    }
    Ok(())
}

fn is_a(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{other} is not a JSON Schema type"),
    }
}

/// The part of a command's schema that describes the type with this name, or the alternative that
/// says it is of this kind.
pub fn part<'a>(command: &str, name: &str) -> &'a Value {
    let schema = &SCHEMAS["commands"][command];
    let mut all = Vec::new();
    parts(schema, &mut all);
    let says = |part: &&Value, tag: &str| {
        part["properties"][tag]["const"] == name && part["oneOf"].is_null()
    };
    schema["$defs"]
        .get(name)
        .or_else(|| all.iter().copied().find(|part| says(part, "kind")))
        .or_else(|| all.iter().copied().find(|part| says(part, "event")))
        .unwrap_or_else(|| panic!("{command} has no {name}"))
}

/// All parts of a schema.
fn parts<'a>(schema: &'a Value, found: &mut Vec<&'a Value>) {
    found.push(schema);
    schema
        .as_object()
        .into_iter()
        .flat_map(|object| object.values())
        .for_each(|part| parts(part, found));
    schema
        .as_array()
        .into_iter()
        .flatten()
        .for_each(|part| parts(part, found));
}

#[test]
fn every_command_that_prints_json_has_a_schema_that_is_whole() {
    let home = tempfile::tempdir().unwrap();
    succeed(&home, "man --out pages");
    let schemas = SCHEMAS["commands"].as_object().unwrap();
    for entry in home.path().join("pages").read_dir().unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap().replace('\\', "");
        let name = path
            .file_stem()
            .unwrap()
            .to_str()
            .unwrap()
            .strip_prefix("inkling")
            .unwrap()
            .trim_start_matches('-')
            .to_owned();
        let is_of_a_group = ["data-", "hosts-", "runs-"]
            .iter()
            .any(|group| name.starts_with(group));
        let command = if is_of_a_group {
            name.replacen('-', " ", 1)
        } else {
            name
        };
        // As an option of the command and not in a sentence.
        let prints = text
            .lines()
            .any(|line| line.contains("--json") && line.starts_with("fB"));
        assert_eq!(prints, schemas.contains_key(&command), "{command}");
    }
    for (command, schema) in schemas {
        let mut all = Vec::new();
        parts(schema, &mut all);
        for part in all {
            if let Some(path) = part.get("$ref").and_then(Value::as_str) {
                assert!(
                    schema.pointer(path.trim_start_matches('#')).is_some(),
                    "{command}: {path}"
                );
            }
            if part.get("properties").is_some_and(Value::is_object) {
                assert_eq!(part["additionalProperties"], false, "{command}: {part}");
            }
            if let (Some(properties), Some(Value::Array(required))) =
                (part.get("properties"), part.get("required"))
            {
                assert!(
                    required
                        .iter()
                        .all(|name| properties.get(name.as_str().unwrap()).is_some()),
                    "{command}: {part}"
                );
            }
        }
        let words: Vec<&str> = ["schema"].into_iter().chain(command.split(' ')).collect();
        let alone: Value = serde_json::from_str(&stdout(&run(&home, &words))).unwrap();
        assert_eq!((&alone, &alone["version"]), (schema, &SCHEMAS["version"]));
    }
    fails(
        &home,
        &["schema", "licenses"],
        2,
        "“licenses” has no JSON output",
    );
}

#[test]
fn choices_have_the_names_that_the_program_gives_them() {
    fn names<T: Display>(choices: &[T]) -> Vec<String> {
        choices.iter().map(ToString::to_string).collect()
    }
    let of = |command: &str, name: &str| -> Vec<String> {
        serde_json::from_value(part(command, name)["enum"].clone()).unwrap()
    };
    for (definition, expected) in [
        (
            "ModelKind",
            names(&[ModelKind::ALL, &[ModelKind::Onnx]].concat()),
        ),
        ("Activation", names(Activation::ALL)),
        ("Initialization", names(Initialization::ALL)),
        ("OptimizerKind", names(OptimizerKind::ALL)),
        ("ScheduleKind", names(ScheduleKind::ALL)),
        ("Augmentation", names(Augmentation::ALL)),
        ("Precision", names(Precision::ALL)),
        ("DeviceChoice", names(DeviceChoice::ALL)),
        ("Preset", names(Preset::ALL)),
    ] {
        assert_eq!(of("train", definition), expected, "{definition}");
    }
    assert_eq!(of("eval", "EvaluationSplit"), names(EvaluationSplit::ALL));
    assert_eq!(of("export", "ExportFormat"), names(ExportFormat::ALL));
    assert_eq!(
        of("data export", "DatasetFormat"),
        names(DatasetFormat::ALL)
    );
}

#[test]
fn a_line_that_does_not_conform_is_noticed() {
    let schema = &SCHEMAS["commands"]["train"];
    let step =
        json!({"event": "step", "step": 1, "loss": 2.3, "accuracy": 0.1, "learning_rate": 0.001});
    assert_eq!(check(schema, schema, &step), Ok(()));
    for (field, value) in [
        ("loss", json!("high")),
        ("step", json!(1.5)),
        ("step", json!(-1)),
        ("event", json!("leap")),
        ("more", json!(1)),
    ] {
        let mut wrong = step.clone();
        wrong[field] = value;
        assert!(check(schema, schema, &wrong).is_err(), "{wrong}");
    }
    let mut missing = step;
    missing.as_object_mut().unwrap().remove("accuracy");
    assert!(check(schema, schema, &missing).is_err());
}
