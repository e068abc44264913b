//! Owns asking cargo what Inkling is built from, and where that lies. Must not know what for.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// What cargo says of each package that goes into the program, for this target and with these features, by name: neither of tests nor of what
/// only runs while building.
pub fn built_in() -> Result<Vec<Value>, Box<dyn Error>> {
    let enabled = std::env::vars().filter_map(|(name, _)| name.strip_prefix("CARGO_FEATURE_").map(str::to_lowercase));
    let features: Vec<String> = enabled.map(|name| name.replace('_', "-")).filter(|name| name != "default").collect();
    let mut cargo = Command::new(std::env::var("CARGO")?);
    cargo.args(["metadata", "--format-version", "1", "--locked", "--no-default-features", "--filter-platform", &std::env::var("TARGET")?]);
    cargo.args(["--features", &features.join(",")]);
    let said = cargo.output()?;
    if !said.status.success() {
        return Err(String::from_utf8_lossy(&said.stderr).trim().into());
    }
    let metadata: Value = serde_json::from_slice(&said.stdout)?;
    let by_id = |list: &Value| -> BTreeMap<String, Value> {
        list.as_array().into_iter().flatten().map(|entry| (string(&entry["id"]), entry.clone())).collect()
    };
    let (nodes, packages) = (by_id(&metadata["resolve"]["nodes"]), by_id(&metadata["packages"]));
    let root = string(&metadata["resolve"]["root"]);
    let (mut seen, mut queue) = (BTreeSet::new(), vec![root.clone()]);
    while let Some(id) = queue.pop() {
        let runs_while_building = |package: &Value| package["targets"].as_array().into_iter().flatten().any(is_macro);
        if packages.get(&id).is_none_or(runs_while_building) || !seen.insert(id.clone()) {
            continue;
        }
        let needed = nodes.get(&id).and_then(|node| node["deps"].as_array()).into_iter().flatten();
        queue.extend(needed.filter(|dependency| is_normal(dependency)).map(|dependency| string(&dependency["pkg"])));
    }
    seen.remove(&root);
    let mut list: Vec<Value> = seen.iter().filter_map(|id| packages.get(id)).cloned().collect();
    list.sort_by_key(|package| string(&package["name"]));
    Ok(list)
}

fn is_macro(target: &Value) -> bool {
    target["kind"].as_array().into_iter().flatten().any(|kind| kind == "proc-macro")
}

/// Needed when the program runs; cargo gives such a dependency no kind.
fn is_normal(dependency: &Value) -> bool {
    dependency["dep_kinds"].as_array().into_iter().flatten().any(|kind| kind["kind"].is_null())
}

/// The folder of a package that cargo told of.
pub fn folder(package: &Value) -> PathBuf {
    Path::new(package["manifest_path"].as_str().unwrap_or_default()).parent().map(Path::to_owned).unwrap_or_default()
}

/// A value that is a text.
pub fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
