//! What the command line and the file together say about a sweep.

use std::path::PathBuf;

use super::Arguments;
use crate::cli::failure::Failure;
use crate::run_config::{DataSpec, RunConfig};
use crate::sweep::{
    Asha, Definition, DefinitionError, DefinitionFile, SamplerKind, SettingRange, seconds,
    usual_at_once,
};
use crate::window::messages::Message;

/// Trials where neither a number nor a time was given.
const TRIALS: u32 = 30;

/// The definition; not yet checked as a whole.
pub fn definition(arguments: &Arguments) -> Result<Definition, Failure> {
    let file = arguments
        .file
        .as_deref()
        .map(DefinitionFile::read)
        .transpose()
        .map_err(Failure::of_sweep)?
        .unwrap_or_default();
    let wrong = |error: DefinitionError| failure(&[error]);
    let data = match (&arguments.data, &file.data) {
        (Some(data), _) => data.clone(),
        (None, Some(name)) => name.parse().map_err(|error| {
            Failure::Usage(format!("In the description of the sweep: {error}."))
        })?,
        (None, None) => DataSpec::builtin(),
    };
    // A sweep may be resumed from another folder.
    let data = data.located(&std::env::current_dir().unwrap_or_default());
    let preset = RunConfig::preset(
        arguments
            .preset
            .or(file.preset)
            .unwrap_or(crate::run_config::Preset::Balanced),
    );
    let device = arguments.device.unwrap_or(preset.device);
    let mut definition = Definition::of(RunConfig {
        data,
        device,
        threads: arguments.threads,
        ..preset
    });
    let given = arguments
        .set
        .iter()
        .map(|text| SettingRange::parse(text))
        .collect::<Result<Vec<_>, _>>()
        .map_err(wrong)?;
    for range in file.settings().map_err(wrong)?.into_iter().chain(given) {
        definition.set(range).map_err(wrong)?;
    }
    let absolute =
        |folder: &PathBuf| std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
    definition.data_dir = arguments.data_dir.as_ref().map(absolute);
    if let Some(name) = &file.sampler {
        definition.sampler = name.parse().map_err(|error| {
            Failure::Usage(format!("In the description of the sweep: {error}."))
        })?;
    }
    definition.sampler = arguments.sampler.unwrap_or(definition.sampler);
    definition.seed = arguments.seed.or(file.seed).unwrap_or(definition.seed);
    definition.seconds = arguments
        .time
        .as_deref()
        .or(file.time.as_deref())
        .map(seconds)
        .transpose()
        .map_err(wrong)?;
    definition.trials = arguments.trials.or(file.trials);
    if definition.trials.is_none()
        && definition.seconds.is_none()
        && definition.sampler != SamplerKind::Grid
    {
        definition.trials = Some(TRIALS);
    }
    let asha = Asha {
        reduction: arguments
            .reduction
            .or(file.reduction)
            .unwrap_or(Asha::DEFAULT.reduction),
        min_epochs: arguments
            .min_epochs
            .or(file.min_epochs)
            .unwrap_or(Asha::DEFAULT.min_epochs),
    };
    definition.pruner = match arguments.pruner.as_deref().or(file.pruner.as_deref()) {
        None | Some("asha") => Some(asha),
        Some("none") => None,
        Some(_) => {
            return Err(Failure::Usage(
                "In the description of the sweep: pruner must be \"asha\" or \"none\".".to_owned(),
            ));
        }
    };
    let asked = arguments
        .at_once
        .or(file.at_once)
        .or_else(|| arguments.machines.usual_at_once());
    definition.at_once = asked.unwrap_or_else(|| usual_at_once(&definition.base));
    Ok(definition)
}

/// All mistakes, one per line.
pub fn failure(problems: &[DefinitionError]) -> Failure {
    Failure::Usage(
        problems
            .iter()
            .map(|problem| Message::from(problem).to_string())
            .collect::<Vec<_>>()
            .join("\n"),
    )
}
