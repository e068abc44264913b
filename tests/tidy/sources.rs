//! The sources as files that name one another.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The library's files by module path: `["nn", "ops"]`.
pub struct Sources(BTreeMap<Vec<String>, File>);

pub struct File {
    /// Below `src`, with slashes.
    pub path: String,
    /// Without comments.
    pub code: String,
    is_folder: bool,
}

impl Sources {
    pub fn read() -> Self {
        let mut sources = Self(BTreeMap::new());
        sources.read_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &[]);
        sources
    }

    fn read_folder(&mut self, folder: &Path, module: &[String]) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let below: Vec<String> = module.iter().cloned().chain([name.clone()]).collect();
            if path.is_dir() {
                self.read_folder(&path, &below);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && name != "main"
                && below[0] != "bin"
            {
                let is_folder = name == "mod" || name == "lib";
                self.add(
                    if is_folder { module } else { &below },
                    is_folder,
                    &std::fs::read_to_string(&path).unwrap(),
                );
            }
        }
    }

    pub fn add(&mut self, module: &[String], is_folder: bool, text: &str) {
        let code = text
            .lines()
            .map(|line| line.split("//").next().unwrap_or_default())
            .collect::<Vec<_>>()
            .join("\n");
        let path = format!(
            "{}{}",
            module.join("/"),
            if is_folder { "/mod.rs" } else { ".rs" }
        );
        self.0.insert(
            module.to_vec(),
            File {
                path,
                code,
                is_folder,
            },
        );
    }

    pub fn files(&self) -> impl Iterator<Item = &File> {
        self.0.values()
    }

    /// The modules: what stands directly in `src`.
    pub fn modules(&self) -> BTreeSet<&str> {
        self.0
            .keys()
            .filter_map(|module| Some(module.first()?.as_str()))
            .collect()
    }

    /// Which modules each module names, and where.
    pub fn module_graph(&self) -> BTreeMap<(&str, String), &str> {
        let modules = self.modules();
        let mut graph = BTreeMap::new();
        for (module, file) in &self.0 {
            let Some(name) = module.first() else { continue };
            for named in paths(module, file) {
                if let Some(other) = named.first()
                    && other != name
                    && modules.contains(other.as_str())
                {
                    graph.insert((name.as_str(), other.clone()), file.path.as_str());
                }
            }
        }
        graph
    }

    /// This file and every file of ours that it stands on, each with the one that names it.
    pub fn closure(&self, module: &str) -> Vec<(&File, &str)> {
        let mut waiting = vec![(vec![module.to_owned()], "")];
        let mut seen = BTreeMap::new();
        while let Some((module, from)) = waiting.pop() {
            if seen.contains_key(&module) {
                continue;
            }
            let file = &self.0[&module];
            let named = paths(&module, file)
                .into_iter()
                .map(|path| self.file_of(&path))
                .filter(|file| !file.is_empty());
            waiting.extend(named.map(|named| (named, file.path.as_str())));
            seen.insert(module, (file, from));
        }
        seen.into_values().collect()
    }

    /// The module in whose file that which this path names is written, through what folders hand
    /// on.
    fn file_of(&self, path: &[String]) -> Vec<String> {
        let known = (0..=path.len())
            .rev()
            .find(|&end| self.0.contains_key(&path[..end]))
            .unwrap_or_default();
        let (module, rest) = path.split_at(known);
        let Some(name) = rest.first().filter(|_| !module.is_empty()) else {
            return module.to_vec();
        };
        let file = &self.0[module];
        let leads_on = |path: &Vec<String>| {
            path.len() > module.len() + 1 && path.starts_with(module) && path.last() == Some(name)
        };
        match paths(module, file)
            .into_iter()
            .find(|path| file.is_folder && leads_on(path))
        {
            Some(path) => self.file_of(&path),
            None => module.to_vec(),
        }
    }
}

/// Every path in a file that leads to a module or item of ours, from the library's root on.
fn paths(module: &[String], file: &File) -> Vec<Vec<String>> {
    let parent = &module[..module.len().saturating_sub(1)];
    let here = if file.is_folder {
        module.to_vec()
    } else {
        parent.to_vec()
    };
    let mut found = Vec::new();
    for start in file
        .code
        .match_indices("use ")
        .filter(|&(at, _)| !file.code[..at].ends_with(|before: char| before.is_alphanumeric()))
    {
        let tree = file.code[start.0 + 4..]
            .split(';')
            .next()
            .unwrap_or_default();
        leaves(tree, &mut Vec::new(), &mut found);
    }
    // And those that stand within a line.
    for root in ["crate::", "super::"] {
        for (at, _) in file
            .code
            .match_indices(root)
            .filter(|&(at, _)| !file.code[..at].ends_with("::"))
        {
            let path = file.code[at..]
                .split(|letter: char| !(letter.is_alphanumeric() || "_:".contains(letter)))
                .next()
                .unwrap_or_default();
            // A group after `use`, which was taken apart above.
            if path.ends_with("::") {
                continue;
            }
            found.push(
                path.split("::")
                    .filter(|part| !part.is_empty())
                    .map(str::to_owned)
                    .collect(),
            );
        }
    }
    found
        .into_iter()
        .filter_map(|path: Vec<String>| absolute(module, &here, &path))
        .collect()
}

/// What a tree of names after `use` names, one by one.
fn leaves(tree: &str, before: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    let tree = tree.trim();
    let length = before.len();
    if let Some((head, group)) = tree.split_once('{') {
        before.extend(
            head.split("::")
                .map(str::trim)
                .filter(|part| !part.is_empty())
                .map(str::to_owned),
        );
        let (mut depth, mut from) = (0, 0);
        let group = group.trim_end();
        let group = group.strip_suffix('}').unwrap_or(group);
        for (at, letter) in group.char_indices().chain([(group.len(), ',')]) {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    let rest = &group[from..at];
                    leaves(rest, before, found);
                    from = at + 1;
                }
                _ => {}
            }
        }
    } else if !tree.is_empty() {
        let name = tree.split(" as ").next().unwrap_or_default();
        before.extend(
            name.split("::")
                .map(str::trim)
                .filter(|part| !part.is_empty() && *part != "self" && *part != "*")
                .map(str::to_owned),
        );
        found.push(before.clone());
    }
    before.truncate(length);
}

/// From the library's root on; `None` if it leads to another library.
fn absolute(module: &[String], here: &[String], path: &[String]) -> Option<Vec<String>> {
    let ups = path.iter().take_while(|part| *part == "super").count();
    match path.first()?.as_str() {
        "crate" => Some(path[1..].to_vec()),
        // `super` is seen from the module that the file is.
        "super" => Some(
            module[..module.len().checked_sub(ups)?]
                .iter()
                .chain(&path[ups..])
                .cloned()
                .collect(),
        ),
        // What a folder hands on from one of its own files.
        _ if module == here => Some(module.iter().chain(path).cloned().collect()),
        _ => None,
    }
}
