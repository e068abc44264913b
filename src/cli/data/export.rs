//! `inkling data export`: a data set in another format.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::arguments::choice;
use crate::cli::engine::data_folders;
use crate::cli::failure::Failure;
use crate::cli::interrupt;
use crate::cli::output::{Output, Progress};
use crate::data::my_digits::labelled_drawings;
use crate::data::{DataError, DataSet, MyDigits, export_drawings, export_set, load};
use crate::problem::Problem;
use crate::run_config::{DataSource, DataSpec, SetFormat};
use crate::system::paths::Paths;
use crate::text::format::grouped;
use crate::text::visible;

/// The options of `inkling data export`.
#[derive(Debug, clap::Args)]
pub struct Export {
    /// mine (the drawings you keep), builtin, mnist, fashion-mnist, kmnist, emnist-digits,
    /// emnist-letters, a path, or several joined with +
    #[arg(value_name = "NAME")]
    data: DataSpec,
    /// png: class folders of images; idx: the files of MNIST's format; csv: tables; ink: strokes,
    /// of drawings only
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = choice(SetFormat::ALL, SetFormat::name))]
    format: SetFormat,
    /// Folder to write, for ink the file
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
    /// Replace what is there
    #[arg(long)]
    force: bool,
    /// Folder to search for data sets before the usual ones
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Print one JSON object to standard output
    #[arg(long)]
    json: bool,
}

/// A data set that was exported, as JSON.
#[derive(Serialize, JsonSchema)]
pub struct Exported {
    path: String,
    data: String,
    format: SetFormat,
    images: usize,
}

/// Runs it.
pub fn run(export: Export) -> Result<(), Failure> {
    let folders = data_folders(export.data_dir, &Paths::find())?;
    let mine = MyDigits::in_folders(&folders);
    let mut read: Vec<PathBuf> = vec![mine.path().to_owned()];
    read.extend(export.data.sources().iter().filter_map(|source| {
        if let DataSource::Path(path) = source {
            Some(path.clone())
        } else {
            None
        }
    }));
    let read: Vec<&Path> = read.iter().map(PathBuf::as_path).collect();
    let is_mine = export.data == DataSpec::single(DataSource::Mine);
    let images = if export.format == SetFormat::Ink {
        let drawings = match export.data.sources() {
            [DataSource::Mine] => mine.read()?.drawings,
            [DataSource::Path(path)] if path.is_file() => labelled_drawings(path)?,
            _ => {
                return Err(Failure::Usage(
                    "Only drawings can be exported as ink: mine, or an ink file with labels."
                        .to_owned(),
                ));
            }
        };
        if drawings.is_empty() {
            return Err(Problem::from(DataError::NoDrawings {
                path: mine.path().to_owned(),
            })
            .into());
        }
        export_drawings(&drawings, &export.out, export.force, &read)?;
        drawings.len()
    } else {
        interrupt::install_handler();
        let progress = Progress::new();
        // What has no test split of its own is exported as a whole.
        let set = if is_mine {
            DataSet::of_digits(mine.split()?)
        } else {
            load(&export.data, &folders, &mut |fraction: f32| {
                progress.show(fraction, "Loading data");
                interrupt::check()
            })?
        };
        export_set(
            &set,
            export.format,
            &export.out,
            export.force,
            &read,
            &mut |fraction: f32| {
                progress.show(fraction, "Writing");
                interrupt::check()
            },
        )?;
        set.train.len() + set.test.len()
    };
    let mut output = Output::new(export.json);
    let exported = Exported {
        path: export.out.display().to_string(),
        data: export.data.to_string(),
        format: export.format,
        images,
    };
    output.json(&exported)?;
    let what = if export.format == SetFormat::Ink {
        "drawings"
    } else {
        "images"
    };
    output.text(&format!(
        "Wrote {}: {} {what} of {}.",
        visible::path(&export.out),
        grouped(images as u64),
        export.data.label()
    ))
}
