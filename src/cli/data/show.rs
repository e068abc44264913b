//! `inkling data show`: a sheet of sample images.

use std::io::{self, Cursor};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::arguments::choice;
use crate::cli::engine::data_folders;
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::cli::output::Progress;
use crate::data::augment::Augmenter;
use crate::data::{contact_sheet, load};
use crate::ink::PIXELS;
use crate::math::random::Random;
use crate::problem::Problem;
use crate::run_config::{Augmentation, DataSource, DataSpec};
use crate::system::WriteError;
use crate::system::files::write_whole;
use crate::system::paths::Paths;
use crate::system::targets::check_file;
use crate::text::visible;

/// Images per digit on a sheet.
const COLUMNS: usize = 20;

/// The options of `inkling data show`.
#[derive(Debug, clap::Args)]
pub struct Show {
    /// mine (the drawings you keep), builtin, mnist, fashion-mnist, kmnist, emnist-digits,
    /// emnist-letters, a path, or several joined with +
    #[arg(value_name = "NAME")]
    data: DataSpec,
    /// PNG file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    /// Random seed that chooses the images
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Augment the images as training would
    #[arg(long, value_name = "NAME", default_value = "off", ignore_case = true, value_parser = choice(Augmentation::ALL, Augmentation::name))]
    augmentation: Augmentation,
    /// Folder to search for data sets before the usual ones
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Print one JSON object to standard output
    #[arg(long)]
    json: bool,
}

/// The sheet that was written, as JSON.
#[derive(Serialize, JsonSchema)]
pub struct Sheet {
    path: String,
    data: String,
    train_images: usize,
    test_images: usize,
}

/// Runs it.
pub fn run(show: Show) -> Result<(), Failure> {
    let read = show.data.sources().iter().filter_map(|source| {
        if let DataSource::Path(path) = source {
            Some(path.as_path())
        } else {
            None
        }
    });
    check_file(&show.out, show.force, &read.collect::<Vec<_>>())?;
    let folders = data_folders(show.data_dir, &Paths::find())?;
    let progress = Progress::new();
    let mut set = load(&show.data, &folders, &mut |fraction: f32| {
        progress.show(fraction, "Loading data");
        Ok(())
    })?;
    drop(progress);
    if let Some(mut augmenter) = Augmenter::new(show.augmentation) {
        for (index, pixels) in (0..).zip(set.train.images.chunks_exact_mut(PIXELS)) {
            augmenter.apply(
                pixels,
                &mut Random::stream(show.seed, "augmentation", index),
            );
        }
    }
    let mut png = Cursor::new(Vec::new());
    contact_sheet(&set, COLUMNS, show.seed)
        .write_to(&mut png, image::ImageFormat::Png)
        .map_err(|error| Problem::Write(WriteError::new(&show.out, &io::Error::other(error))))?;
    write_whole(&show.out, png.get_ref())?;
    let mut output = Output::new(show.json);
    let sheet = Sheet {
        path: show.out.display().to_string(),
        data: show.data.to_string(),
        train_images: set.train.len(),
        test_images: set.test.len(),
    };
    output.json(&sheet)?;
    output.text(&format!(
        "Wrote {}: up to {COLUMNS} training images per {} from {}.",
        visible::path(&show.out),
        set.classes.noun(),
        show.data.label()
    ))
}
