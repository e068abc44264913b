//! Where a run's data comes from and where its result goes: as this installation has it, or as the
//! run was started.

use std::path::{PathBuf, absolute};

use super::handle::{EngineSettings, RunsTarget};
use crate::run_config::WeightFormat;
use crate::train::RunPlaces;

/// The places of a run; of a resumed one, those it was started with, unless others were named for
/// it.
pub(super) fn places(settings: &EngineSettings, before: Option<&RunPlaces>) -> RunPlaces {
    let absolute = |path: &PathBuf| absolute(path).unwrap_or_else(|_| path.clone());
    let mut data_folders = Vec::new();
    for folder in settings
        .data_dir
        .iter()
        .chain(before.iter().flat_map(|before| &before.data_folders))
        .chain(&settings.data_folders)
    {
        let folder = absolute(folder);
        if !data_folders.contains(&folder) {
            data_folders.push(folder);
        }
    }
    let (out, replace) = match &settings.runs {
        RunsTarget::Folder { folder, replace } => (Some(absolute(folder)), *replace),
        RunsTarget::Store(_) => before
            .map(|before| (before.out.clone(), before.replace))
            .unwrap_or_default(),
    };
    RunPlaces {
        working_folder: before.map_or_else(
            || std::env::current_dir().unwrap_or_default(),
            |before| before.working_folder.clone(),
        ),
        data_folders,
        out,
        replace,
        weights: settings
            .weights
            .or(before.map(|before| before.weights))
            .unwrap_or(WeightFormat::F32),
    }
}

/// Where the run is saved.
pub(super) fn target(settings: &EngineSettings, places: &RunPlaces) -> RunsTarget {
    let folder = |folder: &PathBuf| RunsTarget::Folder {
        folder: folder.clone(),
        replace: places.replace,
    };
    places
        .out
        .as_ref()
        .map_or_else(|| settings.runs.clone(), folder)
}
