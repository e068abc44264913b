//! The packages Inkling is built from, as `cargo metadata` lists them.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The metadata of each package that is part of the program, for this target and with these
/// features, sorted by name; without those that only tests or the build need.
pub fn built_in() -> Result<Vec<Value>, Box<dyn Error>> {
    let enabled = std::env::vars()
        .filter_map(|(name, _)| name.strip_prefix("CARGO_FEATURE_").map(str::to_lowercase));
    let features: Vec<String> = enabled
        .map(|name| name.replace('_', "-"))
        .filter(|name| name != "default")
        .collect();
    let mut cargo = Command::new(std::env::var("CARGO")?);
    cargo.args([
        "metadata",
        "--format-version",
        "1",
        "--locked",
        "--no-default-features",
        "--filter-platform",
        &std::env::var("TARGET")?,
    ]);
    cargo.args(["--features", &features.join(",")]);
    let output = cargo.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().into());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let by_id = |list: &Value| -> BTreeMap<String, Value> {
        list.as_array()
            .into_iter()
            .flatten()
            .map(|entry| (string(&entry["id"]), entry.clone()))
            .collect()
    };
    let (nodes, packages) = (
        by_id(&metadata["resolve"]["nodes"]),
        by_id(&metadata["packages"]),
    );
    let root = string(&metadata["resolve"]["root"]);
    let (mut seen, mut queue) = (BTreeSet::new(), vec![root.clone()]);
    while let Some(id) = queue.pop() {
        let is_build_time = |package: &Value| {
            package["targets"]
                .as_array()
                .into_iter()
                .flatten()
                .any(is_macro)
        };
        if packages.get(&id).is_none_or(is_build_time) || !seen.insert(id.clone()) {
            continue;
        }
        let needed = nodes
            .get(&id)
            .and_then(|node| node["deps"].as_array())
            .into_iter()
            .flatten();
        queue.extend(
            needed
                .filter(|dependency| is_normal(dependency))
                .map(|dependency| string(&dependency["pkg"])),
        );
    }
    seen.remove(&root);
    let mut list: Vec<Value> = seen
        .iter()
        .filter_map(|id| packages.get(id))
        .cloned()
        .collect();
    list.sort_by_key(|package| string(&package["name"]));
    Ok(list)
}

fn is_macro(target: &Value) -> bool {
    target["kind"]
        .as_array()
        .into_iter()
        .flatten()
        .any(|kind| kind == "proc-macro")
}

/// A dependency of the program itself, which cargo gives no kind.
fn is_normal(dependency: &Value) -> bool {
    dependency["dep_kinds"]
        .as_array()
        .into_iter()
        .flatten()
        .any(|kind| kind["kind"].is_null())
}

/// The folder of a package.
pub fn folder(package: &Value) -> PathBuf {
    Path::new(package["manifest_path"].as_str().unwrap_or_default())
        .parent()
        .map(Path::to_owned)
        .unwrap_or_default()
}

/// A string, empty if it is something else.
pub fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
