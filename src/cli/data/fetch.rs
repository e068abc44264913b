//! `inkling data fetch`: downloads a data set. The only command that uses a network by itself.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::arguments::choice;
use crate::cli::engine::data_folders;
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::cli::output::Progress;
use crate::download::{Mirror, Patience, by_hand, download, published_size};
use crate::problem::Problem;
use crate::run_config::NamedSet;
use crate::system::paths::Paths;
use crate::text::format::file_size;
use crate::text::visible;

/// The options of `inkling data fetch`.
#[derive(Debug, clap::Args)]
pub struct Fetch {
    /// Data set to download
    #[arg(value_name = "NAME", ignore_case = true, value_parser = choice(&NamedSet::ALL, NamedSet::name))]
    data: NamedSet,
    /// Address of a folder with a subfolder for each data set (such as mnist), or of a ZIP archive,
    /// to use instead of the public mirrors
    #[arg(long, value_name = "URL")]
    mirror: Option<String>,
    /// Folder to save it in, below its name [default: the first that is searched for data sets]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Print one JSON object to standard output
    #[arg(long)]
    json: bool,
}

/// What was downloaded, as JSON.
#[derive(Serialize, JsonSchema)]
pub struct Fetched {
    data: &'static str,
    /// Its folder.
    path: String,
}

/// Runs it.
pub fn run(fetch: &Fetch) -> Result<(), Failure> {
    let set = fetch.data;
    let given = fetch
        .mirror
        .as_deref()
        .map(str::parse::<Mirror>)
        .transpose()
        .map_err(Problem::from)?;
    let mirror = given
        .map_or_else(Mirror::from_env, |mirror| Ok(Some(mirror)))
        .map_err(Problem::from)?;
    let folders = data_folders(fetch.data_dir.clone(), &Paths::find())?;
    let Some(folder) = folders.first() else {
        return Err(Failure::Usage(
            "There is no folder for data sets. Name one with --data-dir.".to_owned(),
        ));
    };
    let progress = Progress::new();
    let text = format!(
        "Downloading {} ({})",
        set.label(),
        file_size(published_size(set))
    );
    let downloaded = download(
        set,
        mirror.as_ref(),
        folder,
        Patience::default(),
        &mut |fraction: f32| {
            progress.show(fraction, &text);
            Ok(())
        },
    );
    drop(progress);
    let path = downloaded.map_err(|error| {
        let by_hand = if error.is_of_the_network() {
            by_hand(set, folder)
        } else {
            None
        };
        let failure = Failure::from(Problem::from(error));
        by_hand
            .into_iter()
            .for_each(|text| crate::cli::output::note(&text));
        failure
    })?;
    let mut output = Output::new(fetch.json);
    output.json(&Fetched {
        data: set.name(),
        path: path.display().to_string(),
    })?;
    output.text(&format!(
        "{} is in {}. Train on it with --data {}.",
        set.label(),
        visible::path(&path),
        set.name()
    ))
}
