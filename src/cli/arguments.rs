use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::failure::Failure;
use super::runs::find;
use crate::problem::Problem;
use crate::records::{Ensemble, ModelRef};
use crate::run_config::{Preset, UnknownChoiceError};
use crate::runs::{self, Store};
use crate::system::paths::Paths;
use crate::text::visible;

/// A model, or several together.
#[derive(Debug, clap::Args)]
pub struct Models {
    /// Model file, folder or title of a run, or latest; the probabilities of several are averaged
    /// [default: the built-in starter model]
    #[arg(long = "model", value_name = "MODEL")]
    pub files: Vec<PathBuf>,
    /// Keep dropout on, and average COUNT predictions of each model (Monte Carlo dropout)
    #[arg(long, value_name = "COUNT", requires = "files", value_parser = clap::value_parser!(u32).range(1..))]
    pub dropout_passes: Option<u32>,
    /// Average predictions over the posterior samples saved with the model (SGLD, pSGLD)
    #[arg(long, requires = "files")]
    pub posterior_samples: bool,
}

impl Models {
    /// The model that they name; the starter model if there is none.
    pub fn reference(&self) -> Result<ModelRef, Failure> {
        Ok(match (self.files.as_slice(), self.dropout_passes) {
            ([], _) => ModelRef::Starter,
            ([model], None) if !self.posterior_samples => ModelRef::File(model_file(model)?),
            (models, dropout_passes) => {
                let models = models
                    .iter()
                    .map(|model| model_file(model))
                    .collect::<Result<Vec<_>, _>>()?;
                let models = if self.posterior_samples {
                    posterior_of(&models)?
                } else {
                    models
                };
                ModelRef::Ensemble(Ensemble {
                    models,
                    dropout_passes,
                })
            }
        })
    }
}

/// The file at this path, or the model of the run that it names.
pub fn model_file(path: &Path) -> Result<PathBuf, Failure> {
    let path = path_or_run(path)?;
    if path.is_dir() {
        return Ok(runs::load(&path).map_err(Problem::from)?.model_path);
    }
    Ok(path)
}

/// This path if something is there, or else the folder of the run that it names.
pub fn path_or_run(path: &Path) -> Result<PathBuf, Failure> {
    if path.exists() {
        return Ok(path.to_owned());
    }
    let name = path.to_string_lossy();
    match find(Store::new(Paths::find().runs).list(), &name) {
        Ok(run) => Ok(run.folder),
        // A file that is missing is reported as that.
        Err(_) if path.extension().is_some() || name.contains(['/', MAIN_SEPARATOR]) => {
            Ok(path.to_owned())
        }
        Err(failure) => Err(failure),
    }
}

/// The samples of the runs of these models.
fn posterior_of(models: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut samples = Vec::new();
    for model in models {
        let folder = model
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let run = runs::load(folder).map_err(Problem::from)?;
        let paths = run.posterior_sample_paths();
        if paths.is_empty() {
            let model = visible::one_line(&model.display().to_string());
            return Err(Failure::Failed(format!(
                "No posterior samples were saved with {model}. Train with --optimizer sgld or psgld, without weight averaging."
            )));
        }
        samples.extend(paths);
    }
    Ok(samples)
}

/// Parses one of the names; the help lists them, and clap suggests the closest for a misspelled
/// one.
pub fn choice<T>(
    all: &[T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> + use<T>
where
    T: FromStr<Err = UnknownChoiceError> + Copy + Send + Sync + 'static,
{
    let names: Vec<&str> = all.iter().map(|choice| name(*choice)).collect();
    PossibleValuesParser::new(names).try_map(|name| name.parse::<T>())
}

/// Accepts the names of the presets.
pub fn preset() -> impl TypedValueParser<Value = Preset> {
    choice(Preset::ALL, Preset::name)
}
